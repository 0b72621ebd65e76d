"""The same bits through every path: what is called certain agrees with ball arithmetic.

2·10^4 draws per law (10^6 in the long variant), spread over scales from 1/10 to 2^40 steps, and
then the draws that lie closest to a rounding boundary, picked out of millions. The error
bounds themselves are measured too: |computed − exact| against what was claimed.
The share of draws that each path leaves to the next is printed and held against the formulas
of docs/noise.md, with a false-alarm rate of 1e-8 each.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import cosh, exp, pi, sinh, sqrt

import numpy as np
import pytest
from scipy.stats import binom

from discreet.noise import gaussian, laplace
from discreet.noise.entropy import Draw, Real, Tape
from discreet.noise.gaussian import GaussianSampler, strips
from discreet.noise.laplace import DiscreteLaplaceSampler, LaplaceSampler
from discreet.noise.workspace import Workspace
from discreet.numeric.balls import ball, precision
from discreet.testing import SeededEntropy

LAWS = [DiscreteLaplaceSampler, LaplaceSampler, GaussianSampler]
SCALES = [Fraction(1, 10), Fraction(1), Fraction(10, 3), Fraction(1000), Fraction(2**20)]
SCALES += [Fraction(2**30), Fraction(2**40) / 3, Fraction(2**40)]
OFFSETS = np.array([0.0, 0.25, -0.3, 0.5, -0.5, 0.49999999])
FALSE_ALARM = 1e-8


def offsets(law: type, count: int) -> np.ndarray | None:
    return None if law is DiscreteLaplaceSampler else np.resize(OFFSETS, count)


def through_slow(
    law: object, tape: Tape, where: np.ndarray, offset: np.ndarray | None
) -> list[int]:
    exact = [Fraction(0) if offset is None else Fraction(float(offset[i])) for i in where]
    return [law.slow(tape, int(i), o) for i, o in zip(where, exact, strict=True)]


def agree(law: object, words: np.ndarray, source: SeededEntropy) -> None:
    """Check every path against the slow one on these words."""
    offset = offsets(type(law), words.size)
    tape = Tape(source, words)
    everything = np.arange(words.size)
    exact = np.array(through_slow(law, tape, everything, offset), np.float64)
    whole, sure = law.fast(words, offset, Workspace())
    assert np.array_equal(whole[sure], exact[sure])
    whole, sure = law.closer(tape, offset)
    assert np.array_equal(whole[sure], exact[sure])
    assert sure.mean() > 0.9


def check(law: type, draws: int) -> None:
    each = -(-draws // len(SCALES))
    for i, scale in enumerate(SCALES):
        source = SeededEntropy(1000 + i)
        for start in range(0, each, 5000):
            agree(law(scale), source.words(min(5000, each - start)), source)


@pytest.mark.no_cover
@pytest.mark.parametrize("law", LAWS)
def test_fast_and_slow_agree(law):
    check(law, 20_000)


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
def test_fast_and_slow_agree_on_a_million(law):
    check(law, 1_000_000)


@pytest.mark.no_cover
@pytest.mark.parametrize("law", LAWS)
def test_single_numbers_agree(law):
    """2,000 draws a scale through the path for one number, against the slow path."""
    for i, scale in enumerate(SCALES):
        source, found = SeededEntropy(2000 + i), 0
        for j in range(2000):
            offset = 0.0 if law is DiscreteLaplaceSampler else float(OFFSETS[j % OFFSETS.size])
            draw = Draw(source)
            answer = law(scale).one(draw, offset)
            if answer is not None:
                found += 1
                assert answer == law(scale).slow(draw.tape(), 0, Fraction(offset))
        assert found > 1900


def recorded(
    monkeypatch: pytest.MonkeyPatch, path: str, law: object, tape: Tape
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what a path rounds, its error bound, and what it calls certain."""
    seen: list[tuple] = []
    for module in (laplace, gaussian):
        real = module.round_within

        def spy(y, error, *rest, real=real):
            seen.append((y.copy(), np.broadcast_to(error, y.shape)))
            return real(y, error, *rest)

        monkeypatch.setattr(module, "round_within", spy)
    offset = offsets(type(law), tape.words.size)
    if path == "fast":
        _, sure = law.fast(tape.words, offset, Workspace())
    else:
        _, sure = law.closer(tape, offset)
    monkeypatch.undo()
    ((y, error),) = seen
    return y, error, sure


PATHS = [
    ("fast", Fraction(10, 3), 2_000_000),
    ("fast", Fraction(2**20), 2_000_000),
    ("closer", Fraction(2**20), 500_000),
    ("closer", Fraction(2**40) / 3, 500_000),
]


