"""Is the released table the answer to the query, with the keys of its groups?"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.auditor.certificate.query_check import AGGREGATES, Document, shared
from discreet.errors import InvalidArgument
from discreet.numeric import canonical
from discreet.numeric.table_digest import columns_of, table_digest

if TYPE_CHECKING:
    import pyarrow as pa

# -- keys ------------------------------------------------------------------------------------------
# Are they those of the groups, as many as stated, each once, and is the digest theirs?


MOST_TOLD: Final = 100  # up to this many keys, the keys themselves are listed


def key_faults(tree: Document) -> Iterator[str]:
    """What does not fit, in sentences."""
    group, keys = tree["group"], tree["keys"]
    if bool(group) != (keys is not None):
        yield "it has groups without keys, or keys without groups"
        return
    if keys is None or keys["discovered"]:
        return
    columns = [{"name": one["name"], "type": one["value"]["type"]} for one in group]
    values = keys["values"]
    if keys["columns"] != columns:
        yield "the keys are of other columns than those that are grouped by"
    elif values is None:
        if keys["count"] <= MOST_TOLD:
            yield "so few keys must be listed themselves, and are not"
    elif len(values) != keys["count"]:
        yield "the keys are not as many as the query says"
    elif len({canonical.text(list(row)) for row in values}) != len(values):
        yield "a key is there twice, and so are the rows that have it"
    elif table_digest(_keys(columns, values)) != keys["sha256"]:
        yield "the digest of the keys is not that of the keys that are listed"


def _keys(columns: Sequence[Document], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """The keys that a certificate lists, as a table."""
    import pyarrow as pa

    kinds = {"boolean": (bool, pa.bool_()), "integer": (int, pa.int64())}
    kinds |= {"date": (str, pa.date32()), "text": (str, pa.string())}
    arrays = []
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        wanted, kind = kinds[column["type"]]
        if not all(type(cell) is wanted for cell in cells):
            raise InvalidArgument("keys", "cells of their type", "others")
        arrays.append(pa.array(cells).cast(kind))
    return pa.table(arrays, names=[column["name"] for column in columns])


# -- the table -------------------------------------------------------------------------------------
# Is there a row for each key, and are there columns for each aggregate?


Column = tuple[str, str, str]  # name, type (or several, separated by spaces), role


def answer_faults(
    tree: Document, mechanisms: Sequence[Document], released: Document
) -> Iterator[str]:
    """What does not fit, in sentences."""
    told = [(one["name"], one["type"], one["role"]) for one in released["columns"]]
    wanted = _columns(*shared(tree, mechanisms), empty=not released["rows"])
    wanted = islice(wanted, len(told) + 1)  # a count may ask for any number of them
    if not all(
        one is not None
        and other is not None
        and (one[0], one[2]) == (other[0], other[2])
        and one[1] in other[1].split(" ")
        for one, other in zip_longest(told, wanted)
    ):
        yield "the released columns are not those of the query's groups and aggregates"
    if any((one["error"] is None) == (one["role"] == "value") for one in released["columns"]):
        yield "an error is stated where there is no value, or a value without its error"
    keys = tree["keys"] if tree["kind"] == "query" else None
    if not (keys and keys["discovered"]) and released["rows"] != (keys["count"] if keys else 1):
        yield "the released rows are not as many as the query's keys"


def _columns(tree: Document, mechanisms: Sequence[Document], *, empty: bool) -> Iterator[Column]:
    if tree["kind"] != "query":
        yield "bound", "integer", "value"
        yield "bound_rank_error", "real", "error"
        return
    for group in tree["group"]:
        yield group["name"], group["value"]["type"], "key"
    for aggregate in tree["aggregates"]:
        rule = AGGREGATES[aggregate["kind"]]
        # Version 0.1.0 had no type for the commonest of no rows.
        more = " null" if empty and aggregate["kind"] == "top k" else ""
        kind = rule.kind(aggregate, mechanisms) + more
        for name in rule.names(aggregate):
            yield name, kind, "value"
            yield f"{name}_{rule.error}", "real", "error"


# -- the released table, read back -----------------------------------------------------------------
# From Arrow, Parquet or CSV, to compare it with a certificate. A CSV file has no types, so its
# cells are read as the types that the certificate states. Numbers survive as long as they were
# written in full, as `Result.to_csv`, pandas and Polars do.


_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-f]{2})|\\)")


def released_table(
    result: str | os.PathLike[str] | pa.Table | Any, told: Mapping[str, Any]
) -> pa.Table | None:
    """The table in the types it was released in, if it holds exactly what a certificate says.

    ``result`` is a path (Parquet, or CSV), an Arrow table, or an object with a method ``to_arrow``.
    """
    table = _read(result)
    if table is None:
        return None
    found = _fitting(table, told)
    if found is None and isinstance(result, str | os.PathLike):
        found = _fitting(_unmarked(table), told)  # written by `Result.to_csv`, with its marks
    return found


def _fitting(table: pa.Table, told: Mapping[str, Any]) -> pa.Table | None:
    import pyarrow as pa

    wanted = [{"name": column["name"], "type": column["type"]} for column in told["columns"]]
    if table.column_names != [column["name"] for column in wanted]:
        return None
    try:
        table = pa.table(
            [_typed(table[column["name"]], column["type"]) for column in wanted],
            names=table.column_names,
        )
    except (pa.ArrowException, ValueError):
        return None
    same = columns_of(table) == wanted and table_digest(table) == told["sha256"]
    return table if same and table.num_rows == told["rows"] else None


def is_distinct(keys: pa.Table) -> bool:
    """Does every row occur only once?"""
    return bool(keys.group_by(keys.column_names).aggregate([]).num_rows == keys.num_rows)


def _read(result: Any) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import parquet

    if hasattr(result, "to_arrow"):
        result = result.to_arrow()
    if isinstance(result, pa.Table):
        return result
    if not isinstance(result, str | os.PathLike):
        raise InvalidArgument.of_data(
            "result", "a path (CSV or Parquet), an Arrow table or a result", result
        )
    path = Path(result)
    if not path.is_file():
        raise InvalidArgument("result", "the path of a file", "one where no file is")
    try:
        return parquet.read_table(path) if path.suffix.lower() == ".parquet" else _csv(path)
    except (pa.ArrowException, OSError, UnicodeError):
        return None  # no such table in it


def _csv(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file), [])
    texts = {name: pa.string() for name in names}
    return arrow_csv.read_csv(
        path,
        convert_options=arrow_csv.ConvertOptions(column_types=texts, strings_can_be_null=False),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
    )


def _unmarked(table: pa.Table) -> pa.Table:
    """Names and texts as they were before `Result.to_csv` made them harmless."""
    import pyarrow as pa

    columns = [
        pa.array([None if cell is None else as_written(cell) for cell in column.to_pylist()])
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=list(map(as_written, table.column_names)))


def as_written(cell: str) -> str:
    """The text that a released file shows in a form which no spreadsheet computes.

    >>> as_written("'=1+1"), as_written("'\\\\x1b[2J") == "\\x1b[2J", as_written("a = b")
    ('=1+1', True, 'a = b')
    """
    if not cell.startswith("'"):
        return cell
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", cell[1:])


def _typed(column: Any, kind: str) -> Any:
    """A column of text, converted to the type it was released in; any other column unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "text" or not (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        return column
    cells = pc.if_else(pc.equal(column, ""), None, column)
    if kind == "boolean":
        return pc.utf8_lower(cells).cast(pa.bool_())
    if kind == "integer":
        try:
            return cells.cast(pa.int64())
        except pa.ArrowInvalid:  # beyond 64 bits
            return cells.cast(pa.decimal128(38, 0))
    types = {"real": pa.float64(), "date": pa.date32()}
    return cells.cast(types[kind]) if kind in types else column
