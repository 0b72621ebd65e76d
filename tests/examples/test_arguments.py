"""Arguments that no example can run with are refused in a sentence, before anything is written."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("script", "given", "told"),
    [
        ("affairs", "--epsilon nan", "--epsilon must be above 0 and finite"),
        ("affairs", "--epsilon 0", "--epsilon must be above 0 and finite"),
        ("rand_health", "--epsilon inf", "--epsilon must be above 0 and finite"),
        ("rand_health", "--epsilon -1", "--epsilon must be above 0 and finite"),
        ("hospital_wards", "--patients 0", "--patients must be 1 or above"),
        ("leaderboard", "--submissions 0", "--submissions and --labels must be 1 or above"),
        ("leaderboard", "--labels -5", "--submissions and --labels must be 1 or above"),
        ("health_survey", "--respondents 0", "--respondents must be 4 or above"),
        ("health_survey", "--respondents -5", "--respondents must be 4 or above"),
        ("health_survey", "--picture s.html", "--picture must end in .svg or .png"),
        ("broken_mechanism", "--samples 10", "--samples must be 64 or above"),
        ("duckdb_and_spark", "--rows -1", "--rows must be 1 or above"),
    ],
)
def test_a_script_refuses_what_it_cannot_run_with(
    script, given, told, tmp_path, monkeypatch, capsys
):
    """Catches a traceback of NumPy, and a 0 that is taken for "as many as planned"."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [script, *given.split()])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
