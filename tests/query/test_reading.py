"""Questions read back from their documents: the same question, or a refusal of ours."""

import json
from copy import deepcopy
from functools import partial

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, RelationMismatch
from discreet.numeric import canonical
from discreet.query.document import mechanism_documents, query_in_words
from discreet.query.explain import explain
from discreet.query.keys import ListedKeys
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.query.request import Join
from tests.fuzz.drawing import draw
from tests.fuzz.judging import Failed, outcome
from tests.fuzz.world import world

from .sources import people
from .test_document import QUESTIONS, base

DRAWN = 200
DISCOVERED = {"epsilon": 1, "delta": "1e-6"}


def public_of(query):
    """The public tables of a question, by the digests that its document states."""
    told = [step["table"] for step in query.document["steps"] if step["step"] == "join"]
    joins = [step.origin for step in query.table.steps if isinstance(step, Join)]
    found = {one["sha256"]: origin for one, origin in zip(told, joins, strict=True)}
    if isinstance(query.keys, ListedKeys):
        found[query.document["keys"]["sha256"]] = dp.public(query.keys.table)
    return found


def check_read_back(query, table, spend):
    """The same document, words and plan, from JSON text."""
    document = json.loads(canonical.text(query.document))
    read = dp.Query.from_document(document, table, public=public_of(query))
    assert canonical.digest(read.document) == canonical.digest(query.document)
    assert query_in_words(read) == query_in_words(query)
    plans = [make_plan(one, Spend.read(**spend)) for one in (query, read)]
    assert mechanism_documents(plans[0]) == mechanism_documents(plans[1])
    assert str(explain(plans[0])) == str(explain(plans[1]))
    assert plans[0].bought == plans[1].bought and plans[0].guarantee == plans[1].guarantee


def test_drawn_questions_are_read_back_as_they_are():
    """Catches an operation, a literal, a key or a field that is written and not read: questions of
    the fuzzer, always the same ones."""
    read = 0
    with world("duckdb") as here:
        for seed in range(DRAWN):
            case = draw(f"reading {seed}", "duckdb")
            side = here.side()
            functions = here.functions(case)
            table = outcome(partial(functions["table"], case.table(case.base), side))
            query = outcome(partial(functions["ask"], table, side))
            spend = dict(case.spend)
            plan = outcome(partial(make_plan, query, Spend.read(**spend)))
            if not isinstance(plan, Failed):  # a frame cannot hold it, or the question is refused
                check_read_back(query, table, spend)
                read += 1
            here.forget()
    assert read > DRAWN / 2


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_kind_of_question_is_read_back(name):
    """Catches an aggregate or a step without a reader."""
    query = QUESTIONS[name]()
    table = people(unit=query.table.unit.column, relation=str(query.table.relation))
    check_read_back(query, table, DISCOVERED)


def test_many_keys_are_read_from_their_table():
    """Catches keys that are believed by their digest, and a refusal that does not say which."""
    query = base().group_by("days", keys=range(1000)).agg(n=dp.count())
    check_read_back(query, people(unit="id"), {"epsilon": 1})
    digest = query.document["keys"]["sha256"]
    with pytest.raises(InvalidArgument, match=rf"with columns days, .*{digest}"):
        dp.Query.from_document(query.document, people(unit="id"))
    others = {digest: dp.public(pa.table({"days": range(1, 1001)}))}
    with pytest.raises(InvalidArgument, match="also in 'keys'"):
        dp.Query.from_document(query.document, people(unit="id"), public=others)


def test_columns_may_be_called_like_python_s_own():
    """Catches a name that reaches Python as an argument of ours."""
    table = people()
    query = table.mutate(self=lambda row: row.days + 1).select("ward", self=lambda row: row.self)
    check_read_back(query.agg(self=dp.count()), table, {"epsilon": 1})


def test_a_document_is_about_its_table():
    """Catches a document that is believed about types, people or steps that are not the table's."""
    document = QUESTIONS["join"]().document
    with pytest.raises(RelationMismatch, match="other people"):
        dp.Query.from_document(document, people(unit="days"))
    document = QUESTIONS["where"]().document
    with pytest.raises(InvalidArgument, match=r"as dp\.table returns it"):
        dp.Query.from_document(document, base())
    other = dp.table(pa.table({"id": [1], "ward": ["A"], "days": [1.5]}), unit="id")
    with pytest.raises(InvalidArgument, match="document must be"):
        dp.Query.from_document(document, other)


# -- hostile documents -----------------------------------------------------------------------------


