"""A ledger read anew from its first record, with every charge priced again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.guarantees.filters import price
from discreet.ledger.caps import Cap
from discreet.ledger.journal import Journal, entry_of, reply_token
from discreet.ledger.records import damaged, digest_of
from discreet.ledger.state import State
from discreet.printable import one_line

if TYPE_CHECKING:
    from discreet.ledger.transactions import Row, Transaction


@dataclass(frozen=True)
class Verification:
    """What was checked, and what the last record is: worth noting down elsewhere."""

    records: int
    charges: int
    stranded: int  #: charged, and never answered
    head: tuple[int, str]
    public_key: str | None  #: that the records are signed with
    sentences: tuple[str, ...]

    @property
    def signed(self) -> bool:
        """Are the records signed?"""
        return self.public_key is not None

    def __str__(self) -> str:
        return "\n".join(map(one_line, self.sentences))


def verify(journal: Journal) -> Verification:
    """Check everything that can be checked; `LedgerDamaged` says where something is wrong."""
    fresh = Journal(journal.store, None)
    with journal.store.reading() as transaction:
        state = fresh.catch_up(transaction)
        with transaction.rows(1) as rows:
            for row in rows:
                _check(row, state, transaction)
    stranded = state.charges - state.replies
    signed = state.public_key is not None
    key = f" and is signed with the key {str(state.public_key)[:16]}…" if signed else ""
    sentences = (
        f"{state.number:,} records, each with the hash of the one before it.",
        f"The last is record {state.number}, {state.hash}; its head agrees{key}.",
        f"Charges: {state.charges:,}, priced again from their guarantees, none charged for less; "
        "all sums stay within their caps.",
        f"Answers: {state.replies:,}, with the digests that were recorded. Charges without one: "
        f"{stranded:,} (made by hand, still running, or cut off by a crash; they stay charged).",
        "Not shown by this: that the ledger and its head are not an older copy of themselves. "
        "Compare the last record with one noted elsewhere, such as in a certificate.",
    ) + (() if signed else _UNSIGNED)
    return Verification(
        state.number,
        state.charges,
        stranded,
        (state.number, state.hash),
        state.public_key,
        sentences,
    )


_UNSIGNED = (
    "There is no key: the chain shows accidents, not an editor who computes all hashes anew.",
)


def _check(row: Row, state: State, transaction: Transaction) -> None:
    fields = json.loads(row[2])
    if fields["kind"] == "charge":
        entry = entry_of(row, state)
        for cost in entry.costs:
            again = price(cost.notion, entry.guarantee, 0)
            if cost.amount < again.amount or cost.slack < again.slack:
                raise damaged(row[0], "was charged less than its guarantee costs")
    elif fields["kind"] == "reply":
        content = transaction.reply(fields["charge"])
        if content is None or digest_of(content) != fields["digest"]:
            raise damaged(row[0], "does not go with the answer that is stored")
        if row[1] != reply_token(fields["charge"]):
            raise damaged(row[0], "is filed under another charge")
    elif fields.get("cap") is not None:
        stored = Cap.from_document(fields["cap"])
        if Cap.read(stored.budget, stored.slack) != stored:
            raise damaged(row[0], "opens an account with a cap that its budget does not imply")
