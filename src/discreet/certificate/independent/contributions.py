"""How far one person can move what a query asks for, from its tree alone.

A person has at most `rows` rows in each of `groups` groups, `total` in all. With r rows that each
add between −L and L, and at most R from each other, a group moves by r·L where someone comes or
goes, and by r·R where someone is replaced by another in the same group; in another one, twice as
many groups move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidArgument


@dataclass(frozen=True)
class Moved:
    """The most that numbers can move: how many, one of them, all together, and squared."""

    l0: Fraction
    linf: Fraction
    l1: Fraction
    square: Fraction  # of l2


@dataclass(frozen=True)
class Presence:
    """What one person has in an answer at most."""

    groups: int
    rows: int
    total: int
    replaced: bool  # the relation
    several: bool  # is there more than one cell to be in?

    @property
    def steps(self) -> int:
        """People that come or go between neighbours."""
        return 2 if self.replaced else 1

    @property
    def choices(self) -> int:
        """How many choices with `rows` rows a person can bear on."""
        return -(-self.total // self.rows)

    def in_cells(self) -> Presence:
        """The same where each row is in one of several cells."""
        return replace(self, several=True)

    def once(self) -> Presence:
        """The same where a person counts once in a group."""
        return replace(self, rows=1, total=self.groups)

    def moves(self, low: int, high: int) -> Moved:
        """For sums over rows that each add between `low` and `high`, or nothing."""
        largest, reach = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
        full, rest = divmod(self.total, self.rows)
        squares = full * self.rows**2 + rest**2
        if not self.replaced:
            sizes = (self.groups, self.rows * largest, self.total * largest, squares * largest**2)
        elif self.several:
            l1 = self.total * max(reach, 2 * largest)
            l2 = squares * max(reach**2, 2 * largest**2)
            sizes = (2 * self.groups, self.rows * reach, l1, l2)
        else:
            sizes = (1, self.rows * reach, self.total * reach, squares * reach**2)
        return Moved(*map(Fraction, sizes))


def presence(tree: Mapping[str, Any]) -> Presence:
    """Read from a query's unit, relation, bounds and keys.

    >>> tree = {"unit": "id", "relation": "add-remove", "keys": {"discovered": False, "count": 2},
    ...         "bound": {"max_groups": 3, "max_rows_per_group": 5, "max_rows": None}}
    >>> presence(tree).moves(0, 1).l1
    Fraction(10, 1)
    """
    relation, keys, bound = tree.get("relation"), tree.get("keys"), tree.get("bound")
    if relation not in ("add-remove", "replace"):
        raise _unexpected("relation")
    replaced = relation == "replace"
    count = 1 if keys is None else None if keys.get("discovered") else keys.get("count")
    if count is not None and (type(count) is not int or count < 1):
        raise _unexpected("keys")
    several = count is None or count > 1
    if tree.get("unit") is None and bound is None:
        return Presence(1, 1, 1, replaced, several)
    if tree.get("unit") is None or not isinstance(bound, Mapping):
        raise _unexpected("bound")
    by_group = (bound.get("max_groups"), bound.get("max_rows_per_group"))
    if (rows := bound.get("max_rows")) is not None:
        if by_group != (None, None):
            raise _unexpected("bound")
        rows = _whole(rows)
        return Presence(min(rows, count or rows), rows, rows, replaced, several)
    rows = _whole(bound.get("max_rows_per_group"))
    most = bound.get("max_groups")
    if most is None and several:
        raise _unexpected("bound")
    groups = 1 if most is None else min(_whole(most), count or _whole(most))
    return Presence(groups, rows, groups * rows, replaced, several)


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise _unexpected("bound")
    return value


def _unexpected(name: str) -> InvalidArgument:
    return InvalidArgument(
        name=f"the query's {name}", expected="one that bounds a person", given="something else"
    )
