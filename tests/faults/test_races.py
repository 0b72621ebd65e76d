"""Many processes and one budget: all of it can be spent, and not one release more."""

from tests.faults.alone import run_alone


def test_races_on_sqlite(scratch, record_property):
    """Catches two processes that both see the last of a budget, analysts who together get more
    than the dataset has, a key that is charged twice, and a ledger that is made twice."""
    code, text = run_alone("tests.faults.racing", str(scratch))
    assert code == 0, text
    for line in text.strip().split("\n"):
        record_property("measured", f"SQLite, {line}")
