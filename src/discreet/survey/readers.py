"""Where reports come from: files, lines, dicts and tables. All become batches of columns.

Lines of JSON are parsed many at a time where that is provably the same as one by one; rows of CSV
are split into columns all at once, not row by row.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np

from discreet.errors import InvalidArgument
from discreet.survey.cells import Column, Texts
from discreet.survey.reports import Report, Reports

# -- some reports at a time, as columns ------------------------------------------------------------


ROWS: Final = 1 << 17  # at most, in a part of a batch, so that its arrays stay small


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
        """The columns of this batch, split into batches of at most this many rows."""
        rows = min(rows, ROWS)
        for start in range(0, self.rows, rows):
            some = {name: column[start : start + rows] for name, column in self.columns.items()}
            yield Batch(some, min(rows, self.rows - start), loose=self.loose)


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


# -- files as other programs write them: UTF-16 with a mark, lines that end in a carriage return ---


_PEEK: Final = 1 << 16  # bytes that are looked at to see how lines end
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def plain(file: BufferedReader) -> Any:
    """The file as UTF-8 whose lines end in a line feed; it must be at its start."""
    start = file.read(_PEEK)
    file.seek(0)
    if start.startswith(_MARKS):  # as PowerShell writes it; what is not text becomes a "?"
        return codecs.EncodedFile(file, "utf-8", "utf-16", "replace")
    return _Returns(file.raw) if b"\r" in start and b"\n" not in start else file


class _Returns(BufferedReader):
    """Lines that end in a carriage return alone."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size).replace(b"\r", b"\n")


# -- lines of JSON ---------------------------------------------------------------------------------


_BLOCK: Final = 1 << 21  # bytes read at a time
_LONGEST: Final = 1 << 24  # bytes of a line; longer ones are skipped, so memory is bounded
_MARK: Final = b"\xef\xbb\xbf"  # the byte order mark that some programs begin a file with
_WRONG: Final = (ValueError, RecursionError)  # not JSON, too long a number, or nested too deeply


def read_json_lines(file: BinaryIO, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file, one per line."""
    for block, skipped in line_blocks(file):
        reports, broken = parse_lines(block)
        yield of_dicts(reports, names, broken=broken + skipped)


def line_blocks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
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


def read_json_file(file: BinaryIO, names: tuple[str, ...]) -> Iterator[Batch]:
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


_SEPARATORS: Final = (b",", b";", b"\t")


def read_csv(file: BinaryIO, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file whose first line names its columns.

    A row with too many or too few fields is not a report. Nothing in a report needs a line break,
    so a line is a row, whatever its quotes say, and a broken row never spoils the next one. So
    pyarrow reads only what has no quotes and no other lines; an open quote would swallow rows.
    """
    header: list[str] | None = None
    separator = b","
    notes: tuple[str, ...] = ()
    for block, skipped in line_blocks(file):
        if header is None:
            line, _, block = block.lstrip(b"\r\n").partition(b"\n")
            separator = max(_SEPARATORS, key=line.count)
            named = _fields(line.rstrip(b"\r"), separator)
            header = [name.decode("latin-1").strip() for name in named]
            notes = lacking(names, header)
        columns, rows, others = _split(block, len(header), separator)
        wanted = {name: Texts(columns[header.index(name)]) for name in names if name in header}
        yield Batch(wanted, rows, others + skipped, notes=notes)
        notes = ()


def _split(block: bytes, width: int, separator: bytes) -> tuple[list[Any], int, int]:
    """The columns of some lines as Arrow arrays, how many are rows, and how many are not."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    block = block.removesuffix(b"\r").replace(b"\r\n", b"\n")
    if block.strip() and b'"' not in block and b"\r" not in block:
        names = [str(place) for place in range(width)]
        with suppress(pa.ArrowInvalid):  # some lines are not rows
            table = arrow.read_csv(
                pa.BufferReader(block),
                arrow.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
                arrow.ParseOptions(delimiter=separator.decode(), quote_char=False),
                arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.binary())),
            )
            return [c.combine_chunks() for c in table.columns], table.num_rows, 0
    lines = [line for line in block.split(b"\n") if line]
    rows = [row for line in lines if len(row := _fields(line, separator)) == width]
    columns = list(zip(*rows, strict=True)) or [()] * width
    return [pa.array(c, pa.binary()) for c in columns], len(rows), len(lines) - len(rows)


def _fields(line: bytes, separator: bytes) -> list[bytes]:
    """The fields of one row; a row that the csv module cannot read is one long field."""
    text = line.decode("latin-1")
    try:
        row = next(csv.reader([text], delimiter=separator.decode()), [])
    except csv.Error:
        row = [text]
    return [field.encode("latin-1") for field in row]


# -- reports that are columns already: Parquet, Arrow, data frames, arrays -------------------------


def read_parquet(path: Path, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file; rows of a damaged part do not count as reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError):
        file = None  # refused below, outside: the original message may quote the file
    if file is None:
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
        wanted = [name for name in names if name in reader.schema.names]
        yield from (_of_arrow(batch.select(wanted), loose=True) for batch in reader)


def _of_arrow(batch: Any, loose: bool = False) -> Batch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    return Batch(columns, batch.num_rows, loose=loose)


def read_arrays(table: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of columns in memory: lists, arrays, series."""
    columns = {name: _column(table[name]) for name in names if name in table}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        given = f"lengths from {min(lengths):,} to {max(lengths):,}"
        raise InvalidArgument("source", "columns of equal length", given)
    yield Batch(columns, max(lengths, default=0), loose=True)


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
    """What ``respond_many`` returned."""
    import pyarrow as pa

    count = len(reports)
    columns: dict[str, Any] = {name: a for name, a in reports.answers.items() if name in names}
    columns["survey"] = pa.repeat(reports.survey, count)
    columns["id"], columns["wave"] = reports.words, np.full(count, reports.wave)
    yield Batch(columns, count)


# -- any source of reports -------------------------------------------------------------------------


Source: TypeAlias = Any
"""A path, one report, an iterable of reports or lines, a table, or a dict of columns."""

_DICTS: Final = 1 << 14  # reports taken from an iterable at a time
_FILES: Final[dict[str, Callable[[BinaryIO, tuple[str, ...]], Iterator[Batch]]]] = {
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
        values = [value for value in source.values() if value is not None]
        one = all(isinstance(value, int | float | str | bytes | Mapping) for value in values)
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


def _read_file(path: Path, names: tuple[str, ...]) -> Iterator[Batch]:
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise InvalidArgument.of(
            "source", "a file whose name ends in " + ", ".join(_ENDINGS), path.name
        )
    try:
        with open(path, "rb") as file, closing(plain(file)) as lines:
            if ending != ".parquet":
                yield from _FILES[ending](lines, names)
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

    if not isinstance(frame, pa.Table | pa.RecordBatchReader) and hasattr(frame, "to_numpy"):
        try:  # a column of mixed objects has no Arrow type, but it can be read one by one
            frame = pa.table(frame)
        except (pa.ArrowException, TypeError):
            return read_arrays({name: frame[name].to_numpy() for name in frame.columns}, names)
    return read_arrow(frame, names)


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
