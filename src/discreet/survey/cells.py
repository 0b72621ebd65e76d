"""A column of reports, read into numbers, with what is missing and what is wrong.

A column is a list of Python values, an array, an Arrow array, or texts of a CSV file. Whatever
is in it, reading never fails: each cell is a number, or missing, or wrong. The same strict rules
hold everywhere: a bool is not an integer, nor is 1.0 in a list, nor are digits of other scripts.
Only a column of floats may hold integers, because data frames turn integers with gaps into floats.
A number beyond 63 bits reads as −1, which is out of every range.
"""

from __future__ import annotations

import re
from binascii import Error, unhexlify
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = Any
"""A list, an ndarray, an Arrow array or Texts."""

_LARGEST: Final = 2**63
_WHOLE: Final = re.compile(rb"-?[0-9]+")


@dataclass(frozen=True, eq=False)
class Cells:
    """One value per row, and which rows are missing or wrong; None if no row is."""

    values: NDArray[Any]
    missing: Flags | None = None
    wrong: Flags | None = None


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
        return _array_bits(column, width)
    texts, missing, wrong = _texts(column)
    values, bad = texts.bits(width)
    return Cells(values, missing, _besides(bad | wrong, missing))


def ids(column: Column) -> Cells:
    """Read ids of 32 hex digits as two words of 64 bits each."""
    if isinstance(column, np.ndarray) and column.ndim == 2 and column.dtype == np.uint64:
        return Cells(column)  # as respond_many returns them
    texts, missing, wrong = _texts(column)
    values, bad = texts.ids()
    return Cells(values, missing, _besides(bad | wrong, missing))


def equal(column: Column, word: str) -> Cells:
    """Whether each cell is this word; a value that is not text is not."""
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
    """A column in which every cell is of the wrong type."""
    wrong = np.ones(rows, np.bool_)
    return Cells(np.zeros(rows, np.int64), missing, _besides(wrong, missing))


# -- texts -----------------------------------------------------------------------------------------


def _texts(column: Column) -> tuple[Texts, Flags | None, Flags]:
    """The texts, which are missing, and which are not texts (both read as empty)."""
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


# -- texts -----------------------------------------------------------------------------------------
# Many short texts as bytes in one buffer, so that all answers in them are parsed at once.
#
# Digits, bits and ids are ASCII. A character beyond Latin-1 becomes a question mark, and one within
# it a byte above 127: neither is a digit, so no foreign numeral slips through.


Flags: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]

ID_LENGTH: Final = 32  # hex digits
_MOST_DIGITS: Final = 18  # 10¹⁸ − 1 fits into 63 bits
_AT_ONCE: Final = 1 << 22  # bytes gathered at a time
_WRONG: Final = 99


# What a byte means: as a bit of a report, and whether it is a hex digit.
_BITS: Final = np.full(256, _WRONG, np.int8)
_BITS[list(b"01-")] = [0, 1, -1]
_HEX: Final = np.zeros(256, np.bool_)
_HEX[list(b"0123456789abcdefABCDEF")] = True


@dataclass(frozen=True, eq=False)
class Texts:
    """n texts: the i-th is ``buffer[starts[i] : starts[i] + lengths[i]]``."""

    buffer: NDArray[np.uint8]
    starts: Integers
    lengths: Integers

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """From Python strings, one byte per character."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        joined = "".join(texts).encode("latin-1", "replace")
        return cls(np.frombuffer(joined, np.uint8), np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def of_arrow(cls, column: Any) -> Texts:
        """From an Arrow array of texts or bytes; a null is an empty text."""
        import pyarrow as pa

        column = column.cast(pa.large_binary())
        _, where, content = column.buffers()
        ends = np.frombuffer(where, np.int64, len(column) + 1, 8 * column.offset)
        buffer = np.frombuffer(content or b"", np.uint8)
        return cls(buffer, ends[:-1], np.diff(ends))

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, rows: slice) -> Texts:
        return Texts(self.buffer, self.starts[rows], self.lengths[rows])

    def _matrix(self, rows: Integers, width: int) -> NDArray[np.uint8]:
        """The texts of these rows, all of this length, as one row of bytes each."""
        # One item of `width` bytes begins at each byte; taking items is faster than taking bytes.
        items: NDArray[Any] = np.ndarray(
            max(self.buffer.size - width + 1, 0), f"V{width}", self.buffer, strides=(1,)
        )
        return items[self.starts[rows]].view(np.uint8).reshape(-1, width)

    def equal(self, word: str) -> Flags:
        """Which texts are this word."""
        wanted = np.frombuffer(word.encode(), np.uint8)
        same: Flags = self.lengths == wanted.size
        for rows in _portions(np.flatnonzero(same), wanted.size):
            same[rows] = (self._matrix(rows, wanted.size) == wanted).all(axis=1)
        return same

    def numbers(self) -> tuple[Integers, Flags]:
        """Whole numbers written in 1 to 18 digits, and which texts are something else."""
        bad = (self.lengths < 1) | (self.lengths > _MOST_DIGITS)
        value = np.zeros(len(self), np.int64)
        last = max(self.buffer.size - 1, 0)
        for place in range(int(self.lengths.max(initial=0, where=~bad))):
            inside = place < self.lengths
            digit = self._byte(np.minimum(self.starts + place, last)) - 48
            bad |= inside & ((digit < 0) | (digit > 9))
            value = np.where(inside & ~bad, 10 * value + digit, value)
        value[bad] = 0
        return value, bad

    def _byte(self, where: Integers) -> Integers:
        empty = not self.buffer.size
        return np.zeros(where.size, np.int64) if empty else self.buffer[where].astype(np.int64)

    def bits(self, width: int) -> tuple[NDArray[np.int8], Flags]:
        """One row of 0, 1 and −1 (written "-") per text, and which texts are something else."""
        out = np.zeros((len(self), width), np.int8)
        bad = self.lengths != width
        for rows in _portions(np.flatnonzero(~bad), width):
            read = _BITS[self._matrix(rows, width)]
            bad[rows] = (read == _WRONG).any(axis=1)
            out[rows] = read
        out[bad] = 0
        return out, bad

    def ids(self) -> tuple[NDArray[np.uint64], Flags]:
        """Two words of 64 bits for 32 hex digits, and which texts are something else."""
        out = np.zeros((len(self), 2), np.uint64)
        bad = self.lengths != ID_LENGTH
        for rows in _portions(np.flatnonzero(~bad), ID_LENGTH):
            digits = self._matrix(rows, ID_LENGTH)
            try:
                content = unhexlify(digits.tobytes())
            except Error:
                fine = _HEX[digits].all(axis=1)
                bad[rows[~fine]] = True
                rows, content = rows[fine], unhexlify(digits[fine].tobytes())
            out[rows] = np.frombuffer(content, ">u8").reshape(-1, 2)
        return out, bad


def _portions(rows: Integers, width: int) -> list[Integers]:
    """The rows, split into portions whose bytes fit into the cache."""
    if not rows.size:
        return []
    size = max(_AT_ONCE // (8 * max(width, 1)), 1)
    return [rows[start : start + size] for start in range(0, rows.size, size)]
