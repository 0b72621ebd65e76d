"""A table whose answers are ready, so that a release costs next to nothing but its charge."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.neighbors import Relation, Unit
from discreet.query.request import Exact, Request
from discreet.query.schema import Field, Schema, Type
from discreet.query.table import Table

SCHEMA = Schema((Field("ward", Type.TEXT), Field("age", Type.INTEGER)))
COUNTS = np.array([600, 400])


class Counted:
    """Two wards, counted once and for all; says when it is asked."""

    schema = SCHEMA
    name = "clinic"
    when_touched: Callable[[], None] = staticmethod(lambda: None)

    def check(self, request: Request) -> None:
        pass

    def measure(self, request: Request) -> Exact:
        Counted.when_touched()
        return Exact(None, dict.fromkeys(request.measures, COUNTS))

    def holds(self, public: Any) -> bool:
        return False


def counted() -> Table:
    """The table; its source is `table.source`."""
    return Table(Counted(), Unit(None), Relation.ADD_REMOVE, SCHEMA)


def stored() -> Table:
    """The same people as rows, for the engine to count."""
    rows = [("A", 40)] * int(COUNTS[0]) + [("B", 50)] * int(COUNTS[1])
    return dp.table(pa.table({"ward": [w for w, _ in rows], "age": [a for _, a in rows]}))


def question(table: Table) -> Any:
    return table.group_by("ward", keys=["A", "B"]).agg(n=dp.count())


def values(result: Any) -> list[int]:
    """What was released."""
    return [int(value) for value in result.to_arrow()["n"].to_pylist()]


def price(tag: int) -> Fraction:
    """A price that no other release has, by which the journal's record of this one is found."""
    return 1 + Fraction(tag, 2**20)


def tag_of(record: dict[str, Any]) -> int:
    """The inverse, from a record of the journal."""
    amounts = {Fraction(amount) for _, amount, _ in record["charges"]}
    return int((amounts.pop() - 1) * 2**20)
