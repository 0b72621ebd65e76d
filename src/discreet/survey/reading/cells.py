"""A column of reports as it came, read into numbers: what is missing and what is no such thing.

A column is a list of Python's values, an array, an Arrow array, or texts of a CSV file. Whatever
is in it, reading never fails: each cell is a number, or missing, or wrong. Strictness is the same
everywhere: a bool is no integer, 1.0 in a list is none either, nor are digits of other scripts.
Only a column of floats may hold integers, because data frames make such columns of integers with
gaps. A number beyond 63 bits reads as −1, which is out of every range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.survey.reading.texts import Flags, Texts

Column: TypeAlias = Any
"""A list, an ndarray, an Arrow array or Texts."""

_LARGEST: Final = 2**63
_WHOLE: Final = re.compile(rb"-?[0-9]+")


@dataclass(frozen=True, eq=False)
class Cells:
    """Values, one a row, and which rows have none; None where no row is concerned."""

    values: NDArray[Any]
    missing: Flags | None = None
    wrong: Flags | None = None


def integers(column: Column) -> Cells:
    """Whole numbers."""
    if isinstance(column, Texts):
        return _written_integers(column)
    if isinstance(column, list):
        return _listed_integers(column)
    if isinstance(column, np.ndarray):
        return _array_integers(column)
    return _arrow_integers(column)


def bits(column: Column, width: int) -> Cells:
    """Rows of bits: texts of 0, 1 and -, or an array of 0, 1 and −1."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        return _array_bits(column, width)
    texts, missing, wrong = _texts(column)
    values, bad = texts.bits(width)
    return Cells(values, missing, _besides(bad | wrong, missing))


def ids(column: Column) -> Cells:
    """Ids of 32 hex digits as two words of 64 bits each."""
    if isinstance(column, np.ndarray) and column.ndim == 2 and column.dtype == np.uint64:
        return Cells(column)  # as respond_many has them
    texts, missing, wrong = _texts(column)
    values, bad = texts.ids()
    return Cells(values, missing, _besides(bad | wrong, missing))


def equal(column: Column, word: str) -> Cells:
    """Whether each cell is this word; another type is another word."""
    texts, missing, wrong = _texts(column)
    return Cells(texts.equal(word) & ~wrong, missing)


# -- integers --------------------------------------------------------------------------------------


def _written_integers(column: Texts) -> Cells:
    values, bad = column.numbers()
    missing = column.lengths == 0
    for row in np.flatnonzero(bad & ~missing).tolist():
        start = column.starts[row]
        if _WHOLE.fullmatch(column.buffer[start : start + column.lengths[row]].tobytes()):
            values[row], bad[row] = -1, False  # negative or long: a number, out of range
    return Cells(values, _some(missing), _besides(bad, missing))


def _listed_integers(column: list[Any]) -> Cells:
    if set(map(type, column)) <= {int}:
        try:
            return Cells(np.array(column, np.int64))
        except OverflowError:
            pass  # read one by one below
    missing, wrong = np.zeros((2, len(column)), np.bool_)
    values = np.zeros(len(column), np.int64)
    for row, cell in enumerate(column):
        if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
            values[row] = cell if -_LARGEST <= cell < _LARGEST else -1
        elif _is_gap(cell):
            missing[row] = True
        else:
            wrong[row] = True
    return Cells(values, missing, wrong)


def _is_gap(cell: object) -> bool:
    return cell is None or (isinstance(cell, float | np.floating) and isnan(cell))


def _array_integers(column: NDArray[Any]) -> Cells:
    match column.dtype.kind if column.ndim == 1 else "":
        case "i":
            return Cells(column.astype(np.int64, copy=False))
        case "u":  # beyond 2⁶³ they turn negative, which is out of range too
            return Cells(column.astype(np.int64, copy=False))
        case "f":
            missing = np.isnan(column)
            whole = np.isfinite(column) & (np.floor(column) == column)
            fits = whole & (np.abs(column) < 2.0**62)
            values = np.where(fits, column, np.where(whole, -1.0, 0.0)).astype(np.int64)
            return Cells(values, _some(missing), _besides(~whole, missing))
        case "O":
            return _listed_integers(column.tolist())
    return _nothing(len(column))


def _arrow_integers(column: Any) -> Cells:
    import pyarrow as pa

    column = _plain(column)
    if pa.types.is_null(column.type):
        return Cells(np.zeros(len(column), np.int64), np.ones(len(column), np.bool_))
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return _nothing(len(column), _nulls(column))
    missing = _nulls(column)
    if missing is not None:
        column = column.fill_null(0)
    read = _array_integers(column.to_numpy(zero_copy_only=False))
    if missing is None:
        return read
    both = missing if read.missing is None else missing | read.missing
    return Cells(read.values, both, read.wrong)


def _nothing(rows: int, missing: Flags | None = None) -> Cells:
    """A column of something else altogether."""
    wrong = np.ones(rows, np.bool_)
    return Cells(np.zeros(rows, np.int64), missing, _besides(wrong, missing))


# -- texts -----------------------------------------------------------------------------------------


def _texts(column: Column) -> tuple[Texts, Flags | None, Flags]:
    """The texts, which are missing, and which are no texts (both read as empty)."""
    if isinstance(column, Texts):
        return column, _some(column.lengths == 0), np.zeros(len(column), np.bool_)
    if isinstance(column, np.ndarray):
        column = column.tolist()
    if isinstance(column, list):
        return _listed_texts(column)
    return _arrow_texts(column)


def _listed_texts(column: Sequence[Any]) -> tuple[Texts, Flags | None, Flags]:
    if set(map(type, column)) <= {str}:
        return Texts.of(column), None, np.zeros(len(column), np.bool_)
    texts = [cell if isinstance(cell, str) else "" for cell in column]
    missing = np.array([_is_gap(cell) for cell in column], np.bool_)
    wrong = np.array([not isinstance(cell, str) for cell in column], np.bool_) & ~missing
    return Texts.of(texts), _some(missing), wrong


def _arrow_texts(column: Any) -> tuple[Texts, Flags | None, Flags]:
    import pyarrow as pa

    column = _plain(column)
    missing = _nulls(column)
    kinds = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    if any(of_kind(column.type) for of_kind in kinds):
        return Texts.of_arrow(column), missing, np.zeros(len(column), np.bool_)
    other = np.ones(len(column), np.bool_)
    return Texts.of([""] * len(column)), missing, other if missing is None else other & ~missing


def _array_bits(column: NDArray[Any], width: int) -> Cells:
    rows = len(column)
    if column.dtype.kind not in "iu" or column.shape[1] != width:
        return Cells(np.zeros((rows, width), np.int8), None, np.ones(rows, np.bool_))
    bad: Flags = np.any((column < -1) | (column > 1), axis=1)
    values = column.astype(np.int8, copy=False)
    if not bad.any():
        return Cells(values)
    return Cells(np.where(bad[:, None], 0, values).astype(np.int8), None, bad)


# -- masks -----------------------------------------------------------------------------------------


def _plain(column: Any) -> Any:
    """One Arrow array, without a dictionary."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _nulls(column: Any) -> Flags | None:
    if not column.null_count:
        return None
    flags: Flags = column.is_null().to_numpy(zero_copy_only=False)
    return flags


def _some(flags: Flags) -> Flags | None:
    return flags if flags.any() else None


def _besides(wrong: Flags, missing: Flags | None) -> Flags | None:
    return _some(wrong if missing is None else wrong & ~missing)
