"""Additive noise on the grid that fits: integers on the integers, floats on a fine grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Protocol

from numpy.typing import ArrayLike

from discreet.errors import InvalidArgument
from discreet.exact import Number, positive, round_up
from discreet.lazy import cached_property
from discreet.mechanisms.values import as_floats, read
from discreet.noise.additive import Law, add, add_one
from discreet.noise.grid import FloatGrid, Grid, IntegerGrid, fine_exponent

Step = Literal["fine"] | Fraction | None

SMALLEST: Final = Fraction(2) ** -900
LARGEST: Final = Fraction(2) ** 900


def read_step(step: Number | None, *, noise: Fraction) -> Step:
    """Read a ``step``: None, "fine", or a power of two not too far from the noise."""
    if step is None:
        return None
    if isinstance(step, str) and step == "fine":
        return "fine"
    exact = positive(step, name="step")
    if _power_of_two(exact.numerator) and _power_of_two(exact.denominator):
        check_noise(exact, name="step")
        check_noise(noise / exact, name="noise over step")
        return exact
    raise InvalidArgument(
        name="step",
        expected='"fine" or a power of two',
        given=InvalidArgument.describe_parameter(step),
        hint="such as 1, 0.25 or 1024: results are exact multiples of it",
    )


def check_noise(noise: Fraction, *, name: str) -> Fraction:
    """Refuse noise so small or large that its grid leaves the range of a double."""
    if SMALLEST <= noise <= LARGEST:
        return noise
    raise InvalidArgument(
        name=name, expected="between 2^-900 and 2^900", given="a number outside of that"
    )


class Spread(Protocol):
    """What a law says about how far it reaches."""

    def tail(self, confidence: Number) -> int | Fraction: ...

    @property
    def variance(self) -> float: ...


@dataclass(frozen=True)
class Noise:
    """Noise on the integers and on a float grid, and which of them ``step`` asks for."""

    size: Fraction  # scale or sigma
    step: Step
    on_integers: Callable[[Fraction], Law]
    on_floats: Callable[[Fraction], Law]

    @property
    def keeps_integers(self) -> bool:
        """Do integers stay integers? Not on a fine grid, nor on one of another step."""
        return self.step is None or self.step == 1

    @cached_property
    def _integer(self) -> tuple[Law, Grid]:
        return self.on_integers(self.size), IntegerGrid()

    @cached_property
    def _float(self) -> tuple[Law, Grid]:
        exponent = step_exponent(self.size, self.step)
        return self.on_floats(self.size / Fraction(2) ** exponent), FloatGrid(exponent)

    def error(self, law: Callable[[int | float], Spread], confidence: Number) -> float:
        """Return w such that |released − true| ≤ w with at least this probability."""
        widths = []
        if self.keeps_integers:
            widths.append(Fraction(law(0).tail(confidence)))
        if self.step != 1:
            # A value off the grid: |rounded(x + Z) − x| ≤ |Z| + ½ step, and |Z| is below
            # tail + ½ step wherever the rounded Z is at most tail.
            step = Fraction(2) ** step_exponent(self.size, self.step)
            widths.append(Fraction(law(0.0).tail(confidence)) + step)
        return round_up(max(widths))

    def variance(self, law: Callable[[int | float], Spread]) -> float:
        """Return the variance of the noise at a value on the grid, the larger if there are two."""
        at_zero = [law(0)] if self.keeps_integers else []
        return max(one.variance for one in [*at_zero, *([] if self.step == 1 else [law(0.0)])])

    def add_to(self, value: ArrayLike) -> Any:
        """Return ``value``, in its shape, plus independent noise on each number."""
        values = read(value)
        if values.whole and self.keeps_integers:
            law, grid = self._integer
        else:
            values = as_floats(values)
            law, grid = self._float
        if values.shape is None:
            return add_one(values.flat.item(), law, grid)
        return add(values.flat, law, grid).reshape(values.shape)


def step_exponent(noise: Fraction, step: Step) -> int:
    """Return e for a float grid of 2^e."""
    if step is None or step == "fine":
        return fine_exponent(noise)
    return step.numerator.bit_length() - step.denominator.bit_length()


def _power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
