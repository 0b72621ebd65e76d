"""Charges: what a release asks for, what a ledger records, and what all of them add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any, NamedTuple, overload

from discreet.errors import InvalidArgument, Refused, RelationMismatch, one_line
from discreet.guarantees import Guarantee, Pure, compose
from discreet.guarantees.filters import Cost, Filter
from discreet.neighbors import Relation
from discreet.numeric import canonical
from discreet.numeric.exact import Number

# -- claims and entries ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """What a release asks to be charged for; all of it is known before data is touched."""

    question: str  #: in words
    guarantee: Guarantee
    digest: str  #: of what was asked: query and spend
    mechanisms: tuple[dict[str, Any], ...] = ()
    query: dict[str, Any] | None = None  #: as a tree
    key: str | None = None  #: a second claim under it is the first one repeated

    @property
    def told(self) -> dict[str, Any]:
        """What an entry says of it: all but the key."""
        return {name: value for name, value in vars(self).items() if name != "key"}


@dataclass(frozen=True)
class Entry:
    """One charge: what was asked, by whom and when, and what is promised. It never holds data."""

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
    hash: str | None  #: of the journal's record; None if the budget is kept in memory

    @property
    def mechanism_words(self) -> tuple[str, ...]:
        """The mechanisms, one per line, with their exact numbers."""
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
    """The error for a second release under a key whose first release is still running."""
    return Refused(
        f"the idempotency key {key!r} is in use by another release",
        remedy="ask again for its answer",
        code="unanswered",
    )


_LONGEST = 200
_LONGEST_QUESTION = 10_000


def read_name(name: object, *, argument: str) -> str:
    """A name that can be printed on one line."""
    if isinstance(name, str) and 0 < len(name) <= _LONGEST and name.isprintable() and name.strip():
        return name
    raise InvalidArgument.of(argument, f"a name of at most {_LONGEST} printable characters", name)


def read_question(question: object) -> str:
    if isinstance(question, str) and question.strip() and len(question) <= _LONGEST_QUESTION:
        return question
    raise InvalidArgument.of(
        "question",
        f"a text for whoever reads the ledger, at most {_LONGEST_QUESTION:,} characters",
        question,
    )


def read_key(key: object) -> str | None:
    """An idempotency key, checked when it is passed in."""
    if key is None or (isinstance(key, str) and 0 < len(key) <= _LONGEST and key.isprintable()):
        return key
    raise InvalidArgument.of(
        "idempotency_key", f"a text of 1 to {_LONGEST} printable characters", key
    )


# -- all charges of a dataset ----------------------------------------------------------------------


_FIXED = (
    "a guarantee, provided that, as you say, all spends were fixed before the first answer was seen"
)
_ADAPTIVE = (
    "an estimate: a spend may have been chosen after earlier answers, and no theorem lets "
    "profiles be composed then. What is guaranteed is the cap"
)


@dataclass(frozen=True)
class Replay:
    """All charges of a history, composed by the tight accountant."""

    guarantee: Guarantee
    is_guarantee: bool
    reason: str
    releases: int

    def epsilon(self, delta: Number) -> float:
        """The least ε at this δ, rounded up."""
        return self.guarantee.epsilon(delta)

    def delta(self, epsilon: Number) -> float:
        """The δ at this ε, rounded up."""
        return self.guarantee.delta(epsilon)

    def __str__(self) -> str:
        if not self.releases:
            return "nothing was released yet"
        many = f"{self.releases:,} releases compose"
        together = "1 release comes" if self.releases == 1 else many
        points = [(delta, self.epsilon(delta)) for delta in (0, "1e-9", "1e-6")]
        told = ", ".join(f"ε = {e:.6g} at δ = {d}" for d, e in points if e < inf)
        return f"{together} to {told}: {self.reason}"


@dataclass(frozen=True, eq=False)
class History(Sequence[Entry]):
    """The charges of a dataset, oldest first."""

    entries: tuple[Entry, ...]

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> Entry | History:
        return History(self.entries[index]) if isinstance(index, slice) else self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def replay(self, *, fixed_in_advance: bool = False) -> Replay:
        """All charges composed by their privacy-loss distributions, which is tight.

        It is a guarantee for one release, or if all spends were fixed before the first answer
        was seen, which only the caller can know: pass ``fixed_in_advance=True`` if they were.
        Otherwise it is an estimate, and is labelled as one.

        >>> import discreet as dp, pyarrow as pa
        >>> people = dp.table(pa.table({"age": [34, 51, 28]}))
        >>> session = dp.Session(people, budget=dp.Pure(1))
        >>> _ = session.release(people.agg(n=dp.count()), epsilon=0.5)
        >>> session.history.replay().is_guarantee
        True
        """
        promises = {(entry.relation, entry.unit is None) for entry in self.entries}
        if len(promises) > 1:
            raise RelationMismatch(
                "these charges were made under different neighbour relations or for different "
                "units, which do not add up",
                remedy="replay the history of one dataset",
            )
        guarantees = [entry.guarantee for entry in self.entries]
        together = compose(guarantees) if guarantees else Pure(0)
        known = fixed_in_advance or len(guarantees) <= 1
        one = len(guarantees) <= 1
        reason = "a guarantee: it is one plan" if one else _FIXED if known else _ADAPTIVE
        return Replay(together, known, reason, len(guarantees))

    def __repr__(self) -> str:
        lines = [
            one_line(
                f"{entry.number:>6}  {entry.time:%Y-%m-%d %H:%M}  {entry.analyst or '-'}  "
                f"{entry.question}  {entry.costs[0]}"
            )
            for entry in self.entries
        ]
        return "\n".join(lines) or "nothing was charged yet"
