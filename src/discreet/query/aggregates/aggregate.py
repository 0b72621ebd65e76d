"""What every aggregate does: say what it needs, turn noisy parts into columns, predict errors.

A new aggregate is a frozen dataclass with the methods of `Aggregate`, in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from discreet.errors import Cast, Idiom, InvalidArgument, Phrase
from discreet.mechanisms.ratio_error import expected_mean_error, mean_error, tail_point
from discreet.numeric.exact import Number, interval, positive
from discreet.query.expressions import Typed, as_type, in_words, literal_type, typed
from discreet.query.keys import KEY_TYPES
from discreet.query.measures import Total, choose_grid
from discreet.query.public import arrow_type
from discreet.query.purchase import (
    AddedNoise,
    Counted,
    Counting,
    Part,
    PresenceCounts,
    Purchase,
    ValueSum,
)
from discreet.query.row import Row, build, plain
from discreet.query.schema import Schema, Type

ColumnLike: TypeAlias = str | Callable[[Row], Any]


@dataclass(frozen=True)
class Output:
    """A column of the answer: values, and how far off each may be (95 %)."""

    name: str
    kind: str
    values: Any
    error: Any  # an array like `values`
    error_name: str
    sources: tuple[
        str, ...
    ]  # the noise it was made from: columns that share some are not independent
    integer: bool = False
    bounds: tuple[float, float] | None = None
    of: str | None = None  # the aggregate, where it has several columns
    listed: Any = None  # an Arrow array that `values` are indices into, where they are choices


@dataclass(frozen=True)
class Expected:
    """The error of a column, predicted without data."""

    name: str
    error: float
    unit: str  # "rows", "people", or what the value is measured in
    by_size: bool = False  # does the error depend on the size of the group?


@dataclass(frozen=True)
class Noisy:
    """The mechanism that was bought for each part, and the noisy values that it drew."""

    bought: Mapping[Part, Purchase]
    values: Mapping[Part, Any]


class Aggregate(Protocol):
    """One question about each group."""

    @property
    def weight(self) -> Fraction:
        """How much of the spend it gets, relative to the weights of the other aggregates."""
        ...

    def resolve(self, schema: Schema) -> Aggregate:
        """The aggregate with its column typed; refused if the types do not fit."""
        ...

    @property
    def counts_rows(self) -> bool:
        """Does it need the number of rows?"""
        ...

    @property
    def counted(self) -> tuple[Counted, ...]:
        """The values of which it needs to know in how many rows they are present."""
        ...

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """The parts that must be bought."""
        ...

    def columns(self, name: str) -> list[tuple[str, str]]:
        """The names of its columns, each with the name of its error column."""
        ...

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The columns, computed from the noisy values."""
        ...

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The errors at 95 %, for a group of `size` rows where that matters."""
        ...


def read_weight(weight: Number) -> Fraction:
    """Check a weight and make it exact."""
    return positive(weight, name="weight")


def read_column(column: ColumnLike | Typed, schema: Schema, *, name: str) -> tuple[Typed, str]:
    """A column or row expression, typed, and what to call it."""
    if isinstance(column, Typed):
        raise InvalidArgument(name, "asked once", "a resolved column")
    expression = build(column, schema, argument=f"column of {name}")
    return typed(expression, schema), in_words(expression)


def read_number(column: ColumnLike | Typed, schema: Schema, *, name: str) -> tuple[Typed, str]:
    """A column or row expression that can be summed, typed; a condition counts as 0 or 1."""
    value, label = read_column(column, schema, name=name)
    if value.type is Type.BOOLEAN:
        value = as_type(value, Type.INTEGER)
    elif value.type is Type.RAW:
        value = as_type(value, Type.REAL)
    if not value.type.is_number:
        raise InvalidArgument(
            f"{name} of {label}",
            "a column of numbers",
            str(value.type),
            hint=Phrase(
                "{} needs none; text that holds numbers is read by {}",
                Idiom.COUNT,
                Cast("", "real"),
            ),
        )
    return value, label


def read_bounds(bounds: tuple[Number, Number] | None, *, name: str) -> tuple[Fraction, Fraction]:
    """Check the declared bounds, without which one row could move the answer without limit."""
    if bounds is None:
        raise InvalidArgument.missing(
            "bounds",
            f"given for {name}, since one row could be of any size",
            hint=Phrase(
                "say {} from what you know of the column, not from the data{}",
                Idiom.BOUNDS,
                Idiom.BOUGHT_BOUNDS,
            ),
        )
    lower, upper = interval(bounds, name="bounds")
    if max(abs(lower), abs(upper)) > 10**100 or (upper - lower) * 10**100 < 1:
        raise InvalidArgument(
            "bounds", "between -1e100 and 1e100, and at least 1e-100 apart", "others"
        )
    return lower, upper


# -- what several aggregates share -----------------------------------------------------------------


def read_count(noisy: Noisy, part: Part, *, everything: bool) -> Any:
    """The noisy count of all rows (`everything`), or of the rows with the value."""
    values = noisy.values[part]
    if isinstance(part, PresenceCounts):
        return values.sum(axis=1) if everything else values[:, 0]
    return values


def count_error(bought: Purchase, *, everything: bool) -> float:
    """The 95 % half-width of what `read_count` returns."""
    assert isinstance(bought, AddedNoise)
    if not (everything and isinstance(bought.part, PresenceCounts)):
        return bought.error
    # the sum of two noisy counts
    size = float(bought.size)
    return float(tail_point(size, size, 1, noise=bought.noise))


def value_total(
    value: ColumnLike | Typed, bounds: tuple[Fraction, Fraction], *, centred: bool
) -> Total:
    """The exact sum of a value on the grid that fits its bounds."""
    assert isinstance(value, Typed)
    whole = value.type is Type.INTEGER
    return Total(value, choose_grid(bounds, whole=whole, centred=centred))


@dataclass(frozen=True)
class Ratio:
    """A noisy sum of values within ±half over a noisy count, and its error."""

    sum_noise: AddedNoise
    count_noise: AddedNoise
    half: float
    rounding: float  # of a single value

    @classmethod
    def of(cls, bought: Mapping[Part, Purchase], total: ValueSum, counted: Part) -> Ratio:
        """The ratio of a sum and a count that were bought."""
        low, high = total.extent
        step = float(total.step)
        sums, counts = bought[total], bought[counted]
        assert isinstance(sums, AddedNoise) and isinstance(counts, AddedNoise)
        return cls(sums, counts, max(-low, high) * step, float(total.rounding))

    def value(self, sums: Any, counts: Any) -> Any:
        """sum/count within ±half; 0, the middle, where the count is not above 0."""
        above = counts > 0
        return np.clip(sums / np.where(above, counts, 1.0), -self.half, self.half) * above

    def error(self, sums: Any, counts: Any, confidence: float = 0.95) -> Any:
        """The half-width of each ratio, including the rounding of values."""
        width = mean_error(
            sums,
            counts,
            scale_s=float(self.sum_noise.size),
            scale_n=float(self.count_noise.size),
            half_width=self.half,
            noise=self.sum_noise.noise,
            confidence=confidence,
            step=float(self.sum_noise.part.step),
        )
        return np.minimum(width + self.rounding, 2 * self.half)

    def expected(self, size: int, confidence: float = 0.95) -> float:
        """The half-width for a group of this size, without data."""
        width = expected_mean_error(
            size,
            scale_s=float(self.sum_noise.size),
            scale_n=float(self.count_noise.size),
            half_width=self.half,
            noise=self.sum_noise.noise,
            confidence=confidence,
            step=float(self.sum_noise.part.step),
        )
        return min(float(width) + self.rounding, 2 * self.half)


def as_floats(steps: Any, part: ValueSum) -> Any:
    """Sums in steps of the grid, converted to the value's own unit."""
    return np.asarray(steps, np.float64) * float(part.step)


