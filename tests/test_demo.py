"""The demo is the first thing a newcomer sees."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

import discreet as dp
from discreet import demo


def test_the_demo_explains_releases_draws_and_says_what_is_left(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Catches a demo that stops working or loses a part."""
    picture = tmp_path / "demo.svg"
    demo.main(str(picture))
    text = capsys.readouterr().out
    assert re.search(r"^1\. Protected: one row, added or removed\.$", text, re.MULTILINE)
    for ward in demo.WARDS:
        assert re.search(rf"^{ward}\s+-?\d+ ± \d+", text, re.MULTILINE)
    assert "left Pure(epsilon=2)" in text
    assert picture.read_text().startswith("<svg")


def test_the_demo_leaves_its_rows_and_never_writes_over_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Catches a demo that leaves nothing to go on with, or destroys somebody's visits.csv."""
    place = tmp_path / "visits.csv"
    demo.main(str(tmp_path / "demo.svg"))
    assert place.read_text().startswith("patient,ward,")
    assert f"The rows are in {place}" in capsys.readouterr().out
    place.write_text("mine")
    demo.main(str(tmp_path / "demo.svg"))
    assert place.read_text() == "mine"
    assert "was not changed" in capsys.readouterr().out


def test_the_demo_is_near_the_truth() -> None:
    """Released counts lie within ten 95 % half-widths of the true ones (false alarms < 1e-12)."""
    with ExitStack() as stack:
        file = demo.rows_of("visits.csv", stack)
        true = [line.split(",")[1] for line in file.read_text().splitlines()[1:]]
        visits = dp.table(file, schema=demo.SCHEMA)
        session = dp.Session(visits, budget=dp.Pure(3))
        result = session.release(demo.by_ward(visits), epsilon=1)
    for ward in demo.WARDS:
        count = result.value("patients", ward=ward)
        assert abs(count.value - true.count(ward)) <= 10 * count.error


def test_every_run_draws_new_noise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a seed left in the demo."""
    released = set()
    for _ in range(3):
        demo.main(str(tmp_path / "demo.svg"))
        released.add(capsys.readouterr().out)
    assert len(released) == 3
