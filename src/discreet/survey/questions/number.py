"""A question whose answer is a number in a range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric import exact
from discreet.survey.estimates.confidence import About
from discreet.survey.estimates.means import MeanEstimate, estimate_mean, mean_reach
from discreet.survey.estimates.tally import Tally
from discreet.survey.questions.question import Question, array_of, read_text, wrong, wrong_rows
from discreet.survey.randomizers.levels import MOST_STEPS, Levels

_LARGEST: Final = 10**15
_FEW: Final = 6  # marks that a card names one by one
_FINE: Final = 2**20  # steps if none is given: at most a millionth of the range is lost


@dataclass(frozen=True, init=False)
class Number(Question):
    """A number from ``bounds``, in steps; the estimated mean is unbiased for answers on the steps.

    ``name`` heads a column of the reports: letters, digits and ``_``. ``text`` is what is asked, in
    one line. ``bounds`` are the least and the greatest answer; ``step`` is the distance between
    answers, which divides the range (a millionth of it if left out). ``unit``, such as "years", is
    shown after numbers; nothing if left out. Give either ``epsilon``, the ε of one answer, or
    ``truth``, the lecture's q: the chance that its level is sent; otherwise a random one is.

    ``prior`` is how sure somebody might be of an answer beforehand, between 0 and 1: the card says
    how sure they can be afterwards. Left out, it says so for 1 %, 10 % and 50 %.
    ``permanent=True`` keeps the first randomized answer on the respondent's machine and sends it
    again in every wave, so it costs once and shows no change; False if left out.

    >>> question = Number("age", "How old are you?", bounds=(0, 120), step=1, epsilon=1)
    >>> question.read(30), question.steps
    (30, 120)
    """

    kind: ClassVar[str] = "number"
    answers: ClassVar[str] = "LOWER:UPPER"
    choices: ClassVar[tuple[str, ...]] = ()
    name: str
    text: str
    lower: Fraction
    upper: Fraction
    step: Fraction | None
    unit: str
    epsilon: Fraction | None
    truth: Fraction | None
    prior: Fraction | None
    permanent: bool

    @spelled
    def __init__(
        self,
        name: str,
        text: str,
        *,
        bounds: tuple[exact.Number, exact.Number],
        step: exact.Number | None = None,
        epsilon: exact.Number | None = None,
        truth: exact.Number | None = None,
        unit: str = "",
        prior: exact.Number | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(name, text, epsilon=epsilon, truth=truth, prior=prior, permanent=permanent)
        lower, upper = _read_bounds(bounds)
        self.__dict__.update(
            lower=lower,
            upper=upper,
            step=None if step is None else _read_step(step, upper - lower),
            unit=unit if unit == "" else read_text(unit, name="unit"),
        )
        _ = self.randomizer  # a promise that cannot be kept is refused here

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest answer."""
        return self.lower, self.upper

    @cached_property
    def steps(self) -> int:
        """How many steps there are from the least answer to the greatest."""
        return _FINE if self.step is None else int((self.upper - self.lower) / self.step)

    def choose(self) -> Levels:
        """Stochastic rounding to a few levels, then randomized response on those."""
        return Levels(steps=self.steps, **self.promise)

    def why(self, respondents: int | None = None) -> str:
        """How many levels there are, and why; it does not depend on ``respondents``."""
        levels = self.randomizer.outcomes
        return f"{self.randomizer.name} to {levels} levels, which has the least worst variance"

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The levels that are reported, as numbers."""
        last = self.randomizer.outcomes - 1
        width = self.upper - self.lower
        return tuple(plain(self.lower + width * level / last) for level in range(last + 1))

    def read(self, answer: object) -> int:
        """The step nearest to ``answer``, from 0; a number outside the bounds is refused."""
        try:
            value: Fraction | None = exact.number(answer, name="answer")
        except InvalidArgument:  # which would quote it
            value = None
        if value is None or not self.lower <= value <= self.upper:
            raise wrong(self._expected, answer=answer)
        return floor((value - self.lower) / (self.upper - self.lower) * self.steps + Fraction(1, 2))

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The nearest step of each number of ``column``; one outside the bounds refuses all."""
        array = array_of(column)
        if array.dtype.kind not in "iuf":
            return np.array([self.read(answer) for answer in array.tolist()], np.int64)
        values = array.astype(np.float64, copy=False)
        inside = (values >= float(self.lower)) & (values <= float(self.upper))
        if not inside.all():
            raise wrong_rows(f"{self._expected}, all of them", ~inside)
        # ⌊(x − lower)/step + ½⌋, which may leave the range through rounding alone
        places = (values - float(self.lower)) * (self.steps / float(self.upper - self.lower))
        nearest = np.floor(places + 0.5).astype(np.int64)
        return np.clip(nearest, 0, self.steps, out=nearest)

    @property
    def _expected(self) -> str:
        return f"a number from {plain(self.lower)} to {plain(self.upper)}{self._unit}"

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def fields(self) -> dict[str, Any]:
        given = super().fields()
        return {"bounds": (given.pop("lower"), given.pop("upper")), **given}

    @staticmethod
    def page_field() -> str:
        """A number that is typed."""
        return "number: measured"

    def document(self) -> dict[str, Any]:
        """For the page and the collector: bounds as exact texts, such as "1/3" if need be."""
        ends = {"lower": str(self.lower), "upper": str(self.upper)}
        return {**ends, "steps": self.steps, "unit": self.unit}

    def changed(self) -> str:
        marks = self.categories
        named = f"{marks[0]}, {marks[1]} and so on to {marks[-1]}"
        if len(marks) <= _FEW:
            named = f"{', '.join(marks[:-1])} and {marks[-1]}"
        return (
            f"Your number is rounded to one of {len(marks)} marks ({named}{self._unit}) by chance, "
            f"the nearer the likelier. {super().changed()}"
        )

    def estimate(self, tally: Tally, *, confidence: Fraction, about: About) -> MeanEstimate:
        return estimate_mean(self, tally, confidence=confidence, about=about)

    def reach(
        self, confidence: Fraction, share: float | None, about: About
    ) -> Callable[[int], float]:
        return mean_reach(cast(Levels, self.randomizer), confidence, share, about)

    def expected(self, half_width: float, people: str) -> str:
        ends = f"{plain(self.lower)} to {plain(self.upper)}"
        return f"{self.mean_width(half_width)} {people} for the mean of {ends}, at worst"

    def mean_width(self, half_width: float) -> str:
        return f"±{half_width * float(self.upper - self.lower):.3g}{self._unit}"

    @classmethod
    def arguments(cls, answers: str) -> dict[str, Any]:
        """Bounds, with a colon between them."""
        lower, _, upper = answers.partition(":")
        return {"bounds": (lower.strip(), upper.strip())}

    def prompt(self) -> str:
        return f"a number from {float(self.lower):g} to {float(self.upper):g}{self._unit}"


