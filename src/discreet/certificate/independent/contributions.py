"""How far one person can move what a query asks for, from its tree alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.auditor.contributions import Moved, Person
from discreet.errors import InvalidArgument


@dataclass(frozen=True)
class Presence:
    """What one person has in an answer at most."""

    groups: int
    rows: int
    total: int
    replaced: bool  # the relation
    several: bool  # is there more than one group at all?

    @property
    def steps(self) -> int:
        """People that come or go between neighbours."""
        return 2 if self.replaced else 1

    @property
    def choices(self) -> int:
        """How many choices with `rows` rows a person can bear on."""
        return -(-self.total // self.rows)

    def moves(self, low: int, high: int, *, cells: int = 1) -> Moved:
        """For sums over rows that each add between `low` and `high`, or nothing, to one of the
        cells of a group."""
        person = Person(self.groups, self.rows, self.total, cells, self.several)
        return person.farthest(low, high, replaced=self.replaced)

    def counts_once(self) -> Moved:
        """For numbers of people: each is one in a group."""
        person = Person(self.groups, 1, self.groups, several=self.several)
        return person.farthest(0, 1, replaced=self.replaced)


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
