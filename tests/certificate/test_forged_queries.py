"""Queries that were rewritten to need less noise, with all numbers made to fit: found."""

import copy
import json

import pytest

import discreet.query.aggregates as ask
from discreet.auditor.certificate.query_check import OPERATIONS, TYPES
from discreet.certificate import verify
from discreet.certificate.issue import sealed
from discreet.guarantees import LaplacePair
from discreet.query import expressions
from discreet.query.schema import Type

from .releases import QUESTIONS, certificate, visits

MANY = tuple(f"w{i:03}" for i in range(150))
DAYS = {"op": "column", "value": "days", "type": "integer", "nullable": False}


def half_the_noise(document):
    """As if one person moved one number by 1."""
    first = document["mechanisms"][0]
    first["sensitivity"] = {"l0": "1", "linf": "1", "l1": "1", "l2": "1"}
    first["scale"] = "1"
    first["guarantee"] = json.loads(LaplacePair(1, 1).to_json())
    document["guarantee"]["document"] = first["guarantee"]


@pytest.mark.parametrize("keys", [("A", "B"), MANY])
@pytest.mark.parametrize("lie", ["one key", "no keys", "no groups", "one value", "no values"])
def test_fewer_keys_than_were_released(lie, keys):
    """Where people are replaced, one group needs half the noise of two: a liar says there is one.
    Catches rows, columns, groups and keys that are not held against each other."""
    document = certificate(unit=None, relation="replace", keys=keys).document
    tree = document["query"]["tree"]
    assert verify(sealed(document, None)).ok
    half_the_noise(document)
    match lie:
        case "one key":
            tree["keys"]["count"] = 1
        case "no keys":
            tree["keys"] = None
        case "no groups":
            tree["keys"], tree["group"] = None, []
        case "one value":
            tree["keys"].update(count=1, values=[["A"]])
        case "no values":
            tree["keys"].update(count=1, values=None)
    assert not verify(sealed(document, None)).ok


def changed_tree(lie):
    document = certificate(QUESTIONS["median"]).document
    tree = document["query"]["tree"]
    asked = tree["aggregates"][0]
    match lie:
        case "the unit by mutate":
            tree["steps"].append({"step": "mutate", "columns": [{"name": "id", "value": DAYS}]})
        case "the unit by select":
            tree["steps"].append({"step": "select", "columns": [{"name": "id", "value": DAYS}]})
        case "the unit by a join":
            columns = [{"name": "a", "type": "text"}]
            table = {"rows": 1, "columns": columns, "sha256": "0" * 64}
            added = [{"here": "id", "there": "a"}]
            on = [{"here": DAYS, "there": "a"}]
            tree["steps"].append({"step": "join", "table": table, "on": on, "added": added})
        case "an operation over rows":
            told = {"op": "window rank", "args": [DAYS], "type": "integer", "nullable": True}
            asked["column"] = told
            document["mechanisms"][0]["part"]["column"] = told
        case "a group by another column":
            tree["group"][0]["value"]["value"] = "sex"
        case "a key twice":
            tree["keys"]["values"][1] = tree["keys"]["values"][0]
        case "rows":
            document["released"]["rows"] = 5
        case "a column":
            document["released"]["columns"][1]["name"] = "salary"
        case "a bound and its rows":  # the promise is told as before
            tree["bound"]["max_rows_per_group"] = 1000
            tree["contribution"].update(rows=1000, total=2000)
            document["mechanisms"][0]["sensitivity"]["rows"] = "1000"
        case "something unread":
            asked["candidates"] = ["a", "b"]
        case "a part that says more":
            document["mechanisms"][0]["part"]["bins"] = 3
    return document


LIES = [
    "the unit by mutate",
    "the unit by select",
    "the unit by a join",
    "an operation over rows",
    "a group by another column",
    "a key twice",
    "rows",
    "a column",
    "a bound and its rows",
    "something unread",
    "a part that says more",
]


