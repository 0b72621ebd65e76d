"""Each law against an independent one: sums, integrals at 40 digits, scipy, or simulation-free
enumeration. A ball that misses the truth, or a wide one, fails here."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import exp, inf, mp, mpf, ncdf, quad
from scipy import stats

from discreet.errors import InvalidArgument
from discreet.laws import (
    DiscreteLaplace,
    Finite,
    Gibbs,
    NoisyArgmax,
    RoundedGaussian,
    RoundedLaplace,
)
from discreet.numeric.balls import lower, upper

CENTERS = [0, Fraction(1, 3), Fraction(1, 2), Fraction(-7, 2), 12.1]
NUMERIC = [
    DiscreteLaplace(3, "1/4"),
    DiscreteLaplace(-2, 5),
    *(RoundedLaplace(c, t, g) for c in CENTERS for t, g in [(2, 1), ("0.3", 1), (1, "1/8")]),
    *(RoundedGaussian(c, s, g) for c in CENTERS for s, g in [(2, 1), ("0.3", 1), (1, "1/8")]),
]


def real(x: Fraction | int) -> mpf:
    return mpf(Fraction(x).numerator) / Fraction(x).denominator


def holds(ball: object, truth: mpf, *, digits: int = 24) -> bool:
    """Whether the ball is sharp and, up to the oracle's own error, holds the truth."""
    middle, radius = (mp.ldexp(*map(int, part.man_exp())) for part in (ball.mid(), ball.rad()))
    slack = abs(truth) * mpf(10) ** -digits
    return radius <= slack and abs(middle - truth) <= radius + slack


def step_of(law: object) -> Fraction:
    return getattr(law, "step", Fraction(1))


def grid_near(law: object, reach: int) -> list[Fraction]:
    step, middle = step_of(law), round(law.center / step_of(law))
    return [step * (middle + j) for j in range(-reach, reach + 1)]


@pytest.mark.parametrize("law", NUMERIC, ids=repr)
def test_masses_intervals_and_cdf_agree(law):
    """Sums over cells: a cell boundary on the wrong side shows as a gap or an overlap."""
    points = grid_near(law, 6)
    step = step_of(law)
    total = sum(law.pmf(x) for x in points)
    assert float(law.interval_mass(points[0], points[-1])) == pytest.approx(total, rel=1e-13)
    assert float(law.interval_mass(points[0] - step / 3, points[-1] + step / 3)) == pytest.approx(
        total, rel=1e-13
    )
    for x in points:
        below = float(law.cdf(x - step / 2))
        assert float(law.cdf(x)) - below == pytest.approx(law.pmf(x), abs=1e-15)
        assert law.pmf(x + step / 2) == 0
    assert float(law.interval_mass(points[1], points[0])) == 0


@pytest.mark.parametrize("law", NUMERIC, ids=repr)
def test_variance_by_summing_cells(law):
    points = grid_near(law, 300)
    masses = np.array([law.pmf(x) for x in points])
    values = np.array([float(x) for x in points])
    mean = masses @ values
    assert law.variance == pytest.approx(masses @ (values - mean) ** 2, rel=1e-9)


def test_the_two_variance_series_agree():
    """Around σ = step/2, where one takes over from the other, they must meet."""
    for center in CENTERS:
        below, above = (
            RoundedGaussian(center, Fraction(1, 2) - d, 1).variance
            for d in (Fraction(1, 10**12), 0)
        )
        assert below == pytest.approx(above, rel=1e-10)
        assert RoundedGaussian(center, 1000, 1).variance == pytest.approx(1e6 + 1 / 12, rel=1e-14)


def test_variance_of_next_to_no_noise():
    """P(|Z| ≥ ½) for σ = 1/50 is 3.0e-138·2: the other cells' chance is not lost in rounding."""
    with mp.workdps(40):
        truth = 2 * ncdf(-25)
    assert RoundedGaussian(0, "1/50", 1).variance == pytest.approx(float(truth), rel=1e-14)


@pytest.mark.parametrize("confidence", ["0.01", 0.5, 0.95, "0.999999"])
@pytest.mark.parametrize("law", NUMERIC, ids=repr)
def test_tail_is_the_least_half_width(law, confidence):
    """Enough at w, too little one step narrower."""
    w, step = law.tail(confidence), step_of(law)
    level = float(Fraction(str(confidence)))
    assert w % step == 0
    assert upper(law.interval_mass(law.center - w, law.center + w)) >= level
    if w > 0:
        narrower = law.interval_mass(law.center - w + step, law.center + w - step)
        assert lower(narrower) < level


