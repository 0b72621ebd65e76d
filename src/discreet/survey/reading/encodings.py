"""Files as other programs write them: UTF-16 with its mark, lines that end as on old machines."""

from __future__ import annotations

import codecs
from typing import BinaryIO, Final, Protocol

_PEEK: Final = 1 << 16  # bytes that tell how lines end
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Readable(Protocol):
    """As much of a file as readers need."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, place: int, /) -> int: ...


def plain(file: BinaryIO) -> Readable:
    """The file as UTF-8 whose lines end in a line feed; it must be at its start."""
    start = file.read(_PEEK)
    file.seek(0)
    if start.startswith(_MARKS):
        return _Recoded(file)
    return _Returns(file) if b"\r" in start and b"\n" not in start else file


class _Recoded:
    """UTF-16, as PowerShell writes it, read as UTF-8; what is no text becomes question marks."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int, /) -> bytes:
        while True:
            chunk = self._file.read(size)
            words = self._decoder.decode(chunk, final=not chunk)
            if words or not chunk:
                return words.encode()

    def seek(self, place: int, /) -> int:
        self._decoder.reset()
        return self._file.seek(place)


class _Returns:
    """Lines that end in a carriage return alone."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        return self._file.read(size).replace(b"\r", b"\n")

    def seek(self, place: int, /) -> int:
        return self._file.seek(place)
