"""Issuing: from what was charged and what was released to a certificate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from discreet import signing
from discreet.certificate.certificate import (
    FORMAT,
    VERSION,
    Certificate,
    content,
    in_words,
    message,
)
from discreet.errors import InvalidArgument, one_line
from discreet.guarantees import GDP, ZCDP, Guarantee, Pure
from discreet.ledger.history import Cost, Entry
from discreet.numeric import canonical
from discreet.query.numerals import short
from discreet.query.public import columns_of, table_digest
from discreet.query.purchase import protects
from discreet.release.column import ColumnInfo

if TYPE_CHECKING:
    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOTIONS: Final[dict[type[Guarantee], str]] = {Pure: "pure", ZCDP: "zcdp", GDP: "gdp"}
_DELTA: Final = Fraction(1, 10**6)  # the δ at which ε is stated where none is finite at δ = 0


def certify(
    *,
    entry: Entry,
    frame: pa.Table,
    columns: Sequence[ColumnInfo],
    ledger: str | None = None,
    key: Ed25519PrivateKey | None = None,
) -> Certificate:
    """The certificate of a release: ``entry`` is its charge, ``frame`` and ``columns`` the released
    table, ``ledger`` the id of the ledger that holds the charge, if any. Signed with ``key``.
    """
    if entry.query is None or not entry.mechanisms:
        raise InvalidArgument(
            "entry", "the charge of a query on a table", "one without a query or mechanisms"
        )
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "dataset": entry.dataset,
        "protects": {
            "unit": entry.unit,
            "relation": str(entry.relation),
            "words": protects(entry.relation, entry.unit),
        },
        "query": {"words": entry.question, "tree": entry.query},
        "mechanisms": list(entry.mechanisms),
        "guarantee": _guarantee(entry.guarantee, entry.costs),
        "charges": [told_charge(cost) for cost in entry.costs],
        "released": told_released(frame, columns),
        "asked": entry.digest,
        "time": entry.time.astimezone(UTC).isoformat(),
        "ledger": None
        if ledger is None or entry.hash is None
        else {"id": ledger, "record": entry.number, "hash": entry.hash},
        "software": {"discreet": _version()},
    }
    return sealed(document, key)


def sealed(document: dict[str, Any], key: Ed25519PrivateKey | None) -> Certificate:
    """The document with its digest and, given a key, a signature."""
    told = content(document)
    told["digest"] = canonical.digest(told)
    signature = None
    if key is not None:
        signature = {
            "algorithm": "Ed25519",
            "public_key": signing.public_hex(key),
            "signature": signing.sign(key, message(told)),
        }
    return Certificate.of({**told, "signature": signature})


def _guarantee(guarantee: Guarantee, costs: Sequence[Cost]) -> dict[str, Any]:
    """The promise, and the (ε, δ) that it comes to."""
    epsilon, delta = _point(guarantee, costs)
    points = [] if epsilon is None else [{"epsilon": str(epsilon), "delta": str(delta)}]
    document = json.loads(guarantee.to_json())
    return {"words": in_words(points), "points": points, "document": document}


def _point(guarantee: Guarantee, costs: Sequence[Cost]) -> tuple[Fraction | None, Fraction]:
    """ε at δ = 0 where there is one, else at a δ that leaves room for what fails outright."""
    for cost in costs:
        if cost.notion is Pure and not cost.slack:
            return cost.amount, Fraction(0)  # exact, and nothing needs to be composed
    delta = Fraction(0)
    epsilon = guarantee.epsilon(0)
    if not isfinite(epsilon):
        delta = max(_DELTA, *(2 * cost.slack for cost in costs))
        epsilon = guarantee.epsilon(delta)
    # The float itself, which was rounded up: its shortest decimal may lie below.
    return Fraction(epsilon) if isfinite(epsilon) else None, delta


def told_charge(cost: Cost) -> dict[str, str]:
    """What one account was charged, as a certificate states it."""
    return {
        "account": cost.account,
        "notion": NOTIONS[cost.notion],
        "amount": str(cost.amount),
        "slack": str(cost.slack),
    }


def told_released(frame: pa.Table, columns: Sequence[ColumnInfo]) -> dict[str, Any]:
    """The released table, as a certificate describes it."""
    roles = {column.name: column.role for column in columns}
    errors = {column.of: column.name for column in columns if column.role == "error"}
    told = []
    for column in columns_of(frame):
        name = column["name"]
        error = _error(frame, errors[name]) if name in errors else None
        told.append({**column, "role": roles.get(name, "note"), "error": error})
    return {"rows": int(frame.num_rows), "columns": told, "sha256": table_digest(frame)}


def _error(frame: pa.Table, name: str) -> str:
    """How far off values are: one number where it is the same for all of them."""
    import pyarrow.compute as pc

    ends = pc.min_max(frame[name]).as_py()
    if ends["min"] is None or ends["min"] != ends["max"]:
        return one_line(f"95 % of values are within the {name} beside them")
    return one_line(f"95 % of values are within {short(ends['min'])} ({name})")


def _version() -> str:
    from importlib.metadata import version

    return version("discreet")
