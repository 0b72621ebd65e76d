"""Discovering keys: which groups exist, without giving away who is alone in one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, log, log1p, tanh
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.guarantees import GDP, Approx, Guarantee, Pure
from discreet.guarantees.key_discovery import KeyPair
from discreet.guarantees.pure import MOST_RUNS
from discreet.hints import spelled
from discreet.inputs import UnitCounts
from discreet.laws.value import DiscreteLaw
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import read_values
from discreet.noise import entropy
from discreet.noise.bernoulli import Rational, coins_each
from discreet.noise.workspace import in_blocks
from discreet.numeric.balls import (
    arb,
    ball,
    least_half_width,
    lower_fraction,
    precision,
    upper,
    upper_fraction,
)
from discreet.numeric.exact import Number, integer, positive, probability, sqrt_up

Rule = Literal["optimal", "laplace", "gaussian"]


@dataclass(frozen=True, init=False)
class KeyThreshold:
    """Keeps keys that enough units hold, such as the wards that occur in a table of visits.

    ``epsilon`` and ``delta`` are the promise of one release; δ should be far below one over the
    number of units, 1e-6 say.
    ``release`` takes how many units (people) hold each key, where one unit holds at most
    ``max_groups`` keys, and adding or removing a unit is what stays hidden ((ε, δ), add-remove).
    A key of one unit is kept with probability at most δ/max_groups, a key of none never.

    - ``rule="optimal"`` keeps each key with the largest probability that the promise allows
      for its size: the best for few keys per unit.
    - ``rule="laplace"`` adds discrete Laplace noise of scale max_groups/ε and keeps what
      reaches ``threshold``.
    - ``rule="gaussian"`` adds Gaussian noise, of a σ that grows with √max_groups only: the
      best for many keys per unit. Half of δ goes to the noise, half to the threshold.

    Cost: ``guarantee``. Error: a key of ``error(0.95)`` units is kept with probability ≥ 95 %.

    >>> mechanism = KeyThreshold(epsilon=1, delta=1e-6)
    >>> mechanism.keep_probability(1), mechanism.error(0.95)
    (1e-06, 16)
    >>> sorted(mechanism.release({"flu": 800, "measles": 40, "a rare disease": 0}))
    ['flu', 'measles']
    >>> KeyThreshold(epsilon=1, delta=1e-6, rule="laplace").threshold
    15
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int
    rule: Rule

    @spelled
    def __init__(
        self, *, epsilon: Number, delta: Number, max_groups: int = 1, rule: Rule = "optimal"
    ) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, name="epsilon"))
        object.__setattr__(self, "delta", probability(delta, name="delta"))
        object.__setattr__(self, "max_groups", integer(max_groups, name="max_groups", minimum=1))
        object.__setattr__(self, "rule", _read_rule(rule))
        if self.rule == "optimal":
            check_length(self.epsilon / self.max_groups, self.delta / self.max_groups)

    def release(self, units_per_key: ArrayLike | Mapping[Any, int]) -> Any:
        """Return which keys are kept: a frozenset for a mapping, a mask for an array of counts.

        ``units_per_key`` maps each key to how many units hold it, a whole number, or is an array
        of these numbers. One unit may be counted in at most ``max_groups`` of them: the caller
        must ensure that, and it is not checked here.

        Publish the kept keys only: which others there were, how many, and in what order, is
        part of the data. Counts below 0 count as 0. Each call spends ``guarantee``.
        """
        if isinstance(units_per_key, Mapping):
            mask = self._mask(list(units_per_key.values()))
            kept = [key for key, keep in zip(units_per_key, mask, strict=True) if keep]
            # The order of a set depends on the order it was filled in: that must not be the data's.
            return frozenset(sorted(kept, key=repr))
        return self._mask(units_per_key)

    def _mask(self, counts: ArrayLike) -> NDArray[np.bool_]:
        listed = isinstance(counts, list | tuple) or (
            isinstance(counts, np.ndarray) and counts.ndim
        )
        if listed and len(counts) == 0:  # type: ignore[arg-type]
            return np.zeros(np.shape(counts), np.bool_)  # no keys: an answer, not a mistake
        values = read_values(counts, name="units_per_key")
        if not values.whole or not values.shape:
            raise InvalidArgument.of_data(
                "units_per_key",
                "an array of whole numbers, or a mapping from keys to whole numbers",
                counts,
                hint="count the units that hold each key",
            )
        return self._rule.keep(values.flat).reshape(values.shape)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What holds for one unit, added or removed: (ε, δ)-differential privacy, and more.

        >>> round(KeyThreshold(epsilon=1, delta=1e-6).guarantee.tv, 3)     # (1, 1e-6) has 0.462
        0.442
        >>> KeyThreshold(epsilon=1, delta=1e-6, rule="gaussian").guarantee.delta(1) <= 5e-7
        True
        """
        # A unit moves each of its keys from n to n + 1 units, all in the same direction. Which
        # n that is depends on the others, so for each key it is the worst n that matters, n = 0
        # included, where the key reveals for certain that the unit is there. Coins of different
        # keys are independent: m keys compose.
        m, rule = self.max_groups, self._rule
        if m == 1:
            return rule.pair
        if isinstance(rule, KeyNoise) and isinstance(rule.hides, GDP):
            # The counts of all m keys together have the L2 sensitivity √m; on top, any of the
            # keys may be the unit's alone (m·p ≥ 1 − (1 − p)^m).
            base = GDP(sqrt_up(m * rule.hides.mu**2))
            return KeyPair(base=base, failing=min(m * rule.lone_chance, Fraction(1)))
        # For the other rules each key is (ε/m, p)-private, which composes in closed form.
        lone = self.delta / m if isinstance(rule, KeyTable) else rule.lone_chance
        if m > MOST_RUNS:
            return Approx(self.epsilon, self.delta)
        return Approx(self.epsilon / m, lone).repeat(m)

    @property
    def threshold(self) -> int | None:
        """The least noisy count that is kept; None for the optimal rule."""
        return self._rule.threshold if isinstance(self._rule, KeyNoise) else None

    def keep_probability(self, n: ArrayLike) -> Any:
        """Return the share of keys of ``n`` units that are discovered; an array for an array.

        >>> KeyThreshold(epsilon=1, delta=0.01).keep_probability([1, 2, 3]).round(3)
        array([0.01 , 0.037, 0.111])
        """
        sizes, place = np.unique(np.asarray(n), return_inverse=True)
        shares = np.array([self.law(size).pmf(True) for size in sizes])
        return shares[place] if np.ndim(n) else float(shares[0])

    def error(self, confidence: Number = Fraction(95, 100)) -> int:
        """Return how many units a key needs to be kept with probability ``confidence`` at least.

        ``confidence`` is between 0 and 1; 0.95 if left out.
        """
        return self._rule.least_size(probability(confidence, name="confidence"))

    @property
    def inputs(self) -> UnitCounts:
        """One unit more or less, in at most ``max_groups`` keys."""
        return UnitCounts(self.max_groups)

    def law(self, n: int) -> laws.Finite | Reaches:
        """Return the exact law of True (kept) and False for a key of n units."""
        return self._rule.law(integer(n, name="n", minimum=0))

    @cached_property
    def _rule(self) -> KeyTable | KeyNoise:
        m = self.max_groups
        # What one unit does to its keys composes: ε and δ add up over them. To a key it held
        # alone it adds a chance to be seen and no ε, to any other key a shift of 1.
        match self.rule:
            case "optimal":
                return key_table(self.epsilon / m, self.delta / m)
            case "laplace":
                noise = Laplace(sensitivity=m, epsilon=self.epsilon, step=1)
                return KeyNoise(noise, self.delta / m)
            case "gaussian":
                half = self.delta / 2
                shift = sqrt_up(Fraction(m))
                gaussian = Gaussian(sensitivity=shift, epsilon=self.epsilon, delta=half, step=1)
                return KeyNoise(gaussian, half / m)


def _read_rule(rule: Rule) -> Rule:
    if isinstance(rule, Hashable) and rule in get_args(Rule):
        return rule
    raise InvalidArgument.of("rule", " or ".join(f'"{name}"' for name in get_args(Rule)), rule)


# -- the optimal rule for discovering keys ---------------------------------------------------------
# One unit more or less may change the probability π(n) of keeping a key by a factor of e^ε and δ,
# in both directions and for both outcomes. From π(0) = 0 the largest such probabilities are
#
#     π(n+1) = min(e^ε·π(n) + δ,  1 − e^(−ε)·(1 − π(n) − δ),  1)
#
# (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1). They are irrational, so the table holds
# slightly smaller ones, multiples of 2^(−bits): each is computed from the one in the table before
# it and rounded down, and then the inequalities hold for the table itself, exactly.


LARGEST_TABLE: Final = 10**6
_LARGEST_EPSILON: Final = 4096  # a smaller ε is a stronger promise, and e^(−4096) is no loss


@dataclass(frozen=True)
class KeyTable:
    """Keep probabilities of keys by size, in multiples of 2^(−bits); from the end on, 1."""

    numerators: tuple[int, ...]
    bits: int

    def probability(self, n: int) -> Fraction:
        """π(n), exact."""
        if n < len(self.numerators):
            return Fraction(self.numerators[max(n, 0)], 1 << self.bits)
        return Fraction(1)

    @property
    def pair(self) -> KeyPair:
        """What one key reveals: the coins (π(n), π(n+1)) that are the worst at some ε, exact."""
        worst = worst_coins([*self.numerators, 1 << self.bits])
        return KeyPair(coins=[(self.probability(n), self.probability(n + 1)) for n in worst])

    def keep(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Toss a coin for each key: True with probability exactly π of its count."""
        source = entropy.source()
        kept = counts >= len(self.numerators)
        sizes = np.clip(counts, 0, len(self.numerators) - 1)

        def work(start: int, end: int) -> None:
            def rest(place: int) -> Rational:
                return Rational(self.probability(int(sizes[start + place])))

            kept[start:end] |= coins_each(self._first_digits[sizes[start:end]], rest, source)

        in_blocks(work, counts.size, source)
        return kept

    def law(self, n: int) -> laws.Finite:
        """The law of "kept" for a key of n units."""
        kept = self.probability(n)
        return laws.Finite((False, True), (1 - kept, kept))

    def least_size(self, confidence: Fraction) -> int:
        """The least n that is kept with at least this probability."""
        return bisect_left(self.numerators, confidence * (1 << self.bits))

    @cached_property
    def _first_digits(self) -> NDArray[np.uint64]:
        shift = self.bits - 64
        return np.array([numerator >> shift for numerator in self.numerators], np.uint64)


