"""Reports that are columns already: Parquet, Arrow, data frames, arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.survey.reading.batches import ROWS, Batch, lacking
from discreet.survey.reading.texts import Texts
from discreet.survey.reports import Reports


def read_parquet(path: Path, names: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the reports in a file; rows of a damaged part are no reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = False
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError):
        problem = True  # raised below, outside: the other message may quote the file
    if problem:
        raise InvalidArgument(
            name="source",
            expected="a Parquet file that can be opened",
            given=InvalidArgument.describe_parameter(path.name),
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
    """Batches of anything that speaks Arrow's stream protocol."""
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
            name="source",
            expected="columns of equal length",
            given=f"lengths from {min(lengths):,} to {max(lengths):,}",
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
            name="source",
            expected="columns, or one report of single values",
            given="a mixture of both",
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