@pytest.mark.no_cover
@pytest.mark.parametrize(("path", "scale", "draws"), PATHS)
@pytest.mark.parametrize("law", LAWS)
def test_the_closest_calls_agree(law, path, scale, draws, monkeypatch):
    """Of many draws, the 500 certain ones nearest to a rounding boundary."""
    source = SeededEntropy(3000)
    tape = Tape(source, source.words(draws))
    y, error, sure = recorded(monkeypatch, path, law(scale), tape)
    margin = np.where(sure, 0.5 - np.abs(y - np.rint(y)), np.inf)
    nearest = np.argsort(margin)[:500]
    assert (margin[nearest] >= error[nearest]).all() and margin[nearest].max() < 0.01
    words, offset = tape.words[nearest], offsets(law, draws)
    offset = None if offset is None else offset[nearest]
    exact = through_slow(law(scale), Tape(source, words), np.arange(500), offset)
    sign = np.ones(500) if law is not DiscreteLaplaceSampler else 1.0 - 2.0 * (words & np.uint64(1))
    assert np.array_equal(np.rint(y[nearest]) * sign, np.array(exact, np.float64))


@pytest.mark.no_cover
@pytest.mark.parametrize(("path", "scale"), [path[:2] for path in PATHS])
@pytest.mark.parametrize("law", LAWS)
def test_errors_stay_below_their_bounds(law, path, scale, monkeypatch):
    """|computed − exact| before rounding, over all reals that begin with the word."""
    source = SeededEntropy(4000)
    words = source.words(20_000)
    if law is not GaussianSampler:  # the largest E that the path takes
        words[:2000] >>= np.uint64(19 if path == "fast" else 45)
        words[:2000] += np.uint64(1 << 45 if path == "fast" else 1 << 13)
    else:  # blocks only, found by the first 16 bits
        words = words[~np.isnan(strips().guide[(words >> np.uint64(48)).astype(np.int64)])]
    y, error, _ = recorded(monkeypatch, path, law(scale), Tape(source, words))
    offset = offsets(law, words.size)
    worst = 0.0
    with precision(160):
        for i in range(words.size):
            truth = exact_value(law, scale, int(words[i]), 0.0 if offset is None else offset[i])
            apart = float((truth - ball(Fraction(float(y[i])))).abs_upper())
            worst = max(worst, apart / error[i])
    print(f"{law.__name__}, {path} at {float(scale):g}: worst error {worst:.3f} of its bound")
    assert 0.1 < worst <= 1  # a bound that is never approached would bound something else


