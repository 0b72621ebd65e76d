"""kill -9, at random and at every step of the order of work: no release without a durable charge,
what is spent is what the journal adds up to, one stranded charge a crash at most."""

import pytest

from tests.faults.alone import run_alone
from tests.faults.steps import STEPS


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_many_kills(seed, record_property):
    """Catches a charge that comes too late or is lost, a reply that is lost or drawn again, and a
    ledger that a crash leaves unusable. 150 kills each; `make torture` does 20,000."""
    code, text = run_alone("tests.faults.torture", "--kills", "150", "--seed", str(seed))
    assert code == 0, text
    missed = [step for step in STEPS if f"killed at: {step}" not in text]
    assert not missed, text
    record_property("measured", text.split("\n")[0])


@pytest.mark.parametrize("plant", ["touch first", "forget keys"])
def test_a_planted_error_is_caught(plant):
    """Catches checks that cannot fail."""
    code, text = run_alone("tests.faults.torture", "--kills", "45", "--plant", plant)
    assert code == 1 and "VIOLATION" in text, text
