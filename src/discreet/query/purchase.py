"""What an analyst spends on an answer, and what a plan buys with it.

A spend is given in one of the field's notions. ε and ρ are divided in proportion to the shares;
for μ it is the square that is divided, since the squares of Gaussian mechanisms add up.

An aggregate says which parts it needs; equal parts are bought once, so that a count and a mean
share a count. *Additive* parts are integers for each group, to which noise is added. *Choices*
are made in each group by a mechanism of their own. Discovery finds the groups.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.guarantees import Guarantee, gdp_cap, zcdp_cap
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.numeric.balls import ball, lower
from discreet.numeric.exact import Number, positive, probability
from discreet.query.contribution import Contribution
from discreet.query.expressions import Tree
from discreet.query.measures import Additive, Binned, Measure, Units
from discreet.sensitivity import Sensitivity

# -- spends ----------------------------------------------------------------------------------------


_FINE = 2**40
_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}

Kind = Literal["epsilon", "rho", "mu"]


@dataclass(frozen=True, slots=True)
class Spend:
    """An amount of ε, ρ or μ, which can be divided into shares that add up to it, and a δ: with ε
    for Gaussian noise, with all of them where keys are to be discovered."""

    kind: Kind
    amount: Fraction
    delta: Fraction | None = None

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Spend:
        """Check what the caller gave: exactly one of epsilon, rho and mu.

        >>> Spend.read(epsilon=0.5)
        Spend(kind='epsilon', amount=Fraction(1, 2), delta=None)
        """
        amounts: dict[Kind, Number | None] = {"epsilon": epsilon, "rho": rho, "mu": mu}
        given = [(kind, amount) for kind, amount in amounts.items() if amount is not None]
        if len(given) != 1:
            names = " and ".join(kind for kind, _ in given)
            raise InvalidArgument(
                "spend",
                Phrase("given as {epsilon=}, {epsilon=} and {delta=}, {rho=}, {mu=}, or {error=}"),
                names or ("nothing" if delta is None else "delta alone"),
                hint="keep one of them"
                if names
                else Phrase("say how much privacy the answer may cost, as in {epsilon=0.5}"),
                code="conflicting-arguments" if names else "missing-argument",
            )
        ((kind, amount),) = given
        exact = positive(amount, name=kind)
        return cls(kind, exact, None if delta is None else probability(delta, name="delta"))

    def __str__(self) -> str:
        delta = "" if self.delta is None else f", δ = {float(self.delta):.6g}"
        return f"{self.symbol} = {float(self.amount):.6g}{delta}"

    @property
    def symbol(self) -> str:
        return _SYMBOLS[self.kind]

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        """The kind of noise to buy with it: Laplace for pure ε, Gaussian for the others."""
        return "laplace" if self.kind == "epsilon" else "gaussian"

    def share(self, share: Fraction, *, among: int = 1) -> Spend:
        """One of `among` equal parts of this share.

        >>> Spend("epsilon", Fraction(1)).share(Fraction(1, 2), among=5).amount
        Fraction(1, 10)
        """
        part = share / among
        if self.kind == "mu":
            # μ² is what adds up, so μ is multiplied by a root, rounded down to 40 bits
            part = Fraction(math.isqrt(int(part * _FINE**2)), _FINE)
        return Spend(self.kind, self.amount * part)

    @property
    def pure(self) -> Fraction:
        """The largest ε, rounded down, whose pure promise is worth no more than this.

        - ρ: ε-differential privacy is ε²/2-zCDP (Bun and Steinke 2016).
        - μ: its trade-off curve has one kink, at (1/(1+e^ε), 1/(1+e^ε)), where a Gaussian one
          with Φ(−μ/2) = 1/(1+e^ε) meets it; between that and the ends the latter is convex, so
          it lies below the chords, which are the former.
        """
        match self.kind:
            case "epsilon":
                return self.amount
            case "rho":
                return Fraction(math.isqrt(int(2 * self.amount * _FINE**2)), _FINE)
            case "mu":
                return _epsilon_of_mu(self.amount)

    @property
    def for_choice(self) -> dict[str, Fraction]:
        """What a private choice is paid with: ε or ρ, and for μ the ε that it is worth."""
        return {"rho": self.amount} if self.kind == "rho" else {"epsilon": self.pure}


@lru_cache(maxsize=256)
def _epsilon_of_mu(mu: Fraction) -> Fraction:
    # ln(Φ(μ/2)/Φ(−μ/2)), with Φ(x) = erfc(−x/√2)/2
    half = ball(mu) / (2 * ball(Fraction(2)).sqrt())
    return Fraction(lower(((-half).erfc() / half.erfc()).log()))


@lru_cache(maxsize=256)
def gaussian_share(epsilon: Fraction, delta: Fraction, *, in_rho: bool) -> Spend:
    """The largest μ, or ρ, that implies (ε, δ): what can be spent on Gaussian noise."""
    if in_rho:
        return Spend("rho", zcdp_cap(epsilon=epsilon, delta=delta).rho)
    return Spend("mu", gdp_cap(epsilon=epsilon, delta=delta).mu)


# -- parts that are not sums over rows -------------------------------------------------------------


class ChoiceMechanism(Protocol):
    """What makes a choice, of candidates by their indices: the ε and the promise are of one."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def guarantee(self) -> Guarantee: ...
    def release(self, counts: Any, /) -> Any: ...


