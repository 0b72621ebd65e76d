"""What every aggregate is, says and does: parts, words, document, columns, errors, flags.

A new aggregate is a frozen dataclass that inherits from `Aggregate`, in a file of its own, and a
line in the package's list of members. Nothing else knows it, except the verifier of certificates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np

from discreet.errors import Cast, Idiom, InvalidArgument, Phrase
from discreet.mechanisms.ratio_error import expected_mean_error, mean_error, tail_point
from discreet.numeric.exact import Number, interval, positive
from discreet.numeric.numerals import CLAMPED
from discreet.query.expressions import Tree, Typed, as_type, literal_type, plain_value, typed
from discreet.query.keys import KEY_TYPES
from discreet.query.limits import MADE, check
from discreet.query.measures import AllRows, PresenceCounts, Present, Total, choose_grid
from discreet.query.public import arrow_type
from discreet.query.purchase import AddedNoise, Part, Purchase
from discreet.query.row import Row, build, plain, read_literal, read_tree, unread
from discreet.query.schema import Schema, Type

ColumnLike: TypeAlias = str | Callable[[Row], Any]
Bought: TypeAlias = Mapping[Part, Purchase]
Values: TypeAlias = Mapping[Part, Any]  #: the noisy values of each part


@dataclass(frozen=True)
class Output:
    """A column of the answer: values, and how far off each may be (95 %)."""

    name: str
    kind: str
    values: Any
    error: Any  # an array like `values`
    sources: tuple[str, ...]  # its noise: columns that share some are not independent
    integer: bool = False
    bounds: tuple[float, float] | None = None
    of: str | None = None  # the aggregate, where it has several columns
    listed: Any = None  # an Arrow array that `values` are indices into, where they are choices
    error_of: str = ""  # what the error is of, if not of the value: "rank_" or "count_"

    @property
    def error_name(self) -> str:
        """The name of its error column."""
        return f"{self.name}_{self.error_of}error"


@dataclass(frozen=True)
class Expected:
    """The error of a column, predicted without data."""

    name: str
    error: float
    unit: str  # "rows", "people", or what the value is measured in
    by_size: bool = False  # does the error depend on the size of the group?


class Asked(Protocol):
    """What follows an option on the command line: a column, its type, and parts between colons."""

    @property
    def column(self) -> str: ...
    @property
    def kind(self) -> Type: ...
    def __getitem__(self, part: str) -> str: ...  # as it was typed
    def items(self, part: str) -> list[str]: ...  # of a list with commas
    def values(self, part: str) -> list[Any]: ...  # the items, as values of the column's type


@dataclass(frozen=True)
class Flag:
    """How an aggregate is asked for on the command line, as in ``--mean pay=income:0:200000``."""

    option: str  #: without dashes
    help: str
    build: Callable[[Asked], tuple[str, Aggregate]]  #: with the name it gets if none is given
    metavar: str = ""  #: in the help; empty where nothing follows
    parts: tuple[str, ...] = ()  #: that follow the column
    example: str = ""


@dataclass(frozen=True)
class Told:
    """An object of a document that somebody wrote: its members are checked as they are read."""

    members: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name not in self.members:
            raise unread(f'an object with "{name}"')
        return self.members[name]

    def text(self, name: str) -> str:
        if not isinstance(self[name], str):
            raise unread(f'a text as "{name}"')
        return str(self[name])

    def items(self, name: str) -> list[Any]:
        if not isinstance(self[name], list):
            raise unread(f'a list as "{name}"')
        return list(self[name])

    def part(self, name: str) -> Told:
        return Told.of(self[name])

    def parts(self, name: str, most: int = MADE) -> list[Told]:
        """A member that is a list of objects."""
        found = self.items(name)
        check(len(found), most, name="document", what=name, hint="ask several smaller questions")
        return [Told.of(one) for one in found]

    @classmethod
    def of(cls, value: object) -> Told:
        if not isinstance(value, dict):
            raise unread("an object")
        return cls(value)

    @property
    def column(self) -> Any:
        """The expression that an aggregate is about."""
        return read_tree(self["column"])

    def values(self, name: str) -> list[Any]:
        """A list of values of the column's type."""
        kind = self.part("column")["type"]
        return [read_literal(value, kind) for value in self.items(name)]


