"""``assert_private``: claims as tests of somebody's own suite."""

from typing import Any

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
        with pytest.raises(PrivacyViolated, match="the release of the mechanism") as caught:
            assert_private(COUNT, (0, 1), dp.Pure("1/4"), samples=4_000)
        assert caught.value.finding.witness.replay(COUNT.release, samples=4_000).violated


@pytest.mark.parametrize(
    "mechanism", [dp.Laplace(sensitivity="1/2", epsilon=1), dp.RandomizedResponse(epsilon=1)]
)
def test_a_mechanism_needs_no_pair(mechanism: Any) -> None:
    """Catches a pair that must be given here and not on the command line, and one that is not the
    worst: half of the claim would pass on others."""
    with seeded(7):
        found = assert_private(mechanism, samples=4_000)
        assert found.claim == mechanism.guarantee
        with pytest.raises(PrivacyViolated):
            assert_private(mechanism, claim=dp.Pure("1/8"), samples=20_000)
    queries = dp.StatisticalQueries([0.25, 0.75], epsilon=1)
    with pytest.raises(dp.InvalidArgument, match="pair"):
        assert_private(queries, samples=100)


class QuietMax(dp.NoisyMax):
    """The largest score, without noise."""

    def release(self, scores: Any) -> Any:
        return int(np.argmax(scores))


class QuietThreshold(dp.AboveThreshold):
    """The first answer above a threshold, without noise."""

    def release(self, answers: Any) -> Any:
        return next((i for i, answer in enumerate(answers) if answer > 5), None)


class OpenKeys(dp.KeyThreshold):
    """Every key that somebody has."""

    def release(self, counts: Any) -> Any:
        return [count > 0 for count in counts]


@pytest.mark.parametrize(
    "mechanism",
    [
        QuietMax(sensitivity=1, epsilon=1),
        QuietThreshold(sensitivity=1, epsilon=1, threshold=5),
        OpenKeys(epsilon=1, delta="1e-3"),
    ],
)
def test_a_mechanism_that_forgets_its_noise_is_found_without_a_pair(mechanism: Any) -> None:
    """Catches neighbours that are worst by the law and alike to code that does not follow it."""
    with pytest.raises(PrivacyViolated) as caught:
        assert_private(mechanism, samples=1_000)
    assert caught.value.finding.one_sided


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
        assert_private(kept, claim=dp.Pure(1), batched=True)
    with pytest.raises(dp.InvalidArgument, match="say batched=True"):
        assert_private(kept, (0, 1), dp.Pure(1))