M = TypeVar("M", bound=ChoiceMechanism)


class ChoicePart(ABC, Generic[M]):
    """Chosen in each group, by a mechanism of its own, from how many rows each candidate has."""

    bins: Binned

    @property
    @abstractmethod
    def words(self) -> str:
        """What a plan calls it."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many candidates are chosen."""

    @abstractmethod
    def mechanism(self, each: Spend, contribution: Contribution) -> M:
        """The mechanism that this spend pays for, in each group."""

    @abstractmethod
    def document(self, mechanism: M) -> Tree:
        """The mechanism, and what it chooses from."""

    @abstractmethod
    def errors(self, mechanism: M, confidence: Fraction, heaviest: int) -> Any:
        """How far each choice is from the best one, in rows; at most `heaviest` share a value."""

    @abstractmethod
    def declared(self, mechanism: M, times: int) -> Moves:
        """How far one person moves the counts, who influences so many choices."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (self.bins,)

    def exact(self, columns: Mapping[Measure, Any]) -> Any:
        """The exact counts that reach the mechanism."""
        return columns[self.bins]


@dataclass(frozen=True)
class Discovery:
    """Finds the groups that enough people are in."""

    measures = (Units(),)
    words = "discovered keys"


Part: TypeAlias = Additive | ChoicePart[Any] | Discovery
#: How far one person moves what reaches a mechanism: what a replay compares.
Moves: TypeAlias = Mapping[Literal["l0", "linf", "l1", "l2", "range"], int | Fraction]


# -- a part with the mechanism that was bought for it ----------------------------------------------


# In steps. 64 bits hold more than 8,000 times this, so no draw ever reaches their limit.
_LARGEST_NOISE = 2**50
_SURE = Fraction(95, 100)


@dataclass(frozen=True)
class AddedNoise:
    """An additive part and the noise that is added to each of its integers."""

    part: Additive
    mechanism: Laplace | Gaussian
    sensitivity: Sensitivity
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part, all groups together."""
        return self.mechanism.guarantee

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        return "laplace" if isinstance(self.mechanism, Laplace) else "gaussian"

    @property
    def size(self) -> Fraction:
        """The scale of Laplace noise or the σ of Gaussian noise, in the value's own unit."""
        return self._size * self.part.step

    @property
    def _size(self) -> Fraction:
        made = self.mechanism
        return made.scale if isinstance(made, Laplace) else made.sigma

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the value's own unit."""
        return math.sqrt(self.mechanism.variance) * float(self.part.step)

    @cached_property
    def error(self) -> float:
        """The 95 % half-width of one noisy number, in the value's own unit."""
        return self.mechanism.error(_SURE) * float(self.part.step)

    @property
    def document(self) -> Tree:
        """Noise, sensitivity and promise. Scale, σ and sensitivity are in steps of the grid that
        a number is released on; from them alone the promise can be computed again."""
        norms = ("l0", "linf", "l1", "l2")
        return {
            "mechanism": self.noise,
            "scale" if self.noise == "laplace" else "sigma": str(self._size),
            "sensitivity": {norm: str(getattr(self.sensitivity, norm)) for norm in norms},
            "step": str(self.part.step),
            "part": self.part.document,
            **promise(self.guarantee),
        }

    @property
    def declared(self) -> Moves:
        """How far one person may move what reaches the mechanism, as declared to it."""
        moved, told = self.sensitivity, self.mechanism.sensitivity
        linf, l1, l2 = moved.linf, moved.l1, moved.l2
        if isinstance(self.mechanism, Laplace):
            linf, l1 = min(linf, self.mechanism.largest), min(l1, told)
        else:
            l2 = min(l2, told)
        return {"l0": moved.l0, "linf": linf, "l1": l1, "l2": l2}

    def release(self, exact: Any) -> Any:
        """The exact integers plus noise, as integers."""
        if not exact.size:
            return exact
        if exact.dtype == np.int64:
            return self.mechanism.release(exact)
        # Noise on integers does not depend on what it is added to, so draw it around zeros of 64
        # bits and add it to integers of any length.
        drawn = self.mechanism.release(np.zeros(exact.shape, np.int64))
        return exact.astype(object) + drawn.astype(object)


