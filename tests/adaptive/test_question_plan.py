"""How many questions a sample supports."""

from fractions import Fraction

import pytest

from discreet.adaptive import plan
from discreet.adaptive.bounds import row
from discreet.errors import InvalidArgument

BETA = Fraction(1, 20)


def test_what_is_planned_fits_and_one_in_a_hundred_more_does_not():
    planned = plan(10**4, error=0.2)
    for method, count in planned.questions.items():
        if method == "laplace":
            continue  # an estimate
        assert row(method, 10**4, queries=count, failure=BETA).width <= 0.2
        more = count + 1 + count // 100
        assert row(method, 10**4, queries=more, failure=BETA).width > 0.2


def test_the_winner_changes_with_the_size_of_the_sample():
    assert plan(10**4, error=0.1).best == "rounding"
    large = plan(10**6, error=0.05)
    assert large.best == "gaussian"
    assert large.questions["jung"] > 3 * large.questions["splitting"]


def test_table_and_picture():
    planned = plan(2000, error=0.3)
    text = str(planned)
    assert "void once a question depends on an answer" in text and "sample splitting" in text
    assert planned.naive is None and plan(1000, error=0.1).naive == 12_129_129
    svg = planned.plot().to_svg()
    assert "asked for: 0.3" in svg and "naive reuse (void)" in svg
    assert "10⁹ or more" in str(plan(2**30, error=0.9))
    for n, error, confidence in (
        (0, 0.1, 0.9),
        (2**31, 0.1, 0.9),
        (9, 1, 0.9),
        (9, 0.1, 1 - 1e-15),
    ):
        with pytest.raises(InvalidArgument):
            plan(n, error=error, confidence=confidence)