def key_table(epsilon: Fraction, delta: Fraction) -> KeyTable:
    """Return the table for one key; see ``check_length`` for how long it may get.

    >>> table = key_table(Fraction(1), Fraction(1, 100))
    >>> [round(float(table.probability(n)), 4) for n in (0, 1, 2, 5, 9, 10)]
    [0.0, 0.01, 0.0372, 0.7506, 1.0, 1.0]
    """
    # δ keeps 64 digits, so π(n) ≥ δ loses at most n parts in 2^64.
    bits = 64 + max(0, delta.denominator.bit_length() - delta.numerator.bit_length() + 1)
    one, step = 1 << bits, floor(delta * (1 << bits))
    grow, shrink = _factors(min(epsilon, Fraction(_LARGEST_EPSILON)), bits + 64)
    numerators, p = [0], 0
    while (
        p := min(
            (grow * p >> (bits + 64)) + step,
            one - max(0, -(-shrink * (one - p - step) >> (bits + 64))),
        )
    ) < one:
        numerators.append(p)
    return KeyTable(tuple(numerators), bits)


def _factors(epsilon: Fraction, bits: int) -> tuple[int, int]:
    """Return e^ε rounded down and e^(−ε) rounded up, in units of 2^(−bits)."""
    with precision(2 * bits + 2 * _LARGEST_EPSILON):
        grow, shrink = ball(epsilon).exp(), ball(-epsilon).exp()
    return floor(lower_fraction(grow) * (1 << bits)), ceil(upper_fraction(shrink) * (1 << bits))


