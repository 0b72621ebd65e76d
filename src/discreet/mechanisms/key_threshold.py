"""Discovering keys: which groups exist, without giving away who is alone in one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, positive, probability, sqrt_up
from discreet.guarantees import GDP, Approx, Guarantee
from discreet.guarantees.binomial import MOST_RUNS
from discreet.guarantees.key_pair import KeyPair
from discreet.inputs import UnitCounts
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_noise import KeyNoise, Reaches
from discreet.mechanisms.key_table import KeyTable, check_length, key_table
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.values import read
from discreet.spelling import spelled

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
      for its size: the best for few keys a unit.
    - ``rule="laplace"`` adds discrete Laplace noise of scale max_groups/ε and keeps what
      reaches ``threshold``.
    - ``rule="gaussian"`` adds Gaussian noise, of a σ that grows with √max_groups only: the
      best for many keys a unit. Half of δ goes to the noise, half to the threshold.

    Cost: ``guarantee``. Error: ``error(0.95)`` units are enough to be kept with 95 %.

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
        of these numbers. One unit may be counted in at most ``max_groups`` of them: that is for
        the caller to see to, and not checked here.

        Publish the kept keys only: which others there were, how many, and in what order, is
        part of the data. Counts below 0 count as 0. Each call spends ``guarantee``.
        """
        if isinstance(units_per_key, Mapping):
            mask = self._mask(list(units_per_key.values()))
            kept = [key for key, keep in zip(units_per_key, mask, strict=True) if keep]
            # A set remembers something of the order it was filled in: let it be one of its own.
            return frozenset(sorted(kept, key=repr))
        return self._mask(units_per_key)

    def _mask(self, counts: ArrayLike) -> NDArray[np.bool_]:
        listed = isinstance(counts, list | tuple) or (
            isinstance(counts, np.ndarray) and counts.ndim
        )
        if listed and len(counts) == 0:  # type: ignore[arg-type]
            return np.zeros(np.shape(counts), np.bool_)  # no keys: an answer, not a mistake
        values = read(counts, name="units_per_key")
        if not values.whole or not values.shape:
            raise InvalidArgument(
                name="units_per_key",
                expected="an array of whole numbers, or a mapping from keys to whole numbers",
                given=InvalidArgument.describe_data(counts),
                hint="count the units that hold each key",
            )
        mask: NDArray[np.bool_] = self._rule.keep(values.flat).reshape(values.shape)
        return mask

    @cached_property
    def guarantee(self) -> Guarantee:
        """What holds for one unit, added or removed: (ε, δ)-differential privacy, and more.

        >>> round(KeyThreshold(epsilon=1, delta=1e-6).guarantee.tv, 3)     # (1, 1e-6) has 0.462
        0.442
        >>> KeyThreshold(epsilon=1, delta=1e-6, rule="gaussian").guarantee.delta(1) <= 5e-7
        True
        """
        # A unit moves each of its keys from n to n + 1 units, all in the same direction. Which
        # n that is depends on the others, so for each key the worst counts, n = 0 included,
        # where the key tells for certain that the unit is there. Coins of different keys are
        # independent: m keys compose.
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
    raise InvalidArgument(
        name="rule",
        expected=" or ".join(f'"{name}"' for name in get_args(Rule)),
        given=InvalidArgument.describe_parameter(rule),
    )
