"""What ``discreet ledger verify`` says: what is wrong first, then what was checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.app.cli.dialect import translated
from discreet.app.cli.places import Reading, facts_of
from discreet.app.cli.printing import say, show_document
from discreet.app.cli.public_keys import is_hexadecimal
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.ledger import Entry

_SHOWN = 20  # charges without an answer that are named
_AFTER_ANSWERS = 4  # sentences of a verification, up to the one that counts answers
_OLDER = "Not shown by this: that the ledger and its head are not an older copy"


def check_ledger(place: Reading, expect: str | None, *, as_json: bool) -> bool:
    """Check everything, print it, and say whether a record that was noted is there."""
    wanted = _expected(expect)
    with place.open() as ledger:
        checked = ledger.verify()
        found = None if wanted is None else ledger.hash_of(wanted[0])
        open_charges = ledger.unanswered()
        facts = facts_of(ledger)
    headline = None if wanted is None else _compared(wanted, found, checked.head[0])
    ok = wanted is None or found == wanted[1]
    sentences = [
        sentence
        for sentence in map(translated, checked.sentences)
        if not (wanted and ok and sentence.startswith(_OLDER))
    ]
    if open_charges:
        sentences.insert(_AFTER_ANSWERS, _named(open_charges))
    if checked.public_key is not None:
        pinned = " (the one you gave)" if place.public_key or place.key else ""
        sentences.append(f"The records are signed with the key {checked.public_key}{pinned}.")
    number, digest = checked.head
    if not as_json:
        say(*([headline] if headline else []), *(f"- {sentence}" for sentence in sentences))
        say(f"Note this elsewhere, for --expect: {number}:{digest}")
        return ok
    result = {
        **facts,
        "ok": ok,
        "expected": headline,
        "records": checked.records,
        "charges": checked.charges,
        "unanswered": [entry.number for entry in open_charges],
        "head": {"number": number, "hash": digest},
        "signed": checked.signed,
        "public_key": checked.public_key,
        "sentences": sentences,
    }
    show_document("ledger verify", result)
    return ok


def _compared(wanted: tuple[int, str], found: str | None, last: int) -> str:
    """The headline: what became of the record that was noted elsewhere."""
    number, digest = wanted
    if found == digest:
        return f"Record {number} is the one noted: nothing before it was changed or taken away."
    if found is None:
        return (
            f"FAILED: there is no record {number}, the last is {last}: this is an older copy, or "
            "another ledger."
        )
    return f"FAILED: record {number} is NOT the one noted: the ledger was replaced or rewritten."


def _named(entries: Sequence[Entry]) -> str:
    numbers = ", ".join(str(entry.number) for entry in entries[:_SHOWN])
    more = f" and {len(entries) - _SHOWN:,} more" if len(entries) > _SHOWN else ""
    return f"Charged without an answer: record{'s' * (len(entries) > 1)} {numbers}{more}."


def _expected(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    number, _, digest = text.partition(":")
    if number.isascii() and number.isdecimal() and len(number) < 19 and is_hexadecimal(digest):
        return int(number), digest.lower()
    raise InvalidArgument(
        name="--expect",
        expected="NUMBER:HASH, as discreet ledger verify prints them",
        given=InvalidArgument.describe_parameter(text),
    )