@pytest.mark.parametrize("scale", ["1/10", 1, "7/3", 10**6])
def test_discrete_laplace_against_scipy_and_far_out(scale):
    law = DiscreteLaplace(5, scale)
    peer = stats.dlaplace(float(1 / Fraction(scale)), loc=5)
    for k in (5, 6, 4, 9, -20):
        assert law.pmf(k) == pytest.approx(peer.pmf(k), rel=1e-12)
        assert float(law.cdf(k)) == pytest.approx(peer.cdf(k), rel=1e-9)
    assert law.variance == pytest.approx(peer.var(), rel=1e-9)
    with mp.workdps(40):
        t = real(Fraction(scale))
        truth = mp.tanh(1 / (2 * t)) * exp(-3000 / t)
        assert holds(law.mass(3005), truth)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("outcome", [0, 1, -4, 12, 40, -700])
def test_rounded_cells_by_integration(center, outcome):
    """The cell's probability from the density, with cells far in the tail too."""
    with mp.workdps(40):
        c = real(Fraction(center))
        a, b = outcome - c - mpf(1) / 2, outcome - c + mpf(1) / 2
        near, far = sorted((abs(a), abs(b)))
        knots = sorted({a, b, min(max(mpf(0), a), b)})
        truth = exp(-near / 2) * quad(lambda z: exp((near - abs(z)) / 2) / 4, knots)
        assert holds(RoundedLaplace(center, 2, 1).mass(outcome), truth)
        truth = ncdf(b / 2) - ncdf(a / 2) if a < 0 < b else ncdf(-near / 2) - ncdf(-far / 2)
        assert holds(RoundedGaussian(center, 2, 1).mass(outcome), truth)


def test_a_float_outcome_is_the_binary_number_it_is():
    """Read as the decimal it prints, a fine grid point would be off the grid, with mass 0."""
    step = Fraction(1, 2**60)
    outcome = 1 / 3
    law = RoundedLaplace(center=np.float64(0.3), scale=1, step=step)
    assert law.mass(outcome) > 0
    assert law.pmf(Fraction(outcome)) == law.pmf(np.float64(outcome)) > 0


def test_a_tie_goes_up():
    """⌊x + ½⌋ sends ½ to 1: with next to no noise, centre ½ gives 0 and 1 equally, not 0 or 2."""
    law = RoundedGaussian(Fraction(1, 2), "1/1000", 1)
    assert law.pmf(0) == law.pmf(1) == 0.5


def test_finite_is_exact():
    law = Finite(outcomes=("a", "b", None), weights=("1/3", 1, 0))
    assert law.probability("a") == Fraction(1, 4)
    assert law.pmf("b") == 0.75
    assert law.probability(None) == 0 == law.probability("elsewhere")
    assert holds(law.mass("a"), mpf("0.25"))


scores_of_candidates = st.lists(st.fractions(-30, 30, max_denominator=50), min_size=1, max_size=12)


@given(scores_of_candidates, st.fractions(0, 5, max_denominator=20))
def test_gibbs_against_softmax(scores, rate):
    law = Gibbs(scores, rate)
    exponents = np.array([float(rate * s) for s in scores])
    weights = np.exp(exponents - exponents.max())
    ours = [law.pmf(i) for i in range(len(scores))]
    np.testing.assert_allclose(ours, weights / weights.sum(), rtol=1e-11)
    assert law.pmf(len(scores)) == 0 == law.pmf(-1)


def test_gibbs_at_a_gap_of_a_million():
    """Weights as floats would be 0/0 or inf/inf here."""
    law = Gibbs((0, 10**6, 10**6), 1)
    with mp.workdps(40):
        assert holds(law.mass(0), exp(-(10**6)) / 2)
    assert law.pmf(1) == 0.5


@given(scores_of_candidates, st.sampled_from(["laplace", "exponential"]))
def test_noisy_argmax_is_a_law_and_ignores_a_shift(scores, noise):
    law, shifted = (NoisyArgmax(s, 2, noise) for s in (scores, [x + 1000 for x in scores]))
    masses = [law.pmf(i) for i in range(len(scores))]
    assert math.fsum(masses) == pytest.approx(1, rel=1e-14)
    assert masses == [shifted.pmf(i) for i in range(len(scores))]


