"""Are the keys those of the groups, as many as is said, each once, with the digest they have?"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from discreet import canonical
from discreet.errors import InvalidArgument

Document = Mapping[str, Any]
MOST_TOLD: Final = 100  # keys that are written themselves


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
            yield "so few keys must be told themselves, and are not"
    elif len(values) != keys["count"]:
        yield "the keys are not as many as the query says"
    elif len({canonical.text(list(row)) for row in values}) != len(values):
        yield "a key is there twice, and so are the rows that have it"
    elif keys_digest(columns, values) != keys["sha256"]:
        yield "the digest of the keys is not that of the keys that are told"


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
