"""The survey about affairs: central and local privacy on the same women."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.testing import seeded
from examples import affairs


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The whole story once."""
    picture = tmp_path_factory.mktemp("affairs") / "affairs.svg"
    with seeded(8):
        return {**affairs.main(picture=str(picture)), "picture": picture}


def test_the_data_is_fairs(told: dict[str, Any]) -> None:
    """Catches another dataset, or an answer that is read wrongly."""
    assert len(told["frame"]) == 6366
    assert told["frame"]["affair"].value_counts().to_dict() == {"no": 4313, "yes": 2053}
    assert set(told["frame"]["rating"]) == set(affairs.RATINGS)
    assert set(told["frame"]["job"]) <= set(affairs.JOBS)


def test_the_office_spends_what_it_says(told: dict[str, Any]) -> None:
    """Catches a table that is not charged."""
    assert told["spent"] == dp.Pure(2)


def test_central_counts_are_near(told: dict[str, Any]) -> None:
    """Catches noise of the wrong size: 10 counts, all within 3 times their 95 % error."""
    for (rating, said), exact in told["frame"].groupby(["rating", "affair"]).size().items():
        answer = told["table"].value("women", rating=rating, affair=said)
        assert abs(answer.value - exact) <= 3 * answer.error
        assert answer.error == 6  # scale 2: all of ε, and two cells move


def test_both_ways_ask_for_the_same_cells(told: dict[str, Any]) -> None:
    """Catches a comparison that is not fair: one side with more cells, or with part of its ε."""
    cells = [f"{row['rating']}, {row['affair']}" for row in told["table"].to_dicts()]
    answers = told["each"]["both"].to_arrow().to_pylist()
    assert [row["answer"] for row in answers] == cells and len(cells) == 10
    assert told["each"].guarantee.epsilon(0) == pytest.approx(1)


def test_shares_have_the_errors_of_both_cells(told: dict[str, Any]) -> None:
    """Catches an error that forgets the noise on one of the cells: d(y/(n+y)) has two terms."""
    for rating, share, error in affairs._ratios(told["table"]):
        no, yes = (
            told["table"].value("women", rating=rating, affair=said).value for said in affairs.SAID
        )
        assert share == pytest.approx(yes / (no + yes))
        first_order = 6 * np.hypot(no, yes) / (no + yes) ** 2
        assert first_order <= error <= 1.4 * first_order  # which is a bit wider, never narrower


def test_better_marriages_have_fewer_affairs_in_the_release(told: dict[str, Any]) -> None:
    """Catches a release too noisy for its story: shares fall from poor to very good."""
    shares = [share for _, share, _ in affairs._ratios(told["table"])]
    assert sorted(shares, reverse=True) == shares


def test_local_costs_far_more_than_central(told: dict[str, Any]) -> None:
    """Catches stated errors that are not those of the laws: Laplace, and randomized response."""
    n = len(told["frame"])
    for row in told["errors"]:
        epsilon = row["epsilon"]
        if row["way"] == "central":
            assert row["stated"] == dp.Laplace(sensitivity=1, epsilon=epsilon).error(0.95) / n
        else:
            keep = np.exp(epsilon) / (1 + np.exp(epsilon))
            sd = np.sqrt(keep * (1 - keep) / n) / (2 * keep - 1)
            assert row["stated"] == pytest.approx(1.96 * sd, rel=0.01)
    stated = {(row["way"], row["epsilon"]): row["stated"] for row in told["errors"]}
    assert all(stated["local", e] > 20 * stated["central", e] for e in affairs.SPENDS)


def test_errors_seen_are_as_stated(told: dict[str, Any]) -> None:
    """Catches errors that are told too small: of 120 a way at most 18 may exceed a 95 % bound.

    With 5 % each, more than 18 of 120 happen once in 100,000 times.
    """
    for way in ("central", "local"):
        rows = [row for row in told["errors"] if row["way"] == way]
        beyond = sum(error > row["stated"] for row in rows for error in row["seen"])
        assert beyond <= 18
        assert any(error > row["stated"] / 3 for row in rows for error in row["seen"])


def test_shares_of_both_ways_estimate_the_same(told: dict[str, Any]) -> None:
    """Catches a bias: all ten shares lie within twice their interval, and local ones are wider."""
    for row in told["shares"]:
        half = (row["high"] - row["low"]) / 2
        assert abs(row["value"] - row["exact"]) <= 2 * half
        assert 0.03 < half < 0.06 if row["way"] == "local" else half < 0.01


def test_the_picture_is_drawn(told: dict[str, Any]) -> None:
    """Catches a picture that is missing, empty or too large for a page."""
    drawn = Path(told["picture"]).read_text()
    assert "sampling error" in drawn and len(drawn) < 150_000


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a bare ModuleNotFoundError."""
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(SystemExit, match="pip install statsmodels"):
        affairs.rows()
