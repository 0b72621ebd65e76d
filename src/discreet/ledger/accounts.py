"""The accounts of a ledger, to look at."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InvalidArgument
from discreet.guarantees import Approx
from discreet.guarantees.filters import Filter, in_words, plain, sum_of
from discreet.ledger.caps import Budget
from discreet.ledger.kept import Kept
from discreet.ledger.state import State
from discreet.neighbors import Relation

_LONGEST = 200
_LONGEST_QUESTION = 10_000


@dataclass(frozen=True)
class Account:
    """A group, a dataset or an analyst: who they are, their cap, and what is spent of it."""

    kind: str  #: "group", "dataset" or "analyst"
    name: str
    dataset: str | None  #: that of an analyst
    budget: Budget | None  #: as stated; an analyst may have none of their own
    filter: Filter | None  #: caps and sums as they were when it was looked at
    relation: Relation
    unit: str | None
    groups: tuple[str, ...]
    releases: int

    @classmethod
    def of(cls, kept: Kept, state: State) -> Account:
        """As it is now."""
        return cls(
            kept.kind,
            kept.name,
            None if kept.dataset is None else state.accounts[kept.dataset].name,
            None if kept.cap is None else kept.cap.budget,
            kept.filter,
            kept.relation,
            kept.unit,
            tuple(state.accounts[group].name for group in kept.groups),
            kept.charges,
        )

    def __str__(self) -> str:
        """One line: who, the cap, and what is spent of it.

        >>> from discreet.guarantees import Pure
        >>> account = Filter(limit=Pure(3)).charge(Pure("0.5"))
        >>> rest = (Relation.ADD_REMOVE, "id", (), 1)
        >>> print(Account("dataset", "visits", None, Pure(3), account, *rest))
        dataset "visits": ε = 0.5 of ε = 3 is spent
        """
        whose = f'{self.kind} "{self.name}"'
        if self.filter is None or self.budget is None:
            return f"{whose}: no cap of its own"
        account, kind = self.filter, type(self.filter.limit)
        spent = in_words(kind, account.total, account.spent_slack)
        limit = in_words(kind, sum_of(account.limit), account.slack)
        told = f"{whose}: {spent} of {limit} is spent"
        if isinstance(self.budget, Approx):
            stated = f"ε = {plain(self.budget.epsilon0)} at δ = {plain(self.budget.delta0)}"
            told = f"{told} (which keeps {stated})"
        return told


def read_name(name: object, *, argument: str) -> str:
    """A name that can be printed on one line."""
    if isinstance(name, str) and 0 < len(name) <= _LONGEST and name.isprintable() and name.strip():
        return name
    raise InvalidArgument(
        name=argument,
        expected=f"a name of at most {_LONGEST} printable characters",
        given=InvalidArgument.describe_parameter(name),
    )


def read_question(question: object) -> str:
    """What was asked, in words."""
    if isinstance(question, str) and question.strip() and len(question) <= _LONGEST_QUESTION:
        return question
    raise InvalidArgument(
        name="question",
        expected=f"a text for whoever reads the ledger, at most {_LONGEST_QUESTION:,} characters",
        given=InvalidArgument.describe_parameter(question),
    )


def read_key(key: object) -> str | None:
    """An idempotency key at the door."""
    if key is None or (isinstance(key, str) and 0 < len(key) <= _LONGEST and key.isprintable()):
        return key
    raise InvalidArgument(
        name="idempotency_key",
        expected=f"a text of 1 to {_LONGEST} printable characters",
        given=InvalidArgument.describe_parameter(key),
    )
