"""Many short texts as bytes in one buffer, and what a report may say in them, read at once.

Digits, bits and ids are ASCII. A character beyond Latin-1 becomes a question mark, and one within
it a byte above 127: neither is a digit, so no foreign numeral slips through.
"""

from __future__ import annotations

from binascii import Error, unhexlify
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
        """From Python's texts, one byte a character."""
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
        """The texts of these rows, all of this length, one a row of bytes."""
        # One item of `width` bytes begins at each byte; to take items is faster than bytes.
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
        """Whole numbers written in 1 to 18 digits, and which texts are none."""
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
        """One row of 0, 1 and −1 (written "-") a text, and which texts are something else."""
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
    """Rows in portions whose bytes fit into the cache."""
    if not rows.size:
        return []
    size = max(_AT_ONCE // (8 * max(width, 1)), 1)
    return [rows[start : start + size] for start in range(0, rows.size, size)]
