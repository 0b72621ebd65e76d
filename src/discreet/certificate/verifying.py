"""``verify``: what of a certificate can be proved, and what is taken on trust."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from discreet import canonical, signing
from discreet.certificate.certificate import Certificate, content, message
from discreet.certificate.form import misfits
from discreet.certificate.recomputing import recompute
from discreet.certificate.records import look_up
from discreet.certificate.released import is_distinct, released_table
from discreet.certificate.verdict import Verdict
from discreet.neighbors import Relation
from discreet.query.bought import protects
from discreet.query.table_digest import table_digest

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


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
    for told in look_up(document, ledger, public_key):
        getattr(findings, told.heading).append(told.sentence)
    findings.trusted += _always(document)
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
    released, tree = document["released"], document["query"]["tree"]
    table = released_table(result, released)
    findings.check(
        table is not None,
        proved="the table you gave is the one that this certificate describes, cell by cell",
        failed="the table you gave is not the one that this certificate describes",
    )
    keys = tree["keys"] if tree["kind"] == "query" else None
    if table is not None and keys is not None and not keys["discovered"]:
        told = table.select([column["name"] for column in keys["columns"]])
        findings.check(
            table_digest(told) == keys["sha256"] and is_distinct(told),
            proved="its rows are those of the query's keys, each once",
            failed="its rows are not those of the query's keys, each once",
        )


def _always(document: dict[str, Any]) -> tuple[str, ...]:
    joins = [step for step in document["query"]["tree"]["steps"] if step["step"] == "join"]
    return (
        *(
            f"that the table of {join['table']['rows']:,} rows joined on "
            f"{', '.join(pair['there'] for pair in join['on'])} (SHA-256 "
            f"{join['table']['sha256'][:16]}…) is public: it is not protected, and may hold "
            "nothing about these people"
            for join in joins
        ),
        "that the table held the people it is said to hold, each under one id: someone with two "
        "ids is protected as two",
        f"that the software, version {document['software']['discreet']}, did what is written "
        "here: clamped values, kept no more rows of a person than it says, and drew its noise "
        "from good randomness",
        "that nothing else was released about the same people: what several releases add up to "
        "is in the ledger, not here",
    )
