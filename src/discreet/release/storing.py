"""A result as bytes, and back: what a ledger keeps, so that an answer is paid for once.

An Arrow stream; what is not in the table itself stands in its metadata. The noise is the same
noise: results that are read again share their origin with the first.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from discreet.guarantees.guarantee import Guarantee
from discreet.release.columns import ColumnInfo
from discreet.release.result import Result

_NAME = b"discreet"


def to_bytes(result: Result) -> bytes:
    """The whole result but its certificate, which follows from it and the charge."""
    import pyarrow as pa

    facts = {
        "columns": [asdict(column) for column in result.columns],
        "cost": result.cost,
        "guarantee": result.guarantee.to_json(),
        "notes": result.notes,
        "origin": result.origin,
        "protects": result.protects,
        "suppressed": result.suppressed,
    }
    frame = result.frame.replace_schema_metadata({_NAME: json.dumps(facts).encode()})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, frame.schema, options=options) as stream:
        stream.write_table(frame)
    return bytes(sink.getvalue())


def from_bytes(content: bytes) -> Result:
    """The result as it was."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as stream:
        frame = stream.read_all()
    facts: dict[str, Any] = json.loads(frame.schema.metadata[_NAME])
    return Result(
        frame.replace_schema_metadata(None),
        tuple(_column(column) for column in facts["columns"]),
        guarantee=Guarantee.from_json(facts["guarantee"]),
        cost=facts["cost"],
        protects=facts["protects"],
        notes=tuple(facts["notes"]),
        suppressed=facts["suppressed"],
        origin=facts["origin"],
    )


def _column(fields: dict[str, Any]) -> ColumnInfo:
    bounds = fields["bounds"]
    return ColumnInfo(
        **{
            **fields,
            "bounds": None if bounds is None else tuple(bounds),
            "sources": tuple(fields["sources"]),
        }
    )
