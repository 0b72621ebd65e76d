"""How far one person can move an answer: neighbours are made, and their distance is measured.

A certificate states sensitivities. Here they are not computed by the planner's formulas: the worst
that a person can do is written down, row by row, and the numbers of the two tables are compared.

A person has at most `rows` rows in each of `groups` groups, `total` in all. Each row counts to one
of the `cells` of its group, and adds between `low` and `high` there, or nothing. Sums grow fastest
in few cells and spread widest in many, so that two tables of theirs decide: all rows *packed* into
one cell of a group, group after group, and all rows *spread* over as many cells as there are.
(Sizes are convex, and are largest at the corners of what a person can do; the tests try everything
that a person can do in small tables.) A person who is replaced leaves such a table, and another
brings one: in the same cells with the other end of the values, or in other cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Rows: TypeAlias = Counter[int]  # of one person: in how many cells there are so many of them
Change: TypeAlias = Counter[int]  # how many numbers of the answer change by so much


@dataclass(frozen=True)
class Moved:
    """The most that numbers can move: how many, one of them, all together, and squared."""

    l0: Fraction
    linf: Fraction
    l1: Fraction
    square: Fraction  # of l2


@dataclass(frozen=True)
class Person:
    """What one person has in an answer at most."""

    groups: int
    rows: int
    total: int
    cells: int = 1  # of a group
    several: bool = True  # is there more than one group at all?

    def farthest(self, low: int, high: int, *, replaced: bool) -> Moved:
        """The largest distance of neighbours, where each row adds between `low` and `high`.

        >>> Person(groups=3, rows=5, total=15).farthest(0, 1, replaced=False).l1
        Fraction(15, 1)
        """
        changes = [
            change
            for table in (self._packed(), self._spread())
            for change in self._changes(table, low, high, replaced)
        ]
        touched = max(map(Counter.total, changes))
        sizes = (
            touched if self.several else min(touched, self.cells),
            max(max(map(abs, change), default=0) for change in changes),
            max(sum(abs(by) * n for by, n in change.items()) for change in changes),
            max(sum(by * by * n for by, n in change.items()) for change in changes),
        )
        return Moved(*map(Fraction, sizes))

    def _packed(self) -> Rows:
        full, rest = divmod(self.total, self.rows)
        return Counter({self.rows: full, **({rest: 1} if rest else {})})

    def _spread(self) -> Rows:
        """As evenly as can be: so many rows in some cells, and one more in others."""
        cells = min(self.total, self.groups * min(self.rows, self.cells))
        each, more = divmod(self.total, cells)
        return +Counter({each: cells - more, each + 1: more})

    def _changes(self, table: Rows, low: int, high: int, replaced: bool) -> Iterator[Change]:
        for value in (low, high):
            yield _times(table, value)
        if not replaced:
            return
        # The same cells: one end of the values leaves, the other comes; either may be missing.
        yield _times(table, max(high, 0) - min(low, 0))
        if self.several or self.cells > 1:  # other cells, as if there were always enough of them
            for value in (low, high):
                yield _times(table, value) + _times(table, -value)


def _times(table: Rows, value: int) -> Change:
    return Counter({rows * value: cells for rows, cells in table.items() if value})
