"""``verify``: what of a certificate can be proved, and what is taken on trust."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from discreet import canonical, signing
from discreet.certificate.certificate import Certificate, content, message
from discreet.certificate.form import misfits
from discreet.certificate.recomputing import recompute
from discreet.certificate.released import is_released
from discreet.certificate.verdict import Verdict
from discreet.errors import DiscreetError, InvalidArgument
from discreet.neighbors import Relation
from discreet.query.bought import protects

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

_ALWAYS = (
    "that the table held the people it is said to hold, each under one id: someone with two ids "
    "is protected as two",
    "that the software did what is written here: clamped values, kept no more rows of a person "
    "than it says, and drew its noise from good randomness",
    "that nothing else was released about the same people: what several releases add up to is in "
    "the ledger, not here",
)


class _Findings:
    def __init__(self) -> None:
        self.proved: list[str] = []
        self.trusted: list[str] = []
        self.failed: list[str] = []

    def check(self, held: bool, *, proved: str, failed: str) -> None:
        (self.proved if held else self.failed).append(proved if held else failed)

    @property
    def verdict(self) -> Verdict:
        return Verdict(tuple(self.proved), tuple(self.trusted), tuple(self.failed))


def verify(
    certificate: Certificate | str | os.PathLike[str],
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    public_key: str | os.PathLike[str] | None = None,
    result: Any = None,
) -> Verdict:
    """Check a certificate, or the file it is in, as far as it can be.

    Its guarantee is computed again from sensitivities and noise, by other code than that which
    issued it. ``public_key`` (a file, or 64 hexadecimal digits) says whose signature it must have,
    ``ledger`` where its charge must stand, ``result`` (CSV, Parquet, Arrow, or a result) which
    values it must be about.
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    document = certificate.document
    findings = _Findings()
    wrong = misfits(document)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        findings.failed.append(f"its form is not that of version 1: {wrong[0]}{more}")
        return findings.verdict
    _seal(findings, document, public_key)
    if findings.failed:
        findings.failed.append("so nothing else in it was looked at")
        return findings.verdict
    for told in recompute(document):
        getattr(findings, told.heading).append(told.sentence)
    _protection(findings, document)
    _values(findings, document, result)
    _record(findings, document, ledger)
    findings.trusted += _ALWAYS
    return findings.verdict


def _seal(
    findings: _Findings, document: dict[str, Any], public_key: str | os.PathLike[str] | None
) -> None:
    findings.check(
        document["digest"] == canonical.digest(content(document)),
        proved="its digest is that of its content",
        failed="its digest is not that of its content: it was changed",
    )
    wanted = None if public_key is None else signing.read_public(public_key)
    signature = document["signature"]
    if signature is None:
        if wanted is None:
            findings.trusted.append(
                "who wrote it: it is not signed, and whoever can change it can compute its digest"
            )
        else:
            findings.failed.append("it is not signed, and a signature was asked for")
        return
    key = signature["public_key"]
    findings.check(
        signing.is_signed(key, message(document), signature["signature"]),
        proved=f"it was signed with the key {key[:16]}… and not changed since",
        failed="its signature does not belong to its content: one of them was changed",
    )
    if wanted is None:
        findings.trusted.append(
            f"that the key {key[:16]}… belongs to whom you think: give public_key= to be sure"
        )
    else:
        findings.check(
            key == wanted,
            proved="that is the key you gave",
            failed="it was signed with another key than the one you gave",
        )


def _protection(findings: _Findings, document: dict[str, Any]) -> None:
    """Who is protected is told three times: the same each time."""
    told, tree = document["protects"], document["query"]["tree"]
    words = protects(Relation.parse(told["relation"]), told["unit"])
    same = (told["unit"], told["relation"], told["words"]) == (
        tree["unit"],
        tree["relation"],
        words,
    )
    findings.check(
        same,
        proved=f"it protects {words}",
        failed="who is protected is told differently in different places",
    )
    findings.trusted.append(
        "that the query, parts and errors in words are those of the tree and the numbers: where "
        "they differ, the latter count"
    )


def _values(findings: _Findings, document: dict[str, Any], result: Any) -> None:
    if result is None:
        findings.trusted.append(
            "which values were released: give result= to compare them with the digest"
        )
        return
    findings.check(
        is_released(result, document["released"]),
        proved="the table you gave is the one that was released, cell by cell",
        failed="the table you gave is not the one that was released",
    )


def _record(
    findings: _Findings,
    document: dict[str, Any],
    ledger: Ledger | str | os.PathLike[str] | None,
) -> None:
    told = document["ledger"]
    if ledger is None:
        findings.trusted.append(
            "that it was charged: its budget was kept in memory, and nobody can look it up"
            if told is None
            else f"that record {told['record']} of ledger {told['id']} holds this charge: give "
            "ledger= to look it up"
        )
        return
    if told is None:
        findings.failed.append("its budget was kept in memory, so no ledger holds its charge")
        return
    opened = None
    try:
        if isinstance(ledger, str | os.PathLike):
            from discreet.ledger.ledger import Ledger

            opened = ledger = Ledger(ledger)
        findings.check(
            _stands(document, ledger),
            proved=f"record {told['record']} of the ledger holds this charge, with this hash, and "
            "the ledger's chain of records is whole",
            failed=f"the ledger has no such record {told['record']}: its hash, question, "
            "mechanisms, guarantee or charges are others",
        )
    except InvalidArgument:
        raise  # no ledger there at all: the caller's mistake
    except DiscreetError as error:
        findings.failed.append(f"the ledger could not be read: {error}")
    finally:
        if opened is not None:
            opened.close()


def _stands(document: dict[str, Any], ledger: Ledger) -> bool:
    """Whether the ledger has this very charge."""
    import json

    from discreet.certificate.issuing import told_charge

    told = document["ledger"]
    entry = next((one for one in ledger.history() if one.number == told["record"]), None)
    return (
        entry is not None
        and ledger.id == told["id"]
        and (entry.hash, entry.digest, entry.dataset)
        == (told["hash"], document["asked"], document["dataset"])
        and entry.query == document["query"]["tree"]
        and list(entry.mechanisms) == document["mechanisms"]
        and json.loads(entry.guarantee.to_json()) == document["guarantee"]["document"]
        and [told_charge(cost) for cost in entry.costs] == document["charges"]
    )
