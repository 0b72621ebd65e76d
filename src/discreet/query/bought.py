"""A part with the mechanism that was bought for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import Guarantee
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantiles import Quantiles
from discreet.mechanisms.top_k import TopK
from discreet.neighbors import Relation
from discreet.printable import one_line
from discreet.query.contribution import Contribution
from discreet.query.parts import (
    Additive,
    Choice,
    CommonestChoice,
    Discovery,
    Part,
    QuantileChoice,
)
from discreet.query.spend import SpendAmount
from discreet.sensitivity import Sensitivity

# Steps: 64 bits hold as much as 8,000 times this, so that no draw ever reaches the end of them.
_LARGEST_NOISE = 2**50
_SURE = Fraction(95, 100)


@dataclass(frozen=True)
class Noise:
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
        """Which law it has."""
        return "laplace" if isinstance(self.mechanism, Laplace) else "gaussian"

    @property
    def size(self) -> Fraction:
        """The scale of Laplace noise or the σ of Gaussian noise, in the value's own unit."""
        match self.mechanism:
            case Laplace(scale=size) | Gaussian(sigma=size):
                return size * self.part.step
        raise AssertionError  # pragma: no cover

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the value's own unit."""
        return math.sqrt(self.mechanism.variance) * float(self.part.step)

    @cached_property
    def error(self) -> float:
        """The 95 % half-width of one noisy number, in the value's own unit."""
        return self.mechanism.error(_SURE) * float(self.part.step)

    def release(self, exact: Any) -> Any:
        """The exact integers plus noise, as integers."""
        if not exact.size:
            return exact
        if exact.dtype == np.int64:
            return self.mechanism.release(exact)
        # Noise on integers does not depend on where it is added, so add it to a zero of 64 bits
        # and the sum to integers of any length.
        drawn = self.mechanism.release(np.zeros(exact.shape, np.int64))
        return exact.astype(object) + drawn.astype(object)


@dataclass(frozen=True)
class Chooser:
    """A choice and the mechanism that makes it in each group."""

    part: Choice
    mechanism: Quantiles | TopK
    times: int  # how many such choices one person bears on
    share: Fraction

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part, all groups together."""
        return self.mechanism.guarantee.repeat(self.times)

    def errors(self, heaviest: int = 1) -> Any:
        """How far each choice is from the best one at 95 %, in rows.

        Three and more quantiles also depend on how many rows share a value: `heaviest` at most.
        """
        size = self.part.bins.size
        match self.mechanism:
            case Quantiles() as quantiles:
                return quantiles.error(_SURE, candidates=size, heaviest=heaviest)
            case TopK() as top:
                return np.full(self._asked, top.error(_SURE, candidates=size))

    @property
    def _asked(self) -> int:
        part = self.part
        return len(part.probabilities) if isinstance(part, QuantileChoice) else part.k

    def release(self, exact: Any) -> Any:
        """For each group, the indices of what was chosen."""
        (measure,) = self.part.measures
        rows = [self.mechanism.release(row) for row in exact[measure]]
        width = (
            len(self.part.probabilities) if isinstance(self.part, QuantileChoice) else self.part.k
        )
        return np.array(rows, np.int64).reshape(-1, width)


@dataclass(frozen=True)
class Finder:
    """Discovery and its threshold."""

    part: Discovery
    mechanism: KeyThreshold
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part."""
        return self.mechanism.guarantee


Bought: TypeAlias = Noise | Chooser | Finder


def buy(
    part: Part,
    money: SpendAmount,
    *,
    share: Fraction,
    contribution: Contribution,
    delta: Fraction | None,
) -> Bought:
    """The mechanism with the least noise that this share of the spend pays for."""
    match part:
        case Discovery():
            if delta is None:
                raise InvalidArgument(
                    name="delta",
                    expected='given with keys="discover"',
                    given="nothing",
                    hint="a key of one person may be told with probability delta, as in delta=1e-6",
                )
            groups = contribution.groups * contribution.relation.add_remove_steps
            epsilon = money.share(share).pure
            return Finder(
                part, KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups), share
            )
        case QuantileChoice(probabilities=probabilities):
            # To be replaced is to leave and to come, in one and the same choice: twice the rows.
            # (In another group than before, both bear on it with half of that.)
            each = money.share(share, among=contribution.choices)
            quantiles = Quantiles(
                probabilities=probabilities,
                rows=contribution.rows * contribution.relation.add_remove_steps,
                **each.for_choice,
            )
            quantiles.check(part.bins.size)
            return Chooser(part, quantiles, contribution.choices, share)
        case CommonestChoice(k=k):
            each = money.share(share, among=contribution.choices)
            # Counts all move one way where someone comes; to be replaced moves some up, some down.
            monotone = contribution.relation is Relation.ADD_REMOVE
            top = TopK(k=k, rows=contribution.rows, monotone=monotone, **each.for_choice)
            return Chooser(part, top, contribution.choices, share)
        case _:
            moved = part.moves(contribution)
            noise = Noise(part, _noise(moved, money.share(share)), moved, share)
            if noise.size / part.step > _LARGEST_NOISE:
                raise Refused(
                    f"the noise for {part.words} would be {float(noise.size):.2g}, far beyond any "
                    "answer: spend more, or keep fewer groups and rows of each person"
                )
            return noise


def _noise(moved: Sensitivity, money: SpendAmount) -> Laplace | Gaussian:
    if money.kind == "epsilon":
        return Laplace(sensitivity=moved, epsilon=money.amount, step=1)
    return Gaussian(sensitivity=moved, step=1, **{money.kind: money.amount})


def protects(relation: Relation, unit: str | None) -> str:
    """Whom a guarantee protects, in words."""
    who = "one row" if unit is None else f"all rows of one {one_line(unit)}"
    how = "added or removed" if relation is Relation.ADD_REMOVE else "replaced"
    return f"{who}, {how}"
