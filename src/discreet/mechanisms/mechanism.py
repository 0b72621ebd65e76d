"""What mechanisms share: parameters and data as callers give them, and noise on a grid.

Values are integers or reals of any shape, read without guessing. What is refused is refused by
type and shape. Only NaN and infinities are refused by value, because no noise makes them safe:
replace or clamp them beforehand, in every record alike. No message contains a value.

Integers get noise on the integers, floats on a fine grid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Argument, Idiom, InvalidArgument, Phrase, UnboundedSensitivity
from discreet.lazy import cached_property
from discreet.noise.additive import (
    INT_MAX,
    INT_MIN,
    FloatGrid,
    Grid,
    IntegerGrid,
    Law,
    add,
    add_one,
    fine_exponent,
)
from discreet.numeric.exact import Number, number, positive, round_up
from discreet.sensitivity import Sensitivity

# -- parameters ------------------------------------------------------------------------------------


Norm = Literal["l1", "l2", "linf"]


def exactly_one(**options: Number | None) -> tuple[str, Number]:
    """Return the name and value of the only option given; refuse none and several."""
    given = [(name, value) for name, value in options.items() if value is not None]
    if len(given) == 1:
        return given[0]
    names = list(options)
    raise InvalidArgument(
        " or ".join(names),
        "given, and only one of them",
        " and ".join(name for name, _ in given) or "none",
        hint=Phrase(
            "say {} for the promise or {} for the noise", Argument(names[0]), Argument(names[-1])
        ),
        code="conflicting-arguments" if given else "missing-argument",
    )


def positive_sensitivity(value: Number | Sensitivity, *, norm: Norm) -> Fraction:
    """Read a sensitivity: a number above 0, or a fact from ``discreet.sensitivity``.

    Of a fact the mechanism takes the norm that it is calibrated to. 0 would mean no noise.
    """
    if isinstance(value, Sensitivity):
        exact: Fraction = getattr(value, norm)
        return exact
    if isinstance(value, float) and value == float("inf"):
        raise UnboundedSensitivity(
            Phrase(
                "sensitivity is infinite, so no noise is enough; bound what one person "
                "contributes, for example by clamping values to {}",
                Idiom.BOUNDS,
            )
        )
    exact = number(value, name="sensitivity")
    if exact > 0:
        return exact
    raise InvalidArgument.of(
        "sensitivity",
        "above 0",
        value,
        hint="a statistic that no person can change needs no mechanism, and one that "
        "somebody can change has a sensitivity above 0",
    )


# -- values ----------------------------------------------------------------------------------------


# Integers beyond 2^53 would be rounded on their way to a float, and rounding can move two
# neighbours apart. Clamping cannot.
EXACT_FLOAT: Final = 1 << 53


@dataclass(frozen=True)
class Values:
    """Values as one flat array, of int64 or float64 unless stated, and the shape they came in."""

    flat: NDArray[Any]
    shape: tuple[int, ...] | None  # None for a scalar, which is an array of one here

    def shaped(self, result: NDArray[Any]) -> Any:
        """Give ``result`` the shape of the values; a scalar becomes one of Python's."""
        return result[0].item() if self.shape is None else result.reshape(self.shape)

    @property
    def whole(self) -> bool:
        """Whether these are integers."""
        return self.flat.dtype == np.int64