class Aggregate(ABC):
    """One question about each group."""

    column: ColumnLike | Typed | None
    weight: Fraction  #: how much of the spend it gets, relative to those of other aggregates
    error_of = ""  #: what its errors are of, if not of the values: "rank_" or "count_"
    binned = False  #: does each group have many numbers, which are a query of their own?

    # -- as it is asked ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def kind(self) -> str:
        """What documents call it."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is asked, in a sentence."""

    @classmethod
    @abstractmethod
    def flags(cls) -> tuple[Flag, ...]:
        """How it is asked for on the command line."""

    @classmethod
    @abstractmethod
    def read(cls, told: Told) -> Aggregate:
        """The aggregate that `document` wrote; other fields are refused."""

    @property
    def document(self) -> Tree:
        """Its kind and its fields."""
        told = {one.name: plain_value(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **told}

    def resolve(self, schema: Schema) -> Aggregate:
        """The aggregate with its column typed, one of numbers; refused if types do not fit."""
        return self.on(read_number(self.column, schema, name=self.kind))

    def together(self, others: Sequence[Aggregate]) -> Aggregate:
        """The aggregate as it is bought beside the others of its query."""
        return self

    # -- as it is bought ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The parts that must be bought, besides `counts`."""

    @property
    def counts(self) -> tuple[Typed | None, ...]:
        """The values whose rows must be counted; None stands for all rows."""
        return ()

    # -- as it is answered -------------------------------------------------------------------------

    def names(self, name: str) -> list[str]:
        """The names of its columns."""
        return [name]

    @abstractmethod
    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """The columns, computed from the noisy values of each part."""

    @abstractmethod
    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The errors at 95 %, for a group of `size` rows where that matters."""

    def notes(self, bought: Bought) -> Iterator[str]:
        """What the errors do not cover."""
        if hasattr(self, "bounds"):
            yield CLAMPED

    def warnings(self, bought: Bought) -> Iterator[str]:
        """What an analyst should know before paying."""
        return iter(())

    # -- for its own use ---------------------------------------------------------------------------

    @property
    def value(self) -> Typed:
        """The column, once it is resolved."""
        assert isinstance(self.column, Typed)
        return self.column

    def on(self, value: Typed, **others: object) -> Self:
        """The same aggregate of a typed column."""
        return replace(self, column=value, **others)  # type: ignore[type-var]


# -- reading what the caller gave ------------------------------------------------------------------


def read_weight(weight: Number) -> Fraction:
    return positive(weight, name="weight")


def read_column(column: ColumnLike | Typed | None, schema: Schema, *, name: str) -> Typed:
    """A column or row expression, typed."""
    if column is None or isinstance(column, Typed):
        raise InvalidArgument(name, "asked once", "a resolved column")
    return typed(build(column, schema, argument=f"column of {name}"), schema)


def read_number(column: ColumnLike | Typed | None, schema: Schema, *, name: str) -> Typed:
    """A column or row expression that can be summed, typed; a condition counts as 0 or 1."""
    value = read_column(column, schema, name=name)
    if value.type is Type.BOOLEAN:
        value = as_type(value, Type.INTEGER)
    elif value.type is Type.RAW:
        value = as_type(value, Type.REAL)
    if not value.type.is_number:
        raise InvalidArgument(
            f"{name} of {value.words}",
            "a column of numbers",
            str(value.type),
            hint=Phrase(
                "{} needs none; text that holds numbers is read by {}",
                Idiom.COUNT,
                Cast("", "real"),
            ),
        )
    return value


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


def bounds_flag(option: str, help: str, build: Callable[..., Aggregate]) -> Flag:
    """The flag of an aggregate of a column with bounds."""
    return Flag(
        option,
        help,
        lambda asked: (
            f"{option.replace('-', '_')}_{asked.column}",
            build(asked.column, (asked["lower"], asked["upper"]), 1),
        ),
        metavar="COLUMN:LOWER:UPPER",
        parts=("lower", "upper"),
        example="income:0:200000",
    )


# -- what several aggregates share -----------------------------------------------------------------


@dataclass(frozen=True)
class Bounded(Aggregate):
    """Numbers of a column, each clamped to its bounds."""

    column: ColumnLike | Typed
    bounds: tuple[Fraction, Fraction]
    weight: Fraction
    kind: ClassVar[str]
    noun: ClassVar[str]  # in a sentence

    @classmethod
    def of(cls, column: ColumnLike, bounds: tuple[Number, Number] | None, weight: Number) -> Self:
        """Check what the caller gave."""
        return cls(column, read_bounds(bounds, name=cls.kind), read_weight(weight))

    @classmethod
    def read(cls, told: Told) -> Self:
        return cls.of(told.column, told["bounds"], told["weight"])

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        return (bounds_flag(cls.kind.replace(" ", "-"), f"The {cls.noun}.", cls.of),)

    @property
    def words(self) -> str:
        return clamped(self.noun, self.value, self.bounds)


def clamped(what: str, value: Typed, bounds: tuple[Fraction, Fraction]) -> str:
    """An aggregate of a column with bounds, in words.

    >>> days = Typed("column", (), "days", Type.INTEGER, True)
    >>> clamped("mean", days, (Fraction(0), Fraction(1_000)))
    'the mean of days, clamped to 0 to 1,000'
    """
    low, high = map(number_in_words, bounds)
    return f"the {what} of {value.words}, clamped to {low} to {high}"


def number_in_words(x: Fraction) -> str:
    """An exact number in a sentence."""
    return f"{x.numerator:,}" if x.denominator == 1 else str(x)


def count_part(bought: Bought, value: Typed | None) -> AllRows | Present | PresenceCounts:
    """The part that was bought to count the rows with a value, or, for None, all rows."""
    if value is not None and value.nullable:
        own = Present(value)
        return own if own in bought else PresenceCounts(value)
    both = (part for part in bought if isinstance(part, PresenceCounts))
    return next(both, AllRows()) if AllRows() not in bought else AllRows()


def read_count(bought: Bought, values: Values, value: Typed | None) -> Any:
    """The noisy count of the rows with a value, or, for None, of all rows."""
    part = count_part(bought, value)
    if not isinstance(part, PresenceCounts):
        return values[part]
    return values[part].sum(axis=1) if value is None else values[part][:, 0]


def count_error(bought: Bought, value: Typed | None) -> float:
    """The 95 % half-width of what `read_count` returns."""
    noise = added_noise(bought, count_part(bought, value))
    if value is not None or not isinstance(noise.part, PresenceCounts):
        return noise.error
    # the sum of two noisy counts
    size = float(noise.size)
    return float(tail_point(size, size, 1, noise=noise.noise))


def added_noise(bought: Bought, part: Part) -> AddedNoise:
    noise = bought[part]
    assert isinstance(noise, AddedNoise)
    return noise


def value_total(value: Typed, bounds: tuple[Fraction, Fraction], *, centred: bool) -> Total:
    """The exact sum of a value on the grid that fits its bounds."""
    return Total(value, choose_grid(bounds, whole=value.type is Type.INTEGER, centred=centred))


def ratio(total: Total, sums: Any, counts: Any) -> Any:
    """A noisy sum of values around 0 over a noisy count, within what one value can be; 0, the
    middle, where the count is not above 0."""
    above, half = counts > 0, total.half
    return np.clip(sums / np.where(above, counts, 1.0), -half, half) * above


def ratio_error(bought: Bought, total: Total, sums: Any, counts: Any) -> Any:
    """The half-width of each ratio at 95 %, including the rounding of values."""
    width = mean_error(sums, counts, confidence=0.95, **_ratio_noise(bought, total))
    return np.minimum(width + float(total.rounding), 2 * total.half)


def expected_ratio_error(bought: Bought, total: Total, size: int, confidence: float) -> float:
    """The half-width of a ratio for a group of this size, without data."""
    width = expected_mean_error(size, confidence=confidence, **_ratio_noise(bought, total))
    return min(float(width) + float(total.rounding), 2 * total.half)


def _ratio_noise(bought: Bought, total: Total) -> dict[str, Any]:
    sums = added_noise(bought, total)
    return {
        "scale_s": float(sums.size),
        "scale_n": float(added_noise(bought, count_part(bought, total.value)).size),
        "half_width": total.half,
        "noise": sums.noise,
        "step": float(total.step),
    }


def as_floats(values: Values, total: Total) -> Any:
    """Noisy sums in the value's own unit."""
    return np.asarray(values[total], np.float64) * float(total.step)


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


def listed_array(value: Typed, listed: tuple[Any, ...]) -> Any:
    """The values as an Arrow array of the column's type."""
    import pyarrow as pa

    return pa.array(listed, arrow_type(value.type))
