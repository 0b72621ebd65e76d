"""Whether a ledger holds the charge that a certificate points at, and its answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from discreet.auditor.certificate.verification import TO_BE_SURE, Statement
from discreet.certificate.issue import told_charged, told_released
from discreet.errors import DiscreetError, InvalidArgument, Phrase, Refused
from discreet.ledger.ledger import Ledger

PathName = str | os.PathLike[str]

#: What a certificate must repeat of a record, by the name used in messages.
_REPEATED: Final = {
    "id": ("ledger", "id"),
    "hash": ("ledger", "hash"),
    "digest of what was asked": ("asked",),
    "dataset": ("dataset",),
    "time": ("time",),
    "unit": ("protects", "unit"),
    "relation": ("protects", "relation"),
    "question in words": ("query", "words"),
    "query": ("query", "tree"),
    "list of mechanisms": ("mechanisms",),
    "guarantee": ("guarantee", "document"),
    "cost": ("charges",),
}


def look_up(
    document: dict[str, Any], ledger: Ledger | PathName, public_key: PathName | None = None
) -> Iterator[Statement]:
    """Whether a ledger has this very charge, and these very values as its answer."""
    if document["ledger"] is None:
        yield Statement("failed", "its budget was kept in memory, so no ledger holds its charge")
        return
    opened = None
    try:
        if isinstance(ledger, str | os.PathLike):
            opened, sealed = _opened(ledger, public_key)
            ledger = opened
            yield sealed
        yield from _compared(document, ledger)
    except InvalidArgument:
        raise  # no ledger there at all: the caller's mistake
    except DiscreetError as error:
        yield Statement("failed", f"the ledger could not be read: {error}")
    finally:
        if opened is not None:
            opened.close()


def _opened(ledger: PathName, public_key: PathName | None) -> tuple[Ledger, Statement]:
    """The ledger, and whether it has the seal of the key that signs certificates."""
    if public_key is not None:
        with suppress(Refused):  # it was made with another key, or with none
            sealed = Ledger(ledger, public_key=public_key)
            return sealed, Statement("proved", "the ledger is sealed with the key you gave")
    how = "it is not sealed with the key you gave" if public_key else TO_BE_SURE
    return Ledger(ledger), Statement(
        "trusted", Phrase("that the ledger was not written anew: {}", how)
    )


def _compared(document: dict[str, Any], ledger: Ledger) -> Iterator[Statement]:
    place = document["ledger"]["record"]
    entry = ledger.entry(place)
    if entry is None:
        yield Statement("failed", f"the ledger has no charge with the number {place}")
        return
    kept = told_charged(entry, ledger.id)
    others = [name for name, path in _REPEATED.items() if _at(kept, path) != _at(document, path)]
    if others:
        yield Statement("failed", f"record {place} of the ledger has another {', '.join(others)}")
        return
    yield Statement(
        "proved",
        f"record {place} of the ledger holds this charge, with this hash, question, unit, time "
        "and cost, and the ledger's chain of records is whole",
    )
    try:
        result = ledger.recall(entry)
    except InvalidArgument:
        sentence = "that these values are the answer: the ledger has none for this charge"
        yield Statement("trusted", sentence)
        return
    if told_released(result.frame, result.columns) == document["released"]:
        yield Statement("proved", "the ledger keeps these very values as the answer to it")
    else:
        yield Statement("failed", "the ledger keeps other values as the answer to it")


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document[name]
    return document
