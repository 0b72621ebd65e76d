"""What the fuzzer draws: a table, its neighbours and a question, as one frozen value.

Everything in it is plain data, so that it can be made smaller piece by piece, and written down as
a script.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from discreet.query.expressions import Expression

Row = tuple[Any, ...]
Kind = Literal["person", "nobody"]


@dataclass(frozen=True)
class Column:
    """A column of the private table: its Arrow type as code, and how it is encoded."""

    name: str
    kind: str
    encoding: str = "plain"
    nullable: bool = True


@dataclass(frozen=True)
class Public:
    """A public table: to join with, or of keys. `form` is what is handed over."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    form: str = "arrow"


@dataclass(frozen=True)
class Where:
    condition: Expression


@dataclass(frozen=True)
class Mutate:
    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Select:
    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Join:
    """Look up columns; `on` is the name here, and the first columns of the table are the keys."""

    on: tuple[str, ...]
    table: Public


Step = Where | Mutate | Select | Join


@dataclass(frozen=True)
class Keys:
    """The groups: `form` says how the values are given, a list of them for each column."""

    columns: tuple[str, ...]
    form: str
    values: tuple[tuple[Any, ...], ...] = ()
    table: Public | None = None


@dataclass(frozen=True)
class Aggregate:
    """A call of one of the functions of `dp`."""

    name: str
    function: str
    value: Expression | None = None
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Source:
    """Where the rows are: in a frame, in files by patterns, or on a server."""

    form: str = "arrow"
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    declared: bool = False  # is there a schema= with the types of the columns?
    collation: str = ""  # of the text columns, on PostgreSQL
    database: str = ""


@dataclass(frozen=True)
class Neighbour:
    """Another table, by the numbers of its rows."""

    rows: tuple[int, ...]
    kind: Kind = "person"


@dataclass(frozen=True)
class Case:
    """A question, a table, and tables that differ from it in one person."""

    source: Source
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]  # of all tables; those of files end with the number of their file
    base: tuple[int, ...]
    others: tuple[Neighbour, ...]
    unit: str | None
    relation: str
    steps: tuple[Step, ...]
    bound: tuple[tuple[str, int], ...]
    keys: Keys | None
    aggregates: tuple[Aggregate, ...]
    spend: tuple[tuple[str, float], ...]
    salt: int

    def table(self, numbers: tuple[int, ...]) -> list[Row]:
        """The rows with these numbers."""
        return [self.rows[number] for number in numbers]

    def person(self, number: int) -> Any:
        """Whose row it is; None for nobody's."""
        if self.unit is None:
            return number
        place = [column.name for column in self.columns].index(self.unit)
        cell = self.rows[number][place]
        missing_text = self.source.form in ("csv", "records") and cell == ""
        return None if missing_text else cell

    def people(self, numbers: tuple[int, ...]) -> dict[Any, Counter[Row]]:
        """The rows of each person."""
        found: dict[Any, Counter[Row]] = {}
        for number in numbers:
            if (person := self.person(number)) is not None:
                found.setdefault(_identity(person), Counter())[self.rows[number]] += 1
        return found

    def is_neighbour(self, other: Neighbour) -> bool:
        """Do the tables differ in one person, under the relation?"""
        if self.unit is None:  # a row is a person
            left, came = self.difference(other)
            sizes = {"add-remove": [(0, 1), (1, 0)], "replace": [(1, 1)]}[self.relation]
            return other.kind == "person" and (len(left), len(came)) in sizes
        here, there = self.people(self.base), self.people(other.rows)
        changed = [p for p in {*here, *there} if here.get(p) != there.get(p)]
        if other.kind == "nobody":
            return not changed
        if self.relation == "add-remove":
            return len(changed) == 1 and (changed[0] in here) != (changed[0] in there)
        return len(here) == len(there) and (
            len(changed) == 1 or (len(changed) == 2 and len({*here} - {*there}) == 1)
        )

    def difference(self, other: Neighbour) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rows that left, and those that came."""
        left = tuple(number for number in self.base if number not in other.rows)
        return left, tuple(number for number in other.rows if number not in self.base)


def _identity(person: Any) -> Any:
    return (type(person).__name__, person)
