"""Reports as files: JSON lines, CSV or Parquet, a block at a time.

A file appears under its name when it is whole. One that is there already is not overwritten:
reports cannot be drawn again without telling more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from discreet.errors import InvalidArgument, Refused
from discreet.survey.reports import Reports

_BLOCK: Final = 1 << 16


def write(reports: Reports, path: str | Path) -> Path:
    """Write to a new file of one of the three kinds, which its name says."""
    target = Path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InvalidArgument(
            name="path",
            expected="a file name that ends with " + ", ".join(_WRITERS),
            given=InvalidArgument.describe_parameter(str(path)),
        )
    if not target.parent.is_dir():
        raise InvalidArgument(
            name="path",
            expected="a file in a folder that is there",
            given=InvalidArgument.describe_parameter(str(path)),
        )
    if target.exists():
        raise Refused(
            f"{target.name} is there already, and reports cannot be drawn again without telling "
            "more: choose another name, or move the old file away"
        )
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        writer(reports, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def _blocks(reports: Reports) -> Iterator[Reports]:
    for start in range(0, len(reports), _BLOCK):
        yield reports.part(start, start + _BLOCK)


def _write_json_lines(reports: Reports, path: Path) -> None:
    marks = ",".join(
        f'"{name}":%d' if column.ndim == 1 else f'"{name}":"%s"'
        for name, column in reports.answers.items()
    )
    line = f'{{"survey":"{reports.survey}","id":"%s","wave":{reports.wave},{marks}}}\n'
    _write_lines(reports, path, line)


def _write_csv(reports: Reports, path: Path) -> None:
    marks = ",".join("%d" if column.ndim == 1 else "%s" for column in reports.answers.values())
    head = ",".join(["survey", "id", "wave", *reports.answers]) + "\n"
    _write_lines(reports, path, f"{reports.survey},%s,{reports.wave},{marks}\n", head=head)


def _write_lines(reports: Reports, path: Path, line: str, *, head: str = "") -> None:
    with open(path, "x", encoding="ascii", newline="") as file:
        file.write(head)
        for block in _blocks(reports):
            columns = block.columns()
            rows = zip(columns["id"], *(columns[name] for name in reports.answers), strict=True)
            file.write("".join([line % row for row in rows]))


def _write_parquet(reports: Reports, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("survey", pa.string()), ("id", pa.string()), ("wave", pa.int64())]
        + [
            (name, pa.int64() if column.ndim == 1 else pa.string())
            for name, column in reports.answers.items()
        ]
    )
    with open(path, "xb") as file, pq.ParquetWriter(file, schema) as writer:
        for block in _blocks(reports):
            writer.write_table(pa.table(block.columns(), schema=schema))


_WRITERS: Final[dict[str, Callable[[Reports, Path], None]]] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
