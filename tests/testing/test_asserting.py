"""``assert_private``: claims as tests of somebody's own suite."""

import numpy as np
import pytest

import discreet as dp
from discreet.testing import PrivacyViolated, assert_private, seeded

COUNT = dp.Laplace(sensitivity=1, epsilon=1)


def doubled(value: int, size: int) -> object:
    """Half of the noise: ε = 2 where 1 is claimed."""
    return COUNT.release(np.full(size, 2 * value))


def kept(value: int, size: int) -> object:
    """The noise that is claimed."""
    return COUNT.release(np.full(size, value))


def test_what_keeps_its_claim_returns_a_finding() -> None:
    """Catches an accusation of the innocent (false alarms: 1e-9 each, and the noise is seeded)."""
    with seeded(1):
        found = assert_private(kept, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    assert not found.violated
    assert found.confidence == 1 - 1e-9
    assert 0.5 < found.lower_bound < 1
    assert "not a proof" in str(found)


def test_what_breaks_its_claim_fails_with_report_and_witness() -> None:
    """Catches silence, and a message that does not say what to do next."""
    with seeded(2), pytest.raises(AssertionError) as caught:
        assert_private(doubled, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    error = caught.value
    assert isinstance(error, PrivacyViolated)
    assert str(error.finding) in str(error)
    assert "error.finding.witness.replay(run)" in str(error)
    witness = error.finding.witness
    assert witness is not None
    with seeded(3):
        assert witness.replay(doubled, samples=20_000, batched=True).violated
        assert not witness.replay(kept, samples=20_000, batched=True).violated


def test_a_mechanism_brings_its_own_claim() -> None:
    """Catches a guarantee that is not looked at, and one that cannot be overruled."""
    with seeded(4):
        assert assert_private(COUNT, (0, 1), samples=4_000).claim == COUNT.guarantee
        with pytest.raises(PrivacyViolated):
            assert_private(COUNT, (0, 1), dp.Pure("1/4"), samples=4_000)


def test_neighbors_are_searched() -> None:
    """Catches a search that stays with the first pair, under which nothing can be seen."""
    with seeded(5), pytest.raises(PrivacyViolated) as caught:
        pairs = [(0, 0), (3, 3), (0, 1)]
        assert_private(doubled, neighbors=pairs, claim=dp.Pure(1), samples=20_000, batched=True)
    assert caught.value.finding.witness.pair == (0, 1)


def test_what_is_missing_is_asked_for() -> None:
    """Catches an audit of nothing."""
    with pytest.raises(dp.InvalidArgument, match=r"claim=dp\.Pure\(1\)"):
        assert_private(kept, (0, 1))
    with pytest.raises(dp.InvalidArgument, match="release and guarantee"):
        assert_private(7, (0, 1), dp.Pure(1))
    with pytest.raises(dp.InvalidArgument, match="pair"):
        assert_private(kept, claim=dp.Pure(1))
