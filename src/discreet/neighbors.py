"""Who is protected: which two datasets count as neighbours, and what one unit is.

A dataset is a multiset of records. Under *add-remove*, neighbours differ by one record more or
less, so the number of records is itself protected. Under *replace*, one record is exchanged for
another, and the number of records is public.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum

from discreet.errors import InvalidArgument


class Relation(Enum):
    """Which change of one unit must stay hidden."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def parse(cls, value: Relation | str, *, name: str = "relation") -> Relation:
        """Read a relation by its name.

        >>> Relation.parse("replace")
        <Relation.REPLACE: 'replace'>
        """
        try:
            return cls(value)
        except ValueError:
            expected = " or ".join(f'"{relation.value}"' for relation in cls)
            given = InvalidArgument.describe_parameter(value)
            raise InvalidArgument(name=name, expected=expected, given=given) from None

    @property
    def add_remove_steps(self) -> int:
        """How many records are added or removed between neighbours.

        To replace a record is to remove one and add another, so a promise for one step of
        add-remove holds under replace as its promise for a group of two.
        """
        match self:
            case Relation.ADD_REMOVE:
                return 1
            case Relation.REPLACE:
                return 2

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Unit:
    """What one person owns: a row, or every row that shares a value of `column`.

    >>> print(Unit(), "or", Unit("patient_id"))
    a row or all rows with one patient_id
    """

    column: str | None = None

    def __post_init__(self) -> None:
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            given = InvalidArgument.describe_parameter(self.column)
            raise InvalidArgument(name="unit", expected="None or a column's name", given=given)

    def __str__(self) -> str:
        return "a row" if self.column is None else f"all rows with one {self.column}"


def distance(x: Iterable[Hashable], y: Iterable[Hashable], relation: Relation | str) -> float:
    """How many neighbours apart two multisets of records are; infinite if no path joins them.

    >>> distance("aab", "abc", "add-remove"), distance("aab", "abc", "replace")
    (2, 1)
    >>> distance("a", "ab", "replace")
    inf
    """
    relation = Relation.parse(relation)
    left, right = Counter(x), Counter(y)
    removed, added = (left - right).total(), (right - left).total()
    match relation:
        case Relation.ADD_REMOVE:
            return removed + added
        case Relation.REPLACE:
            return removed if removed == added else math.inf
