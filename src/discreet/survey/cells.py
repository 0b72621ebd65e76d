"""A column of reports, read into numbers, with what is missing and what is wrong.

A column is a list of Python values, an array, an Arrow array, or texts of a CSV file. Whatever
is in it, reading never fails: each cell is a number, or missing, or wrong. The same strict rules
hold everywhere: a bool is not an integer, nor is 1.0 in a list, nor are digits of other scripts.
Only a column of floats may hold integers, because data frames turn integers with gaps into floats.
A number beyond 63 bits reads as −1, which is out of every range.
"""

from __future__ import annotations

from binascii import unhexlify
from dataclasses import dataclass
from math import isnan
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = Any
"""A list, an ndarray, an Arrow array or Texts."""
Flags: TypeAlias = NDArray[np.bool_]

_LARGEST: Final = 2**63
_KINDS_OF_TEXT: Final = ("string", "large_string", "string_view", "binary", "large_binary")
_NO_BIT: Final = 2
_BITS: Final = np.full(256, _NO_BIT, np.int8)  # what a byte means as a bit of a report
_BITS[list(b"01-")] = [0, 1, -1]


@dataclass(frozen=True, eq=False)
class Cells:
    """One value per row, and which rows are missing or wrong."""

    values: NDArray[Any]
    missing: Flags
    wrong: Flags

    @classmethod
    def of(cls, values: NDArray[Any], missing: Flags | bool, wrong: Flags | bool) -> Cells:
        """What is missing is not wrong as well."""
        none = np.zeros(len(values), np.bool_)
        return cls(values, none | missing, (none | wrong) & ~(none | missing))


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of a CSV file, as an Arrow array of bytes; what is missing is an empty text."""

    column: Any

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, rows: slice) -> Texts:
        return Texts(self.column[rows])


def integers(column: Column) -> Cells:
    """Read whole numbers."""
    if isinstance(column, Texts):
        return _written_integers(column)
    if isinstance(column, list):
        return _listed_integers(column)
    if isinstance(column, np.ndarray):
        return _array_integers(column)
    return _arrow_integers(column)


def bits(column: Column, width: int) -> Cells:
    """Read rows of bits: texts of 0, 1 and -, or an array of 0, 1 and −1."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        if column.dtype.kind not in "iu" or column.shape[1] != width:
            return Cells.of(np.zeros((len(column), width), np.int8), False, True)
        bad: Flags = np.any((column < -1) | (column > 1), axis=1)
        read = column.astype(np.int8, copy=False)
        return Cells.of(np.where(bad[:, None], np.int8(0), read) if bad.any() else read, False, bad)
    import pyarrow.compute as pc

    texts, missing, wrong = _texts(column)
    values = np.zeros((len(texts), width), np.int8)
    sized: Flags = np.asarray(pc.binary_length(texts)) == width
    values[sized] = _BITS[_matrix(texts, sized, width)]
    fine = sized & (values < _NO_BIT).all(axis=1)
    values[~fine] = 0
    return Cells.of(values, missing, wrong | ~fine)


def ids(column: Column) -> Cells:
    """Read ids of 32 hex digits as two words of 64 bits each."""
    if isinstance(column, np.ndarray) and column.ndim == 2 and column.dtype == np.uint64:
        return Cells.of(column, False, False)  # as respond_many returns them
    import pyarrow.compute as pc

    texts, missing, wrong = _texts(column)
    fine: Flags = np.asarray(pc.binary_length(texts)) == 32
    try:
        digits = unhexlify(_matrix(texts, fine, 32).tobytes())
    except ValueError:  # some are not hexadecimal, which only this slow search finds
        fine = _matches(texts, "^[0-9a-fA-F]{32}$")
        digits = unhexlify(_matrix(texts, fine, 32).tobytes())
    values = np.zeros((len(texts), 2), np.uint64)
    values[fine] = np.frombuffer(digits, ">u8").reshape(-1, 2)
    return Cells.of(values, missing, wrong | ~fine)


def equal(column: Column, word: str) -> Cells:
    """Whether each cell is this word; a value that is not text is not."""
    import pyarrow.compute as pc

    texts, missing, wrong = _texts(column)
    same = pc.equal(texts, word.encode()).to_numpy(zero_copy_only=False)
    return Cells.of(same & ~wrong, missing, False)


