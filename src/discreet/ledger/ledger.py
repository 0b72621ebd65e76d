"""The ledger: datasets, groups and analysts with their caps, and a journal of every charge."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from discreet import signing
from discreet.errors import Idiom, InvalidArgument, LedgerDamaged, Phrase, Refused, RelationMismatch
from discreet.guarantees import Guarantee
from discreet.guarantees.notion import Budget
from discreet.hints import spelled
from discreet.ledger.account import Account, AccountState, LedgerState
from discreet.ledger.budget import Cap
from discreet.ledger.history import Claim, Entry, History, read_key, read_name, read_question
from discreet.ledger.journal import Journal, LedgerBudget, LedgerVerification, verify_journal
from discreet.ledger.stores import store_of
from discreet.neighbors import Relation
from discreet.numeric import canonical
from discreet.numeric.exact import Number
from discreet.release import Result
from discreet.release.result import from_bytes

if TYPE_CHECKING:
    from discreet.plot import Plot


class Ledger:
    """A budget that outlives the process: who may spend how much, and everything that was spent.

    ``location`` is the path of a file (SQLite) or the address of a PostgreSQL database, as in
    ``"postgresql://user@host/database"``. A missing ledger is made only with ``create=True``;
    an existing one is opened. Opening reads and checks the whole journal, and refuses it
    (`LedgerDamaged`) if anything is missing, doubled, moved or edited. ``key`` is the path of an
    Ed25519 private key, made by ``discreet key create``: with one, every record is signed, and
    ``public_key`` is enough to see that a ledger is the one that was made with it.

    >>> import discreet as dp, tempfile
    >>> ledger = dp.Ledger(tempfile.mkdtemp() + "/people.ledger", create=True)
    >>> visits = ledger.add_dataset("visits", budget=dp.Pure(3), unit="patient_id")
    >>> ann = ledger.add_analyst("ann", dataset="visits", budget=dp.Pure(1))
    >>> entry = ledger.charge(dp.Pure(0.4), dataset="visits", analyst="ann", question="by hand")
    >>> [str(cost) for cost in entry.costs]
    ['ε = 0.4 of dataset "visits"', 'ε = 0.4 of analyst "ann"']
    """

    @spelled
    def __init__(
        self,
        location: str | PathLike[str],
        *,
        create: bool = False,
        key: str | PathLike[str] | None = None,
        public_key: str | PathLike[str] | None = None,
    ) -> None:
        signer = None if key is None else signing.load_private(key)
        public = None if signer is None else signing.public_hex(signer)
        if public_key is not None:
            pinned = signing.read_public(public_key)
            if public not in (None, pinned) or create:
                raise InvalidArgument(
                    "public_key",
                    Phrase("the public half of {key=}, or given alone to read"),
                    Phrase("another, or with {create=True}"),
                )
            public = pinned
        self._journal = Journal(store_of(location)(location, create=create), signer)
        try:
            if not self._journal.current().number:
                if not create:
                    raise LedgerDamaged(f"the ledger {self.location} is empty: restore it")
                first = {"id": self._journal.id, "kind": "ledger", "public_key": public}
                self._journal.add(lambda state: None if state.number else first)
            self._check_key(self._journal.current(), public)
            self._journal.migrate()
        except BaseException:
            self.close()
            raise

    @property
    def location(self) -> str:
        """Where it is kept, without a password."""
        return self._journal.store.name

    @property
    def id(self) -> str:
        """The identity of the ledger: 32 random digits."""
        return self._journal.id

    def close(self) -> None:
        """Close the file or database."""
        self._journal.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.location}, {self._journal.state.charges:,} charges)"

    # -- accounts --------------------------------------------------------------------------------

    @property
    def groups(self) -> tuple[Account, ...]:
        """Groups of datasets that hold the same people."""
        return self._accounts("group")

    @property
    def datasets(self) -> tuple[Account, ...]:
        """All datasets, as they are now."""
        return self._accounts("dataset")

    @property
    def analysts(self) -> tuple[Account, ...]:
        """All analysts of all datasets, as they are now."""
        return self._accounts("analyst")

    @spelled
    def add_group(
        self,
        name: str,
        *,
        budget: Budget,
        slack: Number | None = None,
        relation: Relation | str = Relation.ADD_REMOVE,
    ) -> Account:
        """Add a cap for several datasets that hold the same people: the most that all of them
        together may cost one person. Datasets join it by its ``name`` when they are added.

        ``budget`` is the cap: ``dp.Pure(3)``, ``dp.ZCDP``, ``dp.GDP`` or ``dp.Approx``.
        ``slack`` is the part of δ for mechanisms that fail outright with a small probability; half
        of an ``Approx`` budget's δ, and 0 for others, if left out.
        ``relation`` says what stays hidden, and must be that of its datasets.
        """
        fields = {
            "cap": Cap.read(budget, slack).to_document(),
            "kind": "group",
            "name": read_name(name, argument="group"),
            "relation": Relation.parse(relation).value,
        }
        return self._add(fields, budget, slack)

    @spelled
    def add_dataset(
        self,
        name: str,
        *,
        budget: Budget,
        slack: Number | None = None,
        unit: str | None = None,
        relation: Relation | str = Relation.ADD_REMOVE,
        groups: Iterable[str] = (),
    ) -> Account:
        """Add a dataset with its cap, which is fixed from now on, even if rows are added later.

        ``name`` is what sessions call it; ``budget`` is the cap, as in ``dp.Pure(3)``.
        ``slack`` is the part of δ for mechanisms that fail outright with a small probability; half
        of an ``Approx`` budget's δ, and 0 for others, if left out.
        ``unit`` names the column that says whose row it is, if a row is not a person;
        ``relation`` says what stays hidden; ``groups`` are the names of the groups that it joins,
        which must exist. If the dataset exists already, all of this must be the same.
        """
        cap, neighbours = Cap.read(budget, slack), Relation.parse(relation)
        state = self._journal.current()
        above = [find_account(state, "group", None, group) for group in dict.fromkeys(groups)]
        for group in above:
            check_group(group, state, neighbours, unit)
        fields = {
            "cap": cap.to_document(),
            "groups": [group.number for group in above],
            "kind": "dataset",
            "name": read_name(name, argument="dataset"),
            "relation": neighbours.value,
            "unit": None if unit is None else read_name(unit, argument="unit"),
        }
        return self._add(fields, budget, slack)

    @spelled
    def add_analyst(
        self, name: str, *, dataset: str, budget: Budget | None = None, slack: Number | None = None
    ) -> Account:
        """Add someone who may ask about a ``dataset``, with a cap of their own if one is given.

        ``name`` is who asks; ``budget`` and ``slack`` are the cap, as in ``add_dataset``. The
        dataset's cap binds whatever the caps of its analysts add up to.
        """
        data = find_account(self._journal.current(), "dataset", None, dataset)
        fields = {
            "cap": None if budget is None else Cap.read(budget, slack).to_document(),
            "dataset": data.number,
            "kind": "analyst",
            "name": read_name(name, argument="analyst"),
            "relation": data.relation.value,
        }
        return self._add(fields, budget, slack)

    # -- charges ---------------------------------------------------------------------------------

    def purse(self, dataset: str, analyst: str | None = None) -> LedgerBudget:
        """The budget that a session of this analyst charges."""
        state = self._journal.current()
        data = find_account(state, "dataset", None, dataset)
        who = None if analyst is None else find_account(state, "analyst", data.number, analyst)
        return LedgerBudget(self._journal, data, who)

    @spelled
    def charge(
        self,
        cost: Guarantee,
        *,
        dataset: str,
        question: str,
        analyst: str | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Charge for a release made by hand, before it is made; refused if a cap would break.

        ``cost`` is a guarantee, such as ``mechanism.guarantee``, and ``question`` says in words
        what is released of the ``dataset``. ``analyst`` is who asks; left out, no analyst's cap
        binds. A charge under an ``idempotency_key`` is made once: asked again it is refused,
        and nothing more is charged. Left out, every call charges. Sessions do this by themselves.
        """
        if not isinstance(cost, Guarantee):
            raise InvalidArgument.of(
                "cost", "a guarantee", cost, hint="such as mechanism.guarantee"
            )
        purse, key = self.purse(dataset, analyst), read_key(idempotency_key)
        words = read_question(question)
        if key is not None and (found := purse.find(key)) is not None:
            raise Refused(
                f"the idempotency key {key!r} was charged before, in record {found.number}, and is "
                "not charged again",
                remedy="if that release was not made, charge it under a new key",
                code="key-reused",
            )
        digest = canonical.digest({"cost": cost.to_json(), "question": words})
        return purse.charge(Claim(words, cost, digest, key=key))

    def history(self, dataset: str | None = None, analyst: str | None = None) -> History:
        """What was charged, oldest first; of one ``dataset`` or ``analyst``, if named."""
        state = self._journal.current()
        data = None if dataset is None else find_account(state, "dataset", None, dataset).number
        if analyst is not None:
            find_analyst(state, data, analyst)
        return History(
            tuple(
                entry
                for entry in self._journal.entries()
                if dataset in (None, entry.dataset) and analyst in (None, entry.analyst)
            )
        )

    def entry(self, number: int) -> Entry | None:
        """The charge with this ``number`` in the journal; None if that record is not a charge."""
        return self._journal.entry(number)

    def plot(self, dataset: str, analyst: str | None = None) -> Plot:
        """What was spent of a ``dataset`` over time, by whom, against its cap, or by one
        ``analyst`` alone; ``.save("x.svg")``."""
        from discreet.ledger.plot import draw

        data = find_account(self._journal.current(), "dataset", None, dataset)
        assert data.filter is not None
        return draw(self.history(dataset, analyst), dataset=dataset, account=data.filter)

    def unanswered(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Charges without a stored answer: made by hand, still running, or cut off by a crash; of
        one ``dataset``, if named."""
        found = self._journal.unanswered()
        return tuple(entry for entry in found if dataset in (None, entry.dataset))

    def recall(self, entry: Entry | int) -> Result:
        """The answer of an earlier release: free, and the same noise.

        ``entry`` is one of ``history()``, or the number of its record. Refused if it has no answer.
        """
        number = entry.number if isinstance(entry, Entry) else entry
        own = self._journal.entry(number) if type(number) is int else None
        same = own is not None and (own.number == entry or own.hash == getattr(entry, "hash", ""))
        reply = self._journal.reply(own.number) if own is not None and same else None
        if reply is None:
            raise InvalidArgument(
                "entry",
                "an entry of ledger.history() whose answer was stored",
                "another",
                hint="a release that was cut off has none, nor has a charge made by hand",
            )
        return from_bytes(reply)

    def hash_of(self, number: int) -> str | None:
        """The hash of the record ``number``, counted from 1, to be compared with one noted
        elsewhere; None if there is no such record."""
        with self._journal.store.reading() as transaction:
            self._journal.catch_up(transaction)
            row = transaction.row(number)
        return None if row is None else row[4]

    def verify(self) -> LedgerVerification:
        """Read everything anew, price every charge again, and say what was checked."""
        return verify_journal(self._journal)

    # -- inside ----------------------------------------------------------------------------------

    def _accounts(self, kind: str) -> tuple[Account, ...]:
        state = self._journal.current()
        kept = tuple(state.accounts.values())  # copied at once, since another thread may add one
        return tuple(Account.of(one, state) for one in kept if one.kind == kind)

    def _add(self, fields: dict[str, Any], budget: Budget | None, slack: Number | None) -> Account:
        where = (fields["kind"], fields.get("dataset"), fields["name"])

        def missing(state: LedgerState) -> dict[str, Any] | None:
            number = state.names.get(where)
            if number is None:
                return fields
            check_same_account(state.accounts[number], fields, budget, slack)
            return None

        self._journal.add(missing)
        state = self._journal.current()
        return Account.of(state.accounts[state.names[where]], state)

    def _check_key(self, state: LedgerState, public: str | None) -> None:
        if public is not None and state.public_key != public:
            sealed = "with another key" if state.public_key else "without a key"
            raise Refused(
                f"the ledger {self.location} was made {sealed}: it may have been replaced",
                remedy="Open it as it was made, or keep what you charge in a ledger of your own",
            )


# -- checks before a ledger is opened or an account added ------------------------------------------


def dataset_name(
    ledger: Ledger, dataset: str | None, *, create: bool, expected: str, hint: str
) -> str:
    """The name of the dataset: the one given, that of the only one, or, where one is to be made,
    one made from the name of the ledger's file. So renaming a file of data never makes a new
    dataset by accident. ``expected`` and ``hint`` tell what to do where there is none."""
    if dataset is not None:
        return dataset
    there = [one.name for one in ledger.datasets]
    if len(there) == 1:
        return there[0]
    files = ledger._journal.store.files(ledger.location)
    if not there and create and files:
        return Path(files[0]).stem
    raise InvalidArgument.missing(
        "dataset",
        f"one of {', '.join(there)}" if there else expected,
        hint=Phrase('say which, as in {dataset="visits"}') if there else hint,
    )


def find_account(state: LedgerState, kind: str, dataset: int | None, name: object) -> AccountState:
    number = state.names.get((kind, dataset, name)) if isinstance(name, str) else None
    if number is not None:
        return state.accounts[number]
    there = [k.name for k in state.accounts.values() if (k.kind, k.dataset) == (kind, dataset)]
    raise InvalidArgument.of(
        kind,
        f"one of {', '.join(there)}" if there else f"added first: there is no {kind} yet",
        name,
        hint=Idiom[f"ADD_{kind.upper()}"],
        code="unknown-name",
    )


def find_analyst(state: LedgerState, dataset: int | None, name: str) -> None:
    """Refuse a name that is not an analyst of this dataset, or of any dataset if none is given."""
    people = [one for one in tuple(state.accounts.values()) if one.kind == "analyst"]
    there = [one.name for one in people if dataset in (None, one.dataset)]
    if name not in there:
        raise InvalidArgument.of(
            "analyst",
            f"one of {', '.join(dict.fromkeys(there))}" if there else "left out: none is added",
            name,
            code="unknown-name",
        )


def check_group(
    group: AccountState, state: LedgerState, relation: Relation, unit: str | None
) -> None:
    """Refuse a dataset whose promise, or the people it protects, differ from its group's."""
    if group.relation is not relation:
        raise RelationMismatch(
            f"the {group.words} adds up promises under {group.relation}, and the dataset is "
            f"protected under {relation}: they cannot share a cap"
        )
    for other in tuple(state.accounts.values()):
        if group.number in other.groups and (other.unit is None) != (unit is None):
            raise RelationMismatch(
                f"in the {group.words}, the {other.words} protects "
                f"{'single rows' if other.unit is None else 'all rows of one person'}, and this "
                "one does not: they cannot share a cap"
            )


def check_same_account(
    kept: AccountState, fields: dict[str, Any], budget: Budget | None, slack: Number | None
) -> None:
    if kept.cap is not None and budget is not None:
        kept.cap.check_stated_as(budget, slack, whose=kept.words)
    elif kept.cap is not None or budget is not None:
        given = f"the cap {kept.cap}" if kept.cap else "no cap of its own"
        raise Refused(
            f"the {kept.words} is there already, with {given}: a cap is never changed",
            code="already-there",
        )
    if kept.relation.value != fields["relation"]:
        raise RelationMismatch(
            f"the {kept.words} is protected under {kept.relation}, not {fields['relation']}"
        )
    asked = (fields.get("unit"), tuple(fields.get("groups", ())))
    if asked != (kept.unit, kept.groups):
        unit = "a row" if kept.unit is None else f'all rows with one "{kept.unit}"'
        raise Refused(
            f"the {kept.words} is there already: a person is {unit}, and it is in "
            f"{len(kept.groups)} groups, which is never changed",
            code="already-there",
        )
