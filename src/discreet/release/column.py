"""The columns of a released table: what each one is, and how to calculate with it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.hints import meant
from discreet.lazy import cached_property
from discreet.release.propagation import (
    FINE,
    FloatArray,
    NoiseTerm,
    added,
    half_width,
    half_width_of_sum,
    quotient,
)
from discreet.release.text import with_error

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.release.result import Result


# -- what each column is ---------------------------------------------------------------------------


Role = Literal["key", "value", "error", "note"]

#: Values that are a number plus noise, so that their errors combine as the noise does.
ADDITIVE: Final = frozenset({"count", "sum", "bin"})
#: Values whose error is not one of the value itself, but of its rank or of the count behind it.
OTHER_ERROR: Final = {"quantile": "rank", "choice": "count"}
#: Values that are never below 0, whatever the data.
COUNTS: Final = frozenset({"count", "bin"})


@dataclass(frozen=True)
class ColumnInfo:
    """One column of a released table.

    >>> ColumnInfo("n", "value", kind="count", integer=True).additive
    True
    """

    name: str  #: in the frame
    role: Role
    of: str | None = None  #: for an error, the value's column; for a bin, its histogram
    kind: str = ""  #: of a value: count, sum, mean, variance, std, quantile, choice, bin
    bounds: tuple[float, float] | None = None  #: declared range of a value
    independent: bool = True  #: is its noise independent between rows and of every other source?
    sources: tuple[str, ...] = ()  #: the noise it was computed from; () stands for noise of its own
    integer: bool = False  #: noise on the whole numbers, with a step of 1

    @property
    def additive(self) -> bool:
        """Whether the error is that of independent Laplace or Gaussian noise, cell by cell."""
        return self.kind in ADDITIVE and self.independent

    @property
    def least(self) -> float:
        """The smallest value that can be true."""
        if self.kind in COUNTS:
            return 0.0
        return -float("inf") if self.bounds is None else float(self.bounds[0])

    @property
    def greatest(self) -> float:
        """The largest value that can be true; a count has none."""
        return float("inf") if self.bounds is None or self.kind in COUNTS else float(self.bounds[1])


def named(
    columns: tuple[ColumnInfo, ...], name: object, *, role: Role, argument: str
) -> ColumnInfo:
    """The column of this name and role, or an error that says which there are.

    >>> named((ColumnInfo("ward", "key"),), "word", role="key", argument="key")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: key must be one of ward, got 'word' (str); did you mean "ward"?
    """
    there = {column.name: column for column in columns if column.role == role}
    if isinstance(name, str) and name in there:
        return there[name]
    raise InvalidArgument.of(
        argument,
        f"one of {', '.join(there)}" if there else f"left out: there is no {role} column",
        name,
        hint=meant(str(name), there, '"{}"'),
        code="unknown-name",
    )


# -- what a column can be combined with ------------------------------------------------------------


def public(other: Any, rows: int, *, name: str) -> FloatArray:
    """A public number, or one for each row.

    >>> public(3, 2, name="the factor"), public([1, 2], 2, name="the factor")
    (array([3.]), array([1., 2.]))
    """
    try:
        numbers = np.atleast_1d(np.asarray(other, dtype=float))
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([np.nan])
    fits = numbers.ndim == 1 and len(numbers) in (1, rows)
    if isinstance(other, str | bytes) or not fits or not np.all(np.isfinite(numbers)):
        raise InvalidArgument.of_data(
            name, f"a released column, a finite number, or {rows:,} of them", other
        )
    return numbers


def common_keys(
    keys: pa.Table | None, rows: int, other_keys: pa.Table | None, other_rows: int
) -> pa.Table | None:
    """The keys of two columns, whose groups must be the same: arithmetic goes row by row."""
    if keys is None or other_keys is None:
        if rows == other_rows or 1 in (rows, other_rows):
            return keys if other_keys is None else other_keys
    elif keys is other_keys or keys.equals(other_keys):
        return keys
    raise InvalidArgument(
        "the other column",
        "of the same groups in the same order",
        "other groups",
        hint="join the tables by their keys first, or release them in one query",
    )


# -- a column to calculate with --------------------------------------------------------------------


_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Released:
    """The values of a column with their 95 % errors, and what can be calculated from them.

    Columns can be added, subtracted and divided, with each other and with public numbers (one, or
    one per row); the errors follow. Noise is tracked by name: ``a - a`` has no error, ``a + a`` has
    twice that of ``a``, and independent noise adds up in quadrature. Where a divisor may be 0 the
    quotient is unknown: its value is nan and its error infinite.

    >>> a = Released.independent("a", [100, 40], [6, 6])
    >>> b = Released.independent("b", [50, 2], [6, 6])
    >>> a - b, a - a, (a - 10) / 2
    (a - b: 50.0 ± 9.9, 38.0 ± 9.9, a - a: 0 ± 0, 0 ± 0, (a - 10) / 2: 45.0 ± 3.0, 15.0 ± 3.0)
    >>> a / b
    a / b: 2.00 ± 0.36, unknown ± ∞
    >>> a.sum()
    sum of a: 140.0 ± 9.9
    """

    name: str
    values: NDArray[Any]
    noises: tuple[NoiseTerm, ...] = ()
    kind: str = ""
    keys: pa.Table | None = field(default=None)  #: the group of each row; None for a total

    __array_ufunc__ = None  # NumPy leaves ``array * released`` to us

    @classmethod
    def independent(cls, name: str, values: Any, errors: Any) -> Released:
        """Numbers from anywhere with independent errors, of Laplace or Gaussian noise.

        ``name`` is what they are called when printed, ``values`` one number or several, and
        ``errors`` the 95 % error of each, or one for all.
        """
        values = np.atleast_1d(values)
        width = np.broadcast_to(np.asarray(errors, dtype=float), values.shape)
        step = np.ones(1) if values.dtype.kind in "iu" else FINE * width
        source = (uuid4().hex, name)
        noise = NoiseTerm(source, np.ones(1), width, step, frozenset({source}), additive=True)
        return cls(name, values, (noise,))

    # -- what it holds -------------------------------------------------------------------------

    @cached_property
    def errors(self) -> FloatArray:
        """The 95 % error of each value: of ranks for a quantile, of counts for a choice."""
        return np.broadcast_to(half_width(self.noises), self.values.shape)

    @property
    def low(self) -> FloatArray:
        """value − error, row by row"""
        return self._numbers() - self.errors

    @property
    def high(self) -> FloatArray:
        """value + error, row by row"""
        return self._numbers() + self.errors

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        shown = zip(self.values[:_SHOWN].tolist(), self.errors[:_SHOWN].tolist(), strict=True)
        more = [f"… and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return f"{self.name}: " + ", ".join([*(with_error(v, e) for v, e in shown), *more])

    # -- arithmetic ----------------------------------------------------------------------------

    def sum(self) -> Released:
        """The sum over all rows, as one row."""
        total = np.array([np.sum(self._numbers())])
        wide = np.array([half_width_of_sum(self.noises, len(self))])
        width = half_width(self.noises) if len(self) == 1 else wide
        additive = all(noise.additive for noise in self.noises)
        return self._derived(f"sum of {self.name}", total, width, wide, self.noises, additive)

    def __add__(self, other: Any) -> Released:
        return self._plus(other, f"{self.name} + {_called(other)}", +1.0)

    def __radd__(self, other: Any) -> Released:
        return self._plus(other, f"{_called(other)} + {self.name}", +1.0)

    def __sub__(self, other: Any) -> Released:
        return self._plus(other, f"{self.name} - {_called(other, tight=True)}", -1.0)

    def __rsub__(self, other: Any) -> Released:
        return (-self)._plus(other, f"{_called(other)} - {_called(self, tight=True)}", +1.0)

    def __neg__(self) -> Released:
        return self._times(np.array([-1.0]), f"-{_called(self, tight=True)}")

    def __mul__(self, other: Any) -> Released:
        if isinstance(other, Released):
            raise InvalidArgument(
                "the factor",
                "a number",
                "another released column",
                hint="the error of a product of two noisy columns is not tracked; "
                "multiply their .values if the numbers alone are wanted",
            )
        factor = public(other, len(self), name="the factor")
        return self._times(factor, f"{_called(self, tight=True)} * {_called(other)}")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Released:
        name = f"{_called(self, tight=True)} / {_called(other, tight=True)}"
        if isinstance(other, Released):
            return self._over(other, name)
        divisor = public(other, len(self), name="the divisor")
        if np.any(divisor == 0):
            raise InvalidArgument("the divisor", "other than 0", "0")
        noises = tuple(noise.times(1 / divisor) for noise in self.noises)
        return Released(name, self._numbers() / divisor, noises, self.kind, self.keys)

    def __rtruediv__(self, other: Any) -> Released:
        values = public(other, len(self), name="the dividend")
        top = Released(_called(other), values, keys=self.keys)
        return top._over(self, f"{top.name} / {_called(self, tight=True)}")

    # -- how arithmetic is done ----------------------------------------------------------------

    def _plus(self, other: Any, name: str, sign: float) -> Released:
        if not isinstance(other, Released):
            values = self._numbers() + sign * public(other, len(self), name="the other term")
            return Released(name, values, self.noises, self.kind, self.keys)
        keys = common_keys(self.keys, len(self), other.keys, len(other))
        values = self._numbers() + sign * other._numbers()
        theirs = (noise.times(np.array([sign])) for noise in other.noises)
        return Released(name, values, added([*self.noises, *theirs]), keys=keys)

    def _times(self, factor: FloatArray, name: str) -> Released:
        scaled = tuple(noise.times(factor) for noise in self.noises)
        return Released(name, self._numbers() * factor, scaled, self.kind, self.keys)

    def _over(self, other: Released, name: str) -> Released:
        keys = common_keys(self.keys, len(self), other.keys, len(other))
        both = (self._numbers(), self.noises, other._numbers(), other.noises)
        values, width = quotient(*both)
        wide = quotient(*both, wide=True)[1]
        noises = (*self.noises, *other.noises)
        return self._derived(name, values, width, wide, noises, additive=False, keys=keys)

    def _derived(
        self,
        name: str,
        values: FloatArray,
        width: FloatArray,
        wide: FloatArray,
        noises: Sequence[NoiseTerm],
        additive: bool,
        keys: pa.Table | None = None,
    ) -> Released:
        """A column with new noise, made of the same sources; `wide` is `width` with steps."""
        sources = frozenset(source for noise in noises for source in noise.sources)
        label = (uuid4().hex, name)
        step = np.subtract(wide, width, out=np.zeros(width.shape), where=np.isfinite(width))
        noise = NoiseTerm(label, np.ones(1), width, step, sources, additive)
        return Released(name, values, (noise,), keys=keys)

    def _numbers(self) -> FloatArray:
        if self.kind in OTHER_ERROR:
            raise InvalidArgument(
                self.name,
                "a count, sum, mean, variance or std for arithmetic",
                f"a {self.kind}",
                hint=f"its error is one of {OTHER_ERROR[self.kind]}s, not of values; "
                "use .values if the numbers alone are wanted",
            )
        return np.asarray(self.values, dtype=float)

    # -- comparison ----------------------------------------------------------------------------

    def _compared(self, other: object) -> NoReturn:
        raise InvalidArgument(
            "a released column",
            "compared by its interval",
            "a comparison of noisy values",
            hint="use .low and .high, which hold the truth 19 times in 20 in each row; "
            "or .values if the noisy numbers themselves are meant",
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __eq__ = __ne__ = _compared
    __hash__ = object.__hash__


def _called(thing: Any, *, tight: bool = False) -> str:
    if isinstance(thing, Released):
        loose = tight and " " in thing.name and not thing.name.startswith("sum of ")
        return f"({thing.name})" if loose else thing.name
    if isinstance(thing, int | float) and abs(thing) <= sys.float_info.max:
        return f"{thing:g}"
    return "numbers"


# -- one column ------------------------------------------------------------------------------------


def error_column(result: Result, column: ColumnInfo) -> str | None:
    """The name of the column that holds the errors of a value."""
    of = (c.name for c in result.columns if c.role == "error" and c.of == column.name)
    return next(of, None)


def numbers_of(frame: pa.Table, name: str) -> Any:
    """A column as an array: integers as they are, other numbers as floats with nan for null."""
    import pyarrow as pa

    column, kind = frame[name], frame.schema.field(name).type
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.float64()), pa.float64()
    if pa.types.is_integer(kind) and column.null_count == 0:
        return column.to_numpy()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64()).to_numpy()
    return np.array([*column.to_pylist(), None], dtype=object)[:-1]  # never two-dimensional


def errors_of(result: Result, column: ColumnInfo) -> FloatArray:
    """The errors of a value, infinite where none is stated."""
    name = error_column(result, column)
    if name is None:
        return np.full(len(result), np.inf)
    errors = np.asarray(numbers_of(result.frame, name), dtype=float)
    return np.where(np.isnan(errors), np.inf, errors)


def released_column(result: Result, column: ColumnInfo) -> Released:
    """A value column with its noise under a name.

    After post-processing the noise is no longer what was added: it keeps its half-width and its
    sources, but errors can only be added to others, not combined in quadrature.
    """
    width = errors_of(result, column)
    step = np.ones(1) if column.integer else np.where(np.isfinite(width), FINE * width, 0.0)
    noise = NoiseTerm(
        name=(result._version, column.name),
        coefficient=np.ones(1),
        width=width,
        step=step,
        sources=frozenset((result.origin, source) for source in column.sources or (column.name,)),
        additive=column.additive and not result.steps,
    )
    keys = result.frame.select([key.name for key in result.keys]) if result.keys else None
    values = numbers_of(result.frame, column.name)
    return Released(column.name, values, (noise,), column.kind, keys)


# -- one row ---------------------------------------------------------------------------------------


def row_of(result: Result, keys: Mapping[str, Any]) -> int:
    """The number of the row with these keys; every group column must be named."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in keys:
        named(result.columns, name, role="key", argument="group column")
    missing = [key.name for key in result.keys if key.name not in keys]
    if missing and len(result) != 1:
        raise InvalidArgument(
            "keys",
            "given for every group column",
            f"nothing for {', '.join(missing)}",
            hint=f'write value("…", {missing[0]}=…)',
        )
    found = pa.array(np.ones(len(result), dtype=bool))
    for name, key in keys.items():
        column = result.frame[name]
        try:
            same = pc.is_null(column) if key is None else pc.equal(column, pa.scalar(key))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            expected = f"of the type of the group column, {column.type}"
            raise InvalidArgument.of_data(name, expected, key) from None
        found = pc.and_(found, pc.fill_null(same, False))
    rows = np.flatnonzero(np.asarray(found))
    if len(rows) != 1:
        raise InvalidArgument(
            "keys",
            "those of one row",
            f"those of {len(rows)} rows",
            hint="result.to_dicts() lists the rows; name each column of groups",
        )
    return int(rows[0])
