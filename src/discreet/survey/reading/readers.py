"""Where reports come from: files, lines, dicts, tables. All become batches of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias

from discreet.errors import InvalidArgument
from discreet.survey.reading.batches import Batch, of_dicts
from discreet.survey.reading.csv_rows import read_csv
from discreet.survey.reading.encodings import Readable, plain
from discreet.survey.reading.json_lines import (
    parse_lines,
    parse_one,
    read_json_file,
    read_json_lines,
)
from discreet.survey.reading.tables import read_arrays, read_arrow, read_parquet, read_reports
from discreet.survey.reports import Report, Reports

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


def read(source: Source, names: tuple[str, ...]) -> Iterator[Batch]:
    """The columns of these names, some rows at a time."""
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
    raise InvalidArgument(
        name="source",
        expected="a path, an iterable of reports, a table or a dict of columns",
        given=InvalidArgument.describe_data(source),
    )


def _noted(batches: Iterator[Batch], file: str) -> Iterator[Batch]:
    """Notes with the name of the file; an empty one has a note too."""
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
        raise InvalidArgument(
            name="source",
            expected="a file whose name ends in " + ", ".join(_ENDINGS),
            given=InvalidArgument.describe_parameter(path.name),
        )
    try:
        with open(path, "rb") as file:
            if ending != ".parquet":
                yield from _FILES[ending](plain(file), names)
    except OSError as failure:
        raise InvalidArgument(
            name="source",
            expected="a file that can be opened",
            given=InvalidArgument.describe_parameter(str(path)),
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
    """Reports one after the other: dicts, Report, or lines of JSON."""
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
    """Lines in one piece; None if they are something else, or one holds several."""
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
