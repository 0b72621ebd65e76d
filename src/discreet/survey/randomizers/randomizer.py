"""What every randomizer of answers can do, and what all of them share.

No message contains a true answer or a report.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee, LossDistribution
from discreet.inputs import Categories
from discreet.numeric.balls import arb, ball, certainly_at_most, sharp, upper, upper_fraction
from discreet.survey import cells
from discreet.survey.cells import Cells, Flags

Counts = NDArray[np.int64]
Column = NDArray[Any]

_LARGEST_LOSS: Final = 30  # e^30 is more than any card states


class Randomizer(ABC):
    """Turns columns of truths into reports, and counts how many reports support what.

    It says what a report looks like by its base, `IntegerReports` or `BitReports`. ``counts`` of
    several batches may be added up before ``supports_of`` and ``asked_of`` read them. A member that
    is missing in a new one is a type error.
    """

    kind: ClassVar[str]
    report: ClassVar[Literal["integer", "bits"]]
    crossable: ClassVar[bool] = True  #: whether a report supports answers, for a cross table
    epsilon: Fraction  #: the loss of this law, rounded up

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different integers, or how many bits, a report has."""

    @property
    @abstractmethod
    def inside(self) -> Fraction:
        """P(a report supports an answer, if it is the true one)."""

    @property
    @abstractmethod
    def outside(self) -> Fraction:
        """P(a report supports an answer, if another one is true)."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one report promises."""

    @abstractmethod
    def randomize(self, truths: ArrayLike) -> Column:
        """Return a report for each truth. Costs ``guarantee`` each."""

    @abstractmethod
    def law(self, truth: Any) -> laws.Finite:
        """The exact law of the report of this truth."""

    @abstractmethod
    def chances(self) -> dict[str, int | str]:
        """The whole numbers that decide about an answer."""

    def document(self) -> dict[str, int | str]:
        """What a browser needs to randomize in the same way."""
        return {"kind": self.kind, "categories": self.answers, **self.chances()}

    @abstractmethod
    def changed(self, opposite: str) -> str:
        """What the card says about it; ``opposite`` are the words for the other of two answers."""

    def denied(self, opposite: str) -> str:
        """Who sends the same, where the card can say more than the odds do; else ""."""
        return ""

    # -- what follows from the probabilities -------------------------------------------------------

    @property
    def answers(self) -> int:
        """How many answers there are to estimate a share of."""
        return self.outcomes

    @property
    def inputs(self) -> Categories:
        return Categories(self.answers)

    @property
    def part(self) -> float:
        """The part of all reports that says something about an answer."""
        return 1.0

    @property
    def odds(self) -> Fraction:
        """The most times likelier that any report is with one answer than with another: e^ε,
        rounded up, where the law's own probabilities do not say it exactly."""
        loss = min(self.epsilon, Fraction(_LARGEST_LOSS))
        return upper_fraction(sharp(lambda: ball(loss).exp()))

    def variance(self, share: float | None = None) -> float:
        """The variance of one respondent's contribution to an estimated share; at 1/k if none is
        given."""
        at = 1 / self.answers if share is None else share
        return variance_of_share(self.inside, self.outside, at)

    # -- what a report looks like ------------------------------------------------------------------

    @abstractmethod
    def read(self, column: Any) -> Cells:
        """A column of reports from a file or a table."""

    @abstractmethod
    def impossible(self, reports: Column) -> Flags:
        """Which reports are none of this randomizer's."""

    @abstractmethod
    def could_be(self, report: object) -> bool:
        """Whether one report, as it is written, has the form of this randomizer's."""

    @abstractmethod
    def counts(self, reports: ArrayLike) -> Counts:
        """What is counted of some reports."""

    @abstractmethod
    def supports_of(self, counts: Counts) -> Counts:
        """How many of the reports counted support each answer."""

    @abstractmethod
    def asked_of(self, counts: Counts) -> Counts:
        """How many of the reports counted say something about each answer."""

    def supports(self, reports: ArrayLike) -> Counts:
        """How many reports support each answer."""
        return self.supports_of(self.counts(reports))