def exact_value(law: type, scale: Fraction, word: int, offset: float) -> object:
    """Return the ball of everything that could be rounded, given the bits of the word."""
    from flint import arb

    sign = -1 if word & 1 else 1
    if law is GaussianSampler:
        left = ball(Fraction((bisect_right(strips().list, word >> 48 << 48) - 1) // 2, 64))
        place = ball(Fraction((word >> 1) % 2**47 * 2 + 1, 2**48))
        z = left + ball(Fraction(1, 64)) * arb(place, ball(Fraction(1, 2**48)))
        return sign * z * ball(scale) + ball(Fraction(offset))
    e = -arb(ball(Fraction(word >> 1 << 1 | 1, 2**64)), ball(Fraction(1, 2**64))).log()
    if law is LaplaceSampler:
        return sign * e * ball(scale) + ball(Fraction(offset))
    return e * ball(scale) + laplace._shift(scale) - ball(Fraction(1, 2))


def test_every_digit_is_drawn_once():
    """A real goes on with the word called by the next tag; what was revealed stays."""
    source = SeededEntropy(7)
    tape = Tape(source, source.words(3))
    real = Real(tape, 1, first=5, bits=3, tag=40)
    real.refine()
    real.refine()
    further = [int(tape.more(tag)[1]) for tag in (40, 41)]
    assert further[0] != further[1]
    assert real.first == (5 << 128) | (further[0] << 64) | further[1] and real.bits == 131
    draw = Draw(source)
    words = [draw.more(tag) for tag in range(20)]
    assert len({draw.word, *words}) == 21
    assert [int(draw.tape().more(tag)[0]) for tag in range(20)] == words


# The share of undecided draws ---------------------------------------------------------------


def boundaries(law: type, t: float, offset: float) -> float:
    """Return the density of offset + noise, summed over all rounding boundaries."""
    if law is DiscreteLaplaceSampler:
        return 1 / t / sinh(1 / t)
    if law is LaplaceSampler:
        return cosh(offset / t) / sinh(1 / (2 * t)) / (2 * t)
    if t > 5:
        return 1.0  # up to e^(−2π²t²)
    return sum(exp(-(((k + 0.5 - offset) / t) ** 2) / 2) for k in range(-99, 99)) / t / sqrt(2 * pi)


def left_by_fast(law: type, scale: Fraction, offset: float) -> float:
    """Predict the share of draws that the fast path leaves."""
    t = float(scale)
    if law is GaussianSampler:
        unguided = float(np.isnan(strips().guide).mean())
        error = t * gaussian.BLOCK_ERROR + gaussian.ROUNDING
        return unguided + (1 - unguided) * min(1, 2 * error * boundaries(law, t, offset))
    error = t * laplace.LOW_ERROR + laplace.ROUNDING
    tail = exp(-laplace.LOW_E)
    return tail + (1 - tail) * min(1, 2 * error * boundaries(law, t, offset))


def left_by_closer(law: type, scale: Fraction) -> float:
    """Predict the share that is left to the slow path, for scales of many steps."""
    t = float(scale)
    if law is GaussianSampler:  # E|z| = √(2/π); 1.13e-7 are rejected in every round
        return 1.13e-7 + 2 * (t * (2.0**-53 + 2.0**-50 * sqrt(2 / pi)) + gaussian.ROUNDING)
    # E[E] = 1 and the integral of e^E·e^(−E) up to HIGH_E is HIGH_E
    mean = 2.0**-53 + 2.0**-62 * laplace.HIGH_E + (laplace.ULPS + 3) * 2.0**-52
    return exp(-laplace.HIGH_E) + 2 * (t * mean + laplace.ROUNDING)


def within(count: int, draws: int, share: float) -> bool:
    low, high = binom.interval(1 - FALSE_ALARM, draws, share)
    return bool(low <= count <= high)


@pytest.mark.no_cover
@pytest.mark.parametrize("scale", SCALES, ids=lambda t: f"{float(t):g}")
@pytest.mark.parametrize("law", LAWS)
def test_the_fast_path_leaves_as_many_as_predicted(law, scale, record_property):
    draws = 1_000_000
    offset = 0.25
    words = SeededEntropy(5000).words(draws)
    given = None if law is DiscreteLaplaceSampler else np.full(draws, offset)
    _, sure = law(scale).fast(words, given, Workspace())
    share = left_by_fast(law, scale, offset)
    left = int(draws - sure.sum())
    shown = f"undecided: {law.__name__} at {float(scale):g} steps, {left / draws:.3g} of {draws}"
    record_property("measured", f"{shown} left by the fast path, predicted {share:.3g}")
    assert within(left, draws, share)


@pytest.mark.no_cover
@pytest.mark.parametrize("scale", [Fraction(2**20), Fraction(2**30), Fraction(2**40)])
@pytest.mark.parametrize("law", LAWS)
def test_the_slow_path_is_as_rare_as_predicted(law, scale, record_property):
    """A few in a million up to 2^20 steps, below 1 % at 2^40."""
    draws = 500_000
    source = SeededEntropy(6000)
    tape = Tape(source, source.words(draws))
    _, sure = law(scale).closer(tape, None)
    share = left_by_closer(law, scale)
    left = int(draws - sure.sum())
    shown = f"undecided: {law.__name__} at {float(scale):g} steps, {left / draws:.3g} of {draws}"
    record_property("measured", f"{shown} left to the slow path, predicted {share:.3g}")
    assert within(left, draws, share)
    assert share < (0.01 if scale > 2**20 else 5e-6)


def test_the_rejection_is_as_rare_as_predicted():
    """The 1.13e-7 above: in the rest of a strip and rejected three times."""
    from scipy.integrate import quad

    h, total, rest_total = gaussian.H, 0.0, 0.0
    for j in range(400):
        f = [sqrt(2 / pi) * exp(-((h * k) ** 2) / 2) for k in (j, j + 1)]
        a = [h * h * (2 * j + 1) / 2, h * h * (j + 1)]
        accepted = quad(lambda v, j=j: np.expm1(h * h * (1 - v) * (2 * j + 1 + v) / 2), 0, 1)[0]
        rest = f[1] * h * accepted
        keep = 2 * accepted / (a[1] * exp(a[0]))
        total += rest * (1 - keep) ** gaussian.ROUNDS
        rest_total += rest
    print(f"rest {rest_total:.4g}, rejected in every round {total:.3g}")
    assert total == pytest.approx(1.13e-7, rel=0.05)
    assert rest_total == pytest.approx(0.00623, abs=1e-4)
