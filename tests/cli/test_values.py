"""Lists, keys and aggregates as they are typed."""

import datetime
from fractions import Fraction

import pytest

from discreet.cli import query_text
from discreet.cli.options import budget_of
from discreet.cli.query_text import listed, typed
from discreet.cli.release import flags
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, ZCDP, Approx, Pure
from discreet.query.aggregates import Aggregate
from discreet.query.schema import Schema, Type

SCHEMA = Schema.of({"age": "integer", "city": "text", "a:b": "real"})


def asked(flag: str, text: str) -> tuple[str, Aggregate]:
    return query_text.asked(flags()[flag], text, SCHEMA)


def test_lists_may_hold_commas_in_quotes() -> None:
    """Catches a split at every comma."""
    assert listed('A, "B, C",D', option="--keys") == ["A", "B, C", "D"]
    assert listed("ä é,[b]", option="--keys") == ["ä é", "[b]"]
    for wrong in ("", ",", "A,,B", 'A,"B', "A,\nB"):
        with pytest.raises(InvalidArgument):
            listed(wrong, option="--keys")


def test_text_takes_the_type_of_a_column() -> None:
    """Catches numbers, dates and truth values left as text, and the reverse."""
    assert typed("012", Type.INTEGER, option="--keys") == 12
    assert typed("012", Type.TEXT, option="--keys") == "012"
    assert typed("012", Type.RAW, option="--keys") == "012"
    assert typed("TRUE", Type.BOOLEAN, option="--keys") is True
    assert typed("2026-01-31", Type.DATE, option="--keys") == datetime.date(2026, 1, 31)
    for text, kind in (("1.5", Type.INTEGER), ("1", Type.BOOLEAN), ("31.1.26", Type.DATE)):
        with pytest.raises(InvalidArgument):
            typed(text, kind, option="--keys")


def test_bounds_stand_on_the_right_and_are_exact() -> None:
    """Catches columns with colons that are cut, and bounds that pass through floats."""
    name, made = asked("mean", "a:b:-0.1:1e-30")
    assert (name, made.column) == ("mean_a:b", "a:b")  # type: ignore[attr-defined]
    assert made.bounds == (Fraction(-1, 10), Fraction(1, 10**30))  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["age", "age:0", "age::1", ":0:1", "age:0:1:", "age:a:b", ""])
def test_a_wrong_aggregate_is_refused_with_an_example(text: str) -> None:
    """Catches a message that does not say how to write it."""
    with pytest.raises(InvalidArgument) as caught:
        asked("mean", text)
    assert "--mean" in str(caught.value) or "bounds" in str(caught.value)


def test_a_name_given_twice_is_refused() -> None:
    """Catches one aggregate that silently replaces another."""
    pairs = [asked("mean", text) for text in ("age:0:1", "age:0:2")]
    with pytest.raises(InvalidArgument, match="put a name before"):
        query_text.once(pairs)


def test_histograms_and_candidates_are_typed_by_the_schema() -> None:
    """Catches edges read as categories, and the reverse."""
    (_, ages), (_, cities) = (asked("histogram", text) for text in ("age:0,18", "x=city:1,2"))
    assert (ages.edges, cities.categories) == ((0, 18), ("1", "2"))  # type: ignore[attr-defined]
    name, top = asked("top_k", "age:2:1,2,3")
    assert (name, top.k, top.candidates) == ("top_age", 2, (1, 2, 3))  # type: ignore[attr-defined]
    for wrong in ("city:x:A,B", "city:A,B", "height:2:A,B"):
        with pytest.raises(InvalidArgument):
            asked("top_k", wrong)


def test_a_cap_is_one_notion() -> None:
    """Catches a δ that is dropped, and two caps of which one wins."""
    assert budget_of("3", None, None, None, prefix="--") == Pure(3)
    assert budget_of("1", "1e-6", None, None, prefix="--") == Approx(1, "1e-6")
    assert budget_of(None, None, "0.5", None, prefix="--") == ZCDP("0.5")
    assert budget_of(None, None, None, "1", prefix="--") == GDP(1)
    assert budget_of(None, None, None, None, prefix="--") is None
    for wrong in (("1", None, "1", None), (None, "1e-6", None, None), (None, "1e-6", "1", None)):
        with pytest.raises(InvalidArgument):
            budget_of(*wrong, prefix="--")
