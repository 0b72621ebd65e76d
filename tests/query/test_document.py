"""Questions as documents: equal for equal questions, different for any other."""

import datetime
import json
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.mechanisms.quantiles import Quantiles
from discreet.numeric import canonical
from discreet.numeric.table_digest import table_digest
from discreet.query.aggregates.ranges import Range
from discreet.query.document import (
    MOST_KEYS,
    contribution_document,
    contribution_in_words,
    contribution_mechanism,
    mechanism_documents,
    query_document,
    query_in_words,
)
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

from .sources import people

BOUNDS = {"bounds": (0, 60)}
WARDS = pa.table({"ward": ["A", "B"], "beds": [10, 20]})


def base(*, unit="id", relation="add-remove", rows=5):
    return people(unit=unit, relation=relation).bound(max_groups=3, max_rows_per_group=rows)


def grouped(table=None, keys=("A", "B")):
    return (base() if table is None else table).group_by("ward", keys=list(keys))


def digest(query) -> str:
    return canonical.digest(query_document(query))


# One change each; the first is the question itself.
QUESTIONS = {
    "as it is": lambda: grouped().agg(n=dp.count()),
    "unit": lambda: grouped(base(unit="days")).agg(n=dp.count()),
    "relation": lambda: grouped(base(relation="replace")).agg(n=dp.count()),
    "rows": lambda: grouped(base(rows=6)).agg(n=dp.count()),
    "groups": lambda: grouped(people(unit="id").bound(max_groups=4, max_rows_per_group=5)).agg(
        n=dp.count()
    ),
    "rows in all": lambda: grouped(people(unit="id").bound(max_rows=5)).agg(n=dp.count()),
    "another key": lambda: grouped(keys=("A", "C")).agg(n=dp.count()),
    "keys in another order": lambda: grouped(keys=("B", "A")).agg(n=dp.count()),
    "one key more": lambda: grouped(keys=("A", "B", "C")).agg(n=dp.count()),
    "discovered keys": lambda: base().group_by("ward", keys="discover").agg(n=dp.count()),
    "another column": lambda: base().group_by("sex", keys=["A", "B"]).agg(n=dp.count()),
    "no groups": lambda: base().agg(n=dp.count()),
    "name": lambda: grouped().agg(m=dp.count()),
    "weight": lambda: grouped().agg(n=dp.count(weight=2)),
    "column": lambda: grouped().agg(n=dp.count("stay")),
    "people": lambda: grouped().agg(n=dp.count_units()),
    "two": lambda: grouped().agg(n=dp.count(), u=dp.count_units()),
    "where": lambda: grouped(base().where(lambda row: row.days > 1)).agg(n=dp.count()),
    "literal": lambda: grouped(base().where(lambda row: row.days > 2)).agg(n=dp.count()),
    "operation": lambda: grouped(base().where(lambda row: row.days >= 1)).agg(n=dp.count()),
    "real": lambda: grouped(base().where(lambda row: row.income > 0.1)).agg(n=dp.count()),
    "next real": lambda: grouped(base().where(lambda row: row.income > 0.10000000000000002)).agg(
        n=dp.count()
    ),
    "date": lambda: grouped(base().where(lambda row: row.born > datetime.date(2026, 1, 31))).agg(
        n=dp.count()
    ),
    "in": lambda: grouped(base().where(lambda row: row.sex.is_in(["f"]))).agg(n=dp.count()),
    "in more": lambda: grouped(base().where(lambda row: row.sex.is_in(["f", "m"]))).agg(
        n=dp.count()
    ),
    "text that looks like a number": lambda: grouped(
        base().where(lambda row: row.sex.is_in(["1"]))
    ).agg(n=dp.count()),
    "mutate": lambda: grouped(base().mutate(old=lambda row: row.days // 10)).agg(n=dp.count()),
    "mutate otherwise": lambda: grouped(base().mutate(old=lambda row: row.days // 9)).agg(
        n=dp.count()
    ),
    "select": lambda: grouped(base().select("ward", "days")).agg(n=dp.count()),
    "join": lambda: grouped(base().join(dp.public(WARDS), on="ward")).agg(n=dp.count()),
    "join with other cells": lambda: grouped(
        base().join(dp.public(WARDS.set_column(1, "beds", pa.array([10, 21]))), on="ward")
    ).agg(n=dp.count()),
    "join with a suffix": lambda: grouped(
        base().join(dp.public(WARDS), on="ward", suffix="_p")
    ).agg(n=dp.count()),
    "sum": lambda: grouped().agg(n=dp.sum("days", **BOUNDS)),
    "bounds": lambda: grouped().agg(n=dp.sum("days", bounds=(0, 61))),
    "lower bound": lambda: grouped().agg(n=dp.sum("days", bounds=(1, 60))),
    "mean": lambda: grouped().agg(n=dp.mean("days", **BOUNDS)),
    "variance": lambda: grouped().agg(n=dp.variance("days", **BOUNDS)),
    "std": lambda: grouped().agg(n=dp.std("days", **BOUNDS)),
    "median": lambda: grouped().agg(n=dp.median("days", **BOUNDS)),
    "quantile": lambda: grouped().agg(n=dp.quantile("days", 0.9, **BOUNDS)),
    "quantiles": lambda: grouped().agg(n=dp.quantile("days", [0.9], **BOUNDS)),
    "step": lambda: grouped().agg(n=dp.median("days", **BOUNDS, step=2)),
    "histogram": lambda: grouped().agg(n=dp.histogram("days", edges=[0, 1, 2])),
    "edges": lambda: grouped().agg(n=dp.histogram("days", edges=[0, 1, 3])),
    "categories": lambda: grouped().agg(n=dp.histogram("sex", categories=["f", "m"])),
    "top_k": lambda: grouped().agg(n=dp.top_k("sex", 2, candidates=["f", "m", "x"])),
    "k": lambda: grouped().agg(n=dp.top_k("sex", 1, candidates=["f", "m", "x"])),
    "candidates": lambda: grouped().agg(n=dp.top_k("sex", 2, candidates=["f", "m", "y"])),
    "most_common": lambda: grouped().agg(n=dp.most_common("sex", candidates=["f", "m"])),
    "range": lambda: base().agg(bounds=Range("income")),
}


def test_equal_questions_have_equal_documents_and_others_do_not():
    """Catches a parameter that is forgotten, and one that is not the question's."""
    digests = {name: digest(ask()) for name, ask in QUESTIONS.items()}
    assert len(set(digests.values())) == len(QUESTIONS)
    assert digests == {name: digest(ask()) for name, ask in QUESTIONS.items()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_is_canonical_and_has_words(name):
    """Catches a float in a tree, and a question without words."""
    query = QUESTIONS[name]()
    document = query_document(query)
    assert json.loads(canonical.text(document)) == document
    words = query_in_words(query)
    assert words[0].isupper() and words.endswith(".") and "None" not in words


def test_words_tell_what_matters():
    """Filters, groups, bounds and what is kept of a person."""
    table = base().where(lambda row: (row.days > 1) & (row.sex == "f"))
    words = query_in_words(grouped(table).agg(n=dp.count(), m=dp.mean("days", bounds=(0, "1/2"))))
    for told in ("days > 1", "sex == 'f'", "2 listed values of ward", "0 to 1/2", "5 rows", "id"):
        assert told in words


def test_the_source_is_no_part_of_the_question():
    """Catches a path or a name of a table that slips in."""
    query = QUESTIONS["as it is"]()
    other = people(unit="id")
    other.source.name = "/home/somebody/secret.parquet"
    assert digest(query.on(other)) == digest(query)


@given(
    rows=st.lists(
        st.tuples(st.text(max_size=5), st.integers(-(2**63), 2**63 - 1), st.booleans()),
        max_size=20,
    ),
    cut=st.integers(0, 20),
)
def test_digests_of_tables_do_not_depend_on_how_they_are_stored(rows, cut):
    """Catches offsets, chunks and padding in a digest, and cells that are not in it."""
    names, kinds = ("t", "i", "b"), (pa.string(), pa.int64(), pa.bool_())
    cells = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)]
    table = pa.table(cells, names=names)
    cut = min(cut, table.num_rows)
    padded = pa.concat_tables([table, table]).slice(table.num_rows)
    pieces = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    large = table.set_column(0, "t", table["t"].cast(pa.large_string()))
    found = {table_digest(one) for one in (table, padded, pieces, large)}
    assert len(found) == 1
    if rows:
        assert table_digest(table.slice(1)) not in found


def test_digests_tell_cells_apart():
    """Missing is not empty, not zero and not false; texts do not run into each other; names and
    types count."""
    tables = [
        pa.table({"a": ["ab", "c"]}),
        pa.table({"a": ["a", "bc"]}),
        pa.table({"a": ["abc", None]}),
        pa.table({"a": ["abc", ""]}),
        pa.table({"b": ["abc", ""]}),
        pa.table({"a": [0, 1]}),
        pa.table({"a": [None, 1]}),
        pa.table({"a": [0.0, 1.0]}),
        pa.table({"a": [False, True]}),
        pa.table({"a": [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)]}),
        pa.table({"a": [float("nan"), 1.0]}),
    ]
    assert len({table_digest(one) for one in tables}) == len(tables)
    assert table_digest(pa.table({"a": [-0.0, 1.0]})) == table_digest(tables[7])


def test_many_keys_are_told_by_their_digest():
    """Catches a document that grows with the list of keys."""
    few = query_document(base().group_by("days", keys=range(MOST_KEYS)).agg(n=dp.count()))
    many = query_document(base().group_by("days", keys=range(MOST_KEYS + 1)).agg(n=dp.count()))
    assert len(few["keys"]["values"]) == MOST_KEYS and few["keys"]["values"][1] == [1]
    assert many["keys"]["values"] is None and many["keys"]["count"] == MOST_KEYS + 1


def test_bounds_on_contributions_are_questions_too():
    """Catches a bought bound that could be mistaken for another."""
    table = people(unit="id").group_by("ward", keys=["A", "B"])
    other = people(unit="id", relation="replace").group_by("ward", keys=["A", "B"])
    mechanism = Quantiles(probabilities=["0.95"], epsilon=1)
    told = {"rows": False, "coverage": mechanism.probabilities[0], "most": 100}
    variants = [
        contribution_document(table, **told),
        contribution_document(other, **told),
        contribution_document(table, **{**told, "rows": True}),
        contribution_document(table, **{**told, "most": 99}),
        contribution_document(table, **{**told, "coverage": mechanism.probabilities[0] / 2}),
    ]
    assert len({canonical.digest(one) for one in variants}) == len(variants)
    words = contribution_in_words(table, **told)
    assert "0.95" in words and "id" in words and words.endswith(".")
    bought = contribution_mechanism(mechanism, rows=False, most=100)
    assert bought["candidates"] == 100 and bought["guarantee"]["notion"] == "bounded range"
    canonical.text(bought)


@pytest.mark.parametrize("spend", [{"epsilon": 1}, {"rho": "1/10"}, {"mu": 1}])
def test_mechanisms_hold_exact_numbers(spend):
    """Catches a float, a missing number, and a part without a document."""
    for name, ask in QUESTIONS.items():
        given_spend = {**spend, "delta": "1e-6"} if name == "discovered keys" else spend
        plan = make_plan(ask(), Spend.read(**given_spend))
        documents = mechanism_documents(plan)
        assert len(documents) == len(plan.bought)
        for document in documents:
            assert json.loads(canonical.text(document)) == document
            assert set(document) >= {"for", "mechanism", "sensitivity", "times", "guarantee"}


def test_the_scale_of_a_quantile_is_the_one_that_chooses():
    """Rows off that make a candidate e times less likely, from the law itself. Catches a scale
    that is told and not used: with it and the rows, ε can be computed again."""
    mechanism = Quantiles(probabilities=["1/4"], epsilon="1/2", rows=3)
    told = contribution_mechanism(mechanism, rows=False, most=2)
    (scale,) = map(float, map(Fraction, told["scales"]))
    law = mechanism.law([0, 40])  # none below the first candidate; the rank of 10 is in the second
    assert scale == 2 * 3 / 4 * 3 / 0.5
    odds = law.pmf([1]) / law.pmf([0])
    assert odds == pytest.approx(math.exp(10 / scale))


def test_numpy_and_odd_arrow_types_have_documents():
    """Catches NumPy's own text in a list, and whole numbers that int64 does not hold."""
    listed = [np.array(["A", "B"]), ["A", "B"]]
    asked = [base().agg(h=dp.histogram("ward", categories=values)) for values in listed]
    assert digest(asked[0]) == digest(asked[1])
    large = [pa.array([2**63 + i], pa.uint64()) for i in (1, 2)]
    public = [pa.table({"ward": ["A"], "big": values}) for values in large]
    joined = [base().join(dp.public(table), on="ward").agg(n=dp.count()) for table in public]
    assert digest(joined[0]) != digest(joined[1])