class IntegerReports(Randomizer):
    """A report is an integer below ``outcomes``, and supports the answer of that number."""

    report = "integer"

    def read(self, column: Any) -> Cells:
        return cells.integers(column)

    def impossible(self, reports: Column) -> Flags:
        return np.asarray((reports < 0) | (reports >= self.outcomes))

    def could_be(self, report: object) -> bool:
        return type(report) is int and 0 <= report < self.outcomes

    def counts(self, reports: ArrayLike) -> Counts:
        """How often each integer was reported."""
        column = _column(reports, self.outcomes, "reports")
        total = np.zeros(self.outcomes, np.int64)
        at_once = max(_AT_ONCE, 4 * self.outcomes)  # each batch costs a pass over the outcomes
        for start in range(0, column.size, at_once):
            part = column[start : start + at_once]
            _within(part, self.outcomes, "reports")
            total += np.bincount(part.astype(np.int64, copy=False), minlength=self.outcomes)
        return total

    def supports_of(self, counts: Counts) -> Counts:
        return counts

    def asked_of(self, counts: Counts) -> Counts:
        return np.full(self.answers, counts.sum())


class BitReports(Randomizer):
    """A report is a row of bits, one for each item, where −1 stands for one that was not asked."""

    report = "bits"
    least: ClassVar[int] = 0  #: −1 where not all items are asked
    categories: int

    @property
    def outcomes(self) -> int:
        return self.categories

    def read(self, column: Any) -> Cells:
        return cells.bits(column, self.categories)

    def impossible(self, reports: Column) -> Flags:
        return np.asarray(np.any(reports < 0, axis=1))

    def could_be(self, report: object) -> bool:
        fits = isinstance(report, str) and len(report) == self.categories
        return fits and set(str(report)) <= set("01-")

    def counts(self, reports: ArrayLike) -> Counts:
        """Two rows: how often each bit was 1, and how often it was asked for."""
        rows, items = np.asarray(reports), self.categories
        if rows.shape[1:] != (items,) or rows.dtype.kind not in "biu":
            raise InvalidArgument.of_data("reports", f"bits, {items} in a row", reports)
        if rows.size and not self.least <= rows.min() <= rows.max() <= 1:
            raise InvalidArgument("reports", f"bits from {self.least} to 1", "others too")
        total = np.zeros((2, items), np.int64)
        at_once = max(1, _AT_ONCE // items)
        for start in range(0, len(rows), at_once):
            part = rows[start : start + at_once]
            total[0] += np.count_nonzero(part == 1, axis=0)
            total[1] += np.count_nonzero(part >= 0, axis=0) if self.least < 0 else len(part)
        return total

    def supports_of(self, counts: Counts) -> Counts:
        ones: Counts = counts[0]
        return ones

    def asked_of(self, counts: Counts) -> Counts:
        asked: Counts = counts[1]
        return asked


# -- probabilities in steps of 2⁻⁵³, rounded toward more noise, with the loss proven ---------------
# A browser computes exactly up to 2⁵³, so every probability that decides about an answer is T/2⁵³
# for a whole number T. Of the T that keep the promised ε, the one with the least noise is taken;
# ball arithmetic decides whether a T keeps it. Guarantees and estimates are computed from the law
# with this T, not from the ε that was asked for.


GRID: Final = 1 << 53

Loss = Callable[[int], arb]  # of the law with this T; falls as T grows


def least_noise(loss: Loss, epsilon: Fraction, *, none: int) -> tuple[int, Fraction]:
    """Return the least T ≥ 1 with a proven loss(T) ≤ ε, and that loss, rounded up but not above ε;
    at T = ``none`` the loss would be 0.

    >>> T, lost = least_noise(lambda T: ball(Fraction(GRID - T, T)).log(), Fraction(1), none=2**52)
    >>> round(T / GRID, 12), 1 - 1e-15 < lost <= 1              # 1/(e + 1)
    (0.26894142137, True)
    """
    steps = range(1, none)
    keeps = bisect_left(
        steps, True, key=lambda step: certainly_at_most(partial(loss, step), epsilon)
    )
    if keeps == len(steps):
        raise InvalidArgument.of(
            "epsilon",
            "large enough that some T/2^53 tells answers apart",
            epsilon,
            hint="so little loss means that reports say nothing; take 1e-9 or more",
        )
    step = steps[keeps]
    return step, min(true_loss(loss, step), epsilon)


def true_loss(loss: Loss, step: int) -> Fraction:
    """The loss of the law with this T, rounded up to a float."""
    return Fraction(upper(sharp(partial(loss, step))))


def ratio_loss(likelier: Fraction, rarer: Fraction) -> arb:
    """ln(likelier/rarer)."""
    return ball(likelier / rarer).log()


def exchanged(likelier: Fraction, rarer: Fraction) -> LossDistribution:
    """The guarantee where two truths exchange the probabilities of two events, and no others."""
    rest = 1 - likelier - rarer
    return LossDistribution.from_laws([likelier, rarer, rest], [rarer, likelier, rest])


# -- how far an estimated share strays, from two probabilities -------------------------------------
# A report supports category v with probability `inside` if v is the truth and `outside` if it is
# not. So a share s of respondents makes a share  p = outside + s·(inside − outside)  of supporting
# reports, and (support − outside)/(inside − outside) of one report is unbiased for s.


def variance_of_share(inside: Fraction | float, outside: Fraction | float, share: float) -> float:
    """p(1 − p)/(inside − outside)²: the variance of one respondent, who is drawn by chance as well.

    >>> variance_of_share(0.75, 0.25, 0.5)
    1.0
    """
    gain = float(inside - outside)
    p = float(outside) + share * gain
    return p * (1 - p) / gain**2


# -- truths and reports, checked and counted -------------------------------------------------------


MOST_OUTCOMES: Final = 4096  # for which a law is written down
_AT_ONCE: Final = 1 << 15  # values processed at a time: they stay in the cache


def read_integers(values: ArrayLike, bound: int, *, name: str) -> NDArray[Any]:
    """Read a column of integers from 0 to ``bound`` − 1, in their own dtype.

    >>> read_integers([2, 0, 5], 5, name="truths")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: truths must be integers from 0 to 4, got others too
    """
    column = _column(values, bound, name)
    for start in range(0, column.size, _AT_ONCE):
        _within(column[start : start + _AT_ONCE], bound, name)
    return column


def _column(values: ArrayLike, bound: int, name: str) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim == 1 and column.size == 0:
        return np.empty(0, np.int64)  # an empty list has no useful dtype
    if column.ndim != 1 or column.dtype.kind not in "biu":
        expected = f"one column of integers from 0 to {bound - 1}"
        raise InvalidArgument.of_data(name, expected, values)
    return column


def _within(part: NDArray[Any], bound: int, name: str) -> None:
    if not 0 <= part.min() <= part.max() < bound:
        raise InvalidArgument(name, f"integers from 0 to {bound - 1}", "others too")


def in_blocks(draw: Callable[[Column], Column], rows: Column, into: Column, size: int) -> Column:
    """What is drawn for all rows, for this many at a time, so that arrays stay small."""
    for start in range(0, len(rows), size):
        into[start : start + size] = draw(rows[start : start + size])
    return into


def read_sets(values: ArrayLike, items: int, most: int) -> NDArray[np.bool_]:
    """Read chosen items, one row per person: bools, at most ``most`` of them true."""
    rows = np.asarray(values)
    if rows.shape[1:] != (items,) or rows.dtype != np.bool_:
        raise InvalidArgument.of_data("truths", f"bools, {items} in a row", values)
    if most < items and rows.size and np.count_nonzero(rows, axis=1).max() > most:
        raise InvalidArgument("truths", f"rows with at most {most} items chosen", "others too")
    return rows


def chosen(truth: Any, items: int, most: int) -> set[int]:
    """The items of a row of bools, of a place in ``sets``, or the one item that may be chosen."""
    if np.ndim(truth) == 1:
        return set(np.flatnonzero(read_sets(np.asarray(truth)[None], items, most)).tolist())
    return {truth} if most == 1 else set(sets(items, most)[truth])


def sets(items: int, most: int) -> list[tuple[int, ...]]:
    """All sets of at most ``most`` items; the first ones are the single items, in order.

    >>> sets(3, 2)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), ()]
    """
    sizes = [*range(1, most + 1), 0]
    return [chosen for size in sizes for chosen in combinations(range(items), size)]


def writable(outcomes: int) -> None:
    """Refuse to write down the law of too many outcomes."""
    if outcomes > MOST_OUTCOMES:
        raise InvalidArgument(
            "law",
            f"asked for where there are at most {MOST_OUTCOMES} reports",
            f"{outcomes} of them",
            hint="look at the same randomizer with fewer categories",
        )