@pytest.mark.parametrize("lie", LIES)
def test_trees_that_no_query_has(lie):
    """Catches a tree that is taken as it is."""
    assert not verify(sealed(changed_tree(lie), None)).ok


def test_steps_that_a_query_has_verify():
    """Every kind of step and operation that may be asked for passes."""
    import pyarrow as pa

    import discreet as dp

    public = pa.table({"ward": ["A", "B"], "floor": [1, 2]})
    table = (
        visits(unit="id").mutate(twice=lambda row: row.days * 2).join(dp.public(public), on="ward")
    )
    table = table.where(lambda row: row.sex.is_in(["f", "m"]) & (row.income.fill_null(0) >= 0))
    table = table.select("ward", "twice", "floor").bound(max_groups=2, max_rows_per_group=1)
    from discreet.certificate.issue import certify
    from discreet.query.plan import make_plan
    from discreet.query.purchase import Spend

    from .releases import answer, charge, fitting

    query = table.group_by("ward", keys=["A", "B"]).agg(s=ask.sum("twice", bounds=(0, 9)))
    plan = make_plan(query, Spend.read(epsilon=1))
    frame, columns = answer(plan)
    entry = charge(plan, *fitting(plan))
    assert verify(certify(entry=entry, frame=frame, columns=columns)).ok


def test_the_second_list_of_operations_is_the_first():
    """Written twice, so that a new operation is thought about twice."""
    assert {*expressions.OPERATIONS, "column", "literal"} == OPERATIONS
    assert {kind.value for kind in Type} == TYPES


def test_one_mechanism_does_not_serve_two_questions():
    """Two histograms with other edges are two looks at the data. Catches a certificate that tells
    one of them."""
    asked = {
        "a": ask.histogram("days", edges=[0, 5, 9]),
        "b": ask.histogram("days", edges=[0, 3, 9]),
    }
    document = certificate(asked).document
    assert verify(sealed(document, None)).ok and len(document["mechanisms"]) == 2
    document["mechanisms"].pop()
    told = verify(sealed(document, None))
    assert any("no mechanism answers all of b" in one for one in told.failed)


def test_a_mechanism_that_nothing_needs_is_told():
    """It is paid for, so the promise holds; what it was for is not known."""
    document = certificate(QUESTIONS["count"]).document
    document["mechanisms"] *= 2
    promise = document["mechanisms"][0]["guarantee"]
    parts = promise.get("parts", [[{k: v for k, v in promise.items() if k != "version"}, 1]])
    twice = [[part, 2 * count] for part, count in parts]
    document["guarantee"].update(
        document={"notion": "composition", "parts": twice, "version": 1},
        points=[{"epsilon": "2", "delta": "0"}],
        words="ε = 2",
    )
    for cost in document["charges"]:
        cost["amount"] = "4"
    verdict = verify(sealed(document, None))
    assert verdict.ok, verdict
    assert any("no aggregate needs it" in one for one in verdict.trusted)
    document["guarantee"]["document"] = copy.deepcopy(promise)
    assert not verify(sealed(document, None)).ok


def test_the_stated_epsilon_is_never_below_the_true_one():
    """Floats rounded up lose that when they are written in fewest digits: 17 of 40 did."""
    for rho in ("1/7", "1/10", "1/13", "1/30", "3/70"):
        verdict = verify(certificate(QUESTIONS["median"], given={"rho": rho}, unit=None))
        assert any("largest losses" in one for one in verdict.proved), (rho, verdict)


def test_absurd_depth_is_a_verdict():
    """Catches a recursion that ends in an error of Python."""
    document = certificate().document
    deep = DAYS
    for _ in range(400):
        deep = {"op": "neg", "args": [deep], "type": "integer", "nullable": False}
    document["query"]["tree"]["steps"][0]["condition"] = deep
    assert not verify(sealed(document, None)).ok