@dataclass(frozen=True)
class Chooser(Generic[M]):
    """A choice and the mechanism that makes it in each group."""

    part: ChoicePart[M]
    mechanism: M
    times: int  # how many such choices one person influences
    share: Fraction

    @cached_property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee.repeat(self.times)

    def errors(self, heaviest: int = 1) -> Any:
        """How far each choice is from the best one at 95 %, in rows.

        With three or more quantiles it also depends on how many rows share a value, which are at
        most `heaviest`.
        """
        return self.part.errors(self.mechanism, _SURE, heaviest)

    @property
    def document(self) -> Tree:
        """The mechanism, what it chooses from, and what it promises."""
        return {**self.part.document(self.mechanism), **promise(self.guarantee, self.times)}

    @property
    def declared(self) -> Moves:
        return self.part.declared(self.mechanism, self.times)

    def release(self, exact: Any) -> Any:
        """For each group, the indices of the candidates that were chosen."""
        rows = [self.mechanism.release(row) for row in exact]
        return np.array(rows, np.int64).reshape(-1, self.part.width)


@dataclass(frozen=True)
class Finder:
    """The discovery of keys and the mechanism that does it."""

    part: Discovery
    mechanism: KeyThreshold
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    @property
    def document(self) -> Tree:
        """The mechanism, how many groups it allows for, and what it promises."""
        return {
            "mechanism": "keys",
            "rule": self.mechanism.rule,
            "sensitivity": {"groups": str(self.mechanism.max_groups)},
            "epsilon": str(self.mechanism.epsilon),
            "delta": str(self.mechanism.delta),
            **promise(self.guarantee),
        }

    @property
    def declared(self) -> Moves:
        return {"linf": Fraction(1), "l0": self.mechanism.max_groups}


Purchase: TypeAlias = AddedNoise | Chooser[Any] | Finder


def promise(guarantee: Guarantee, times: int = 1) -> Tree:
    """How many times one person influences it, and what is promised for all of them together."""
    return {"times": times, "guarantee": json.loads(guarantee.to_json())}


def buy(
    part: Part,
    money: Spend,
    *,
    share: Fraction,
    contribution: Contribution,
    delta: Fraction | None,
) -> Purchase:
    """The part with the mechanism of least noise that this share of the spend pays for."""
    match part:
        case Discovery():
            if delta is None:
                raise InvalidArgument.missing(
                    "delta",
                    Phrase('given with {keys="discover"}'),
                    hint=Phrase(
                        "a key that one person has may be revealed with this probability, as in "
                        "{delta=1e-6}"
                    ),
                )
            groups = contribution.groups * contribution.relation.add_remove_steps
            epsilon = money.share(share).pure
            finds = KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups)
            return Finder(part, finds, share)
        case ChoicePart():
            times = contribution.choices
            each = money.share(share, among=times)
            return Chooser(part, part.mechanism(each, contribution), times, share)
        case _:
            moved = part.moves(contribution)
            noise = AddedNoise(part, _noise(moved, money.share(share)), moved, share)
            if noise.size / part.step > _LARGEST_NOISE:
                raise Refused(
                    f"the noise for {part.words} would be {float(noise.size):.2g}, far beyond any "
                    "answer",
                    remedy="spend more, or keep fewer groups and rows of each person",
                )
            return noise


def _noise(moved: Sensitivity, money: Spend) -> Laplace | Gaussian:
    if money.kind == "epsilon":
        return Laplace(sensitivity=moved, epsilon=money.amount, step=1)
    return Gaussian(sensitivity=moved, step=1, **{money.kind: money.amount})
