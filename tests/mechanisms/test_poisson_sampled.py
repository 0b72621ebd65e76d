"""Mechanisms on a Poisson sample: both directions, known answers, and what is refused."""

import pickle
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import exp, mp, mpf, ncdf
from mpmath import log as mlog

import discreet as dp
from discreet.guarantees import GDP, LaplacePair, Pure, SampledPair
from discreet.mechanisms.poisson_sampled import PoissonSampled


def test_known_answers_of_the_sampled_gaussian():
    """σ = 1, q = 0.8 at ε = 1, in both directions, to 1e-11 and not below. Catches the two
    directions exchanged, which a symmetric guarantee would hide."""
    step = PoissonSampled(dp.Gaussian(sensitivity=1, sigma=1), rate=0.8)
    for found, truth in ((step.remove, "0.0816951786585355"), (step.add, "0.0231362104090898")):
        assert Fraction(truth) - Fraction(1, 10**15) <= Fraction(found.delta(1))
        assert found.delta(1) == pytest.approx(float(truth), abs=1e-11)
    assert step.guarantee.delta(1) == step.remove.delta(1)


@pytest.mark.parametrize("q", ["0.01", "0.3", "1"])
@pytest.mark.parametrize("x", ["0", "0.2", "1"])
def test_the_sampled_gaussian_is_the_mixture(q, x):
    """N(1, σ²) with probability q, else N(0, σ²), against N(0, σ²), from the mixture's own
    likelihood ratio at 40 digits. Catches an amplification formula that is off."""
    sigma = Fraction(3, 2)
    step = PoissonSampled(dp.Gaussian(sensitivity=1, sigma=sigma), rate=q)
    with mp.workdps(40):
        rate, k, s = mpf(q), exp(mpf(x)), mpf(3) / 2
        # the ratio 1 − q + q·e^((2y − 1)/(2σ²)) is above K from y on, and below 1/K up to z
        y = mlog((k - 1 + rate) / rate) * s**2 + mpf(1) / 2
        up = (1 - rate) * ncdf(-y / s) + rate * ncdf((1 - y) / s) - k * ncdf(-y / s)
        down = mpf(0)
        if 1 / k > 1 - rate:
            z = mlog((1 / k - 1 + rate) / rate) * s**2 + mpf(1) / 2
            down = ncdf(z / s) - k * ((1 - rate) * ncdf(z / s) + rate * ncdf((z - 1) / s))
    for found, truth in ((step.remove, up), (step.add, down)):
        assert found.delta(x) == pytest.approx(float(truth), rel=1e-12, abs=1e-30)
        assert mpf(found.delta(x)) >= truth - mpf(10) ** -30


def test_sampled_laplace_from_its_own_laws():
    """A mixture of two discrete Laplace laws against one of them, mass by mass, both ways: never
    above, and exact. Catches a mixture with the rates exchanged."""
    mechanism = dp.Laplace(sensitivity=2, scale=2, step=1)
    step = PoissonSampled(mechanism, rate="1/4")
    outcomes = range(-100, 103)
    absent, there = (np.array([mechanism.law(value).pmf(k) for k in outcomes]) for value in (0, 2))
    present = 0.75 * absent + 0.25 * there
    for x in (0.0, 0.1, 0.2, 0.3):
        k = np.exp(x)
        up, down = (
            np.maximum(p - k * q, 0).sum() for p, q in ((present, absent), (absent, present))
        )
        assert step.remove.delta(x) == pytest.approx(up, rel=1e-9, abs=1e-15)
        assert step.add.delta(x) == pytest.approx(down, rel=1e-9, abs=1e-15)
        assert step.guarantee.delta(x) == max(step.remove.delta(x), step.add.delta(x))


def test_everybody_in_the_sample_is_no_sampling():
    """Rate 1 is the mechanism itself; a smaller rate promises more."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=2)
    deltas = [PoissonSampled(mechanism, rate=q).guarantee.delta(0.5) for q in ("0.01", "0.5", 1)]
    assert deltas == sorted(deltas)
    assert deltas[-1] == pytest.approx(mechanism.guarantee.delta(0.5), rel=1e-12)


def test_other_mechanisms_can_be_sampled():
    """Selection, sparse vector and keys; a fact of many cells counts as all of it in one number,
    since sampling joins what happens to them. Catches a product of sampled cells."""
    assert PoissonSampled(dp.Exponential(sensitivity=1, epsilon=1), rate="0.1").guarantee.tv < 0.03
    sparse = dp.SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=1)
    assert PoissonSampled(sparse, rate="0.1").guarantee == SampledPair(Pure(1), rate="0.1")
    keys = PoissonSampled(dp.KeyThreshold(epsilon=1, delta="1e-3"), rate="0.1").guarantee
    assert keys.tv == pytest.approx(dp.KeyThreshold(epsilon=1, delta="1e-3").guarantee.tv / 10)
    two = PoissonSampled(dp.KeyThreshold(epsilon=1, delta="1e-3", max_groups=2), rate="0.1")
    assert two.guarantee == SampledPair(dp.Approx(1, "1e-3"), rate="0.1")
    ten = dp.sensitivity.counts(k=10, relation="add-remove")
    laplace = PoissonSampled(dp.Laplace(sensitivity=ten, epsilon=1, step="fine"), rate="0.1")
    assert laplace.guarantee == SampledPair(LaplacePair(1), rate="0.1")


def test_a_value_like_all_others():
    """Frozen, equal by its parts, picklable after use, and it shows what it was made of."""
    step = PoissonSampled(dp.Gaussian(sensitivity=1, sigma=2), rate=0.1)
    assert step.guarantee == SampledPair(GDP("1/2"), rate="1/10")
    assert pickle.loads(pickle.dumps(step)) == step
    assert hash(step) == hash(PoissonSampled(dp.Gaussian(sensitivity=1, mu="1/2"), rate="1/10"))
    assert "rate=Fraction(1, 10)" in repr(step)
    with pytest.raises(AttributeError):
        step.rate = 1  # type: ignore[misc]


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan"), "a tenth", None])
def test_rates_that_are_none(rate):
    """Above 0 and at most 1."""
    with pytest.raises(dp.InvalidArgument, match="rate"):
        PoissonSampled(dp.Gaussian(sensitivity=1, sigma=1), rate=rate)


def test_what_cannot_be_sampled():
    """Local answers and a sample of public size hide something else than presence; a sampled
    mechanism was sampled already; a composition has no single pair; the rest is no mechanism."""
    gaussian = dp.Gaussian(sensitivity=1, sigma=1)
    for mechanism in (
        dp.RandomizedResponse(epsilon=1),
        dp.StatisticalQueries([1, 2], sigma=1),
        PoissonSampled(gaussian, rate=0.1),
        SimpleNamespace(guarantee=Pure(1).repeat(2)),
    ):
        with pytest.raises(dp.Refused):
            PoissonSampled(mechanism, rate=0.1)
    for nothing in (GDP(1), 5, None, dp.Gaussian):
        with pytest.raises(dp.InvalidArgument, match="mechanism"):
            PoissonSampled(nothing, rate=0.1)  # type: ignore[arg-type]
