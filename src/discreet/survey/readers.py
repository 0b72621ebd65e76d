"""Where reports come from: files, lines, dicts and tables. All become batches of columns.

Lines of JSON are parsed many at a time where that is provably the same as one by one; rows of CSV
are split into columns all at once, not row by row.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.survey.cells import Column, Texts
from discreet.survey.reports import Report, Reports

# -- some reports at a time, as columns ------------------------------------------------------------


ROWS: Final = 1 << 17  # at most, in a batch whose size we choose, so that its arrays stay small


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of equal length, and how many other lines were not reports at all.

    A table in memory may leave out whole columns that say where a report belongs (``loose``):
    survey, id, wave. Then they are not checked. Files come from elsewhere and must have them.
    ``notes`` say what is odd about the source as a whole.
    """

    columns: Mapping[str, Column]
    rows: int
    broken: int = 0
    loose: bool = False
    notes: tuple[str, ...] = ()

    def parts(self, rows: int) -> Iterator[Batch]:
        """This batch, split into batches of at most this many rows."""
        if self.rows <= rows:
            yield self
            return
        for start in range(0, self.rows, rows):
            some = {name: column[start : start + rows] for name, column in self.columns.items()}
            broken, notes = (self.broken, self.notes) if start == 0 else (0, ())
            yield Batch(some, min(rows, self.rows - start), broken, self.loose, notes)


