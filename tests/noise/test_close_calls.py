"""Calls that floating point cannot make: here no float may decide.

Each is built so that the float answer is a guess, or wrong. Nothing here is left to chance.
"""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from discreet.noise import accuracy, additive
from discreet.noise.accuracy import ULPS
from discreet.noise.additive import FloatGrid, add_one
from discreet.noise.argmax import argmax
from discreet.noise.entropy import Draw
from discreet.noise.laplace import DiscreteLaplaceSampler, LaplaceSampler
from discreet.noise.threshold import NoisyThreshold
from discreet.testing import ScriptedEntropy, SeededEntropy, using

SCALES = [Fraction(1, 3), Fraction(7), Fraction(1000), Fraction(2**20, 3)]


def word_at(exponential: mp.mpf) -> int:
    """The word whose interval of uniforms holds e^(−E): more bits must say on which side of it."""
    return int(mp.floor(mp.exp(-exponential) * 2**63)) << 1


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_single_draw_on_a_boundary_is_not_called_certain(scale):
    """Catches a rounding without a margin: both answers are possible, so neither is certain."""
    with mp.workprec(300):
        t = mp.mpf(scale.numerator) / scale.denominator
        shift = t * mp.log(2 / (1 + mp.exp(-1 / t)))
        for k in range(1, 9):
            draw = Draw(ScriptedEntropy([word_at((k - shift) / t)]))  # ⌊t·E + s⌋ = k or k − 1
            assert DiscreteLaplaceSampler(scale).one(draw, 0.0) is None
            draw = Draw(ScriptedEntropy([word_at((k + mp.mpf(1) / 4) / t)]))
            assert LaplaceSampler(scale).one(draw, 0.25) is None  # ¼ + t·E = k + ½


@pytest.mark.parametrize("value", [0.25, -7.3, 1e-3])
def test_a_single_number_is_the_same_without_trust_in_floats(value, monkeypatch):
    """The slow path from the same word. Catches a value that is rounded before the noise."""
    law, grid = LaplaceSampler(Fraction(3)), FloatGrid(0)

    def drawn(seed):
        with using(SeededEntropy(seed)):
            return add_one(value, law, grid)

    fast = [drawn(seed) for seed in range(200)]
    monkeypatch.setattr(additive, "trusted", lambda: False)
    assert [drawn(seed) for seed in range(200)] == fast


@pytest.mark.parametrize("kind", ["laplace", "exponential", "gumbel"])
def test_the_winner_is_not_decided_by_the_first_bits(kind):
    """Two words that agree in the 52 bits that floats see, with U = 2^-20: their exponentials
    differ by 2^-32, and the scores by 2^-34 the other way. Catches a winner by floats alone."""
    low = 1 << 44
    high = low | 0xFFE  # a larger U is a smaller exponential; the sign bit is 0 in both
    ahead = Fraction(1, 2**34)
    # Gumbel noise falls where the exponential rises, by a factor of E ≈ 13.9 less.
    words, ahead = ([high, low], ahead) if kind != "gumbel" else ([low, high], ahead / 16)
    scores = np.array([float(ahead), 0.0])
    with using(ScriptedEntropy(words)):
        assert argmax(scores, Fraction(1), kind).index == 1


def test_a_larger_lead_wins():
    """The other side: with a lead above 2^-32 the first one wins, so the test above can fail."""
    with using(ScriptedEntropy([(1 << 44) | 0xFFE, 1 << 44])):
        assert argmax(np.array([2.0**-31, 0.0]), Fraction(1), "exponential").index == 0


@pytest.mark.parametrize(("word", "above"), [(2, True), (10, False)])
def test_a_score_at_the_threshold_is_decided_by_the_last_bits(word, above):
    """Score and threshold are equal, and so are their noises as floats: U is near ½, and their
    words differ in the last bits only. Catches a comparison by floats alone, which has a tie."""
    half = 1 << 63
    with using(ScriptedEntropy([half + 6, half + word])):  # a smaller U is a larger noise
        threshold = NoisyThreshold(Fraction(100), Fraction(3))
        assert threshold.compare(np.array([100]), Fraction(3)).above.tolist() == [above]


@pytest.mark.parametrize("errors", [(ULPS + 1.0, 0.5), (0.5, ULPS + 1.0)])
def test_a_machine_with_a_poor_log_or_exp_is_not_trusted(errors, monkeypatch):
    """Catches a probe whose result nobody looks at."""
    monkeypatch.setattr(accuracy, "error_in_ulps", lambda points: errors)
    assert not accuracy.trusted.__wrapped__()
