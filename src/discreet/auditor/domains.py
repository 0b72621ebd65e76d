"""What a record can be, and pairs of neighbouring datasets of such records.

A domain is

- an interval ``(lower, upper)`` of integers or floats,
- a NumPy dtype (``np.int8`` to ``np.int64``, ``np.float32``, ``np.float64``, ``bool``): everything
  that fits in it, with NaN and infinities for floats,
- a list of values, or a list of whole datasets (lists or arrays of records),
- a function that makes a record from numbers in [0, 1), as many as it has parameters, or
- a tuple of such domains, for rows of several columns.

Numbers are passed on as NumPy arrays, everything else as lists of records.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, product, zip_longest
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from discreet.errors import InvalidArgument
from discreet.lazy import cached_property
from discreet.neighbors import Relation
from discreet.numeric.exact import integer

# -- numbers that decide what is tried: never noise ------------------------------------------------


T = TypeVar("T")


class SearchStream:
    """SHA-256 of a label and a counter, 64 bits at a time.

    >>> SearchStream("tries").below(1000) == SearchStream("tries").below(1000)
    True
    """

    def __init__(self, label: str) -> None:
        self._label = label.encode()
        self._count = 0
        self._words: list[int] = []

    def word(self) -> int:
        """64 bits."""
        if not self._words:
            digest = hashlib.sha256(self._label + self._count.to_bytes(8, "big")).digest()
            self._words = [int.from_bytes(digest[i : i + 8], "big") for i in range(0, 32, 8)]
            self._count += 1
        return self._words.pop()

    def unit(self) -> float:
        """A multiple of 2⁻⁵³ in [0, 1)."""
        return (self.word() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """One of 0, 1, ... n − 1."""
        return (self.word() << 64 | self.word()) % n

    def choose(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def picks(self, items: Sequence[T], many: int) -> list[T]:
        """This many of the items, with repetitions; only the first 256 are ever picked."""
        data = b"".join(self.word().to_bytes(8, "big") for _ in range(-(-many // 8)))
        return [items[byte % len(items)] for byte in data[:many]]

    def order(self, items: Sequence[T]) -> list[T]:
        """All the items, in some order."""
        left = list(items)
        for i in range(len(left) - 1, 0, -1):
            j = self.below(i + 1)
            left[i], left[j] = left[j], left[i]
        return left


# -- what a record can be --------------------------------------------------------------------------


class RecordDomain(Protocol):
    """What a record can be."""

    @property
    def edges(self) -> tuple[Any, ...]:
        """Records that are likely to cause trouble, the likeliest first."""

    @property
    def starts(self) -> tuple[tuple[Any, ...], ...]:
        """Datasets to start from."""
        return ()

    @property
    def invented(self) -> bool:
        """Are records made up, so that they may be shown?"""
        return True

    def draw(self, stream: SearchStream) -> Any:
        """Some record."""

    def spread(self, stream: SearchStream, many: int) -> list[Any]:
        """Records from all over, different ones if there are enough."""
        return [self.draw(stream) for _ in range(many)]

    def near(self, record: Any, stream: SearchStream) -> Any:
        """One that differs a little; any, where none is nearer than another."""
        return self.draw(stream)

    def dataset(self, records: Sequence[Any]) -> Any:
        """Records in the form in which a function of data receives them."""
        return list(records)


# -- numbers as records ----------------------------------------------------------------------------
# The ones where arithmetic goes wrong come first.


# Where whole numbers stop being exact as doubles and singles, where types end, and small ones.
_WHOLE = (0, 1, -1, 2, 3, 2**53 + 1, 2**53, 2**31 - 1, 2**31, 2**32, 2**24 + 1, 2**15, 2**62, 10**9)
_REAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0**50, 2.0**50 + 0.25, 2.0**50 + 1, 2.0**53, 2.0**53 + 2),
    *(5e-324, 0.1, 1 / 3, 2.0**-52, 1 + 2.0**-52, 2.0**24 + 1, 2.0**52 + 0.5, 1e9, 1e16, 1e154),
    *(1e308, 2.2250738585072014e-308, 2.0**-30, 2.0**10, 0.25, 0.75, 2.5, -0.5, 100.0),
)


@dataclass(frozen=True, eq=False)
class NumberDomain(RecordDomain):
    """Integers or floats from `lower` to `upper`."""

    lower: Any
    upper: Any
    dtype: Any  # None for integers that 64 bits do not hold
    odd: bool = False  # NaN and infinities too?

    @classmethod
    def between(cls, lower: Any, upper: Any) -> NumberDomain:
        """An interval: of integers if both ends are integers."""
        whole = all(isinstance(end, int | np.integer) for end in (lower, upper))
        if not (lower < upper) or not (math.isfinite(lower) and math.isfinite(upper)):
            raise InvalidArgument(
                "domain",
                "an interval (lower, upper) of finite numbers, the first below the second",
                "another",
                hint="for all floats, NaN and infinities with them, say np.float64",
            )
        if not whole:
            return cls(float(lower), float(upper), np.dtype(np.float64))
        fits = lower >= -(2**63) and upper < 2**63
        return cls(int(lower), int(upper), np.dtype(np.int64) if fits else None)

    @classmethod
    def of_dtype(cls, given: Any) -> NumberDomain:
        """Everything that a type holds."""
        try:
            dtype = np.dtype(given)
        except TypeError:
            dtype = np.dtype(object)
        match dtype.kind:
            case "b":
                return cls(0, 1, dtype)
            case "i" | "u":
                ends = np.iinfo(dtype)
                return cls(int(ends.min), int(ends.max), dtype)
            case "f" if dtype.itemsize <= 8:
                limits = np.finfo(dtype)
                return cls(float(limits.min), float(limits.max), dtype, odd=True)
        raise InvalidArgument(
            "domain",
            "a type of booleans, integers or floats of at most 64 bits",
            f"the type {getattr(given, '__name__', dtype)}",
        )

    @property
    def whole(self) -> bool:
        return isinstance(self.lower, int)

    @cached_property
    def edges(self) -> tuple[Any, ...]:
        """The ends, NaN and infinities, then numbers that round or wrap."""
        lower, upper = self.lower, self.upper
        if self.whole:
            middle = (lower + upper) // 2
            inner = [lower + 1, upper - 1, *_WHOLE, middle, middle + 1]
            return tuple(dict.fromkeys([lower, upper, *self._inside(inner)]))
        odd = [math.nan, math.inf, -math.inf] if self.odd else []
        beside = [math.nextafter(lower, math.inf), math.nextafter(upper, -math.inf)]
        inner = [*_REAL, *(beside if self.dtype == np.float64 else []), lower / 2 + upper / 2]
        found = [lower, upper, *odd, *self._inside(inner)]
        return tuple({x.hex(): x for x in found}.values())  # 0.0 and −0.0 are two

    def draw(self, stream: SearchStream) -> Any:
        """An edge, a number from anywhere between the ends, or one of any magnitude."""
        way = stream.below(10)
        if way < 3:
            return stream.choose(self.edges)
        if way < 6:
            return self._between(stream.unit())
        bits = stream.below(64 if self.whole or not self.odd else 1024)
        size = (1 + stream.unit()) * 2.0 ** (bits if self.whole or way < 8 else -stream.below(60))
        return self._fit(size if stream.below(2) else -size)

    def spread(self, stream: SearchStream, many: int) -> list[Any]:
        """Numbers between the ends, spread as evenly as chance makes them."""
        if self.whole:
            return [self.lower + stream.below(self.upper - self.lower + 1) for _ in range(many)]
        return [self._between(stream.unit()) for _ in range(many)]

    def near(self, record: Any, stream: SearchStream) -> Any:
        """A number a step, a quarter or a factor of two away."""
        if record != record or record in (math.inf, -math.inf):
            return stream.choose(self.edges)
        way = stream.below(6)
        if self.whole:
            moves = [record + 1, record - 1, record * 2, record // 2, -record]
        else:
            up = math.nextafter(record, math.inf)
            moves = [record + 0.25, record + 1, record * 2, record / 2, up]
        return self._fit(moves[way]) if way < 5 else self.draw(stream)

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array of the type, or a list of Python's integers."""
        return list(records) if self.dtype is None else np.array(list(records), self.dtype)

    def _between(self, share: float) -> Any:
        """The record at this share of the width, which as a whole may not fit in a double."""
        half = float(self.upper) / 2 - float(self.lower) / 2
        return self._fit(self.lower + share * half + share * half)

    def _inside(self, values: Sequence[Any]) -> list[Any]:
        return [self._fit(value) for value in values if self.lower <= value <= self.upper]

    def _fit(self, value: Any) -> Any:
        """The nearest record."""
        clamped = min(max(value, self.lower), self.upper)
        if self.whole:
            return int(clamped)
        return float(clamped) if self.dtype == np.float64 else float(self.dtype.type(clamped))


