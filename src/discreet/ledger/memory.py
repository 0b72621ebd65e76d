"""A budget in memory: for one process, gone when it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NoReturn

from discreet.errors import Refused
from discreet.guarantees.filters import Filter
from discreet.ledger.entry import Claim, Cost, Entry, NamedFilter, already_used
from discreet.ledger.history import History
from discreet.neighbors import Relation


class MemoryPurse:
    """Caps and charges of one session, safe between threads.

    A copy in another process would have a budget of its own, and the two together could spend
    twice as much. So a forked copy refuses to charge, and copying and pickling are refused.

    >>> from discreet.guarantees import Pure
    >>> MemoryPurse("visits", Filter(limit=Pure(1))).caps[0].filter.spent
    Pure(epsilon=Fraction(0, 1))
    """

    def __init__(
        self,
        dataset: str,
        account: Filter,
        *,
        relation: Relation = Relation.ADD_REMOVE,
        unit: str | None = None,
        analyst: str | None = None,
    ) -> None:
        self.ledger: str | None = None
        self.dataset = dataset
        self.analyst = analyst
        self._relation, self._unit = relation, unit
        self._account = account
        self._entries: list[Entry] = []
        self._keys: dict[str, Entry] = {}
        self._replies: dict[int, Callable[[], bytes]] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def caps(self) -> tuple[NamedFilter, ...]:
        """The one cap, as it is now."""
        return (NamedFilter(f'dataset "{self.dataset}"', self._account),)

    @property
    def entries(self) -> History:
        """Everything charged so far, in order."""
        return History(tuple(self._entries))

    @property
    def releases(self) -> int:
        """How many charges there are."""
        return len(self._entries)

    def charge(self, claim: Claim) -> Entry:
        """Write the charge, or refuse it and leave no trace."""
        if os.getpid() != self._process:
            raise Refused(
                "this budget is kept in the memory of another process, which cannot see what is "
                "spent here: release from the process that opened the session, or keep the "
                "budget in a file with ledger="
            )
        with self._lock:
            name, account = self.caps[0]
            if claim.key in self._keys:
                raise already_used(claim.key)
            cost = account.price(claim.guarantee)
            self._account = account.add(cost)
            entry = Entry(
                number=len(self._entries) + 1,
                time=datetime.now(UTC),
                dataset=self.dataset,
                analyst=self.analyst,
                question=claim.question,
                query=claim.query,
                digest=claim.digest,
                mechanisms=claim.mechanisms,
                guarantee=claim.guarantee,
                relation=self._relation,
                unit=self._unit,
                costs=(Cost(name, type(account.limit), cost.amount, cost.slack),),
                hash=None,
            )
            self._entries.append(entry)
            if claim.key is not None:
                self._keys[claim.key] = entry
            return entry

    def keep(self, entry: Entry, reply: Callable[[], bytes]) -> None:
        """Keep what was released for a charge."""
        self._replies[entry.number] = reply

    def find(self, key: str) -> Entry | None:
        """What was charged under this key."""
        return self._keys.get(key)

    def own(self, entry: Entry | int) -> Entry | None:
        """The charge, if it is one of this session."""
        return next((one for one in self._entries if entry is one or entry == one.number), None)

    def reply(self, entry: Entry) -> bytes | None:
        """What was released for a charge."""
        kept = self._replies.get(entry.number)
        return None if kept is None else kept()

    def __reduce__(self) -> NoReturn:
        raise Refused(
            "a budget in memory cannot be copied: two copies could spend it twice; pass the "
            "session itself around"
        )
