"""What was charged, in order, and what it comes to by the tightest theorem there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import overload

from discreet.errors import RelationMismatch
from discreet.guarantees import Guarantee, Pure, compose
from discreet.ledger.entry import Entry
from discreet.numeric.exact import Number
from discreet.printable import one_line

_FIXED = (
    "a guarantee, provided that, as you say, all spends were fixed before the first answer was seen"
)
_ADAPTIVE = (
    "an estimate: a spend may have been chosen after earlier answers, and no theorem lets "
    "profiles be composed then. What is guaranteed is the cap"
)


@dataclass(frozen=True)
class Replay:
    """A journal run through the tight accountant."""

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
        was seen, which only the caller can know: say ``fixed_in_advance=True`` if it is so.
        Otherwise it is an estimate, and says so.

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
                "units, which do not add up: replay the history of one dataset"
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
