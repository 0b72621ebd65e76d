"""The builder: every step is a new value, and what would break a promise is refused by name."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.query.measures import AllRows, PresenceCounts, Present, Total
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.query.request import Join, Mutate, Select, Where
from discreet.query.schema import Type

from .sources import people

ONE = Spend.read(epsilon=1)


def test_steps_are_kept_in_order_and_tables_stay_as_they_are():
    """Catches a builder that changes the table it was called on."""
    table = people()
    built = table.where(lambda row: row.days > 1).mutate(long=lambda row: row.days > 7)
    built = built.select("ward", "long")
    assert [type(step) for step in built.steps] == [Where, Mutate, Select]
    assert table.steps == () and "long" not in table.schema
    assert built.schema.names == ("ward", "long")


def test_the_unit_is_always_kept_and_never_rewritten():
    """Catches a row that changes hands: the bound would no longer be one person's."""
    table = people(unit="id")
    assert "id" in table.select("ward").schema
    with pytest.raises(InvalidArgument, match="id must be left as it is"):
        table.mutate(id=lambda row: row.days)
    with pytest.raises(InvalidArgument, match="id must be left as it is"):
        table.select("ward", id=lambda row: row.days)
    with pytest.raises(InvalidArgument, match="already"):
        table.join(dp.public(pa.table({"ward": ["A"], "id": [1]})), on="ward")


def test_b13_a_later_step_cannot_undo_the_bound():
    """Attack B13: bound, then redefine the key. The bound is applied after all row-wise steps,
    to the groups as they are then, so the plan and the request are the same either way."""
    bounds = {"max_groups": 2, "max_rows_per_group": 3}
    first = people(unit="id").bound(**bounds).mutate(ward=lambda row: row.sex)
    later = people(unit="id").mutate(ward=lambda row: row.sex).bound(**bounds)
    plans = [
        make_plan(t.group_by("ward", keys=list("abcdef")).agg(n=dp.count()), ONE)
        for t in (first, later)
    ]
    assert plans[0].bought == plans[1].bought
    for plan in plans:
        request = plan.request(0)
        assert request.bound == plan.query.table.limit  # applied by the engine, last
        (noise,) = plan.bought.values()
        assert noise.sensitivity.l1 == 6


def test_joins_look_up_and_never_multiply():
    """Catches a public table with two rows for a key, which would double people."""
    regions = pa.table({"ward": ["A", "B"], "beds": [10, 20]})
    joined = people().join(dp.public(regions), on="ward")
    assert isinstance(joined.steps[0], Join)
    assert joined.schema["beds"].type is Type.INTEGER and joined.schema["beds"].nullable
    other = dp.public(pa.table({"name": ["A"], "days": [1]}))
    renamed = people().join(other, on={"ward": "name"}, suffix="_2")
    assert "days_2" in renamed.schema
    for bad, said in [
        (pa.table({"ward": ["A", "A"], "beds": [1, 2]}), "each key once"),
        (pa.table({"ward": ["A", None], "beds": [1, 2]}), "each key once"),
        (pa.table({"ward": ["A"], "days": [1]}), "suffix"),
        (pa.table({"beds": [1]}), "columns of the public table"),
        (pa.table({"ward": [1.5], "beds": [1]}), "booleans, integers, text or dates"),
        (pa.table({"ward": [1], "beds": [1]}), "cast it first"),
    ]:
        with pytest.raises(InvalidArgument, match=said):
            people().join(dp.public(bad), on="ward")


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda t: t.where(lambda row: row.days + 1), "a condition"),
        (lambda t: t.where(lambda row: row.day > 1), 'did you mean "days"'),
        (lambda t: t.where("nothing"), "one of id, ward"),
        (lambda t: t.where(7), "a lambda on a row"),
        (lambda t: t.group_by("ward"), "given, since the groups that occur would reveal people"),
        (lambda t: t.group_by(keys=["A"]), "different columns"),
        (lambda t: t.group_by("ward", "ward", keys="discover"), "different columns"),
        (lambda t: t.group_by("wrd", keys=["A"]), 'did you mean "ward"'),
        (lambda t: t.group_by("income", keys=[1]), "booleans, integers, text or dates"),
        (lambda t: t.agg(), "at least one aggregate"),
        (lambda t: t.agg(n="days"), "an aggregate such as"),
        (lambda t: t.group_by("ward", keys=["A"]).agg(ward=dp.count()), "another name"),
        (lambda t: t.agg(m=dp.mean("ward", bounds=(0, 1))), "a column of numbers"),
        (lambda t: t.agg(m=dp.mean("blob", bounds=(0, 1))), "another type"),
        (lambda t: t.bound(max_rows=3), "left out where a row is a person"),
        (lambda t: t.agg(t=dp.top_k("ward", 3, candidates=["A", "B"])), "at most the 2"),
        (lambda t: t.agg(t=dp.top_k("ward", 1, candidates=[])), "an empty list"),
        (lambda t: t.agg(t=dp.top_k("ward", 1, candidates=["A", "A"])), "distinct"),
        (lambda t: t.agg(t=dp.most_common("ward", candidates=[1])), "column's type"),
        (lambda t: t.agg(h=dp.histogram("ward", edges=[0, 1])), "a column of numbers"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(build, said):
    """Catches a mistake that would only show, or not show, once data is touched."""
    with pytest.raises(InvalidArgument) as caught:
        build(people())
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dp.mean("x"), "one row could be of any size"),
        (lambda: dp.sum("x", bounds=(1, 1)), ""),
        (lambda: dp.sum("x", bounds=(2, 1)), ""),
        (lambda: dp.sum("x", bounds=(0, float("inf"))), "finite"),
        (lambda: dp.sum("x", bounds=(0, float("nan"))), ""),
        (lambda: dp.sum("x", bounds=(0, 1e200)), "1e100"),
        (lambda: dp.sum("x", bounds=5), ""),
        (lambda: dp.quantile("x", 1, bounds=(0, 1)), "between 0 and 1"),
        (lambda: dp.quantile("x", 0, bounds=(0, 1)), ""),
        (lambda: dp.quantile("x", [0.5, 0.5], bounds=(0, 1)), "different"),
        (lambda: dp.histogram("x"), "only one of them"),
        (lambda: dp.histogram("x", edges=[1]), "rising"),
        (lambda: dp.histogram("x", edges=[2, 1]), "rising"),
        (lambda: dp.top_k("x", 0, candidates=["a"]), ""),
        (lambda: dp.top_k("x", 1, candidates="abc"), "a list"),
        (lambda: dp.count(weight=0), ""),
        (lambda: dp.count(weight=-1), ""),
    ],
)
def test_b11_aggregates_without_sense_are_refused(make, said):
    """Attack B11 among others: no bounds, no answer."""
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert said in str(caught.value)