# -- integers --------------------------------------------------------------------------------------


def _written_integers(column: Texts) -> Cells:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, missing, _ = _texts(column)
    digits = pc.ascii_is_decimal(texts.view(pa.string()))
    short = pc.and_(digits, pc.less_equal(pc.binary_length(texts), 18))  # 10¹⁸ − 1 fits in 63 bits
    wrong: Flags = ~short.to_numpy(zero_copy_only=False)
    if wrong.any():  # a negative or long number is a number, out of range
        wrong = ~_matches(texts, "^-?[0-9]+$")
        texts = pc.if_else(short, texts, b"-1")
    numbers = texts.view(pa.string()).cast(pa.int64())
    return Cells.of(numbers.to_numpy(zero_copy_only=False), missing, wrong)


def _listed_integers(column: list[Any]) -> Cells:
    if set(map(type, column)) <= {int}:
        try:
            return Cells.of(np.array(column, np.int64), False, False)
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
        case "i" | "u":  # beyond 2⁶³ they turn negative, which is out of range too
            return Cells.of(column.astype(np.int64, copy=False), False, False)
        case "f":
            whole = np.isfinite(column) & (np.floor(column) == column)
            fits = whole & (np.abs(column) < 2.0**62)
            values = np.where(fits, column, np.where(whole, -1.0, 0.0)).astype(np.int64)
            return Cells.of(values, np.isnan(column), ~whole)
        case "O":
            return _listed_integers(column.tolist())
    return Cells.of(np.zeros(len(column), np.int64), False, True)


def _arrow_integers(column: Any) -> Cells:
    import pyarrow as pa

    column = _plain(column)
    missing = _nulls(column)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return Cells.of(np.zeros(len(column), np.int64), missing, True)
    filled = column.fill_null(0) if column.null_count else column
    read = _array_integers(filled.to_numpy(zero_copy_only=False))
    return Cells.of(read.values, missing | read.missing, read.wrong)


# -- texts -----------------------------------------------------------------------------------------
# Digits, bits and ids are ASCII. In a list, another character becomes bytes above 127, and half of
# one a question mark: neither is a digit, so no foreign numeral slips through.


def _texts(column: Column) -> tuple[Any, Flags, Flags]:
    """The texts as an Arrow array of bytes, which are missing, and which are not texts (both read
    as empty)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, Texts):
        empty: Flags = np.asarray(pc.binary_length(column.column)) == 0
        return column.column, empty, np.zeros(len(column), np.bool_)
    if isinstance(column, np.ndarray):
        column = column.tolist()
    if isinstance(column, list):
        try:
            texts: list[bytes | None] = list(map(str.encode, column))  # mostly texts alone
        except (TypeError, UnicodeEncodeError):
            texts = [c.encode(errors="replace") if isinstance(c, str) else None for c in column]
        found = pa.array(texts, pa.large_binary())
        missing = _nulls(found)
        if found.null_count:
            missing = np.array([_is_gap(cell) for cell in column], np.bool_)
    else:
        column = _plain(column)
        missing = _nulls(column)
        readable = str(column.type) in _KINDS_OF_TEXT
        found = column if readable else pa.nulls(len(column), pa.large_binary())
        found = found.cast(pa.large_binary())
    return found.fill_null(b""), missing, _nulls(found) & ~missing


def _matches(texts: Any, pattern: str) -> Flags:
    import pyarrow.compute as pc

    flags: Flags = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return flags


def _matrix(texts: Any, fine: Flags, width: int) -> NDArray[np.uint8]:
    """The bytes of the fine texts, all of this length, one row each."""
    import pyarrow as pa

    chosen = texts.filter(pa.array(fine)).cast(pa.large_binary())
    content = chosen.buffers()[2] or b""
    return np.frombuffer(content, np.uint8, len(chosen) * width).reshape(-1, width)


def _plain(column: Any) -> Any:
    """One Arrow array, without a dictionary."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _nulls(column: Any) -> Flags:
    flags: Flags = column.is_null().to_numpy(zero_copy_only=False)
    return flags