def read_values(value: ArrayLike, *, name: str = "value") -> Values:
    """Read a scalar, a sequence or an array of integers or finite floats.

    Integers outside int64 are clamped to its edges, which never moves two values apart.

    >>> read_values([1, 2, 3]).whole, read_values(0.5).whole, read_values([1, 2.5]).whole
    (True, False, False)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Values(np.array([_clamp(value)], np.int64), None)
    if type(value) is float and isfinite(value):
        return Values(np.array([value]), None)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview):
        return _finite(_from_sequence(value, name), name)
    if isinstance(value, np.ma.MaskedArray):  # its hidden values would come back
        raise _refuse(name, value, "without a mask", "fill or drop what is masked")
    array = np.asarray(value)
    shape = array.shape if isinstance(value, np.ndarray) or array.ndim else None
    return _finite(Values(_from_array(array, value, name), shape), name)


def as_floats(values: Values) -> Values:
    """Return integers as the same numbers in float64."""
    if not values.whole:
        return values
    exact = np.clip(values.flat, -EXACT_FLOAT, EXACT_FLOAT)
    return Values(exact.astype(np.float64), values.shape)


def _from_sequence(value: Sequence[Any], name: str) -> Values:
    # dtype=object keeps each element as it is: NumPy would turn large integers into floats
    try:
        array = np.array(list(value), dtype=object)
    except ValueError:  # what NumPy raises for arrays of different shapes
        raise _refuse(name, value, "of one shape", "some of its rows differ in length") from None
    kinds = {type(element) for element in array.flat}
    if not kinds or not all(map(_is_number, kinds)):
        raise _refuse_elements(name, value, kinds)
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        flat = np.array([_clamp(int(element)) for element in array.flat], np.int64)
    else:
        flat = np.array([_as_float(element) for element in array.flat], np.float64)
    return Values(flat, array.shape)


def _is_number(kind: type) -> bool:
    return kind is not bool and issubclass(kind, int | float | np.integer | np.floating)


def _from_array(array: NDArray[Any], value: object, name: str) -> NDArray[Any]:
    if array.size == 0:
        raise _refuse(name, value, "at least one number", "there is nothing to release")
    flat = np.ascontiguousarray(array).reshape(-1)
    match flat.dtype.kind, flat.dtype.itemsize:
        case "u", 8:
            clamped: NDArray[np.uint64] = np.minimum(flat, np.uint64(INT_MAX))
            return clamped.astype(np.int64)
        case (("i" | "u"), _):
            return flat.astype(np.int64, copy=False)
        case "f", (2 | 4 | 8):
            return flat.astype(np.float64, copy=False)
    kind = "" if flat.dtype.kind in "OUSV" else f" of dtype {flat.dtype}"
    raise _refuse(
        name,
        value,
        f"a number, or a list or array of integers or floats, not{kind or ' text or objects'}",
        "convert it with int() or float(), and pass the values of a table or mapping as a list",
    )


def _finite(values: Values, name: str) -> Values:
    flat = values.flat
    if values.whole or (np.isfinite(flat.max()) and np.isfinite(flat.min())):
        return values
    raise InvalidArgument(
        name,
        "finite",
        "NaN or an infinity",
        hint="replace or clamp such values in every record before anything is summed",
    )


def _clamp(number: int) -> int:
    return max(INT_MIN, min(INT_MAX, number))


def _as_float(element: Any) -> float:
    if isinstance(element, int | np.integer):
        return float(max(-EXACT_FLOAT, min(EXACT_FLOAT, int(element))))
    return float(element)


def _refuse_elements(name: str, value: object, kinds: set[type]) -> InvalidArgument:
    """Say what is wrong with a list by the types in it, never by its values."""
    if not kinds:
        return _refuse(name, value, "at least one number", "there is nothing to release")
    if kinds & {list, tuple}:
        return _refuse(name, value, "of one shape", "some of its rows differ in length")
    others = sorted(kind.__name__ for kind in kinds if not _is_number(kind))
    return _refuse(
        name,
        value,
        f"numbers only, without elements of type {', '.join(others)}",
        "convert or replace them in every record first",
    )


def _refuse(name: str, value: object, expected: str, hint: str) -> InvalidArgument:
    return InvalidArgument.of_data(name, expected, value, hint=hint)


# -- scores, and whether they all move the same way ------------------------------------------------


def read_scores(scores: Any, *, name: str = "scores") -> NDArray[Any]:
    """Read a flat list or array of integers or finite floats as int64 or float64.

    >>> read_scores([3, 1, 2]).dtype
    dtype('int64')
    """
    values = read_values(scores, name=name)
    dimensions = 0 if values.shape is None else len(values.shape)
    if dimensions == 1:
        return values.flat
    raise InvalidArgument(
        name,
        "a flat list or array, with one score for each candidate",
        "a single number" if dimensions == 0 else f"an array of {dimensions} dimensions",
        hint="as in release([12, 7, 31])",
    )


def read_score(score: ArrayLike) -> NDArray[Any]:
    """Read a single integer or finite float as an array of one."""
    values = read_values(score, name="score")
    if not values.shape:
        return values.flat
    raise InvalidArgument(
        "score",
        "a single number",
        f"an array of {len(values.shape)} dimensions",
        hint="ask one score at a time, or pass all of them to release",
    )


def read_flag(flag: object, *, name: str) -> bool:
    """Read True or False, and nothing that is merely truthy: "no" would be true."""
    if isinstance(flag, bool | np.bool_):
        return bool(flag)
    raise InvalidArgument.of(name, Idiom.TRUTH, flag)


# -- additive noise on the grid that fits ----------------------------------------------------------


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
    raise InvalidArgument.of(
        "step",
        '"fine" or a power of two',
        step,
        hint="such as 1, 0.25 or 1024: results are exact multiples of it",
    )


def check_noise(noise: Fraction, *, name: str) -> Fraction:
    """Refuse noise so small or large that its grid leaves the range of a double."""
    if SMALLEST <= noise <= LARGEST:
        return noise
    raise InvalidArgument(name, "between 2^-900 and 2^900", "a number outside of that")


class CenteredLaw(Protocol):
    """What a law says about how far it reaches."""

    def tail(self, confidence: Number) -> int | Fraction: ...

    @property
    def variance(self) -> float: ...


class NoisyNumbers(ABC):
    """A mechanism that adds independent noise to each number: on the integers, or on a float grid,
    as ``step`` asks for."""

    step: Step
    _samplers: ClassVar[tuple[Callable[[Fraction], Law], Callable[[Fraction], Law]]]  # on each grid

    @property
    @abstractmethod
    def _size(self) -> Fraction:
        """The scale or sigma of the noise."""

    @abstractmethod
    def law(self, value: int | float | Fraction) -> CenteredLaw:
        """Return the exact law of ``release(value)`` for one number, far from int64's edges."""

    def release(self, value: ArrayLike) -> Any:
        """Return ``value`` plus noise, in the same shape. Each call spends ``guarantee``."""
        values = read_values(value)
        if values.whole and self._keeps_integers:
            law, grid = self._on_integers
        else:
            values = as_floats(values)
            law, grid = self._on_floats
        if values.shape is None:
            return add_one(values.flat.item(), law, grid)
        return add(values.flat, law, grid).reshape(values.shape)

    def error(self, confidence: Number = Fraction(95, 100)) -> float:
        """Return w such that |released − true| ≤ w with probability ``confidence`` at least.

        ``confidence`` is between 0 and 1; 0.95 if left out. It holds for integers and for floats.
        With ``step=1`` it is the least such w for integers, and floats may be off by 1 more.
        """
        widths = []
        if self._keeps_integers:
            widths.append(Fraction(self.law(0).tail(confidence)))
        if self.step != 1:
            # A value off the grid: |rounded(x + Z) − x| ≤ |Z| + ½ step, and |Z| is below
            # tail + ½ step wherever the rounded Z is at most tail.
            widths.append(Fraction(self.law(0.0).tail(confidence)) + self._float_step)
        return round_up(max(widths))

    @property
    def variance(self) -> float:
        """The variance of the noise at a value on the grid, rounded up: a little more than that of
        the noise before it is rounded."""
        at_zero = [self.law(0)] if self._keeps_integers else []
        return max(one.variance for one in [*at_zero, *([] if self.step == 1 else [self.law(0.0)])])

    @property
    def _keeps_integers(self) -> bool:
        """Whether integers stay integers: not on a fine grid, nor on one with another step."""
        return self.step is None or self.step == 1

    @property
    def _float_step(self) -> Fraction:
        return Fraction(2) ** _step_exponent(self._size, self.step)

    @cached_property
    def _on_integers(self) -> tuple[Law, Grid]:
        return self._samplers[0](self._size), IntegerGrid()

    @cached_property
    def _on_floats(self) -> tuple[Law, Grid]:
        sampler = self._samplers[1](self._size / self._float_step)
        return sampler, FloatGrid(_step_exponent(self._size, self.step))


def _step_exponent(noise: Fraction, step: Step) -> int:
    """Return e for a float grid of 2^e."""
    if step is None or step == "fine":
        return fine_exponent(noise)
    return step.numerator.bit_length() - step.denominator.bit_length()


def _power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