# -- what is bought --------------------------------------------------------------------------------


def bought(**aggregates):
    return list(make_plan(people().agg(**aggregates), ONE).bought)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("select", "select before group_by: table.select(...).group_by(...)"),
        ("filter", "filter before group_by: table.where(...).group_by(...)"),
        ("merge", "join before group_by: table.join(...).group_by(...)"),
        ("groupby", "name all columns at once"),
        ("zzz", "there are agg, bound"),
    ],
)
def test_a_grouped_table_names_steps_that_it_has(step, told):
    """Catches advice that a grouped table would refuse next."""
    grouped = people(unit="id").group_by("ward", keys=["a"])
    with pytest.raises(AttributeError) as caught:
        getattr(grouped, step)
    assert str(caught.value).startswith(f"a grouped table has no '{step}'; {told}")


def test_steps_are_called_as_they_are_written():
    """Catches Python's own words for a misspelt argument, and pandas' word for a join."""
    table = people(unit="id")
    with pytest.raises(TypeError, match=r"group_by\(\) has no argument key=, did you mean keys=\?"):
        table.group_by("ward", key=["a"])
    with pytest.raises(AttributeError, match=r"a table has no 'merge'; say join\("):
        table.merge("wards.csv", on="ward")


def test_a_shared_count_is_bought_once():
    """Catches a mean that pays for its own count beside one that is there (OpenDP does)."""
    parts = bought(n=dp.count(), m=dp.mean("days", bounds=(0, 60)))
    assert [type(part) for part in parts] == [AllRows, Total]


def test_a_count_of_what_may_be_missing_is_split_and_bought_once():
    """Catches a third part: rows with and without a value are disjoint."""
    parts = bought(n=dp.count(), m=dp.mean("income", bounds=(0, 60)))
    assert [type(part) for part in parts] == [PresenceCounts, Total]
    alone = bought(m=dp.mean("income", bounds=(0, 60)))
    assert [type(part) for part in alone] == [Total, Present]
    two = bought(
        n=dp.count(), m=dp.mean("income", bounds=(0, 60)), s=dp.mean("stay", bounds=(0, 60))
    )
    assert sum(isinstance(part, AllRows | Present) for part in two) == 3


def test_what_is_proved_to_be_there_shares_the_count():
    """Catches a proof that is not seen: where(is_not_null) and fill_null."""
    there = people().where(lambda row: row.income.is_not_null() & (row.days > 0))
    filled = people().mutate(income=lambda row: row.income.fill_null(0.0))
    for table in (there, filled):
        plan = make_plan(table.agg(n=dp.count(), m=dp.mean("income", bounds=(0, 9))), ONE)
        assert [type(part) for part in plan.bought] == [AllRows, Total]
    either = people().where(lambda row: row.income.is_not_null() | (row.days > 0))
    assert either.schema["income"].nullable


def test_mean_variance_and_std_share_their_sums():
    """Catches a sum bought twice."""
    box = {"bounds": (0, 60)}
    parts = bought(m=dp.mean("days", **box), v=dp.variance("days", **box), s=dp.std("days", **box))
    assert [type(part) for part in parts] == [Total, AllRows, Total]


def test_quantiles_of_one_column_have_one_price():
    """Catches a choice bought for each."""
    box = {"bounds": (0, 60)}
    parts = bought(
        m=dp.median("days", **box), q=dp.quantile("days", [0.1, 0.9], **box), n=dp.count()
    )
    assert len(parts) == 2 and [float(p) for p in parts[0].probabilities] == [0.1, 0.5, 0.9]


@pytest.mark.parametrize(
    "aggregates",
    [
        {"n": dp.count(), "n_error": dp.count_units()},
        {"a_0_to_1": dp.count(), "a": dp.histogram("days", edges=[0, 1])},
        {"q_rank_error": dp.count(), "q": dp.median("days", bounds=(0, 1))},
    ],
)
def test_columns_of_one_name_are_refused(aggregates):
    """Catches an answer whose columns hide each other, found after it was charged."""
    with pytest.raises(InvalidArgument, match="two of them"):
        people().agg(**aggregates)


@pytest.mark.parametrize("write", [str, "{}".format, len, round, float, lambda c: c % 2])
def test_python_cannot_compute_on_a_cell(write):
    """Catches an expression that silently becomes the text of a proxy."""
    with pytest.raises(InvalidArgument, match="say "):
        people().mutate(x=lambda row: write(row.ward))
