"""Numbers as records: the ones where arithmetic goes wrong come first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.auditor.searching.stream import Stream
from discreet.errors import InvalidArgument
from discreet.lazy import cached_property

# Where whole numbers stop being exact as doubles and singles, where types end, and small ones.
_WHOLE = (0, 1, -1, 2, 3, 2**53 + 1, 2**53, 2**31 - 1, 2**31, 2**32, 2**24 + 1, 2**15, 2**62, 10**9)
_REAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0**50, 2.0**50 + 0.25, 2.0**50 + 1, 2.0**53, 2.0**53 + 2),
    *(5e-324, 0.1, 1 / 3, 2.0**-52, 1 + 2.0**-52, 2.0**24 + 1, 2.0**52 + 0.5, 1e9, 1e16, 1e154),
    *(1e308, 2.2250738585072014e-308, 2.0**-30, 2.0**10, 0.25, 0.75, 2.5, -0.5, 100.0),
)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Integers or floats from `lower` to `upper`."""

    lower: Any
    upper: Any
    dtype: Any  # None for integers that 64 bits do not hold
    odd: bool = False  # NaN and infinities too?
    starts: tuple[tuple[Any, ...], ...] = ()
    invented = True

    @classmethod
    def between(cls, lower: Any, upper: Any) -> Numbers:
        """An interval: of integers if both ends are integers."""
        whole = all(isinstance(end, int | np.integer) for end in (lower, upper))
        if not (lower < upper) or not (math.isfinite(lower) and math.isfinite(upper)):
            raise InvalidArgument(
                name="domain",
                expected="an interval (lower, upper) of finite numbers, the first below the second",
                given="another",
                hint="for all floats, NaN and infinities with them, say np.float64",
            )
        if not whole:
            return cls(float(lower), float(upper), np.dtype(np.float64))
        fits = lower >= -(2**63) and upper < 2**63
        return cls(int(lower), int(upper), np.dtype(np.int64) if fits else None)

    @classmethod
    def of_dtype(cls, given: Any) -> Numbers:
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
            name="domain",
            expected="a type of booleans, integers or floats of at most 64 bits",
            given=f"the type {getattr(given, '__name__', dtype)}",
        )

    @property
    def whole(self) -> bool:
        """Integers only?"""
        return isinstance(self.lower, int)

    @cached_property
    def edges(self) -> tuple[Any, ...]:
        """The ends, what is not a number, then what rounds or wraps."""
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

    def draw(self, stream: Stream) -> Any:
        """An edge, anywhere, or of any magnitude."""
        way = stream.below(10)
        if way < 3:
            return stream.choose(self.edges)
        if way < 6:
            share = stream.unit()
            return self._fit(self.lower + share * self._half + share * self._half)
        bits = stream.below(64 if self.whole or not self.odd else 1024)
        size = (1 + stream.unit()) * 2.0 ** (bits if self.whole or way < 8 else -stream.below(60))
        return self._fit(size if stream.below(2) else -size)

    def spread(self, stream: Stream, many: int) -> list[Any]:
        """Anywhere between the ends, as evenly as chance has it."""
        if self.whole:
            return [self.lower + stream.below(self.upper - self.lower + 1) for _ in range(many)]
        shares = [stream.unit() for _ in range(many)]
        return [self._fit(self.lower + u * self._half + u * self._half) for u in shares]

    def near(self, record: Any, stream: Stream) -> Any:
        """A step, a quarter, a factor of two away."""
        if record != record or record in (math.inf, -math.inf):
            return stream.choose(self.edges)
        way = stream.below(6)
        if self.whole:
            moves = [record + 1, record - 1, record * 2, record // 2, -record]
            return self._fit(moves[way]) if way < 5 else self.draw(stream)
        up = math.nextafter(record, math.inf)
        steps = [record + 0.25, record + 1, record * 2, record / 2, up]
        return self._fit(steps[way]) if way < 5 else self.draw(stream)

    def dataset(self, records: Sequence[Any]) -> Any:
        """An array of the type, or a list of Python's integers."""
        return list(records) if self.dtype is None else np.array(list(records), self.dtype)

    @property
    def _half(self) -> float:
        """Half of the width; the whole one may be no double."""
        return float(self.upper) / 2 - float(self.lower) / 2

    def _inside(self, values: Sequence[Any]) -> list[Any]:
        kept = [value for value in values if self.lower <= value <= self.upper]
        return [self._fit(value) for value in kept]

    def _fit(self, value: Any) -> Any:
        """The nearest record."""
        clamped = min(max(value, self.lower), self.upper)
        if self.whole:
            return int(clamped)
        return float(clamped) if self.dtype == np.float64 else float(self.dtype.type(clamped))