def check_length(epsilon: Fraction, delta: Fraction) -> None:
    """Refuse a table of more than 10⁶ sizes."""
    # π reaches about ½ where δ·(e^(nε) − 1)/(e^ε − 1) does, and 1 about as many steps later:
    # n ≈ 2·ln(1 + tanh(ε/2)/δ)/ε. For ε far below δ that is 1/δ, whatever ε is.
    e = float(min(max(epsilon, Fraction(1, 10**30)), Fraction(_LARGEST_EPSILON)))
    odds = log(tanh(e / 2)) - log(delta.numerator) + log(delta.denominator)
    if 2 * (max(odds, 0) + log1p(exp(-abs(odds)))) / e > LARGEST_TABLE:
        raise Refused(
            Phrase(
                "the optimal rule would need a table of more than {} sizes for so small an "
                'epsilon and delta; use {rule="laplace"}, which needs none',
                str(LARGEST_TABLE),
            )
        )


# -- which sizes of a key reveal the most about one unit -------------------------------------------


Line = tuple[int, int, int]  # low, high and a name


def worst_coins(chances: Sequence[int]) -> tuple[int, ...]:
    """The n for which the coin (chances[n], chances[n + 1]) is the worst one at some x ≥ 0.

    The chances grow; they are integers, in units of the last one, which is certainty. In
    K = e^x each coin is a line high − K·low, and the worst ones are the upper envelope over
    K ≥ 1: those with the unit first, and those without it first.

    >>> worst_coins([0, 1, 2, 6, 9, 10])
    (0, 2, 3, 4)
    """
    one, last = chances[-1], len(chances) - 1
    shown = [(chances[n], chances[n + 1], n) for n in range(last)]
    hidden = [(one - chances[n + 1], one - chances[n], n) for n in reversed(range(last))]
    return tuple(sorted({*_envelope(shown), *_envelope(hidden)}))


