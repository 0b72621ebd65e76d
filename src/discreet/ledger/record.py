"""A record of the journal: what it says, and the hash that ties it to the one before.

    hash = SHA-256(body + "\\n" + detail),  and the body holds the hash of the record before,

so a record can be changed, moved, doubled or left out only together with everything after it.
Both are canonical JSON, so that a record has one way to be written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from discreet.errors import LedgerDamaged
from discreet.numeric import canonical

# It is called millions of times, so it does not look for spaces around the document.
_DECODE: Final = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
Row = tuple[int, str | None, str, str, str]  # a record as a database returns it
START: Final = "0" * 64  #: stands for the hash before the first record


class Record(NamedTuple):
    """One row of the journal: the values for its columns."""

    number: int
    token: str | None
    body: str
    detail: str
    hash: str

    @classmethod
    def write(
        cls,
        number: int,
        previous: str,
        fields: Mapping[str, Any],
        *,
        detail: Mapping[str, Any] | None = None,
        token: str | None = None,
    ) -> Record:
        body = canonical.text({**fields, "number": number, "previous": previous, "token": token})
        explained = canonical.text({} if detail is None else dict(detail))
        return cls(number, token, body, explained, hash_of(body, explained))


def hash_of(body: str, detail: str) -> str:
    return hashlib.sha256(f"{body}\n{detail}".encode()).hexdigest()


def read_record(row: Row, number: int, previous: str) -> dict[str, Any]:
    """The body of a row, after checking that it is record ``number`` and follows that hash."""
    found, token, body, detail, digest = row
    if found != number:
        raise damaged(number, f"is missing, and record {found} follows")
    if hash_of(body, detail) != digest:
        raise damaged(number, "does not have the hash that is written beside it: it was edited")
    fields: dict[str, Any]
    fields, end = _DECODE(body, 0)
    if end != len(body):
        raise damaged(number, "holds more than one document")
    if fields["number"] != number or fields["previous"] != previous:
        raise damaged(number, "does not follow the record before it: edited, moved or doubled")
    if fields["token"] != token:
        raise damaged(number, "is filed under another idempotency key than its own")
    return fields


def damaged(number: int, what: str) -> LedgerDamaged:
    """The error for a damaged record, which says where it is."""
    return LedgerDamaged(
        f"record {number} of the ledger {what}. Nothing can be charged to it; restore the ledger "
        "and its head from a backup that is not older than the last release"
    )


def token_of(dataset: int, analyst: int | None, key: str) -> str:
    """The token of an idempotency key, which holds for one dataset and analyst."""
    return canonical.digest([dataset, analyst, key])


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
