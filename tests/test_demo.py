"""The demo is the first thing a newcomer sees."""

import re

import pytest

from discreet import demo
from discreet.testing import seeded


def test_the_demo_prints_released_values_error_bars_and_costs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches a demo that stops working or loses a column."""
    demo.main()
    text = capsys.readouterr().out
    assert re.search(r"question\s+released\s+error \(95 %\)\s+spent", text)
    for ward in demo.WARDS:
        assert re.search(rf"patients, {ward}\s+-?\d+\s+± \d+", text)
    assert "ε = 0.5" in text
    assert "ρ = 0.02" in text


def test_the_demo_is_near_the_truth() -> None:
    """Released counts lie within ten 95 % half-widths of the true ones (false alarms < 1e-12)."""
    rows = demo.visits()
    with seeded(1):
        lines = demo.patients_by_ward(rows, demo.Fraction(1, 2))
    true = [sum(row["ward"] == ward for row in rows) for ward in demo.WARDS]
    for line, count in zip(lines, true, strict=True):
        assert abs(int(line.released) - count) <= 60


def test_every_run_draws_new_noise() -> None:
    """Catches a seed left in the demo."""
    rows = demo.visits()
    released = {
        tuple(x.released for x in demo.patients_by_ward(rows, demo.Fraction(1, 2)))
        for _ in range(5)
    }
    assert len(released) == 5