@pytest.mark.parametrize("scores", [(0, 1), (2, 0, 2, -1), (5,), (1, 1, 1), (0, "1/3", 7, 2, 2)])
def test_noisy_argmax_laplace_by_integration(scores):
    """∫ f(y − gᵢ)·Π F(y − gⱼ) dy, numerically at 30 digits."""
    scores = [Fraction(s) for s in scores]
    law = NoisyArgmax(scores, "3/2", "laplace")

    def density(z: mpf) -> mpf:
        return exp(-abs(z)) / 2

    def below(z: mpf) -> mpf:
        return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2

    with mp.workdps(40):
        levels = [real(s) / mpf("1.5") for s in scores]
        for i, own in enumerate(levels):
            others = levels[:i] + levels[i + 1 :]
            truth = quad(
                lambda y, own=own, others=others: (
                    density(y - own) * mp.fprod(below(y - other) for other in others)
                ),
                [-inf, *sorted(set(levels)), inf],
            )
            assert holds(law.mass(i), truth)


@pytest.mark.parametrize("scores", [(0, 1), (2, 0, 2, -1), (5,), (1, 1, 1), (0, "1/3", 7, 2, 2)])
def test_noisy_argmax_exponential_is_permute_and_flip(scores):
    """By enumeration: visit the candidates in random order, accept i with e^(sᵢ − best)."""
    scores = [Fraction(s) for s in scores]
    law = NoisyArgmax(scores, 1, "exponential")
    with mp.workdps(40):
        accept = [exp(real(s - max(scores))) for s in scores]
        orders = list(permutations(range(len(scores))))
        truth = [mpf(0)] * len(scores)
        for order in orders:
            reached = mpf(1) / len(orders)
            for i in order:
                truth[i] += reached * accept[i]
                reached *= 1 - accept[i]
        for i in range(len(scores)):
            assert holds(law.mass(i), truth[i])


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_noisy_argmax_at_a_gap_of_a_million(noise):
    """The loser's chance is e^(−10⁶)-sized; cancellation must not swallow it."""
    law = NoisyArgmax((0, 10**6), 1, noise)
    with mp.workdps(40):
        gap = mpf(10**6)
        truth = {"laplace": exp(-gap) * (2 + gap) / 4, "exponential": exp(-gap) / 2}[noise]
        assert holds(law.mass(0), truth)
    assert law.pmf(1) == 1


@given(st.permutations([0, 1, 1, 3]))
def test_noisy_argmax_treats_equal_candidates_equally(scores):
    for noise in ("laplace", "exponential"):
        law = NoisyArgmax(scores, 1, noise)
        first, second = (i for i, s in enumerate(scores) if s == 1)
        assert law.pmf(first) == pytest.approx(law.pmf(second), rel=1e-15)


@pytest.mark.parametrize("scores", [np.array([2**62, -(2**62)]), np.array([0.5, 0.25], np.float32)])
def test_numpy_scores_do_not_wrap(scores):
    """The difference of the two is 2⁶³: an int64 would turn its sign."""
    for law in (Gibbs(scores, 1), NoisyArgmax(scores, 1, "laplace")):
        assert law.pmf(0) > law.pmf(1)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: DiscreteLaplace(0.5, 1), "center"),
        (lambda: DiscreteLaplace(0, 0), "scale"),
        (lambda: RoundedLaplace(math.nan, 1, 1), "center"),
        (lambda: RoundedGaussian(math.inf, 1, 1), "center"),
        (lambda: RoundedGaussian("1", 1, 1), "center"),
        (lambda: RoundedGaussian(0, 0, 1), "sigma"),
        (lambda: RoundedLaplace(0, 1, 0), "step"),
        (lambda: DiscreteLaplace(0, 1).tail(1), "confidence"),
        (lambda: Finite(("a", "b"), (1,)), "weights"),
        (lambda: Finite(("a", "a"), (1, 1)), "weights"),
        (lambda: Finite(("a", "b"), (0, 0)), "weights"),
        (lambda: Finite(("a", "b"), (1, -1)), "weights"),
        (lambda: Gibbs((), 1), "scores"),
        (lambda: Gibbs((1,), -1), "rate"),
        (lambda: NoisyArgmax((), 1, "laplace"), "scores"),
        (lambda: NoisyArgmax((1,), 1, "gumbel"), "noise"),
    ],
)
def test_refused_at_the_door(build, name):
    with pytest.raises(InvalidArgument) as caught:
        build()
    assert caught.value.name == name
