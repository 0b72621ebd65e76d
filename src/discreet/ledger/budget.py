"""Budgets: a cap as its owner stated it, and the budget of a session that keeps it in memory."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NoReturn

from discreet.errors import Idiom, InvalidArgument, Phrase, Refused
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import Filter
from discreet.guarantees.guarantee import KINDS
from discreet.guarantees.notion import Budget, Notion, plain
from discreet.ledger.history import Claim, Entry, History, NamedFilter, already_used
from discreet.neighbors import Relation
from discreet.numeric import canonical
from discreet.numeric.exact import Number, probability

# -- caps ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cap:
    """A budget, and the form it is accounted in: one number that adds up, and a slack for δ₀.

    An (ε, δ) budget is kept as the ρ that implies it together with the slack, so the split of
    its δ is fixed, and written down, when the account is opened.

    >>> from discreet.guarantees import Approx
    >>> print(Cap.read(Approx(1, "1e-6"), slack=None))
    ε = 1 at δ = 1e-06, kept as ρ = 0.0229374476547, with δ₀ up to 5e-07 for what may fail outright
    """

    budget: Budget  #: as stated
    slack: Fraction  #: the most that δ₀ may add up to
    limit: Notion  #: the most that the other number may add up to

    @classmethod
    def read(cls, budget: Budget, slack: Number | None) -> Cap:
        """The cap of a budget; of an (ε, δ) budget, half of δ is slack unless stated."""
        if isinstance(budget, Budget):
            limit, aside = budget.kept(None if slack is None else _slack(slack))
            return cls(budget, aside, limit)
        raise InvalidArgument.of(
            "budget", "dp.Pure, dp.ZCDP, dp.GDP or dp.Approx, such as dp.Pure(3)", budget
        )

    @property
    def opened(self) -> Filter:
        """The account with nothing spent."""
        return Filter(limit=self.limit, slack=self.slack)

    def check_stated_as(self, budget: Budget, slack: Number | None, *, whose: str) -> None:
        """Refuse any budget other than this one, and any other slack if one is given."""
        if budget != self.budget or (slack is not None and _slack(slack) != self.slack):
            raise Refused(
                f"the cap of the {whose} is {self}, and {Cap.read(budget, slack)} was given: a "
                "cap is never changed",
                remedy=Idiom.CAP_GIVEN,
                code="already-there",
            )

    def to_document(self) -> dict[str, Any]:
        return {
            "budget": json.loads(self.budget.to_json()),
            "limit": json.loads(self.limit.to_json()),
            "slack": str(self.slack),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Cap:
        told = [document[name] for name in ("budget", "limit")]
        if unknown := {one["notion"] for one in told} - KINDS.keys():
            raise Refused(
                f"the ledger has a cap in {', '.join(sorted(unknown))}, a notion of privacy that "
                "is not loaded here",
                remedy="update discreet, or import the package that has this notion",
                code="unsupported",
            )
        budget, limit = (Guarantee.from_json(canonical.text(one)) for one in told)
        assert isinstance(budget, Budget) and isinstance(limit, Notion)
        return cls(budget, Fraction(document["slack"]), limit)

    def __str__(self) -> str:
        kept = "" if self.limit == self.budget else f", kept as {self.limit.words}"
        slack = f", with δ₀ up to {plain(self.slack)} for what may fail outright"
        return f"{self.budget.words}{kept}{slack * (self.slack > 0)}"


def _slack(slack: Number) -> Fraction:
    return Fraction(0) if slack == 0 else probability(slack, name="slack")


# -- a budget in memory ----------------------------------------------------------------------------


class MemoryBudget:
    """The cap and the charges of one session; several threads may use it. To a session it is the
    same as `LedgerBudget`, one dataset of a ledger.

    A copy in another process would have a budget of its own, and the two together could spend
    twice as much. So a forked copy refuses to charge, and copying and pickling are refused.

    >>> from discreet.guarantees import Pure
    >>> MemoryBudget("visits", Filter(limit=Pure(1))).caps[0].filter.spent
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
        self.ledger, self.dataset, self.analyst = None, dataset, analyst
        self._relation, self._unit, self._account = relation, unit, account
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
        return History(tuple(self._entries))

    @property
    def releases(self) -> int:
        return len(self._entries)

    def charge(self, claim: Claim) -> Entry:
        if os.getpid() != self._process:
            raise Refused(
                "this budget is kept in the memory of another process, which cannot see what is "
                "spent here",
                remedy=Phrase(
                    "release from the process that opened the session, or keep the budget in a "
                    "file with {ledger=}"
                ),
                code="not-shared",
            )
        with self._lock:
            name, account = self.caps[0]
            if claim.key in self._keys:
                raise already_used(claim.key)
            cost = account.price(claim.guarantee)._replace(account=name)
            self._account = account.add(cost.amount, cost.slack)
            entry = Entry(
                number=len(self._entries) + 1,
                time=datetime.now(UTC),
                dataset=self.dataset,
                analyst=self.analyst,
                relation=self._relation,
                unit=self._unit,
                costs=(cost,),
                hash=None,
                **claim.told,
            )
            self._entries.append(entry)
            if claim.key is not None:
                self._keys[claim.key] = entry
            return entry

    def keep(self, entry: Entry, reply: Callable[[], bytes]) -> None:
        self._replies[entry.number] = reply

    def find(self, key: str) -> Entry | None:
        return self._keys.get(key)

    def own(self, entry: Entry | int) -> Entry | None:
        """The charge, if it is one of this session."""
        return next((one for one in self._entries if entry is one or entry == one.number), None)

    def reply(self, entry: Entry) -> bytes | None:
        kept = self._replies.get(entry.number)
        return None if kept is None else kept()

    def __reduce__(self) -> NoReturn:
        raise Refused(
            "a budget in memory cannot be copied: two copies could spend it twice; pass the "
            "session itself around",
            code="not-shared",
        )
