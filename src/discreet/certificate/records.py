"""Looking a certificate up in the ledger that it points at."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from typing import TYPE_CHECKING, Any

from discreet.certificate.issuing import told_charge, told_released
from discreet.certificate.recomputing import Told
from discreet.errors import DiscreetError, InvalidArgument, Refused

if TYPE_CHECKING:
    from discreet.ledger.entry import Entry
    from discreet.ledger.ledger import Ledger


Path = str | os.PathLike[str]


def look_up(
    document: dict[str, Any], ledger: Ledger | Path | None, public_key: Path | None = None
) -> Iterator[Told]:
    """Whether a ledger has this very charge, and these very values as its answer."""
    told = document["ledger"]
    if ledger is None:
        yield from _without(told)
        return
    if told is None:
        yield Told("failed", "its budget was kept in memory, so no ledger holds its charge")
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
        yield Told("failed", f"the ledger could not be read: {error}")
    finally:
        if opened is not None:
            opened.close()


def _opened(ledger: Path, public_key: Path | None) -> tuple[Ledger, Told]:
    """The ledger, and whether it has the seal of the key that signs certificates."""
    from discreet.ledger.ledger import Ledger

    if public_key is not None:
        with suppress(Refused):  # it was made with another key, or with none
            sealed = Ledger(ledger, public_key=public_key)
            return sealed, Told("proved", "the ledger is sealed with the key you gave")
    how = "it is not sealed with the key you gave" if public_key else "give public_key= to be sure"
    return Ledger(ledger), Told("trusted", f"that the ledger was not written anew: {how}")


def _without(told: dict[str, Any] | None) -> Iterator[Told]:
    asked = (
        "that this question was asked of this dataset, at this time: filters, columns, weights, "
        "candidates, and bounds by less than a step, could be others under the same promise"
    )
    if told is None:
        charged = "that it was charged: its budget was kept in memory, and nobody can look it up"
    else:
        charged = (
            f"that record {told['record']} of ledger {told['id']} holds this charge: give ledger= "
            "to look it up"
        )
        asked += "; a ledger can tell"
    yield Told("trusted", charged)
    yield Told("trusted", asked)


def _compared(document: dict[str, Any], ledger: Ledger) -> Iterator[Told]:
    place = document["ledger"]["record"]
    entry = ledger.entry(place)
    others = ["id"] if ledger.id != document["ledger"]["id"] else []
    if entry is None:
        yield Told("failed", f"the ledger has no charge with the number {place}")
        return
    facts = _facts(entry)
    others += [name for name, fact in facts.items() if fact != _told(document, name)]
    if others:
        yield Told("failed", f"record {place} of the ledger has another {', '.join(others)}")
        return
    yield Told(
        "proved",
        f"record {place} of the ledger holds this charge, with this hash, question, unit, time "
        "and cost, and the ledger's chain of records is whole",
    )
    try:
        result = ledger.recall(entry)
    except InvalidArgument:
        sentence = "that these values are the answer: the ledger has none for this charge"
        yield Told("trusted", sentence)
        return
    if told_released(result.frame, result.columns) == document["released"]:
        yield Told("proved", "the ledger keeps these very values as the answer to it")
    else:
        yield Told("failed", "the ledger keeps other values as the answer to it")


def _facts(entry: Entry) -> dict[str, Any]:
    """What a certificate of this charge says, by the words for it."""
    return {
        "hash": entry.hash,
        "digest of what was asked": entry.digest,
        "dataset": entry.dataset,
        "time": entry.time.astimezone(UTC).isoformat(),
        "unit": entry.unit,
        "relation": str(entry.relation),
        "question in words": entry.question,
        "query": entry.query,
        "list of mechanisms": list(entry.mechanisms),
        "guarantee": json.loads(entry.guarantee.to_json()),
        "cost": [told_charge(cost) for cost in entry.costs],
    }


def _told(document: dict[str, Any], name: str) -> Any:
    return {
        "hash": document["ledger"]["hash"],
        "digest of what was asked": document["asked"],
        "dataset": document["dataset"],
        "time": document["time"],
        "unit": document["protects"]["unit"],
        "relation": document["protects"]["relation"],
        "question in words": document["query"]["words"],
        "query": document["query"]["tree"],
        "list of mechanisms": document["mechanisms"],
        "guarantee": document["guarantee"]["document"],
        "cost": document["charges"],
    }[name]
