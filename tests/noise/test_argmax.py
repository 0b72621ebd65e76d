"""The best of many noisy scores: the right law, and the same winner on every path."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import laws
from discreet.noise import argmax as module
from discreet.noise.additive import INT_MAX, INT_MIN
from discreet.noise.argmax import ERROR, HIGH, LOW, RELATIVE, Race, _noise, argmax
from discreet.noise.entropy import Tape
from discreet.noise.workspace import BLOCK, CHUNK, Workspace
from discreet.numeric.balls import ball, precision
from discreet.testing import ScriptedEntropy, SeededEntropy, seeded, using

KINDS = ["laplace", "exponential", "gumbel"]
HUGE = np.array([1e308, -1e308, 0.0, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324])
SCORES = {
    "few": np.array([0, 1, 3]),
    "equal": np.zeros(5, np.int64),
    "floats": np.array([0.1, 0.2, 0.30000000000000004, -7.25]),
}


def exact_law(scores: np.ndarray, scale: Fraction, kind: str) -> list[float]:
    listed = [s.item() for s in scores]
    if kind == "gumbel":
        law = laws.Gibbs(listed, rate=1 / scale)
    else:
        law = laws.NoisyArgmax(listed, scale=scale, noise=kind)
    return [law.pmf(i) for i in range(len(listed))]


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCORES)
def test_winners_follow_the_law(name, kind, chi_square):
    """8,000 races, false-alarm rate 1e-9; scores 20 % off are rejected."""
    scores, scale = SCORES[name], Fraction(3, 2)
    with seeded(1):
        winners = [argmax(scores, scale, kind).index for _ in range(8_000)]
    counts = np.bincount(winners, minlength=scores.size)
    assert chi_square(counts, exact_law(scores, scale, kind)) > 1e-9
    if name == "few":
        assert chi_square(counts, exact_law(scores, scale * 6 / 5, kind)) < 1e-9


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_many_candidates_follow_the_law(kind, chi_square):
    """600 races of candidates in three chunks: one ahead of a field of equals."""
    size, scale, ahead = 2 * CHUNK + 1000, Fraction(1), 11
    scores = np.zeros(size, np.int64)
    scores[CHUNK + 5] = ahead
    with seeded(2):
        won = sum(argmax(scores, scale, kind).index == CHUNK + 5 for _ in range(600))
    with precision(128):
        p = float(chance_of_the_leader(kind, size - 1, ahead))
    assert chi_square([600 - won, won], [1 - p, p]) > 1e-9


def chance_of_the_leader(kind: str, others: int, ahead: int) -> object:
    """P(the best of ``others`` stays behind one that is ``ahead``), by integration in Arb."""
    from flint import acb, arb

    if kind == "gumbel":
        return 1 / (1 + others * ball(-ahead).exp())

    def integrand(y, _):
        # the leader has the density e^(−(y − ahead)) from y = ahead (twice if exponential)
        best = (1 - (-y).exp() / (1 if kind == "exponential" else 2)) ** others
        return best * (ahead - y).exp() / (1 if kind == "exponential" else 2)

    right = acb.integral(integrand, ahead, ahead + 100).real
    if kind == "exponential":
        return right
    left = acb.integral(
        lambda y, _: (1 - (-y).exp() / 2) ** others * (y - ahead).exp() / 2, 0, ahead
    ).real
    assert isinstance(right, arb)
    return left + right  # below 0 every one of the others would have to be negative


def slowly(monkeypatch: pytest.MonkeyPatch, race: object) -> object:
    """Run ``race`` with every candidate compared in ball arithmetic."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "trusted", lambda: False)
        return race()


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "scores",
    [
        np.arange(300),
        np.zeros(300),
        np.linspace(-1, 1, 300),
        np.array([INT_MIN, INT_MIN + 1, -1, 0, INT_MAX - 1, INT_MAX]),
        np.array([INT_MAX, INT_MAX - 1, INT_MAX - 2] * 30),
        HUGE,
        np.array([-1e308, -1e308, -9e307]),
        2.0**60 + np.arange(100) * 256,
    ],
    ids=["rising", "equal", "close", "edges", "top", "huge", "low", "coarse"],
)
def test_fast_and_slow_have_the_same_winner(scores, kind, monkeypatch):
    for i, scale in enumerate([Fraction(1, 7), Fraction(20), Fraction(2**40)]):

        def race(i=i, scale=scale):
            with seeded(i):
                return [argmax(scores, scale, kind).index for _ in range(20)]

        assert race() == slowly(monkeypatch, race)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_words_and_scores_together(kind, monkeypatch):
    """Infinite float noise beside infinite float differences: still the exact winner."""
    words = [0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1]
    for chosen in itertools.product(words, repeat=3):
        for scores in (HUGE[:3], np.array([INT_MAX, INT_MIN, 0]), np.zeros(3)):

            def race(chosen=chosen, scores=scores):
                with using(ScriptedEntropy(list(chosen))):
                    return argmax(scores, Fraction(1), kind).index

            if len(set(chosen)) == 3:  # equal words have equal bits behind them: a tie for ever
                assert race() == slowly(monkeypatch, race)


