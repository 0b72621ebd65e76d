"""Jumps: from one dataset to another, record by record, and where on the way the answer leaps.

Each dataset on a chain is a neighbour of the next. If the answers at two places are further apart
than the number of steps between them allows, some step between is too large, and halving finds it;
so does it find a step that stands out, at a size or a sum where something overflows or changes
over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from discreet.auditor.moving import TOLERANCE
from discreet.auditor.searching.neighbouring import ABSENT, Changes, Pair
from discreet.auditor.searching.stream import Stream
from discreet.neighbors import Relation

LONGEST = 1024  # steps
_HALVINGS = 24

Distance = Fraction | float  # infinity is a float
Between = Callable[[Any, Any], Distance]


@dataclass(frozen=True, eq=False)
class Chain:
    """Records that come one by one, or take the place of the same record one by one."""

    records: tuple[Any, ...]
    base: Any  # ABSENT under add-remove
    first: int = 0  # records before any step

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.records) - self.first

    def at(self, step: int) -> list[Any]:
        """The dataset after so many steps."""
        done = self.first + step
        rest = [] if self.base is ABSENT else [self.base] * (len(self.records) - done)
        return [*self.records[:done], *rest]

    def pair(self, step: int) -> Pair:
        """The two datasets before and after a step."""
        data = self.at(step)
        place = self.first + step
        both = tuple(data if self.base is ABSENT else [*data[:place], *data[place + 1 :]])
        return Pair(both, self.base, self.records[place], place=place)


def chains(changes: Changes, stream: Stream) -> Iterator[Chain]:
    """Copies of each end, copies of every edge, then different records, again and again."""
    edges = changes.domain.edges
    for edge, base in ((edges[1], edges[0]), (edges[0], edges[1])):
        yield _chain(changes, [edge] * LONGEST, base)
    yield _chain(changes, _rising(edges), edges[0])
    while True:
        yield _chain(changes, changes.domain.spread(stream, LONGEST), edges[0])


def _rising(edges: tuple[Any, ...]) -> list[Any]:
    """The same number of copies of each, the smallest first; what is no number comes last."""
    with suppress(TypeError, ValueError):  # records without an order
        edges = tuple(sorted(edges, key=lambda edge: (edge != edge, edge)))
    copies = LONGEST // len(edges)
    return [edge for edge in edges for _ in range(max(1, copies))]


def _chain(changes: Changes, records: list[Any], base: Any) -> Chain:
    """As long as datasets may be."""
    sizes = changes.sizes
    if changes.relation is Relation.ADD_REMOVE:
        many = min(sizes.usual, sizes.least + LONGEST)
        enough = [records[i % len(records)] for i in range(many)]
        return Chain(tuple(enough), ABSENT, sizes.least)
    many = max(sizes.least, min(sizes.usual, LONGEST))
    enough = [records[i % len(records)] for i in range(min(many, LONGEST))]
    return Chain((*[base] * (many - len(enough)), *enough), base, many - len(enough))


def jumps(chain: Chain, answer: Callable[[list[Any]], Any], between: Between) -> Iterator[Pair]:
    """Steps that stand out. Answers at 0, 1, 2, 4, 8, ... steps and half-way between; where the
    half-way answer is not half-way, what is left is halved again, the steepest part first."""
    known: dict[int, Any] = {}

    def steep(low: int, high: int) -> Distance:
        for step in (low, high):
            if step not in known:
                known[step] = answer(chain.at(step))
        return between(known[low], known[high]) / (high - low)

    ends = sorted({0, chain.steps, *(2**i for i in range(chain.steps.bit_length()))})
    parts = [(-steep(low, high), low, high) for low, high in pairwise(ends)]
    heapify(parts)
    for turn in range(len(parts) + _HALVINGS):
        while parts and parts[0][2] - parts[0][1] == 1:
            _, low, _ = heappop(parts)
            if turn:  # single steps at the start of a chain are tried anyway
                yield chain.pair(low)
        if not parts:
            return
        _, low, high = heappop(parts)
        middle = (low + high) // 2
        halves = [steep(low, middle), steep(middle, high)]
        if _level(halves[0], halves[1]):
            continue  # a straight line, as far as this tells
        heappush(parts, (-halves[0], low, middle))
        heappush(parts, (-halves[1], middle, high))


def _level(one: Distance, other: Distance) -> bool:
    """Equal, but for what floats round off."""
    if math.isinf(one) or math.isinf(other):
        return False
    x, y = Fraction(one), Fraction(other)
    return abs(x - y) <= TOLERANCE * max(x, y)
