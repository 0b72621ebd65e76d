"""The journal of a ledger: reading it, adding records and charges, and verifying it.

Every cap is checked in the transaction that charges it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet import signing
from discreet.errors import BudgetExceeded, LedgerDamaged, Phrase, Refused, one_line
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import Cost, price
from discreet.ledger.account import AccountState, LedgerState, amounts_of
from discreet.ledger.budget import Cap
from discreet.ledger.head import Head
from discreet.ledger.history import Claim, Entry, History, NamedFilter, already_used
from discreet.ledger.record import Record, damaged, digest_of, token_of
from discreet.numeric import canonical

if TYPE_CHECKING:
    from discreet.ledger.record import Row
    from discreet.ledger.stores.store import Store, Transaction


_BACKUP = "Restore the ledger and its head from a backup that is not older than the last release"


class Journal:
    """A store, and what its records add up to as far as this process has read them."""

    def __init__(self, store: Store, key: Any) -> None:
        self.store = store
        self.key = key
        self.id = ""  # of the ledger, as written in its head
        self.state = LedgerState()
        self._seen: Head | None = None  # the head that was checked last

    # -- reading ---------------------------------------------------------------------------------

    def current(self) -> LedgerState:
        with self.store.reading() as transaction:
            return self.catch_up(transaction)

    def entries(self) -> Iterator[Entry]:
        state = self.current()
        with self.store.reading() as transaction, transaction.rows(1) as rows:
            for row in rows:
                if row[0] <= state.number and is_of("charge", row):
                    yield entry_of(row, state)

    def unanswered(self) -> tuple[Entry, ...]:
        with self.store.reading() as transaction, transaction.rows(1) as rows:
            answered = {json.loads(row[2])["charge"] for row in rows if is_of("reply", row)}
        return tuple(entry for entry in self.entries() if entry.number not in answered)

    def catch_up(self, transaction: Transaction) -> LedgerState:
        """Read what was added since, and compare it with the head.

        Meanwhile there is no state: if anything interrupts the reading, half a state is not kept,
        and the next use reads everything anew.
        """
        state, self.state = self.state, LedgerState()
        seen, self._seen = self._seen, None
        self._read(state, transaction)
        if transaction.head != seen:
            self._check(state, transaction, transaction.head)
        self.id, self._seen, self.state = transaction.head.ledger, transaction.head, state
        return state

    def _read(self, state: LedgerState, transaction: Transaction) -> None:
        with transaction.rows(max(state.number, 1)) as rows:
            if state.number:
                again = next(rows, None)
                if again is None or (again[0], again[4]) != (state.number, state.hash):
                    raise damaged(state.number, "is no longer the one that was read before")
            for row in rows:
                state.apply(row)
                if state.public_key is not None and state.number > transaction.head.number:
                    _check_seal(state, transaction)
        state.settle()

    def _check(self, state: LedgerState, transaction: Transaction, head: Head) -> None:
        if head.number > state.number:
            raise LedgerDamaged(
                f"the journal ends with record {state.number}, and its head knows record "
                f"{head.number}: the last charges are missing. {_BACKUP}"
            )
        if head.torn and head.number >= state.number:
            # A head is written after its record, so half a head means one record more.
            raise LedgerDamaged(
                "half of the ledger's head is damaged, and no record is newer than the other "
                f"half: it was edited, or the last charge is missing. {_BACKUP}"
            )
        if head.number == state.number:
            _compare(head, state.hash)
        elif head.number:
            row = transaction.row(head.number)
            _compare(head, None if row is None else row[4])
        if state.number and head.ledger != state.id:
            raise LedgerDamaged(f"the head is that of another ledger. {_BACKUP}")
        if state.public_key is not None and head.number:
            signature = head.signature or ""
            if not signing.is_signed(state.public_key, head.message("head"), signature):
                raise LedgerDamaged(f"the head is not signed with the ledger's key. {_BACKUP}")

    # -- adding ----------------------------------------------------------------------------------

    def add(self, fields: Callable[[LedgerState], Mapping[str, Any] | None]) -> int:
        """Add a record made for the state as it is under the lock, and return its number; 0 if
        there is nothing to add."""
        with self.store.writing() as transaction:
            state = self.catch_up(transaction)
            wanted = fields(state)
            return 0 if wanted is None else self._append(state, transaction, wanted).number

    def migrate(self) -> None:
        """Bring the tables of an older version to this one, and record that in the journal."""
        with self.store.reading() as transaction:
            if transaction.version() == transaction.newest:
                return
        with self.store.writing() as transaction:
            state, version = self.catch_up(transaction), transaction.version()
            if version < transaction.newest:  # unless another process did it first
                transaction.upgrade(version)
                fields = {"from": version, "kind": "migration", "to": transaction.newest}
                self._append(state, transaction, fields)

    def charge(self, dataset: int, analyst: int | None, claim: Claim) -> Entry:
        """Check every cap that applies and write the charge, in one transaction."""
        known = self.state if self.state.number else self.current()
        prices = [
            account.cap.opened.price(claim.guarantee)
            for account in known.above(dataset, analyst)
            if account.cap is not None
        ]
        detail = _detail(claim)
        token = None if claim.key is None else token_of(dataset, analyst, claim.key)
        with self.store.writing() as transaction:
            state = self.catch_up(transaction)
            accounts = state.above(dataset, analyst)
            if analyst is None and (names := state.analysts(dataset)):
                raise Refused(
                    f"the {accounts[0].words} has analysts, whose caps would not bind a charge "
                    "without a name",
                    remedy=Phrase("say who asks, {analyst=} one of {}", ", ".join(names)),
                    code="missing-argument",
                )
            for account, price in zip(accounts, prices, strict=True):
                _fits(account, price)
            if token is not None and transaction.filed(token) is not None:
                raise already_used(claim.key)
            fields = {
                "analyst": analyst,
                "charges": [
                    [account.number, str(price.amount), str(price.slack)]
                    for account, price in zip(accounts, prices, strict=True)
                ],
                "dataset": dataset,
                "digest": claim.digest,
                "kind": "charge",
                "relation": state.accounts[dataset].relation.value,
            }
            record = self._append(state, transaction, fields, detail=detail, token=token)
            # Count it, so that the next charge need not read it. Until it is durable there is no
            # state: if writing it fails, the next use reads everything anew.
            self.state = LedgerState()
            state.accept(record.number, record.hash, fields)
        self.state = state  # it is durable now
        return entry_of(record, state, claim)

    def keep(self, charge: int, reply: bytes) -> None:
        """Write what was released for a charge, and its digest into the journal."""
        fields = {"charge": charge, "digest": digest_of(reply), "kind": "reply"}
        with self.store.writing() as transaction:
            state = self.catch_up(transaction)
            transaction.add_reply(charge, reply)
            self._append(state, transaction, fields, token=reply_token(charge))

    def entry(self, number: int) -> Entry | None:
        with self.store.reading() as transaction:
            state = self.catch_up(transaction)
            row = transaction.row(number)
        return None if row is None or not is_of("charge", row) else entry_of(row, state)

    def reply(self, charge: int) -> bytes | None:
        with self.store.reading() as transaction:
            self.catch_up(transaction)
            row, content = transaction.filed(reply_token(charge)), transaction.reply(charge)
        if row is None and content is None:
            return None
        if row is None or content is None:
            raise damaged(charge, "has lost its answer, or the record of it")
        if json.loads(row[2])["digest"] != digest_of(content):
            raise damaged(row[0], "does not go with the answer that is stored: it was edited")
        return content

    def _append(
        self,
        state: LedgerState,
        transaction: Transaction,
        fields: Mapping[str, Any],
        *,
        detail: Mapping[str, Any] | None = None,
        token: str | None = None,
    ) -> Record:
        if state.public_key is not None and self.key is None:
            raise Refused(
                f"the ledger {self.store.name} is sealed with a key",
                remedy=Phrase("pass {key=} with the path of that private key to charge anything"),
                code="missing-argument",
            )
        fields = {**fields, "time": datetime.now(UTC).isoformat(timespec="microseconds")}
        record = Record.write(state.number + 1, state.hash, fields, detail=detail, token=token)
        following, seal = Head(transaction.head.ledger, record.number, record.hash), None
        if self.key is not None:
            seal = signing.sign(self.key, following.message("record"))
            following = following.sealed(self.key)
        transaction.append(record, following, seal)
        return record


def is_of(kind: str, row: Row) -> bool:
    """Is this record of a kind? Inside a JSON string a quote has a backslash, so none can match."""
    return f'"kind":"{kind}"' in row[2]


def reply_token(charge: int) -> str:
    """The token that the record of a reply is filed under, so that a charge has at most one."""
    return canonical.digest(["reply", charge])


def entry_of(row: Row, state: LedgerState, claim: Claim | None = None) -> Entry:
    """The charge that a record describes; its claim is read from it too, unless it is given."""
    fields = json.loads(row[2])
    claim = _claim(row[3], fields["digest"]) if claim is None else claim
    analyst = fields["analyst"]
    costs = []
    for number, amount, slack in fields["charges"]:
        account = state.accounts[number]
        assert account.cap is not None
        costs.append(Cost(account.words, type(account.cap.limit), *amounts_of(amount, slack)))
    dataset = state.accounts[fields["dataset"]]
    return Entry(
        number=row[0],
        time=datetime.fromisoformat(fields["time"]),
        dataset=dataset.name,
        analyst=None if analyst is None else state.accounts[analyst].name,
        relation=dataset.relation,
        unit=dataset.unit,
        costs=tuple(costs),
        hash=row[4],
        **claim.told,
    )


_guarantee = lru_cache(maxsize=1024)(Guarantee.from_json)


def _claim(text: str, digest: str) -> Claim:
    detail = json.loads(text)
    guarantee = _guarantee(canonical.text(detail["guarantee"]))
    return Claim(
        detail["question"], guarantee, digest, tuple(detail["mechanisms"]), detail["query"]
    )


def _detail(claim: Claim) -> dict[str, Any]:
    return {
        "guarantee": json.loads(claim.guarantee.to_json()),
        "mechanisms": list(claim.mechanisms),
        "query": claim.query,
        "question": claim.question,
    }


def _fits(account: AccountState, price: Cost) -> None:
    assert account.filter is not None and account.cap is not None
    try:
        account.filter.add(price.amount, price.slack)
    except BudgetExceeded as error:
        cap = f"the cap of {account.words}"
        if account.cap.budget != account.cap.limit:
            cap = f"{cap}, {account.cap}"
        exceeded = BudgetExceeded(error.requested, error.spent, error.limit, error.left, cap)
    else:
        return
    raise exceeded


def _check_seal(state: LedgerState, transaction: Transaction) -> None:
    """Check the signature of the record just read, which every record after the sealed head has."""
    record = Head(state.id, state.number, state.hash)
    signature = transaction.seal(record.number)
    if not signing.is_signed(state.public_key or "", record.message("record"), signature):
        raise damaged(record.number, "is not signed with the ledger's key")


def _compare(head: Head, found: str | None) -> None:
    if found != head.hash:
        raise LedgerDamaged(
            f"record {head.number} of the ledger is not the one that its head was sealed with: "
            f"the journal was rewritten, or the head is another one's. {_BACKUP}"
        )


# -- one dataset, as one analyst may spend it ------------------------------------------------------


class LedgerBudget:
    """What a session charges: the dataset's cap, its groups', and the analyst's."""

    def __init__(self, journal: Journal, data: AccountState, who: AccountState | None) -> None:
        self.journal, self.data = journal, data
        self.ledger, self.dataset = journal.id, data.name
        self._analyst = None if who is None else who.number

    @property
    def caps(self) -> tuple[NamedFilter, ...]:
        """Every cap that a charge must stay within, as it is now; the dataset's first."""
        accounts = self.journal.current().above(self.data.number, self._analyst)
        return tuple(NamedFilter(k.words, k.filter) for k in accounts if k.filter is not None)

    @property
    def entries(self) -> History:
        """What was charged to the dataset, by everyone, in order."""
        return History(tuple(e for e in self.journal.entries() if e.dataset == self.dataset))

    @property
    def releases(self) -> int:
        """How many charges the dataset has."""
        return self.journal.current().accounts[self.data.number].charges

    def charge(self, claim: Claim) -> Entry:
        """Write the charge, or refuse it and leave no trace."""
        return self.journal.charge(self.data.number, self._analyst, claim)

    def keep(self, entry: Entry, reply: Callable[[], bytes]) -> None:
        """Keep what was released for a charge."""
        self.journal.keep(entry.number, reply())

    def find(self, key: str) -> Entry | None:
        """What was charged under this key."""
        with self.journal.store.reading() as transaction:
            state = self.journal.catch_up(transaction)
            row = transaction.filed(token_of(self.data.number, self._analyst, key))
        return None if row is None else entry_of(row, state)

    def own(self, entry: Entry | int) -> Entry | None:
        """The charge as recorded in the journal, if it belongs to this dataset."""
        number = entry if isinstance(entry, int) else entry.number
        found = self.journal.entry(number)
        if found is None or found.dataset != self.dataset:
            return None
        return found if isinstance(entry, int) or found.hash == entry.hash else None

    def reply(self, entry: Entry) -> bytes | None:
        """What was released for a charge."""
        return self.journal.reply(entry.number)