@settings(max_examples=60)
@given(
    st.lists(st.integers(INT_MIN, INT_MAX), min_size=1, max_size=6),
    st.fractions(Fraction(1, 1000), 10**20),
    st.sampled_from(KINDS),
    st.integers(0, 2**32),
)
def test_the_winner_has_the_largest_value(scores, scale, kind, seed):
    """Against values computed from 600 bits of the same words."""
    scores = np.array(scores, np.int64)
    with seeded(seed):
        winner = argmax(scores, scale, kind).index
    source = SeededEntropy(seed)
    tape = Tape(source, source.words(scores.size))
    race = Race(tape, np.arange(scores.size), scores, scale, kind)
    for real in race._reals:
        for _ in range(9):
            real.refine()
    with precision(700):
        values = [race._value(i) for i in range(scores.size)]
    assert all(values[winner] > v for i, v in enumerate(values) if i != winner)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_is_exact(kind, monkeypatch):
    """Lead over the runner-up in steps of 2^-20, on both paths, against 600 bits."""
    scores, scale = np.arange(100), Fraction(25)
    for seed in range(30):
        with seeded(seed):
            fast = argmax(scores, scale, kind, runner_up=True)

        def race(seed=seed):
            with seeded(seed):
                return argmax(scores, scale, kind, runner_up=True)

        slow = slowly(monkeypatch, race)
        source = SeededEntropy(seed)
        all_of_them = Race(Tape(source, source.words(100)), np.arange(100), scores, scale, kind)
        for real in all_of_them._reals:
            real.refine()
        with precision(300):
            values = sorted((float(all_of_them._value(i)), i) for i in range(100))
        assert fast.index == slow.index == values[-1][1]
        assert fast.gap(-20) == slow.gap(-20) == round((values[-1][0] - values[-2][0]) * 2**20)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_as_close_as_claimed(kind):
    """|computed − exact| ≤ ERROR for 20,000 words, a tenth of them nearly extreme."""
    words = SeededEntropy(7).words(20_000)
    words[:1000] >>= np.uint64(31)  # E from 21.5 up
    words[1000:2000] |= np.uint64((2**64 - 1) << 33 & (2**64 - 1))  # Gumbel from 21.5 up
    noise = _noise(words, kind, Workspace())
    ordinary = (noise <= HIGH[kind]) & (noise >= LOW[kind])
    assert 0 < (~ordinary).sum() < 2000
    race = Race(Tape(SeededEntropy(7), words), np.arange(1), np.zeros(1), Fraction(1), kind)
    race._scores = [Fraction(0)] * words.size
    worst = 0.0
    with precision(128):
        for i in np.flatnonzero(ordinary):
            worst = max(worst, float((race._value(i) - ball(Fraction(noise[i]))).abs_upper()))
    print(f"{kind}: worst error {worst / ERROR:.3f} of ERROR")
    assert ERROR / 100 < worst <= ERROR / 2


def test_the_margin_is_monotone():
    """v + e(v) rises with v, so the contenders are those above one constant."""
    v = np.linspace(-1e6, 1e6, 100_001)
    upper = v + ERROR + RELATIVE * np.abs(v)
    assert (np.diff(upper) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_few_contend(kind, monkeypatch):
    """A million equal scores: the float pass leaves a handful to ball arithmetic."""
    seen = []
    real = Race.__init__

    def counted(self, tape, *rest):
        seen.append(tape.words.size)
        real(self, tape, *rest)

    monkeypatch.setattr(Race, "__init__", counted)
    with seeded(3):
        for _ in range(5):
            argmax(np.zeros(4 * BLOCK - 7), Fraction(1), kind)
    assert max(seen) <= 4


def test_one_candidate_wins():
    assert argmax(np.array([5]), Fraction(1), "gumbel").index == 0