# -- domains, read from what a caller gives --------------------------------------------------------


_MOST_EDGES = 40
_KINDS = "biuf"


@dataclass(frozen=True, eq=False)
class Listed(RecordDomain):
    """Values that were listed, or the records of datasets that were listed."""

    values: tuple[Any, ...]
    starts: tuple[tuple[Any, ...], ...] = ()
    dtype: Any = None  # of the array, for numbers
    invented = False

    @property
    def edges(self) -> tuple[Any, ...]:
        """The first and the last value, and some in between."""
        step = max(1, len(self.values) // _MOST_EDGES)
        return (self.values[0], self.values[-1], *self.values[1:-1:step])

    def draw(self, stream: SearchStream) -> Any:
        return stream.choose(self.values)

    def spread(self, stream: SearchStream, many: int) -> list[Any]:
        """All values in turn."""
        first = stream.below(len(self.values))
        return [self.values[(first + i) % len(self.values)] for i in range(many)]

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array of numbers or of rows of numbers, or a list."""
        if self.dtype is None:
            return list(records)
        shape = np.shape(self.values[0])
        return np.array(list(records), self.dtype).reshape(-1, *shape)


@dataclass(frozen=True, eq=False)
class Made(RecordDomain):
    """Records that a function makes from numbers in [0, 1)."""

    make: Callable[..., Any]
    arity: int

    @property
    def edges(self) -> tuple[Any, ...]:
        """Records made from corners of the cube, and from its middle."""
        corners = product((0.0, 1 - 2.0**-53, 0.5), repeat=self.arity)
        return tuple(self.make(*corner) for corner in islice(corners, _MOST_EDGES))

    def draw(self, stream: SearchStream) -> Any:
        """A record made from any point of the cube."""
        return self.make(*(stream.unit() for _ in range(self.arity)))

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array, if the function makes numbers."""
        kind = np.asarray(self.make(*[0.5] * self.arity))
        numbers = kind.dtype.kind in _KINDS and not kind.shape
        return np.array(list(records), kind.dtype) if numbers else list(records)


@dataclass(frozen=True, eq=False)
class Columns(RecordDomain):
    """Rows: a record has one value of each domain."""

    columns: tuple[RecordDomain, ...]

    @property
    def invented(self) -> bool:
        return all(column.invented for column in self.columns)

    @property
    def edges(self) -> tuple[Any, ...]:
        """Rows of extremes, then rows with one column at its edges at a time."""
        corners = islice(product(*(column.edges[:2] for column in self.columns)), 16)
        base = tuple(column.edges[0] for column in self.columns)
        single = [
            (*base[:i], edge, *base[i + 1 :])
            for i, column in enumerate(self.columns)
            for edge in column.edges[2:]
        ]
        return (*corners, *single)

    def draw(self, stream: SearchStream) -> Any:
        """Each column by itself."""
        return tuple(column.draw(stream) for column in self.columns)

    def spread(self, stream: SearchStream, many: int) -> list[Any]:
        """Each column in an order of its own."""
        columns = [stream.order(column.spread(stream, many)) for column in self.columns]
        return list(zip(*columns, strict=True))

    def near(self, record: Any, stream: SearchStream) -> Any:
        """One column moves."""
        i = stream.below(len(self.columns))
        return (*record[:i], self.columns[i].near(record[i], stream), *record[i + 1 :])


def read_domain(domain: Any) -> RecordDomain:
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
        return NumberDomain.of_dtype(domain)
    if isinstance(domain, tuple) and len(domain) == 2 and all(map(_is_number, domain)):
        return NumberDomain.between(*domain)
    if isinstance(domain, tuple) and domain:
        return Columns(tuple(read_domain(column) for column in domain))
    if callable(domain):
        return Made(domain, _arity(domain))
    if isinstance(domain, list | range | np.ndarray):
        return _listed_domain(list(domain))
    raise InvalidArgument.of_data(
        "domain",
        "an interval (lower, upper), a dtype, a list of values or of datasets, a function "
        "of numbers in [0, 1), or a tuple of these",
        domain,
    )


def _listed_domain(values: list[Any]) -> Listed:
    if values and all(isinstance(each, list | np.ndarray) for each in values):
        records = [record for each in values for record in each]
        as_array = isinstance(values[0], np.ndarray)
        starts = tuple(tuple(each) for each in values)
        return Listed(tuple(records), starts, values[0].dtype if as_array else None)
    if len(values) < 2:
        raise InvalidArgument(
            "domain",
            "a list of at least two values",
            "one" if values else "an empty list",
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
            "domain",
            "a function of numbers in [0, 1)",
            "one without parameters",
            hint="as in lambda u: round(100 * u)",
        )
    return sum(one.kind in (0, 1) and one.default is one.empty for one in parameters) or 1


# -- pairs, and small changes to them --------------------------------------------------------------
# A dataset is a multiset, so that neighbours are two lists with all but one record in common, in
# any order: if a function depends on the order, a person can move it by taking another place.


ABSENT: Final = object()
# Unless sizes are given: in all shapes, and where integers wrap. Sums of floats from left to right
# are within 10⁻⁹ of their claim up to about 2,000 records, so they are not accused by default.
LARGEST: Final = 1024
WIDEST: Final = 4096
_VALUES: Final = 8
KEPT, REVERSED, RISING, FALLING = range(4)  # orders; later ones are shuffles


@dataclass(frozen=True)
class Sizes:
    """How many records a dataset may have."""

    least: int
    most: int
    usual: int  # the most, except where integers wrap

    @classmethod
    def read(cls, size: int | tuple[int, int] | None, relation: Relation) -> Sizes:
        """A number is the public size under replace, and the largest one under add-remove."""
        replaced = relation is Relation.REPLACE
        if size is None:
            return cls(int(replaced), WIDEST, LARGEST)
        if isinstance(size, tuple | list):
            least, most = (integer(end, name="size", minimum=0) for end in size)
        else:
            most = integer(size, name="size", minimum=1)
            least = most if replaced else 0
        if most < max(1, least + (not replaced)):
            raise InvalidArgument(
                "size",
                "room for two neighbours",
                f"from {least:,} to {most:,} records",
                hint="under add-remove one of them has one more record",
            )
        return cls(max(least, int(replaced)), most, most)


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two neighbours: what both have, and the record that differs, at a place of its own."""

    both: tuple[Any, ...]
    left: Any  # ABSENT under add-remove
    right: Any
    place: int = 0
    order: int = KEPT  # of the second one

    def lists(self) -> tuple[list[Any], list[Any]]:
        place = min(self.place, len(self.both))
        first, second = list(self.both), list(self.both)
        if self.left is not ABSENT:
            first.insert(place, self.left)
        second.insert(place, self.right)
        return first, _ordered(second, self.order)

    def in_words(self, *, shown: bool) -> str:
        """What the second one has that the first does not.

        >>> NeighbourPair((1, 1), 3, 4, order=REVERSED).in_words(shown=True)
        'worst[1] has 4 where worst[0] has 3, and another order'
        """
        left, right = (repr(one) for one in (self.left, self.right))
        if self.left is ABSENT:
            told = f"worst[1] has one record more{f': {right}' if shown else ''}"
        else:
            told = "worst[1] has another record in place of one of worst[0]"
            told = f"worst[1] has {right} where worst[0] has {left}" if shown else told
        return told + (", and another order" if self.order != KEPT else "")

    def datasets(self, domain: RecordDomain) -> tuple[Any, Any]:
        first, second = self.lists()
        return domain.dataset(first), domain.dataset(second)


def _ordered(records: list[Any], order: int) -> list[Any]:
    if order == KEPT:
        return records
    if order > FALLING:
        return SearchStream(f"order {order}").order(records)
    if order != REVERSED:
        with suppress(TypeError, ValueError):  # records without an order
            return sorted(records, reverse=order == FALLING)
    return records[::-1]


@dataclass(frozen=True)
class Changes:
    """Small changes to a pair that leave its two datasets neighbours."""

    domain: RecordDomain
    relation: Relation
    sizes: Sizes
    shuffled: bool

    def fits(self, pair: NeighbourPair) -> bool:
        """Are both of an allowed size?"""
        smaller = len(pair.both) + (self.relation is Relation.REPLACE)
        return self.sizes.least <= smaller and len(pair.both) + 1 <= self.sizes.most

    def fresh(self, stream: SearchStream, turn: int) -> NeighbourPair:
        """A new pair; the first ones are small."""
        least = self.sizes.least - (self.relation is Relation.REPLACE)
        room = 2 ** stream.below(2 + min(turn // 50, self.sizes.usual.bit_length()))
        many = min(max(least, 0) + stream.below(room), self.sizes.usual - 1)
        if stream.below(3) == 0:  # all different: some lie where nobody looks
            both = tuple(self.domain.spread(stream, many))
        else:
            # Of few different values, so that some are equal: these round in the same direction.
            values = [self.domain.draw(stream) for _ in range(1 + stream.below(_VALUES))]
            both = tuple(stream.picks(values, many))
        left = ABSENT if self.relation is Relation.ADD_REMOVE else self.domain.draw(stream)
        return self._with_order(NeighbourPair(both, left, self.domain.draw(stream)), stream)

    def changed(self, pair: NeighbourPair, stream: SearchStream) -> NeighbourPair:
        """The pair with one thing about it changed."""
        new = self._changed(pair, stream)
        return new if self.fits(new) else pair

    def left(self, record: Any) -> Any:
        """What the first dataset has where the second one's own record is: this, or nothing."""
        return ABSENT if self.relation is Relation.ADD_REMOVE else record

    def _value(self, old: Any, stream: SearchStream) -> Any:
        match stream.below(3):
            case 0:
                return stream.choose(self.domain.edges)
            case 1:
                return self.domain.near(old, stream)
        return self.domain.draw(stream)

    def _changed(self, pair: NeighbourPair, stream: SearchStream) -> NeighbourPair:
        both, many = pair.both, len(pair.both)
        match stream.below(7):
            case 0 | 1 as side:  # one of the two records that differ
                if side == 0 or pair.left is ABSENT:
                    return replace(pair, right=self._value(pair.right, stream))
                return replace(pair, left=self._value(pair.left, stream))
            case 2 if both:  # a record that both have
                i = stream.below(many)
                return replace(pair, both=(*both[:i], self._value(both[i], stream), *both[i + 1 :]))
            case 3 if both:  # all of those, to the same one
                return replace(pair, both=(self._value(stream.choose(both), stream),) * many)
            case 4:  # more of them
                more = both if stream.below(2) else (self.domain.draw(stream),)
                return replace(pair, both=(*both, *more[: max(0, self.sizes.usual - 1 - many)]))
            case 5:  # fewer
                keep = many // 2 if stream.below(2) else many - 1
                return replace(pair, both=both[: max(keep, 0)])
            case 6:  # another place, or order
                return self._with_order(replace(pair, place=stream.below(many + 1)), stream)
        return pair

    def _with_order(self, pair: NeighbourPair, stream: SearchStream) -> NeighbourPair:
        if not self.shuffled or stream.below(2):
            return pair
        return replace(pair, order=stream.below(12))


# -- pairs to start a search from ------------------------------------------------------------------
# Small ones at the edges, then the shapes that known bugs have. Names in comments are those of the
# catalogue of attacks: B1 wraps, B2 rounds, B3 depends on the order, B7 on a size, B8 on neighbours
# in the order.


_FEW = 24  # edges that are paired with each other
_TYPES = (8, 16, 32, 7, 15, 31)  # bits of integers, with and without a sign
_MANY = (15, 63, 255, 1023, 4095)  # records that share a value


def starts(changes: Changes) -> Iterator[NeighbourPair]:
    """Pairs in a fixed order, single records first; some may be too large or too small."""
    least = max(0, changes.sizes.least - (changes.relation is Relation.REPLACE))
    edges = changes.domain.edges
    base = (edges[0],) * least
    for left, right in _sides(changes, edges[:_FEW]):
        yield NeighbourPair(base, left, right, place=least)
    shapes = [_listed(changes), _spread(changes), _beside(changes, least)]
    if isinstance(changes.domain, NumberDomain):
        shapes += [
            _wrapping(changes, changes.domain),
            _rounding(changes, changes.domain),
            _heavy_last(changes, changes.domain),
        ]
    for turn in zip_longest(*shapes):  # one of each: no shape has to wait for another to end
        yield from filter(None, turn)


def _sides(changes: Changes, edges: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """What differs: a record that is added, or one that replaces another."""
    if changes.relation is Relation.ADD_REMOVE:
        yield from ((ABSENT, edge) for edge in edges)
        return
    pairs = sorted(product(range(len(edges)), repeat=2), key=sum)
    yield from ((edges[i], edges[j]) for i, j in pairs if i < j)


def _listed(changes: Changes) -> Iterator[NeighbourPair]:
    """Each dataset that was given, with one record removed or replaced."""
    for records in changes.domain.starts:
        for i, record in islice(enumerate(records), 50):
            rest = (*records[:i], *records[i + 1 :])
            if changes.relation is Relation.ADD_REMOVE:
                yield NeighbourPair(rest, ABSENT, record, place=i)
            else:
                yield from (
                    NeighbourPair(rest, record, other, i) for other in changes.domain.edges[:8]
                )


def _beside(changes: Changes, least: int) -> Iterator[NeighbourPair]:
    """B1: a record next to one or more copies of an edge."""
    edges = changes.domain.edges
    for many in (1, 2, 3):
        sides = list(_sides(changes, edges[:8]))
        for edge, (left, right) in product(edges[:10], sides[:12]):
            both = (edge,) * max(least, many)
            yield NeighbourPair(both, left, right, place=len(both))


def _spread(changes: Changes) -> Iterator[NeighbourPair]:
    """B7, B8: all sizes up to 20, with different records, in several orders."""
    edges = changes.domain.edges
    for many in range(20):
        both = tuple(edges[i % len(edges)] for i in range(2, many + 2))
        left, right = changes.left(edges[0]), edges[1 % len(edges)]
        for order in (KEPT, REVERSED, RISING, FALLING) if changes.shuffled else (KEPT,):
            yield NeighbourPair(both, left, right, place=many // 2, order=order)
        if isinstance(changes.domain, NumberDomain):
            yield from _ladder(changes, changes.domain, many)


def _ladder(changes: Changes, domain: NumberDomain, many: int) -> Iterator[NeighbourPair]:
    """B8: rising values, of which the first becomes the last."""
    step = 1 if domain.whole else domain.upper / (many + 2) - domain.lower / (many + 2)
    rungs = [min(domain.lower + step * i, domain.upper) for i in range(many + 2)]
    for order in (KEPT, RISING):
        yield NeighbourPair(tuple(rungs[1:-1]), changes.left(rungs[0]), rungs[-1], order=order)


def _wrapping(changes: Changes, domain: NumberDomain) -> Iterator[NeighbourPair]:
    """B1: as many copies of an end as a type can add up, and one more."""
    if not domain.whole:
        return
    ends = ((domain.upper, domain.lower), (domain.lower, domain.upper))
    for bits, (end, other) in product(_TYPES, ends):
        many = -(-(2**bits) // abs(end)) if end else 0
        for copies in (many - 1, many):  # the first sum at the limit, and the first above it
            if 0 < copies < changes.sizes.most:
                yield NeighbourPair((end,) * copies, changes.left(other), end, place=copies)


def _rounding(changes: Changes, domain: NumberDomain) -> Iterator[NeighbourPair]:
    """B2 (Casacuberta et al. 2022): many equal values whose sum is rounded each time, and one
    value that decides in which direction."""
    if domain.whole:
        return
    sizes = [many for many in _MANY if many < changes.sizes.usual] or [changes.sizes.usual - 1]
    for bits, many in product((50, 51, 49, 52, 40, 30, 20, 0, -20), sizes):
        m = 2.0**bits if bits > 0 else domain.upper * 2.0 ** (bits - 1)
        unit = 1.0 if bits > 0 else m
        for part in (0.25, 0.5, 0.75):
            repeated, heavier = m + part * unit, m + unit
            if domain.lower <= m and heavier <= domain.upper:
                left = changes.left(m)
                right = unit if left is ABSENT and domain.lower <= unit else heavier
                for order in (KEPT, REVERSED) if changes.shuffled else (KEPT,):
                    yield NeighbourPair((repeated,) * many, left, right, order=order)


def _heavy_last(changes: Changes, domain: NumberDomain) -> Iterator[NeighbourPair]:
    """B3: one large value before, or after, many small ones."""
    if not changes.shuffled:
        return
    sizes = [many for many in _MANY if many < changes.sizes.usual]
    for heavy, many in product((2.0**53, 2.0**54, 2.0**60, domain.upper), sizes):
        for light in (1, 0.5, heavy * 2.0**-54, heavy * 2.0**-53):
            record = int(light) if domain.whole else float(light)
            if domain.lower <= record and heavy <= domain.upper and record > 0:
                weight = int(heavy) if domain.whole else float(heavy)
                both = (weight, *[record] * (many - 1))
                left = changes.left(record)
                yield NeighbourPair(both, left, record, place=many, order=REVERSED)


# -- neighbours, one pair after the other ----------------------------------------------------------


def neighbours(
    domain: Any,
    relation: Relation | str,
    *,
    tries: int = 1000,
    size: int | tuple[int, int] | None = None,
    shuffled: bool = True,
) -> Iterator[tuple[Any, Any]]:
    """Pairs of neighbouring datasets, the most troublesome first, the same ones in every run.

    What ``domain`` can be is listed above. ``size`` is the largest number of records, or
    (least, most); under replace a single number is the public size. Unless ``shuffled`` is
    False, neighbours may also come in different orders.

    >>> for x, y in neighbours((0.0, 1.0), "add-remove", tries=3):
    ...     print(x, y)
    [] [0.]
    [] [1.]
    [] [-0.]
    """
    told = Relation.parse(relation)
    changes = Changes(read_domain(domain), told, Sizes.read(size, told), shuffled)
    stream, left = SearchStream("neighbours"), integer(tries, name="tries", minimum=1)
    begun = (pair for pair in starts(changes) if changes.fits(pair))
    for turn in range(left):
        pair = next(begun, None) if turn % 2 == 0 or turn < 100 else None
        yield (pair or changes.fresh(stream, turn)).datasets(changes.domain)
