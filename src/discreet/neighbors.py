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
from typing import NoReturn

from discreet.errors import Argument, InvalidArgument, Phrase, one_line


class Relation(Enum):
    """Which change of one unit must stay hidden.

    ``ADD_REMOVE``: that somebody is there or not, so the number of people is protected too.
    ``REPLACE``: what somebody's data says; the number of people is public. Wherever a relation is
    asked for, its name will do.

    >>> [str(relation) for relation in Relation]
    ['add-remove', 'replace']
    """

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
        except InvalidArgument as error:
            raise error.about(name, hint=_relation_hint(name)) from None

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise InvalidArgument.of(
            "relation",
            " or ".join(f'"{relation.value}"' for relation in cls),
            value,
            hint=_relation_hint("relation"),
        )

    @property
    def add_remove_steps(self) -> int:
        """How many records are added or removed between neighbours.

        To replace a record is to remove one and add another, so a promise for one step of
        add-remove holds under replace as its promise for a group of two.
        """
        return 1 if self is Relation.ADD_REMOVE else 2

    def __str__(self) -> str:
        return self.value


def _relation_hint(name: str) -> str:
    example = Argument(name, Relation.ADD_REMOVE.value)
    return Phrase("as in {}, which hides whether somebody is there at all", example)


@dataclass(frozen=True, slots=True)
class Unit:
    """What one person owns: a row, or every row that shares a value of `column`.

    >>> print(Unit(), "or", Unit("patient_id"))
    a row or all rows with one patient_id
    """

    column: str | None = None

    def __post_init__(self) -> None:
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            raise InvalidArgument.of(
                "unit",
                "None or a column's name",
                self.column,
                hint=Phrase('as in {unit="patient"}; combine several columns into one first'),
            )

    def __str__(self) -> str:
        return "a row" if self.column is None else f"all rows with one {one_line(self.column)}"


def protects(relation: Relation, unit: str | None) -> str:
    """Whom a guarantee protects, in words."""
    who = "one row" if unit is None else f"all rows of one {one_line(unit)}"
    how = "added or removed" if relation is Relation.ADD_REMOVE else "replaced"
    return f"{who}, {how}"


def distance(x: Iterable[Hashable], y: Iterable[Hashable], relation: Relation | str) -> float:
    """How many steps between neighbours lead from multiset x to y; infinite if no path does.

    >>> distance("aab", "abc", "add-remove"), distance("aab", "abc", "replace")
    (2, 1)
    >>> distance("a", "ab", "replace")
    inf
    """
    steps = Relation.parse(relation)
    left, right = Counter(x), Counter(y)
    removed, added = (left - right).total(), (right - left).total()
    if steps is Relation.ADD_REMOVE:
        return removed + added
    return removed if removed == added else math.inf
