"""Answers that come with a gap, seen through a few bins of it.

The gap is a multiple of a fine step, so there are endlessly many answers. Putting gaps into bins
loses information: what is found this way is a lower bound on what the answers show.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.sides import BITS
from discreet.balls import precision
from discreet.laws.noisy_lead import NoisyLead
from discreet.laws.sparse_vector import SparseAnswers

if TYPE_CHECKING:
    from flint import arb

_EDGES = (0, 1, 3)  # of the bins, in scales of the noise


@dataclass(frozen=True)
class Bin:
    """Gaps from `start` up to `end`, without end if that is None."""

    start: Fraction
    end: Fraction | None

    def __str__(self) -> str:
        end = "on" if self.end is None else f"to {float(self.end):.6g}"
        return f"gap from {float(self.start):.6g} {end}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        """A gap equals the bin that it lies in."""
        if isinstance(other, Bin):
            return (self.start, self.end) == (other.start, other.end)
        if not isinstance(other, int | float | Fraction) or isinstance(other, bool):
            return False
        return bool(self.start <= other and (self.end is None or other < self.end))

    def __hash__(self) -> int:
        return hash((self.start, self.end))


def in_bins(law: Any) -> Any:
    """The law with its gaps in bins, if it has gaps; else the law itself."""
    if isinstance(law, NoisyLead):
        return BinnedLead(law)
    return BinnedAnswers(law) if isinstance(law, SparseAnswers) and law.step is not None else law


def bins(scale: Fraction, step: Fraction) -> list[Bin]:
    """Bins whose edges lie halfway between multiples of the step, as rounding puts them."""
    edges = [Fraction(0)]
    edges += [(edge * scale // step) * step + step / 2 for edge in _EDGES[1:]]
    return [Bin(a, b) for a, b in zip(edges, [*edges[1:], None], strict=True)]


@dataclass(frozen=True)
class BinnedLead:
    """`NoisyLead` with the lead in bins."""

    law: NoisyLead

    @property
    def outcomes(self) -> list[tuple[int, Bin]]:
        """Each index with each bin."""
        return list(product(range(len(self.law.scores)), bins(self.law.scale, self.law.step)))

    def mass(self, outcome: tuple[int, Bin]) -> arb:
        """P(outcome) as a ball."""
        index, lead = outcome
        above = self.law.leads_by(index, lead.start)
        if lead.end is None:
            return above
        with precision(BITS):
            return above - self.law.leads_by(index, lead.end)


@dataclass(frozen=True)
class BinnedAnswers:
    """`SparseAnswers` with the leads in bins."""

    law: SparseAnswers

    @property
    def outcomes(self) -> list[tuple[Bin | None, ...]]:
        """Every run with which the answers can end."""
        assert self.law.step is not None
        answers = [None, *bins(self.law.query_scale, self.law.step)]
        return [
            run
            for size in range(1, len(self.law.scores) + 1)
            for run in product(answers, repeat=size)
            if self.law.can_end([answer is not None for answer in run])
        ]

    def mass(self, outcome: tuple[Bin | None, ...]) -> arb:
        """P(outcome) as a ball."""
        return self.law.leads(
            [(None, Fraction(0)) if lead is None else (lead.start, lead.end) for lead in outcome]
        )