def plain(value: Fraction) -> str:
    """A number for readers: as a short decimal, or to six digits.

    >>> plain(Fraction(5, 2)), plain(Fraction(-3)), plain(Fraction(1, 3))
    ('2.5', '-3', '0.333333')
    """
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


def _read_bounds(value: object) -> tuple[Fraction, Fraction]:
    """Read bounds that floats, here and in a browser, can tell apart with room to spare."""
    lower, upper = exact.interval(value, name="bounds")
    largest = max(abs(lower), abs(upper))
    if largest > _LARGEST or (upper - lower) * 10**6 < largest:
        raise InvalidArgument(
            "bounds",
            "at most 10^15 in size, and not closer to each other than a millionth of it",
            f"{plain(lower)} and {plain(upper)}" if largest <= _LARGEST else "larger ones",
            hint="ask for the distance from a round number",
        )
    return lower, upper


def _read_step(value: exact.Number, width: Fraction) -> Fraction:
    step = exact.positive(value, name="step")
    if (width / step).denominator != 1 or width / step > MOST_STEPS:
        raise InvalidArgument.of(
            "step",
            f"such that the range of {plain(width)} is a whole number of steps, at most "
            f"{MOST_STEPS:,} of them",
            value,
            hint="leave it out for steps of a millionth of the range",
        )
    return step