def lacking(names: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """A note on the columns that a file does not have.

    >>> lacking(("survey", "id", "wave"), ["id", "colour"])
    ("it has no column 'survey', 'wave'",)
    """
    absent = [repr(name) for name in names if name not in known]
    more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
    return (f"it has no column {', '.join(absent[:3])}{more}",) if absent else ()


def of_dicts(reports: list[Any], names: tuple[str, ...], *, broken: int = 0) -> Batch:
    """Columns of reports given as JSON objects; what is missing is None."""
    columns = {name: _pick(reports, name) for name in names}
    return Batch(columns, len(reports), broken)


def _pick(reports: list[Any], name: str) -> list[Any]:
    try:
        return list(map(itemgetter(name), reports))  # nearly all reports are complete
    except KeyError:
        return [report.get(name) for report in reports]


# -- files as other programs write them ------------------------------------------------------------
# UTF-16 with a byte order mark, and lines that end in a carriage return.


_PEEK: Final = 1 << 16  # bytes that are looked at to see how lines end
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Readable(Protocol):
    """The part of a file's interface that readers need."""

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
    """UTF-16, as PowerShell writes it, read as UTF-8; what is not text becomes question marks."""

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


# -- lines of JSON ---------------------------------------------------------------------------------


_BLOCK: Final = 1 << 21  # bytes read at a time
_LONGEST: Final = 1 << 24  # bytes of a line; longer ones are skipped, so memory is bounded
_MARK: Final = b"\xef\xbb\xbf"  # the byte order mark that some programs begin a file with
_WRONG: Final = (ValueError, RecursionError)  # not JSON, too long a number, or nested too deeply


def read_json_lines(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file, one per line."""
    for block, skipped in line_blocks(file):
        reports, broken = parse_lines(block)
        yield of_dicts(reports, names, broken=broken + skipped)


def line_blocks(file: Readable) -> Iterator[tuple[bytes, int]]:
    """Whole lines, many at a time, and how many were skipped because they are too long."""
    rest, skipping = file.read(len(_MARK)).removeprefix(_MARK), False
    while chunk := file.read(_BLOCK):
        head, newline, tail = chunk.rpartition(b"\n")
        if not newline:  # no line ends in this chunk
            if not skipping:
                rest += tail
            if len(rest) > _LONGEST:
                rest, skipping = b"", True
            continue
        if skipping:  # the first line end is that of the long line
            head = head.partition(b"\n")[2]
        yield rest + head, int(skipping)
        rest, skipping = tail, False
    if rest or skipping:
        yield rest, int(skipping)


def parse_lines(block: bytes) -> tuple[list[Any], int]:
    """The reports in some lines, and how many lines are not reports. Empty lines do not count."""
    block = block.replace(b"\r\n", b"\n").strip(b"\r\n")
    if not block:
        return [], 0
    together = _parse_together(block)
    if together is not None:
        return together, 0
    lines = [line for line in block.split(b"\n") if line.strip()]
    reports = [report for line in lines if (report := parse_one(line)) is not None]
    return reports, len(lines) - len(reports)


def _parse_together(block: bytes) -> list[Any] | None:
    """All lines as one JSON array, or None if lines may not be what they seem.

    Joined by commas, two crafted lines could swallow the honest ones between them. That cannot
    happen if each of n lines begins with { and ends with }, there are no other braces, and n
    objects come out: then all braces are structure, so each object ends before the next begins.
    """
    lines = block.count(b"\n") + 1
    plain = (
        block[:1] == b"{"
        and block[-1:] == b"}"
        and block.count(b"}\n{") == lines - 1
        and block.count(b"{") == block.count(b"}") == lines
    )
    if not plain:
        return None
    try:
        found = json.loads(b"[%b]" % block.replace(b"\n", b","))
    except _WRONG:
        return None
    return found if len(found) == lines else None


def parse_one(line: str | bytes) -> dict[str, Any] | None:
    """One report, or None if the line is something else."""
    try:
        found = json.loads(line)
    except _WRONG:
        return None
    return found if isinstance(found, dict) else None


def read_json_file(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches from a file with one saved report, a list of reports, or one report per line."""
    start = file.read(_LONGEST + 1)
    if len(start) <= _LONGEST:
        try:
            found = json.loads(start)
        except _WRONG:
            found = None
        if isinstance(found, dict | list):
            several = found if isinstance(found, list) else [found]
            reports = [report for report in several if isinstance(report, dict)]
            yield of_dicts(reports, names, broken=len(several) - len(reports))
            return
    file.seek(0)
    yield from read_json_lines(file, names)


# -- rows of CSV -----------------------------------------------------------------------------------


_SEPARATORS: Final = b",;\t"
_NEWLINE, _RETURN = 10, 13


def read_csv(file: Readable, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file whose first line names its columns.

    A row with too many or too few fields is not a report. Nothing in a report needs a line break,
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
    """The number of rows, their columns and how many lines are not rows, for a block without
    quotes."""
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
        """Where a column ends: at its separator, or for the last one at the end of the line."""
        last = column == width - 1
        return np.asarray(ends if last else marks[first + column])

    columns = []
    for column in range(width):
        begin = starts if column == 0 else edge(column - 1) + 1
        columns.append(Texts(buffer, begin, edge(column) - begin))
    return starts.size, columns, int(np.count_nonzero(filled & ~fine))


def _cut_quoted(block: bytes, width: int, separator: bytes) -> tuple[int, list[Texts], int]:
    """What `_cut_plain` returns, row by row, for a block with quotes."""
    lines = [line for line in block.replace(b"\r\n", b"\n").split(b"\n") if line]
    rows = [row for line in lines if len(row := _fields(line, separator)) == width]
    columns = [Texts.of([row[column] for row in rows]) for column in range(width)]
    return len(rows), columns, len(lines) - len(rows)


# -- reports that are columns already --------------------------------------------------------------
# Parquet, Arrow, data frames, arrays.


def read_parquet(path: Path, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file; rows of a damaged part do not count as reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = False
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError):
        problem = True  # raised below, outside: the original message may quote the file
    if problem:
        raise InvalidArgument.of(
            "source",
            "a Parquet file that can be opened",
            path.name,
            hint="it may be truncated: a Parquet file is complete only with its last bytes",
        )
    with file:
        wanted = [name for name in names if name in file.schema_arrow.names]
        yield Batch({}, 0, notes=lacking(names, wanted))
        for group in range(file.num_row_groups):
            left = file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(ROWS, row_groups=[group], columns=wanted):
                    left -= batch.num_rows
                    yield _of_arrow(batch)
            except (pa.ArrowException, OSError):
                yield Batch({}, 0, broken=max(left, 0))


def read_arrow(stream: Any, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of anything that supports Arrow's stream protocol."""
    import pyarrow as pa

    with pa.RecordBatchReader.from_stream(stream) as reader:
        for batch in reader:
            for start in range(0, batch.num_rows, ROWS):
                part = batch.slice(start, ROWS)
                yield _of_arrow(part.select([n for n in names if n in part.schema.names]), True)


def _of_arrow(batch: Any, loose: bool = False) -> Batch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    return Batch(columns, batch.num_rows, loose=loose)


def read_arrays(table: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of columns in memory: lists, arrays, series."""
    columns = {name: _column(table[name]) for name in names if name in table}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise InvalidArgument(
            "source",
            "columns of equal length",
            f"lengths from {min(lengths):,} to {max(lengths):,}",
        )
    rows = max(lengths, default=0)
    for start in range(0, rows, ROWS):
        part = {name: column[start : start + ROWS] for name, column in columns.items()}
        yield Batch(part, min(ROWS, rows - start), loose=True)


def _column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, list | pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, tuple | range):
        return list(values)
    if not isinstance(values, np.ndarray) and hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    array = np.asarray(values)
    if array.ndim == 0:
        raise InvalidArgument(
            "source", "columns, or one report of single values", "a mixture of both"
        )
    return array


def read_reports(reports: Reports, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of what ``respond_many`` returned."""
    survey = np.frombuffer(reports.survey.encode(), np.uint8)
    for start in range(0, len(reports), ROWS):
        part = reports.part(start, start + ROWS)
        same = np.zeros(len(part), np.int64)
        columns: dict[str, Any] = {name: a for name, a in part.answers.items() if name in names}
        columns["survey"] = Texts(survey, same, same + survey.size)
        columns["id"], columns["wave"] = part.words, same + part.wave
        yield Batch(columns, len(part))


# -- any source of reports -------------------------------------------------------------------------


Source: TypeAlias = Any
"""A path, one report, an iterable of reports or lines, a table, or a dict of columns."""

_DICTS: Final = 1 << 14  # reports taken from an iterable at a time
_FILES: Final[dict[str, Callable[[Readable, tuple[str, ...]], Iterator[Batch]]]] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_file,
    ".csv": read_csv,
}
_ENDINGS: Final = (*_FILES, ".parquet")


def read_batches(source: Source, names: tuple[str, ...]) -> Iterator[Batch]:
    """The columns with these names, some rows at a time."""
    if isinstance(source, str | PathLike):
        return _noted(_read_file(Path(source), names), Path(source).name)
    if isinstance(source, Reports):
        return read_reports(source, names)
    if isinstance(source, Report):
        return _read_items([source], names)
    if isinstance(source, Mapping):
        one = all(_is_single(value) for value in source.values())
        return _read_items([source], names) if one else read_arrays(source, names)
    if hasattr(source, "__arrow_c_stream__"):
        return _read_frame(source, names)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):  # an older pandas
        return read_arrays({name: source[name] for name in source.columns}, names)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return _read_items(source, names)
    raise InvalidArgument.of_data(
        "source", "a path, an iterable of reports, a table or a dict of columns", source
    )


def _noted(batches: Iterator[Batch], file: str) -> Iterator[Batch]:
    """Batches whose notes name the file; an empty file gets a note too."""
    lines = 0
    for batch in batches:
        lines += batch.rows + batch.broken
        yield replace(batch, notes=tuple(f"{file}: {note}" for note in batch.notes))
    if not lines:
        yield Batch({}, 0, notes=(f"{file}: there is no report in it",))


def _is_single(value: object) -> bool:
    return value is None or isinstance(value, int | float | str | bytes | Mapping)


def _read_file(path: Path, names: tuple[str, ...]) -> Iterator[Batch]:
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise InvalidArgument.of(
            "source", "a file whose name ends in " + ", ".join(_ENDINGS), path.name
        )
    try:
        with open(path, "rb") as file:
            if ending != ".parquet":
                yield from _FILES[ending](plain(file), names)
    except OSError as failure:
        raise InvalidArgument.of(
            "source",
            "a file that can be opened",
            str(path),
            hint=f"check the path and its permissions ({failure.strerror})",
        ) from None
    if ending == ".parquet":
        yield from read_parquet(path, names)


def _read_frame(frame: Any, names: tuple[str, ...]) -> Iterator[Batch]:
    import pyarrow as pa

    batches = None
    if not isinstance(frame, pa.Table | pa.RecordBatchReader) and hasattr(frame, "to_numpy"):
        try:  # a column of mixed objects has no Arrow type, but it can be read one by one
            frame = pa.table(frame)
        except (pa.ArrowException, TypeError):
            batches = read_arrays({name: frame[name].to_numpy() for name in frame.columns}, names)
    return read_arrow(frame, names) if batches is None else batches


def _read_items(items: Iterable[Any], names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of reports from an iterable: dicts, `Report` objects, or lines of JSON."""
    rest = iter(items)
    while some := list(islice(rest, _DICTS)):
        kinds = set(map(type, some))
        if kinds == {dict}:
            yield of_dicts(some, names)
        elif (lines := _joined(some, kinds)) is not None:
            reports, broken = parse_lines(lines)
            yield of_dicts(reports, names, broken=broken)
        else:
            reports = [report for item in some if (report := _report(item)) is not None]
            blank = sum(isinstance(item, str | bytes) and not item.strip() for item in some)
            yield of_dicts(reports, names, broken=len(some) - len(reports) - blank)


def _joined(items: list[Any], kinds: set[type]) -> bytes | None:
    """Lines joined into one piece; None if they are not lines, or one holds several."""
    if kinds == {str}:
        items = [item.encode("utf-8", "surrogatepass") for item in items]
    elif kinds != {bytes}:
        return None
    joined = b"\n".join(item.strip(b"\r\n") for item in items)
    return joined if joined.count(b"\n") == len(items) - 1 else None


def _report(item: object) -> Mapping[str, Any] | None:
    if isinstance(item, Report):
        return item.document()
    if isinstance(item, str | bytes):
        return parse_one(item)
    return item if isinstance(item, Mapping) else None
