"""Is the released table the answer to the query, with the keys of its groups?"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, pairwise, zip_longest
from typing import Any, Final

from discreet.certificate.independent.query_check import adds, points, shared
from discreet.errors import InvalidArgument
from discreet.numeric import canonical

# -- keys ------------------------------------------------------------------------------------------
# Are they those of the groups, as many as stated, each once, and is the digest theirs?


Document = Mapping[str, Any]
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
    elif keys_digest(columns, values) != keys["sha256"]:
        yield "the digest of the keys is not that of the keys that are listed"


def keys_digest(columns: Sequence[Document], rows: Sequence[Sequence[Any]]) -> str:
    """SHA-256 of a table of keys: a line of columns and rows, then cells, column by column.

    >>> keys_digest([{"name": "ward", "type": "text"}], [["A"], ["B"]])[:16]
    '1f196c4a28f4c8ce'
    """
    header = {"columns": [dict(column) for column in columns], "rows": len(rows)}
    digest = hashlib.sha256(f"{canonical.text(header)}\n".encode())
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        digest.update(b"\x01" * len(rows))  # no key is missing
        digest.update(_bytes(column["type"], cells))
    return digest.hexdigest()


def _bytes(kind: str, cells: Sequence[Any]) -> bytes:
    wanted = {"boolean": bool, "integer": int, "date": str, "text": str}.get(kind)
    if wanted is None or not all(type(cell) is wanted for cell in cells):
        raise InvalidArgument(name="keys", expected="cells of their type", given="others")
    match kind:
        case "boolean":
            return bytes(cells)
        case "integer":
            return b"".join(map(_number, cells))
        case "date":
            first = datetime.date(1970, 1, 1).toordinal()
            days = [datetime.date.fromisoformat(cell).toordinal() - first for cell in cells]
            return b"".join(map(_number, days))
    texts = [cell.encode() for cell in cells]
    return b"".join(_number(len(text)) for text in texts) + b"".join(texts)


def _number(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


# -- the table -------------------------------------------------------------------------------------
# Is there a row for each key, and are there columns for each aggregate?


Column = tuple[str, str, str]  # name, type, role


def answer_faults(
    tree: Document, mechanisms: Sequence[Document], released: Document
) -> Iterator[str]:
    """What does not fit, in sentences."""
    tree, mechanisms = shared(tree, mechanisms)
    told = [(one["name"], one["type"], one["role"]) for one in released["columns"]]
    wanted = _columns(tree, mechanisms, empty=not released["rows"])
    wanted = islice(wanted, len(told) + 1)  # a count may ask for any number of them
    if not all(
        one is not None and other is not None and _is(one, other)
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
        yield from _pair("bound", "integer", "bound_rank_error")
        return
    for group in tree["group"]:
        yield group["name"], group["value"]["type"], "key"
    for aggregate in tree["aggregates"]:
        suffix = {"quantile": "rank_error", "range": "rank_error", "top k": "count_error"}
        kind = _type(aggregate, mechanisms, empty=empty)
        for name in _names(aggregate):
            yield from _pair(name, kind, f"{name}_{suffix.get(aggregate['kind'], 'error')}")


def _is(told: tuple[str, str, str], wanted: Column) -> bool:
    return (told[0], told[2]) == (wanted[0], wanted[2]) and told[1] in wanted[1].split()


def _pair(name: str, kind: str, error: str) -> Iterator[Column]:
    yield name, kind, "value"
    yield error, "real", "error"


def _names(aggregate: Document) -> Iterable[str]:
    name = aggregate["name"]
    match aggregate["kind"]:
        case "quantile" if aggregate["several"]:
            return [f"{name}_{float(Fraction(p)):g}" for p in aggregate["probabilities"]]
        case "histogram" if aggregate["edges"]:
            ends = [f"{float(Fraction(edge)):g}" for edge in aggregate["edges"]]
            return [f"{name}_{low}_to_{high}" for low, high in pairwise(ends)]
        case "histogram":
            return [f"{name}_{category}" for category in aggregate["categories"]]
        case "top k" if aggregate["k"] > 1:
            return (f"{name}_{rank}" for rank in range(1, aggregate["k"] + 1))
        case "range":
            return ["lower", "upper"]
    return [name]


def _type(aggregate: Document, mechanisms: Sequence[Document], *, empty: bool) -> str:
    """The type, or several separated by spaces: version 0.1.0 decided some by their values."""
    match aggregate["kind"]:
        case "count" | "count units" | "histogram":
            return "integer"
        case "sum":  # in steps of 1 it is a whole number, if 64 bits surely hold it
            grids = [
                one["part"]["grid"]
                for one in mechanisms
                if "grid" in one.get("part", ()) and adds(one, aggregate, "sum")
            ]
            if not any(grid["exponent"] == 0 for grid in grids):
                return "real"
            large = any(max(abs(grid["lower"]), abs(grid["upper"])) > 2**23 for grid in grids)
            return "real integer" if large else "integer"
        case "quantile":
            return "integer" if points(aggregate).whole else "real"
        case "top k":
            return f"{aggregate['column']['type']}{' null' * empty}"
    return "real"
