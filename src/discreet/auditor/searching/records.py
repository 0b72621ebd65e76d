"""What a record can be, read from what a caller gives; see `discreet.auditor.domains`."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.auditor.searching.numbers import Numbers
from discreet.auditor.searching.stream import Stream
from discreet.errors import InvalidArgument

_MOST_EDGES = 40
_KINDS = "biuf"


class Domain(Protocol):
    """What a record can be."""

    @property
    def edges(self) -> tuple[Any, ...]:
        """Records that are likely to hurt, the likeliest first."""
        ...

    @property
    def starts(self) -> tuple[tuple[Any, ...], ...]:
        """Datasets to start from."""
        ...

    @property
    def invented(self) -> bool:
        """Are records made up, so that they may be shown?"""
        ...

    def draw(self, stream: Stream) -> Any:
        """Some record."""
        ...

    def spread(self, stream: Stream, many: int) -> list[Any]:
        """Records from all over, different ones if there are enough."""
        ...

    def near(self, record: Any, stream: Stream) -> Any:
        """One that differs a little."""
        ...

    def dataset(self, records: Sequence[Any]) -> Any:
        """Records as a function of data gets to see them."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Values that were listed, or the records of datasets that were."""

    values: tuple[Any, ...]
    starts: tuple[tuple[Any, ...], ...] = ()
    dtype: Any = None  # of the array, for numbers
    invented = False

    @property
    def edges(self) -> tuple[Any, ...]:
        """The first and the last, and some between."""
        step = max(1, len(self.values) // _MOST_EDGES)
        return (self.values[0], self.values[-1], *self.values[1:-1:step])

    def draw(self, stream: Stream) -> Any:
        """One of them."""
        return stream.choose(self.values)

    def spread(self, stream: Stream, many: int) -> list[Any]:
        """All in turn."""
        first = stream.below(len(self.values))
        return [self.values[(first + i) % len(self.values)] for i in range(many)]

    def near(self, record: Any, stream: Stream) -> Any:
        """Another."""
        return stream.choose(self.values)

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array of numbers or of rows of numbers, or a list."""
        if self.dtype is None:
            return list(records)
        shape = np.shape(self.values[0])
        return np.array(list(records), self.dtype).reshape(-1, *shape)


@dataclass(frozen=True, eq=False)
class Made:
    """Records that a function makes from numbers in [0, 1)."""

    make: Callable[..., Any]
    arity: int
    starts: tuple[tuple[Any, ...], ...] = ()
    invented = True

    @property
    def edges(self) -> tuple[Any, ...]:
        """From corners of the cube, and its middle."""
        ends = (0.0, 1 - 2.0**-53, 0.5)
        corners = itertools.islice(itertools.product(ends, repeat=self.arity), _MOST_EDGES)
        return tuple(self.make(*corner) for corner in corners)

    def draw(self, stream: Stream) -> Any:
        """From anywhere."""
        return self.make(*(stream.unit() for _ in range(self.arity)))

    def spread(self, stream: Stream, many: int) -> list[Any]:
        """Each from anywhere."""
        return [self.draw(stream) for _ in range(many)]

    def near(self, record: Any, stream: Stream) -> Any:
        """From anywhere else."""
        return self.draw(stream)

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array, if the function makes numbers."""
        kind = np.asarray(self.make(*[0.5] * self.arity))
        numbers = kind.dtype.kind in _KINDS and not kind.shape
        return np.array(list(records), kind.dtype) if numbers else list(records)


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows: a record has one value of each domain."""

    columns: tuple[Domain, ...]
    starts: tuple[tuple[Any, ...], ...] = ()

    @property
    def invented(self) -> bool:
        """Is every column?"""
        return all(column.invented for column in self.columns)

    @property
    def edges(self) -> tuple[Any, ...]:
        """Extremes with extremes, then one column at its edges at a time."""
        ends = [column.edges[:2] for column in self.columns]
        corners = itertools.islice(itertools.product(*ends), 16)
        base = tuple(column.edges[0] for column in self.columns)
        single = [
            (*base[:i], edge, *base[i + 1 :])
            for i, column in enumerate(self.columns)
            for edge in column.edges[2:]
        ]
        return (*corners, *single)

    def draw(self, stream: Stream) -> Any:
        """Each column by itself."""
        return tuple(column.draw(stream) for column in self.columns)

    def spread(self, stream: Stream, many: int) -> list[Any]:
        """Each column in an order of its own."""
        columns = [stream.order(column.spread(stream, many)) for column in self.columns]
        return list(zip(*columns, strict=True))

    def near(self, record: Any, stream: Stream) -> Any:
        """One column moves."""
        i = stream.below(len(self.columns))
        return (*record[:i], self.columns[i].near(record[i], stream), *record[i + 1 :])

    def dataset(self, records: Sequence[Any]) -> Any:
        """A list of tuples."""
        return list(records)


def read_domain(domain: Any) -> Domain:
    """Read what a record can be.

    >>> read_domain((0, 10)).dataset([1, 2])
    array([1, 2])
    >>> read_domain(np.float32).edges[:3]
    (-3.4028234663852886e+38, 3.4028234663852886e+38, nan)
    >>> read_domain([(0.0, 1.0)])
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: domain must be a list of at least two values, got one; an \
interval is a tuple (lower, upper)
    """
    if isinstance(domain, type | np.dtype) or (isinstance(domain, str) and _is_dtype(domain)):
        return Numbers.of_dtype(domain)
    if isinstance(domain, tuple) and len(domain) == 2 and all(map(_is_number, domain)):
        return Numbers.between(*domain)
    if isinstance(domain, tuple) and domain:
        return Columns(tuple(read_domain(column) for column in domain))
    if callable(domain):
        return Made(domain, _arity(domain))
    if isinstance(domain, list | range | np.ndarray):
        return _listed(list(domain))
    raise InvalidArgument(
        name="domain",
        expected="an interval (lower, upper), a dtype, a list of values or of datasets, a function "
        "of numbers in [0, 1), or a tuple of these",
        given=InvalidArgument.describe_data(domain),
    )


def _listed(values: list[Any]) -> Listed:
    if values and all(isinstance(each, list | np.ndarray) for each in values):
        records = [record for each in values for record in each]
        as_array = isinstance(values[0], np.ndarray)
        starts = tuple(tuple(each) for each in values)
        return Listed(tuple(records), starts, values[0].dtype if as_array else None)
    if len(values) < 2:
        raise InvalidArgument(
            name="domain",
            expected="a list of at least two values",
            given="one" if values else "an empty list",
            hint="an interval is a tuple (lower, upper)",
        )
    scalar = all(map(_is_number, values))
    return Listed(tuple(values), dtype=np.asarray(values).dtype if scalar else None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)


def _is_dtype(name: str) -> bool:
    try:
        return np.dtype(name).kind in _KINDS
    except TypeError:
        return False


def _arity(function: Callable[..., Any]) -> int:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 1
    if not parameters:
        raise InvalidArgument(
            name="domain",
            expected="a function of numbers in [0, 1)",
            given="one without parameters",
            hint="as in lambda u: round(100 * u)",
        )
    return sum(one.kind in (0, 1) and one.default is one.empty for one in parameters) or 1
