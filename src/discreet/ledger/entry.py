"""What is charged, and what a ledger remembers of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from discreet.errors import Refused
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import Filter, Notion, in_words
from discreet.neighbors import Relation
from discreet.numeric import canonical


@dataclass(frozen=True)
class Claim:
    """What a release asks to be charged for: all of it known before data is touched."""

    question: str  #: in words
    guarantee: Guarantee
    digest: str  #: of what was asked: query and spend
    mechanisms: tuple[dict[str, Any], ...] = ()
    query: dict[str, Any] | None = None  #: as a tree
    key: str | None = None  #: a second claim under it is the first one repeated


class Cost(NamedTuple):
    """What one account was charged: ε, ρ or μ², and δ₀."""

    account: str
    notion: type[Notion]
    amount: Fraction
    slack: Fraction

    @property
    def words(self) -> str:
        """The amount, without whose it is."""
        return in_words(self.notion, self.amount, self.slack)

    def __str__(self) -> str:
        return f"{self.words} of {self.account}"


@dataclass(frozen=True)
class Entry:
    """One charge: what was asked, by whom, what it promises, when. Never data."""

    number: int  #: its place in the journal
    time: datetime
    dataset: str
    analyst: str | None
    question: str
    query: dict[str, Any] | None
    digest: str
    mechanisms: tuple[dict[str, Any], ...]
    guarantee: Guarantee
    relation: Relation
    unit: str | None
    costs: tuple[Cost, ...]
    hash: str | None  #: of the journal's record; none where the budget is kept in memory

    @property
    def mechanism_words(self) -> tuple[str, ...]:
        """The mechanisms, one a line, with their exact numbers."""
        return tuple(_in_words(mechanism) for mechanism in self.mechanisms)


class NamedFilter(NamedTuple):
    """A cap and what is spent of it, with the name of the account."""

    name: str
    filter: Filter


def _in_words(mechanism: dict[str, Any]) -> str:
    told = ("for", "mechanism", "guarantee", "part")
    rest = {name: value for name, value in mechanism.items() if name not in told}
    numbers = ", ".join(
        f"{name} {value if isinstance(value, str) else canonical.text(value)}"
        for name, value in rest.items()
        if value is not None
    )
    return f"{mechanism.get('for', 'release')}: {mechanism.get('mechanism', '?')}, {numbers}"


def already_used(key: str | None) -> Refused:
    """Two releases at once under one key: only one of them may go on."""
    return Refused(
        f"the idempotency key {key!r} is in use by another release: ask again for its answer"
    )