def _envelope(lines: Iterable[Line]) -> list[int]:
    """Names of the lines high − K·low that are highest somewhere on K ≥ 1; `low` grows."""
    kept: list[Line] = []
    for line in lines:
        low, high, _ = line
        # The last one kept is highest at K = 1. What falls faster and is not above it there
        # never is.
        if kept and high - low <= kept[-1][1] - kept[-1][0]:
            continue
        while kept and (low == kept[-1][0] or (len(kept) > 1 and _hides(kept[-2:], line))):
            kept.pop()
        kept.append(line)
    return [name for _, _, name in kept]


def _hides(two: Sequence[Line], third: Line) -> bool:
    """Whether the third line passes the first, going down in K, no later than the second does."""
    (low, high, _), (low2, high2, _), (low3, high3, _) = *two, third
    # Two lines meet at K = (high′ − high)/(low′ − low).
    return (high3 - high) * (low2 - low) >= (high2 - high) * (low3 - low)


# -- discovering keys by noise ---------------------------------------------------------------------
# A key that only one person holds must stay unseen save for a small chance. With noise Z on whole
# counts the threshold is the least whole T ≥ 1 with P(1 + Z ≥ T) at most that chance. A key is kept
# when its noisy count is T *or more*: the same event in the rule and in the bound.


@dataclass(frozen=True)
class Reaches(DiscreteLaw):
    """The law of "X is at least the threshold", for a noisy count X."""

    count: laws.DiscreteLaplace | laws.RoundedLaplace | laws.RoundedGaussian
    threshold: int

    @property
    def outcomes(self) -> tuple[bool, bool]:
        """Not kept, kept."""
        return False, True

    def mass(self, outcome: bool) -> arb:
        """P(outcome) as a ball."""
        return self.count.above(self.threshold) if outcome else self.count.cdf(self.threshold - 1)


@dataclass(frozen=True)
class KeyNoise:
    """Keeps a key with probability P(n + Z ≥ T), n its count and Z the mechanism's noise."""

    mechanism: Laplace | Gaussian
    chance: Fraction  #: the most that the probability of keeping a key of one unit may be

    @cached_property
    def threshold(self) -> int:
        """The least whole T ≥ 1 with P(1 + Z ≥ T) ≤ chance."""
        zero = self.mechanism.law(0)
        # P(1 + Z ≥ 1 + w) = P(Z ≥ w) = P(Z ≤ −w)
        return 1 + least_half_width(lambda w: zero.cdf(-w), 1 - self.chance)

    @cached_property
    def lone_chance(self) -> Fraction:
        """The probability that a key of one unit is kept, rounded up."""
        return min(self.chance, Fraction(upper(self.law(1).mass(True))))

    @property
    def hides(self) -> Pure | GDP:
        """What the noise promises for a count that one unit moves from n ≥ 1 to n + 1.

        Comparing with a threshold takes nothing from it. For Laplace noise it adds nothing
        either: at n = T − 1 ≥ 1 the coins are r/(1 + r) and 1/(1 + r), r = e^(−1/scale), which
        is randomized response. For Gaussian noise see `pair`.
        """
        if isinstance(self.mechanism, Laplace):
            return Pure(1 / self.mechanism.scale)
        return GDP(1 / self.mechanism.sigma)

    @property
    def pair(self) -> KeyPair:
        """What one key reveals: it is the unit's alone, or it is not. Exact for T ≥ 2.

        The noise alone would allow coins at any distance c = T − n − 1 from the threshold. Of
        those with n < 1 there are none, but they are no worse than the lone key: with the unit
        first, such a coin's profile is at most P(Z ≥ c) ≤ P(Z ≥ T − 1).
        """
        gaussian = isinstance(self.hides, GDP)
        return KeyPair(coins=[(0, self.lone_chance)], base=self.hides, stepwise=gaussian)

    def keep(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Compare each count plus noise with the threshold; a key without units is not kept."""
        kept: NDArray[np.bool_] = self.mechanism.release(counts) >= self.threshold
        kept &= counts > 0
        return kept

    def law(self, n: int) -> Reaches | laws.Finite:
        """The law of "kept" for a key of n units."""
        if n <= 0:
            return laws.Finite((False, True), (1, 0))
        return Reaches(self.mechanism.law(n), self.threshold)

    def least_size(self, confidence: Fraction) -> int:
        """The least n that is kept with at least this probability."""
        zero = self.mechanism.law(0)
        # P(n + Z < T) = P(Z ≤ T − 1 − n), which falls with n
        n = least_half_width(lambda n: zero.cdf(self.threshold - 1 - n), confidence)
        return max(1, n)
