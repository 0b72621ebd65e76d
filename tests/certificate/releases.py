"""Charges and released tables of many kinds, without a session: all that a certificate needs."""

import datetime
from dataclasses import replace

import numpy as np
import pyarrow as pa

import discreet.query.aggregates as ask
from discreet.certificate.issue import certify
from discreet.errors import Refused
from discreet.guarantees import GDP, ZCDP, Pure
from discreet.guarantees.filters import price
from discreet.ledger.history import Cost, Entry
from discreet.neighbors import Relation, Unit
from discreet.numeric import canonical
from discreet.query.document import mechanism_documents, query_document, query_in_words
from discreet.query.keys import ListedKeys
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.query.schema import Field, Schema, Type
from discreet.query.table import Table
from discreet.release.column import ColumnInfo
from discreet.session import _infos, _table

SCHEMA = Schema(
    (
        Field("id", Type.INTEGER, nullable=False),
        Field("ward", Type.TEXT),
        Field("sex", Type.TEXT),
        Field("days", Type.INTEGER, nullable=False),
        Field("stay", Type.INTEGER),
        Field("income", Type.REAL),
    )
)
BOUNDS = {"bounds": (-3, 60)}
SPENDS = {
    "pure": (Pure, {"epsilon": 1}),
    "approximate": (ZCDP, {"epsilon": 1, "delta": "1e-6"}),
    "zcdp": (ZCDP, {"rho": "1/10"}),
    "gdp": (GDP, {"mu": 1}),
}
QUESTIONS = {
    "count": {"n": ask.count()},
    "count of a column": {"n": ask.count("stay"), "all": ask.count()},
    "count_units": {"n": ask.count_units()},
    "sum": {"s": ask.sum("income", bounds=(0, "1/3"))},
    "mean": {"m": ask.mean("income", **BOUNDS)},
    "variance": {"v": ask.variance("stay", **BOUNDS)},
    "std": {"v": ask.std("days", **BOUNDS)},
    "histogram": {"h": ask.histogram("days", edges=[0, 1.5, 3])},
    "categories": {"h": ask.histogram("sex", categories=["f", "m"])},
    "median": {"q": ask.median("days", **BOUNDS)},
    "quantile": {"q": ask.quantile("income", [0.1, 0.5, 0.9], **BOUNDS)},
    "top_k": {"k": ask.top_k("sex", 2, candidates=["f", "m", "x"])},
    "most_common": {"k": ask.most_common("sex", candidates=["f", "m"])},
}
EVERYTHING = {
    f"{name}_{i}": one for i, q in enumerate(QUESTIONS.values()) for name, one in q.items()
}


class Columns:
    """A source without rows."""

    schema = SCHEMA
    name = "columns"

    def holds(self, public):
        return False


def visits(*, unit=None, relation="add-remove"):
    return Table(Columns(), Unit(unit), Relation.parse(relation), SCHEMA)


def query(aggregates, *, unit="id", relation="add-remove", keys=("A", "B")):
    table = visits(unit=unit, relation=relation).where(lambda row: row.days >= 0)
    if unit is not None:
        table = table.bound(max_groups=3, max_rows_per_group=5)
    grouped = table.group_by("ward", keys=keys if isinstance(keys, str) else list(keys))
    return grouped.agg(**aggregates)


def charge(plan, *accounts, number=1, hash=None):
    """An entry as a ledger would write it."""
    costs = []
    for kind in accounts:
        cost = price(kind, plan.guarantee, 0)
        costs.append(Cost(f"account in {kind.__name__}", kind, cost.amount, cost.slack))
    table = plan.query.table
    tree = query_document(plan.query)
    return Entry(
        number=number,
        time=datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC),
        dataset="visits",
        analyst=None,
        question=query_in_words(plan.query),
        query=tree,
        digest=canonical.digest({"query": tree}),
        mechanisms=tuple(mechanism_documents(plan)),
        guarantee=plan.guarantee,
        relation=table.relation,
        unit=table.unit.column,
        costs=tuple(costs),
        hash=hash,
    )


def fitting(plan):
    """The notions of account that this plan can be charged to."""
    found = []
    for kind in (Pure, ZCDP, GDP):
        try:
            price(kind, plan.guarantee, 0)
        except Refused:
            continue
        found.append(kind)
    return found


def answer(plan, groups=2):
    """A table as a session would release it, about nobody."""
    listed = isinstance(plan.query.keys, ListedKeys)
    size = len(plan.query.keys) if listed else groups if plan.query.group else 1
    empty = {m: (size, *([m.size] if hasattr(m, "size") else [])) for m in plan.measures}
    columns = {measure: np.zeros(shape, np.int64) for measure, shape in empty.items()}
    outputs = plan.outputs(plan.draw(columns))
    names = [name for name, _ in plan.query.group]
    found = {name: [chr(65 + i) for i in range(size)] for name in names}
    keys = {name: plan.query.keys.table[name] for name in names} if listed else found
    return _table(keys, outputs), tuple(_infos(plan, outputs))


def frame(groups=2):
    """A released table: key, count, error."""
    return pa.table(
        {
            "ward": [chr(65 + i % 26) + str(i) for i in range(groups)],
            "n": np.arange(groups) - 1,
            "n_error": np.full(groups, 6.0),
            "m": np.arange(groups) / 7,
            "m_error": np.arange(groups) / 70,
        }
    )


COLUMNS = (
    ColumnInfo("ward", "key"),
    ColumnInfo("n", "value", kind="count", integer=True),
    ColumnInfo("n_error", "error", of="n"),
    ColumnInfo("m", "value", kind="mean"),
    ColumnInfo("m_error", "error", of="m"),
)


def certificate(
    asked=None,
    *,
    spend="pure",
    given=None,
    accounts=None,
    key=None,
    ledger=None,
    with_table=False,
    **options,
):
    """A certificate of a plan, charged to all accounts that take it unless some are named."""
    given = given or SPENDS[spend][1]
    if options.get("keys") == "discover":
        given = {**given, "delta": "1e-6"}
    plan = make_plan(query(asked or QUESTIONS["count"], **options), Spend.read(**given))
    entry = charge(plan, *(accounts or fitting(plan)))
    entry = entry if ledger is None else replace(entry, hash="ab" * 32)
    table, columns = answer(plan)
    sent = certify(entry=entry, frame=table, columns=columns, ledger=ledger, key=key)
    return (sent, table) if with_table else sent