# -- public lists of values, checked against their column ------------------------------------------


def read_listed(
    value: Typed, listed: tuple[Any, ...], *, name: str
) -> tuple[Typed, tuple[Any, ...]]:
    """The listed values, checked to be distinct and of the column's type; a raw column takes the
    type of the list."""
    values = tuple(plain(one) for one in listed)
    kinds = {literal_type(one) for one in values}
    if len(kinds) != 1 or not kinds <= set(KEY_TYPES):
        raise InvalidArgument(
            name,
            "a list of booleans, integers, texts or dates, all of one type",
            " and ".join(sorted(map(str, kinds))) or "an empty list",
            hint="list what can occur: it may not be taken from the data",
        )
    if len(set(values)) != len(values):
        raise InvalidArgument(name, "distinct", "a list with a value twice")
    (kind,) = kinds
    value = as_type(value, kind) if value.type is Type.RAW else value
    if value.type is not kind:
        raise InvalidArgument(name, f"of the column's type, {value.type}", str(kind))
    return value, values


def listed_array(value: ColumnLike | Typed, listed: tuple[Any, ...]) -> Any:
    """The values as an Arrow array of the column's type."""
    import pyarrow as pa

    assert isinstance(value, Typed)
    return pa.array(listed, arrow_type(value.type))
