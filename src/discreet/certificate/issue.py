"""Issuing: from what was charged and what was released to a certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from discreet import signing
from discreet.auditor.certificate.query_check import AGGREGATES
from discreet.auditor.certificate.verification import NOTIONS, content, in_words, message
from discreet.certificate.certificate import FORMAT, VERSION, Certificate
from discreet.errors import InvalidArgument, Refused, one_line
from discreet.guarantees import Guarantee, Pure
from discreet.guarantees.filters import Cost
from discreet.ledger.history import Entry
from discreet.neighbors import protects
from discreet.numeric import canonical
from discreet.numeric.numerals import short
from discreet.numeric.table_digest import columns_of, table_digest
from discreet.release.column import ColumnInfo

if TYPE_CHECKING:
    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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
    from importlib.metadata import version

    if entry.query is None or not entry.mechanisms:
        raise InvalidArgument(
            "entry", "the charge of a query on a table", "one without a query or mechanisms"
        )
    for cost in entry.costs:
        if cost.notion.kind not in NOTIONS:
            raise Refused(
                f"a certificate of this answer could not be verified, since the verifier does not "
                f'know accounts in "{cost.notion.kind}"',
                remedy="CONTRIBUTING.md says what to add to it",
                code="unsupported",
            )
    document = {
        "format": FORMAT,
        "version": VERSION,
        **told_charged(entry, ledger),
        "released": told_released(frame, columns),
        "software": {"discreet": version("discreet")},
    }
    document["guarantee"] |= _in_points(entry.guarantee, entry.costs)
    return sealed(document, key)


def told_charged(entry: Entry, ledger: str | None) -> dict[str, Any]:
    """A charge, as a certificate repeats it."""
    held = ledger is not None and entry.hash is not None
    return {
        "dataset": entry.dataset,
        "protects": {
            "unit": entry.unit,
            "relation": str(entry.relation),
            "words": protects(entry.relation, entry.unit),
        },
        "query": {"words": entry.question, "tree": entry.query},
        "mechanisms": list(entry.mechanisms),
        "guarantee": {"document": json.loads(entry.guarantee.to_json())},
        "charges": [_charge(cost) for cost in entry.costs],
        "asked": entry.digest,
        "time": entry.time.astimezone(UTC).isoformat(),
        "ledger": {"id": ledger, "record": entry.number, "hash": entry.hash} if held else None,
    }


def check_verifiable(query: Mapping[str, Any]) -> None:
    """Refuse a question whose certificate could not be verified: what is charged stays charged.

    >>> check_verifiable({"aggregates": [{"kind": "mode", "name": "m"}]})
    Traceback (most recent call last):
    discreet.errors.Refused: a certificate of m could not be verified, since the verifier does \
not know the aggregate "mode": nothing was charged. CONTRIBUTING.md says what to add to it
    """
    for one in query.get("aggregates", ()):
        if one["kind"] not in AGGREGATES:
            raise Refused(
                f"a certificate of {one['name']} could not be verified, since the verifier does "
                f'not know the aggregate "{one["kind"]}": nothing was charged',
                remedy="CONTRIBUTING.md says what to add to it",
                code="unsupported",
            )


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


def _in_points(guarantee: Guarantee, costs: Sequence[Cost]) -> dict[str, Any]:
    """The (ε, δ) that a promise comes to."""
    epsilon, delta = _point(guarantee, costs)
    points = [] if epsilon is None else [{"epsilon": str(epsilon), "delta": str(delta)}]
    return {"words": in_words(points), "points": points}


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


def _charge(cost: Cost) -> dict[str, str]:
    return {
        "account": cost.account,
        "notion": cost.notion.kind,
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