def rich():
    """A document with every kind of step, key and field."""
    wards = dp.public(pa.table({"ward": ["A", "B"], "beds": [10, 20]}))
    table = (
        people(unit="id")
        .where(lambda row: row.sex.is_in(["f", "m"]) & (row.income.clip(0, 9) > 0.5))
        .mutate(late=lambda row: dp.case((row.days > 3, row.sex.substring(0, 1)), otherwise="x"))
        .join(wards, on="ward")
        .select("ward", "days", "sex", beds=lambda row: row.beds.fill_null(0))
        .bound(max_groups=3, max_rows_per_group=5)
    )
    query = table.group_by("ward", keys=["A", "B"]).agg(
        n=dp.count("days"),
        m=dp.mean("beds", bounds=(0, "1/2")),
        q=dp.quantile("days", [0.5, 0.9], bounds=(0, 60)),
        h=dp.histogram("sex", categories=["f", "m"]),
        e=dp.histogram("days", edges=[0, 1, 2]),
        t=dp.top_k("sex", 1, candidates=["f", "m"]),
    )
    return query.document, {query.document["steps"][2]["table"]["sha256"]: wards}


DOCUMENT, PUBLIC = rich()
WRONG = [None, True, -1, 2**70, 1.5, "", "days", "1/0", "1e999999999", "x" * 20_000, "\ud800"]
WRONG += [[], {}, [{}], {"op": "neg"}, b"x", object(), dp.count()]


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, name))


def changed(path, value):
    whole = {"": deepcopy(DOCUMENT)}
    inner, names = whole, ("", *path)
    for name in names[:-1]:
        inner = inner[name]
    inner[names[-1]] = value
    return whole[""]


def is_refused(document):
    """Refused by us, or another question that may be asked, which is read as what it is."""
    try:
        read = dp.Query.from_document(document, people(unit="id"), public=PUBLIC)
    except (InvalidArgument, RelationMismatch):
        return True
    assert canonical.text(read.document) == canonical.text(document)
    return False


def test_whatever_is_wrong_anywhere_is_refused_by_us():
    """Catches a type, a size or a name that nobody checks, and a wrong one that is believed: every
    value of a document, one at a time, in place of which stands something else."""
    outcomes = [is_refused(changed(path, wrong)) for path in places(DOCUMENT) for wrong in WRONG]
    assert sum(outcomes) > 0.95 * len(outcomes)  # the others rename a column of the answer


def test_what_is_missing_and_what_is_added_is_refused():
    """Catches a member that is not asked for, and one that nobody reads."""
    for path in places(DOCUMENT):
        document = deepcopy(DOCUMENT)
        inner = document
        for name in path:
            inner = inner[name]
        for name in [*inner] if isinstance(inner, dict) else []:
            taken = inner.pop(name)
            assert is_refused(document)
            inner[name] = taken
        if isinstance(inner, dict):
            inner["more"] = 1
            assert is_refused(document)


def bombs():
    circle: dict = deepcopy(DOCUMENT)
    circle["steps"] = [circle]
    yield circle
    ring: list = []
    ring.append(ring)
    yield changed(("aggregates",), ring)
    deep: dict = {"op": "column", "value": "days", "type": "integer", "nullable": False}
    for _ in range(5000):
        deep = {"op": "neg", "args": [deep], "type": "integer", "nullable": False}
    yield changed(("aggregates", 0, "column"), deep)
    laughs: list = ["ha"]
    for _ in range(100):
        laughs = [laughs] * 10
    yield changed(("keys", "values"), laughs)
    yield changed(("aggregates",), DOCUMENT["aggregates"] * 1000)
    yield changed(("steps",), DOCUMENT["steps"][:1] * 10_000)
    yield changed(("keys", "values"), [["A"]] * 3_000_000)
    yield changed(("aggregates", 1, "weight"), "1/" + "9" * 100_000)
    yield changed(("aggregates", 2, "probabilities"), ["1/3"] * 100_000)
    yield {**DOCUMENT, **{str(i): i for i in range(100)}}
    yield {1: 2, **DOCUMENT}
    yield [DOCUMENT]
    yield json.dumps(DOCUMENT)


def test_bombs_are_refused_without_being_unpacked():
    """Catches recursion, numbers that never end, and lists that are read before they are counted;
    a reader that unpacks them does not come back."""
    for bomb in bombs():
        assert is_refused(bomb)


# -- sessions --------------------------------------------------------------------------------------


def test_sessions_take_documents():
    """Catches a document that is planned, charged or stored as another question than its query."""
    table = dp.table(pa.table({"id": [1, 1, 2], "days": [3, 4, 5]}), unit="id")
    query = table.bound(max_rows=2).agg(n=dp.count(), m=dp.mean("days", bounds=(0, 60)))
    session = dp.Session(table, budget=dp.Pure(2))
    told = session.explain(query.document, epsilon=1)
    assert str(told) == str(session.explain(query, epsilon=1))
    first = session.release(query, epsilon=1, idempotency_key="a")
    again = session.release(query.document, epsilon=1, idempotency_key="a")
    assert again.to_dicts() == first.to_dicts() and session.spent == dp.Pure(1)
    assert session.release(query.document, epsilon=1).certificate.verify().ok
    with pytest.raises(InvalidArgument, match=r"query must be what \.agg"):
        session.release("n", epsilon=1)
