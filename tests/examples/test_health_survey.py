"""The health survey finds what is true of an invented population, as its intervals say."""

import json
from pathlib import Path

import numpy as np
import pytest

from discreet.testing import seeded
from examples import health_survey


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    with seeded(8):
        result, rows = health_survey.main(picture=str(folder / "health_survey.svg"))
    return result, rows, folder


def test_the_truth_is_where_the_intervals_say(told):
    """Catches estimates of another population: all nine are within 4 errors, most within 2."""
    _, rows, _ = told
    off = [abs(row["estimate"] - row["truth"]) / ((row["high"] - row["low"]) / 2) for row in rows]
    assert len(rows) == 9
    assert max(off) < 2
    assert sum(each <= 1 for each in off) >= 7


def test_the_plan_is_kept(told):
    """Catches a plan for other intervals than those that come out: ± 2 points, each question."""
    result, rows, _ = told
    assert result.respondents == 11_355
    assert all((row["high"] - row["low"]) / 2 <= 0.0201 for row in rows)
    low, high = result["sick"].interval
    assert (high - low) / 2 <= 0.0201 * 40
    assert low <= 8 + 3 * 0.2455 <= high  # smokers, 24.55 %, are off for 11 days, others for 8


def test_what_is_no_report_is_set_aside(told):
    """Catches a line of another survey, or no line at all, that is counted or stops the count."""
    result, _, _ = told
    assert sum(result.set_aside.values()) == 2


def test_what_is_sent_is_randomized(tmp_path: Path):
    """Catches true answers in the files: the coins turn a quarter of those about smoking around
    (± 5 standard deviations), and little remains of the days but one of two marks."""
    form, answers = health_survey.questionnaire(), health_survey.invent(4_000)
    with seeded(1):
        files = health_survey.send(form, answers, tmp_path)
    lines = [line for file in files for line in file.read_text().splitlines()][:-2]
    reports = [json.loads(line) for line in lines]
    turned = np.array([report["smoker"] for report in reports]) != answers["smoker"]
    assert abs(turned.mean() - 1 / 4) < 5 * (3 / 16 / 4_000) ** 0.5
    assert {report["sick"] for report in reports} == {0, 1}


def test_page_and_picture_are_there(told):
    """Catches a script that forgets what it promises to leave behind."""
    _, _, folder = told
    assert "Do you smoke?" in (folder / "health_survey.html").read_text()
    assert (folder / "health_survey.svg").read_text().startswith("<svg")
