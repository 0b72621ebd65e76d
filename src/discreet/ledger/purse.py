"""One dataset of a ledger, as one analyst may spend it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.ledger.entry import Claim, Entry, NamedFilter
from discreet.ledger.history import History
from discreet.ledger.journal import Journal
from discreet.ledger.kept import Kept
from discreet.ledger.records import token_of


@dataclass(frozen=True, eq=False)
class LedgerPurse:
    """What a session charges: the dataset's cap, its groups', and the analyst's."""

    journal: Journal
    data: Kept
    who: Kept | None

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.data.name

    @property
    def analyst(self) -> str | None:
        """Who spends, if that is known."""
        return None if self.who is None else self.who.name

    @property
    def _analyst(self) -> int | None:
        return None if self.who is None else self.who.number

    @property
    def ledger(self) -> str:
        """The id of the ledger."""
        return self.journal.id

    @property
    def caps(self) -> tuple[NamedFilter, ...]:
        """Every cap above, as it is now; the dataset's first."""
        accounts = self.journal.current().above(self.data.number, self._analyst)
        return tuple(NamedFilter(k.words, k.filter) for k in accounts if k.filter is not None)

    @property
    def entries(self) -> History:
        """What was charged to the dataset, by everyone, in order."""
        mine = (entry for entry in self.journal.entries() if entry.dataset == self.dataset)
        return History(tuple(mine))

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
        return self.journal.filed(token_of(self.data.number, self._analyst, key))

    def own(self, entry: Entry | int) -> Entry | None:
        """The charge as the journal has it, if it is one of this dataset."""
        number = entry if isinstance(entry, int) else entry.number
        found = self.journal.entry(number)
        if found is None or found.dataset != self.dataset:
            return None
        return found if isinstance(entry, int) or found.hash == entry.hash else None

    def reply(self, entry: Entry) -> bytes | None:
        """What was released for a charge."""
        return self.journal.reply(entry.number)
