"""Reports as rows of CSV, cut into columns without looking at one row after the other."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.survey.reading.batches import Batch, lacking
from discreet.survey.reading.encodings import Readable
from discreet.survey.reading.json_lines import line_blocks
from discreet.survey.reading.texts import Texts

_SEPARATORS: Final = b",;\t"
_NEWLINE, _RETURN = 10, 13


def read_csv(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file whose first line names its columns.

    A row with too many or too few fields is no report. Nothing in a report needs a line break,
    so a line is a row, whatever its quotes say, and a broken row never spoils the next one.
    """
    header: list[str] | None = None
    separator = b","
    notes: tuple[str, ...] = ()
    for block, skipped in line_blocks(file):
        if header is None:
            line, _, block = block.lstrip(b"\r\n").partition(b"\n")
            separator = max(
                (_SEPARATORS[i : i + 1] for i in range(len(_SEPARATORS))), key=line.count
            )
            header = [name.strip() for name in _fields(line.rstrip(b"\r"), separator)]
            notes = lacking(names, header)
        cut = _cut_quoted if b'"' in block else _cut_plain
        batch = cut(block, len(header), separator)
        wanted = {name: batch[1][header.index(name)] for name in names if name in header}
        yield Batch(wanted, batch[0], batch[2] + skipped, notes=notes)
        notes = ()


def _fields(line: bytes, separator: bytes) -> list[str]:
    """The fields of one row; a row that the csv module cannot read is one long field."""
    text = line.decode("latin-1")
    try:
        return next(csv.reader([text], delimiter=separator.decode()), [])
    except csv.Error:
        return [text]


def _cut_plain(block: bytes, width: int, separator: bytes) -> tuple[int, list[Texts], int]:
    """Rows, their columns and how many lines are no rows, for a block without quotes."""
    buffer = np.frombuffer(block + b"\n", np.uint8)
    ends = np.flatnonzero(buffer == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    ends = ends - ((ends > starts) & (buffer[ends - 1] == _RETURN))
    marks = np.flatnonzero(buffer == separator[0])
    first, last = np.searchsorted(marks, starts), np.searchsorted(marks, ends)
    filled = ends > starts
    fine = filled & (last - first == width - 1)
    starts, ends, first = starts[fine], ends[fine], first[fine]

    def edge(column: int) -> NDArray[np.intp]:
        """Where a column ends: at its separator, the last one at the end of the line."""
        last = column == width - 1
        return np.asarray(ends if last else marks[first + column])

    columns = []
    for column in range(width):
        begin = starts if column == 0 else edge(column - 1) + 1
        columns.append(Texts(buffer, begin, edge(column) - begin))
    return starts.size, columns, int(np.count_nonzero(filled & ~fine))


def _cut_quoted(block: bytes, width: int, separator: bytes) -> tuple[int, list[Texts], int]:
    """The same with quotes, row by row."""
    lines = [line for line in block.replace(b"\r\n", b"\n").split(b"\n") if line]
    rows = [row for line in lines if len(row := _fields(line, separator)) == width]
    columns = [Texts.of([row[column] for row in rows]) for column in range(width)]
    return len(rows), columns, len(lines) - len(rows)
