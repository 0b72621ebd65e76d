"""Narrow noise on many integers: inversion by table, exact to the last bit."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import discreet as dp
from discreet.noise import additive as module
from discreet.noise.additive import (
    INT_MAX,
    INT_MIN,
    MANY,
    UNKNOWN,
    WIDEST,
    IntegerGrid,
    Narrow,
    add,
    add_narrow,
    narrow,
)
from discreet.noise.entropy import Tape
from discreet.noise.gaussian import GaussianSampler
from discreet.noise.laplace import DiscreteLaplaceSampler
from discreet.numeric.balls import precision
from discreet.testing import ScriptedEntropy, SeededEntropy, seeded

LAWS = [
    DiscreteLaplaceSampler(Fraction(1, 10)),
    DiscreteLaplaceSampler(Fraction(2)),
    DiscreteLaplaceSampler(Fraction(WIDEST)),
    GaussianSampler(Fraction(1, 10)),
    GaussianSampler(Fraction(7, 3)),
    GaussianSampler(Fraction(WIDEST)),
]
FALSE_ALARM = 1e-9


def table(law: DiscreteLaplaceSampler | GaussianSampler) -> Narrow:
    made = narrow(law)
    assert made is not None
    return made


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_thresholds_are_the_distribution_function(
    law: DiscreteLaplaceSampler | GaussianSampler,
) -> None:
    """Each is ⌊2^64·F(k)⌋ with F from the independent laws; catches a shift by one step."""
    made = table(law)
    other = (
        dp.Laplace(sensitivity=1, scale=law.scale).law(0)
        if isinstance(law, DiscreteLaplaceSampler)
        else dp.Gaussian(sensitivity=1, sigma=law.sigma).law(0)
    )
    for i in range(0, made.thresholds.size, max(1, made.thresholds.size // 40)):
        with precision(256):
            above = other.cdf(made.lowest + i) * 2**64 - int(made.thresholds[i])
        assert above > -1e-4  # other.cdf is sharp to some 80 bits
        assert above < 1 + 1e-4


@pytest.mark.no_cover
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_guide_search_and_slow_path_agree(law: DiscreteLaplaceSampler | GaussianSampler) -> None:
    """The three ways read the same bits in the same way; catches a guide cell that is claimed
    although a threshold begins with its bits."""
    made, source = table(law), SeededEntropy(5)
    words = np.concatenate(
        [source.words(1500), made.thresholds[:: max(1, made.thresholds.size // 20)]]
    )
    by_search, sure = made.closer(words)
    by_guide = made.guide[(words >> np.uint64(48)).astype(np.intp)]
    known = by_guide != UNKNOWN
    assert np.all(sure[known])
    assert np.all(by_guide[known] == by_search[known])
    tape = Tape(source, words)
    exact = np.array([made.slow(tape, i) for i in range(words.size)])
    assert np.all(exact[sure] == by_search[sure])
    assert not np.all(sure)  # the thresholds themselves are ties


@pytest.mark.no_cover
@pytest.mark.parametrize("law", [LAWS[1], LAWS[2], LAWS[4], LAWS[5]], ids=repr)
def test_fit_and_a_scale_off_by_half_a_percent(
    law: DiscreteLaplaceSampler | GaussianSampler,
) -> None:
    """Chi-square on 10⁷ draws, false-alarm rate 1e-9; rejects a scale that is 0.5 % off."""
    with seeded(11):
        draws = add(np.zeros(10**7, np.int64), law, IntegerGrid())
    reach = int(3 * law.spread) + 1
    counts = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    wrong = type(law)(law.spread * Fraction(1005, 1000))
    assert _p_value(counts, law, reach) > FALSE_ALARM
    assert _p_value(counts, wrong, reach) < FALSE_ALARM


def _p_value(
    counts: np.ndarray, law: DiscreteLaplaceSampler | GaussianSampler, reach: int
) -> float:
    with precision(128):
        below = [float(law.cdf(k)) for k in range(-reach, reach)]
    expected = counts.sum() * np.diff([0.0, *below, 1.0])
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1))


@pytest.mark.parametrize("word", [0, 1, 2**64 - 1, 2**64 - 2])
def test_the_tails_are_open(word: int) -> None:
    """The first and last words lead beyond the table, to draws that depend on further bits."""
    made = table(LAWS[1])
    draws = {
        made.slow(Tape(SeededEntropy(seed), np.array([word], np.uint64)), 0) for seed in range(40)
    }
    assert all(abs(draw) >= 80 for draw in draws)  # scale 2: beyond 40 scales
    assert len(draws) > 1


def test_doubtful_draws_of_a_block_are_settled_and_saturate() -> None:
    """Ties and tails inside a block go through the slow path; at the edges nothing wraps."""
    made = table(LAWS[1])
    size = 64
    for edge in (INT_MAX, INT_MIN, 0):
        values, out = np.full(size, edge), np.zeros(size, np.int64)
        # all first 16 bits 0, then all further bits 0: every draw is a tail draw
        add_narrow(values, out, made, ScriptedEntropy([0] * (size // 4 + size), seed=1))
        assert np.all(out == INT_MIN) if edge == INT_MIN else np.all(out < edge - 70)


def test_wide_laws_have_no_table() -> None:
    """Beyond the width for which it pays, the ordinary path is taken."""
    assert narrow(DiscreteLaplaceSampler(Fraction(WIDEST) + 1)) is None


def test_release_uses_the_table_for_many_and_not_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a switch that never switches."""
    used: list[int] = []
    original = module.add_narrow
    monkeypatch.setattr(
        "discreet.noise.additive.add_narrow",
        lambda values, *rest: (used.append(values.size), original(values, *rest)),
    )
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    mechanism.release(np.zeros(MANY - 1, np.int64))
    assert not used
    mechanism.release(np.zeros(MANY, np.int64))
    assert sum(used) == MANY
