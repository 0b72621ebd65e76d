"""What the auditing example says about five functions is true of each."""

import pytest

from discreet.testing import PrivacyViolated
from examples import broken_mechanism
from examples.broken_mechanism import AUDITED


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    picture = tmp_path_factory.mktemp("audit") / "laws.svg"
    result = broken_mechanism.main(picture=str(picture))
    assert picture.read_text().startswith("<svg")
    return result


@pytest.mark.parametrize("name", AUDITED)
def test_the_broken_are_found_out_and_the_repaired_is_not_accused(told, name):
    """Catches an auditor that misses one of the mistakes, accuses the repair, or shows an ε
    above the true one."""
    truth, finding = AUDITED[name][2], told[name]
    assert finding.violated == (truth > 1)
    assert finding.lower_bound <= truth
    assert finding.lower_bound > 0.75 * min(truth, 5)


def test_float_noise_is_seen_through_by_a_bit(told):
    """Catches a finding by another event than the story's: some floats come from one input only."""
    finding = told["NumPy's Laplace noise"]
    assert finding.one_sided
    assert "lowest bit" in str(finding.witness.event)
    assert finding.witness.probability > 0.2


def test_a_second_run_shows_the_same():
    """Catches noise that goes on where the last run left it: the page would show other numbers."""
    once, again = (broken_mechanism.audit_all(2_000) for _ in range(2))
    assert {name: finding.lower_bound for name, finding in once.items()} == {
        name: finding.lower_bound for name, finding in again.items()
    }


def test_the_law_tells_what_samples_hardly_do(told):
    """Catches a verifier that overlooks half of the noise (ε = 1.9974), or accuses our own."""
    assert told["exact"].violated
    assert "1.997389" in str(told["exact"])
    assert not told["right"].violated


def test_the_test_of_the_example_fails_where_it_should():
    """Catches an `assert_private` that lets wrong noise pass."""
    broken_mechanism.test_counts_are_private()
    with pytest.raises(PrivacyViolated, match="Violated"):
        broken_mechanism.test_counts_are_private(broken_mechanism.three_counts)
