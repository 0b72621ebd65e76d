"""Where a session's budget is kept: in memory, or in a ledger that outlives it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, RelationMismatch
from discreet.ledger import Budget, Cap, MemoryPurse, Purse
from discreet.numeric.exact import Number
from discreet.query.table import Table

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


def open_purse(
    table: Table,
    *,
    budget: Budget | None,
    slack: Number | None,
    ledger: str | PathLike[str] | Ledger | None,
    create: bool,
    dataset: str | None,
    analyst: str | None,
    key: str | PathLike[str] | None,
) -> Purse:
    """The purse that these arguments mean."""
    if ledger is None:
        return _in_memory(table, budget, slack, create, dataset, analyst)
    from discreet.ledger.ledger import Ledger

    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger, create=create, key=key)
    name = _name(opened, dataset, create=create)
    if create and name not in {one.name for one in opened.datasets}:
        if budget is None:
            raise _no_budget()
        opened.add_dataset(
            name, budget=budget, slack=slack, unit=table.unit.column, relation=table.relation
        )
    purse = opened.purse(name, analyst)
    _check(purse.data.words, purse.data.unit, purse.data.relation, table)
    if budget is not None:
        assert purse.data.cap is not None
        purse.data.cap.check_stated_as(budget, slack, whose=purse.data.words)
    return purse


def _in_memory(
    table: Table,
    budget: Budget | None,
    slack: Number | None,
    create: bool,
    dataset: str | None,
    analyst: str | None,
) -> MemoryPurse:
    if budget is None:
        raise _no_budget()
    if create:
        raise InvalidArgument(
            name="create",
            expected="given together with ledger=",
            given="without it",
            hint='as in ledger="people.ledger"; without one the budget is kept in memory',
        )
    return MemoryPurse(
        dataset or table.source.name,
        Cap.read(budget, slack).opened,
        relation=table.relation,
        unit=table.unit.column,
        analyst=analyst,
    )


def _name(ledger: Ledger, dataset: str | None, *, create: bool) -> str:
    """The dataset that is meant: the one named, the only one, or, in a new ledger's file, one
    named after it. So a renamed file of data is never a new dataset by accident."""
    if dataset is not None:
        return dataset
    there = [one.name for one in ledger.datasets]
    if len(there) == 1:
        return there[0]
    if not there and create and "://" not in ledger.location:
        return Path(ledger.location).stem
    raise InvalidArgument(
        name="dataset",
        expected=f"one of {', '.join(there)}" if there else "added first: the ledger has none yet",
        given="nothing",
        hint='say which, as in dataset="visits"'
        if there
        else 'say dataset="visits", create=True and a budget',
    )


def _check(words: str, unit: str | None, relation: object, table: Table) -> None:
    if (table.unit.column, table.relation) != (unit, relation):
        protected = "a row" if unit is None else f'all rows with one "{unit}"'
        raise RelationMismatch(
            f"the {words} protects {protected} under {relation}, and this table {table.unit} "
            f"under {table.relation}: open the table with the same unit= and relation=; if these "
            "are other people, or a person has several rows, keep unit= and use another ledger= or "
            "dataset="
        )


def _no_budget() -> InvalidArgument:
    return InvalidArgument(
        name="budget",
        expected="given, as the most that all answers together may cost one person",
        given="nothing",
        hint="such as budget=dp.Pure(3); it is left out only for a dataset that is in a ledger",
    )
