"""The RAND experiment: what is promised to whom, and whether error bars hold."""

import sys
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.testing import seeded
from examples import rand_health


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The whole story once."""
    picture = tmp_path_factory.mktemp("rand") / "rand_health.svg"
    with seeded(8):
        return {**rand_health.main(picture=str(picture)), "picture": picture}


def test_every_row_has_a_plan_of_the_experiment(told: dict[str, Any]) -> None:
    """Catches a wrong cut between plans: these are the groups of Cameron and Trivedi's extract."""
    sizes = {plan: answers["years"] for plan, answers in told["exact"].items()}
    assert sizes == {"free": 6822, "25 %": 4065, "50 %": 1401, "95 %": 2653, "deductible": 5249}


def test_the_query_and_the_exact_answers_cut_plans_alike(told: dict[str, Any]) -> None:
    """Catches two definitions that differ: at ε = 10,000 the noise is gone."""
    years = rand_health.with_plan(dp.table(rand_health.rows()))
    result = dp.Session(years, budget=dp.Pure(10_000)).release(
        rand_health.by_plan(years), epsilon=10_000
    )
    for plan, exact in told["exact"].items():
        assert result.value("years", plan=plan).value == exact["years"]
        assert result.value("visits", plan=plan).value == pytest.approx(exact["clamped"], abs=1e-3)
        assert result.value("no_visit", plan=plan).value == pytest.approx(
            exact["no_visit"], abs=1e-3
        )


def test_a_person_is_promised_five_times_what_a_row_is(told: dict[str, Any]) -> None:
    """Catches a promise for rows that is told as one for people."""
    assert told["row"] == dp.Pure("1/5")
    assert told["person"] == dp.Pure(1)


def test_error_bars_hold_up_to_clamping(told: dict[str, Any]) -> None:
    """Catches noise of the wrong size: 15 values, all within 3 times their 95 % error."""
    for plan, exact in told["exact"].items():
        for name, true in (("years", "years"), ("visits", "clamped"), ("no_visit", "no_visit")):
            answer = told["plans"].value(name, plan=plan)
            assert abs(answer.value - exact[true]) <= 3 * answer.error


def test_the_economics_can_be_read_from_the_release(told: dict[str, Any]) -> None:
    """Catches a release too noisy for its story: free care means more visits than 95 %."""
    free, paying = (told["plans"].value("visits", plan=plan) for plan in ("free", "95 %"))
    assert free.value - free.error > paying.value + paying.error
    usual, much = (told["overall"].value(f"visits_{q}").value for q in ("0.5", "0.9"))
    assert 1 <= usual <= 2 and 6 <= much <= 9  # exactly 1 and 7


def test_clamping_is_told_and_small(told: dict[str, Any]) -> None:
    """Catches bounds that cut more than the story says."""
    assert all(0 <= one["visits"] - one["clamped"] < 0.1 for one in told["exact"].values())


def test_the_picture_is_drawn(told: dict[str, Any]) -> None:
    """Catches a picture that is missing, empty or too large for a page."""
    drawn = Path(told["picture"]).read_text()
    assert "deductible" in drawn and len(drawn) < 150_000


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a bare ModuleNotFoundError."""
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(SystemExit, match="pip install statsmodels"):
        rand_health.rows()