# -- everything read anew, and every charge priced again -------------------------------------------


@dataclass(frozen=True)
class LedgerVerification:
    """What was checked, and which record is the last, which is worth noting down elsewhere."""

    records: int
    charges: int
    stranded: int  #: charged, and never answered
    head: tuple[int, str]
    public_key: str | None  #: the records are signed with it
    sentences: tuple[str, ...]

    @property
    def signed(self) -> bool:
        """Are the records signed?"""
        return self.public_key is not None

    def __str__(self) -> str:
        return "\n".join(map(one_line, self.sentences))


def verify_journal(journal: Journal) -> LedgerVerification:
    """Check everything that can be checked; a `LedgerDamaged` says where something is wrong."""
    fresh = Journal(journal.store, None)
    with journal.store.reading() as transaction:
        state = fresh.catch_up(transaction)
        with transaction.rows(1) as rows:
            for row in rows:
                _check_record(row, state, transaction)
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
        *([] if signed else [_UNSIGNED]),
    )
    head = (state.number, state.hash)
    return LedgerVerification(
        state.number, state.charges, stranded, head, state.public_key, sentences
    )


_UNSIGNED = (
    "There is no key: the chain shows accidents, not an editor who computes all hashes anew."
)


def _check_record(row: Row, state: LedgerState, transaction: Transaction) -> None:
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
