"""Into a released table: one column with its noise, one row by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.release.columns import ColumnInfo, named
from discreet.release.combining import FINE, FloatArray, Noise
from discreet.release.released import Released

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.release.result import Result


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


def released(result: Result, column: ColumnInfo) -> Released:
    """A value column with its noise by name.

    After post-processing the noise is no longer what was added: it keeps its half-width and its
    sources, but errors can only be added to others, not combined in quadrature.
    """
    width = errors_of(result, column)
    step = np.ones(1) if column.integer else np.where(np.isfinite(width), FINE * width, 0.0)
    noise = Noise(
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
            name="keys",
            expected="given for every group column",
            given=f"nothing for {', '.join(missing)}",
            hint=f'write value("…", {missing[0]}=…)',
        )
    found = pa.array(np.ones(len(result), dtype=bool))
    for name, key in keys.items():
        column = result.frame[name]
        try:
            same = pc.is_null(column) if key is None else pc.equal(column, pa.scalar(key))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            expected = f"of the type of the group column, {column.type}"
            given = InvalidArgument.describe_data(key)
            raise InvalidArgument(name=name, expected=expected, given=given) from None
        found = pc.and_(found, pc.fill_null(same, False))
    rows = np.flatnonzero(np.asarray(found))
    if len(rows) != 1:
        raise InvalidArgument(
            name="keys",
            expected="those of one row",
            given=f"those of {len(rows)} rows",
            hint="result.to_dicts() lists the rows; name each column of groups",
        )
    return int(rows[0])


def error_at(result: Result, column: ColumnInfo, row: int) -> float:
    """The error of one cell, infinite where none is stated."""
    name = error_column(result, column)
    error = None if name is None else result.frame[name][row].as_py()
    return float("inf") if error is None else float(error)
