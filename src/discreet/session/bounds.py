"""Bounds that are not known, bought: releases of their own, to be passed on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee
from discreet.mechanisms.quantiles import Quantiles
from discreet.numeric.exact import Number, integer, probability
from discreet.query.aggregates.ranges import Range
from discreet.query.purchase import protects
from discreet.query.request import Request
from discreet.query.schema import Type
from discreet.query.spend import Spend, SpendAmount
from discreet.query.table import Grouped, Query
from discreet.release import ColumnInfo, Result
from discreet.session import recording
from discreet.session.running import guarded, salt

_SURE = Fraction(95, 100)


class Bounds(NamedTuple):
    """Powers of two between which most of a column lies: pass it as ``bounds=``."""

    lower: float
    upper: float


def bounds_of(query: Query, result: Result) -> Bounds:
    """The two ends, as whole numbers for a column of those."""
    frame = result.to_arrow()
    lower, upper = frame["lower"][0].as_py(), frame["upper"][0].as_py()
    ((_, asked),) = query.aggregates
    assert isinstance(asked, Range)
    if getattr(asked.column, "type", None) is Type.INTEGER:
        return Bounds(int(lower), int(upper))
    return Bounds(lower, upper)


class ContributionChoice:
    """Which bound on groups, or on rows in a group, leaves most people whole.

    Each person counts once, by how many they have, so the choice is a quantile of people: that
    of their share `coverage`, among 1, 2, ... `most`.
    """

    def __init__(self, grouped: Grouped, spend: Spend, *, coverage: Number, most: int) -> None:
        if not isinstance(grouped, Grouped) or grouped.table.unit.column is None:
            raise InvalidArgument(
                name="groups",
                expected='a table with a unit, grouped, as in table.group_by("ward", keys=[...])',
                given=InvalidArgument.describe_data(grouped),
                hint="where a row is a person, nothing needs to be bounded",
            )
        self.grouped = grouped
        self.most = integer(most, name="most", minimum=2)
        share = probability(coverage, name="coverage")
        money = _money(spend)
        # One person is one value; to be replaced is to leave and to come.
        rows = grouped.table.relation.add_remove_steps
        self.mechanism = Quantiles(probabilities=[share], rows=rows, **money.for_choice)
        self.mechanism.check(self.most)

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised."""
        return self.mechanism.guarantee

    def check(self) -> None:
        """Refuse what the engine cannot answer; touches no data."""
        self.grouped.table.source.check(self._request(0), self.most)

    def _request(self, salt: int) -> Request:
        table = self.grouped.table
        return Request(
            steps=table.steps,
            unit=table.unit.column,
            group=self.grouped.group,
            keys=self.grouped.keys,
            bound=None,
            measures=(),
            salt=salt,
        )

    def choose(self, *, rows: bool) -> int:
        """Touch the data, and choose."""

        def work() -> int:
            source = self.grouped.table.source
            counts: Any = source.spread(self._request(salt()), self.most)[rows]
            recording.chosen("people by what they have", counts, self.mechanism)
            chosen = 1 + int(self.mechanism.release(counts)[0])
            return recording.released("people by what they have", chosen)

        return guarded(work)

    def result(self, chosen: int, *, cost: str) -> Result:
        """The choice as a table, for the ledger to keep."""
        import pyarrow as pa

        table = self.grouped.table
        rank = float(self.mechanism.error(_SURE, candidates=self.most)[0])
        columns = (
            ColumnInfo("bound", "value", kind="quantile", bounds=(1, self.most), integer=True),
            ColumnInfo("bound_rank_error", "error", of="bound"),
        )
        return Result(
            pa.table({"bound": [chosen], "bound_rank_error": [rank]}),
            columns,
            guarantee=self.guarantee,
            cost=cost,
            protects=protects(table.relation, table.unit.column),
        )


def _money(spend: Spend) -> SpendAmount:
    if spend.rho is not None:
        return SpendAmount("rho", spend.rho)
    if spend.mu is not None:
        return SpendAmount("mu", spend.mu)
    assert spend.epsilon is not None
    return SpendAmount("epsilon", spend.epsilon)
