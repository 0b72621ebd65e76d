"""The Gaussian mechanism: calibration, law, promise."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import discreet as dp
from discreet.numeric.balls import lower, precision, upper
from discreet.testing import seeded


def true_delta(mu: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """δ(ε) of a Gaussian at 60 digits, written down independently of the library."""
    with mpmath.workdps(60):
        m, e = (mpmath.mpf(x.numerator) / x.denominator for x in (mu, epsilon))
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "4", "10"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "1e-5", "0.1"])
def test_calibration_never_exceeds_the_claim_at_60_digits(epsilon: str, delta: str) -> None:
    """C5, D1: the true δ stays at or below the claim, and within a millionth of it."""
    mechanism = dp.Gaussian(sensitivity=3, epsilon=epsilon, delta=delta)
    true = true_delta(mechanism.mu, Fraction(epsilon))
    assert true <= mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
    assert true > float(Fraction(delta)) * (1 - 1e-6)


def test_claim_12_classic_needs_more_noise_and_is_refused_outside_its_range() -> None:
    """Claim 12: valid in its range, never below the exact σ there, refused beyond ε = 1."""
    exact = dp.Gaussian(sensitivity=1, epsilon=1, delta=1e-5)
    classic = dp.Gaussian.classic(sensitivity=1, epsilon=1, delta=1e-5)
    assert classic.sigma > exact.sigma
    assert true_delta(classic.mu, Fraction(1)) <= 1e-5
    with pytest.raises(dp.Refused, match="epsilon"):
        dp.Gaussian.classic(sensitivity=1, epsilon=10, delta=1e-5)
    with pytest.raises(dp.Refused, match="delta"):
        dp.Gaussian.classic(sensitivity=1, epsilon=1, delta=0.6)
    sigma = np.sqrt(2 * np.log(2 / 1e-5)) / 10  # what the formula would have given
    assert true_delta(1 / Fraction(float(sigma)), Fraction(10)) == pytest.approx(
        1.36441e-5, rel=1e-5
    )


def test_rho_mu_and_sigma_mean_the_same_noise() -> None:
    """ρ = μ²/2 and μ = Δ/σ; an irrational σ is rounded up, toward more noise."""
    assert dp.Gaussian(sensitivity=2, mu=Fraction(1, 2)).sigma == 4
    assert dp.Gaussian(sensitivity=2, rho=Fraction(1, 8)).sigma == 4
    assert dp.Gaussian(sensitivity=1, rho=1).sigma ** 2 >= Fraction(1, 2)
    assert dp.Gaussian(sensitivity=1, sigma=4).guarantee == dp.GDP(Fraction(1, 4))


def test_rounding_to_integers_never_costs_privacy() -> None:
    """Integers get round(x + Z), post-processing of the real mechanism: from the laws alone, the
    hockey-stick divergence stays below the claimed profile at every ε tried."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=Fraction(3, 2))
    p, q = mechanism.law(0), mechanism.law(1)
    with precision(128):
        masses = [(p.mass(k), q.mass(k)) for k in range(-25, 26)]
        for epsilon in (0.0, 0.25, 0.5, 1.0, 2.0):
            parts = [a - b * float(np.exp(epsilon)) for a, b in masses]
            hockey_stick = sum((part for part in parts if part > 0), start=0 * parts[0])
            assert lower(hockey_stick) <= mechanism.guarantee.delta(epsilon) + 1e-15
            assert upper(hockey_stick) > 0.5 * mechanism.guarantee.delta(epsilon)


def test_error_is_exact_for_integers() -> None:
    """The least w with P(|X| ≤ w) ≥ 95 % from exact tails (claim 11), not from 1.96·σ."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=4, step=1)
    width = int(mechanism.error())
    law = mechanism.law(0)
    with precision(128):
        inside, tighter = (sum(law.mass(k) for k in range(-w, w + 1)) for w in (width, width - 1))
    assert lower(inside) >= 0.95 > upper(tighter)
    assert dp.Gaussian(sensitivity=1, sigma=4, step="fine").error() == pytest.approx(7.84, abs=0.01)


@pytest.mark.parametrize("sigma", [Fraction(1, 20), Fraction(3), Fraction(10**6)])
def test_release_has_the_stated_variance(sigma: Fraction) -> None:
    """Six standard errors at 10⁶ draws: false alarms below 1e-8; catches σ against σ²."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=sigma)
    with seeded(4):
        noise = mechanism.release(np.full(10**6, 0.1)) - 0.1
    assert abs((noise**2).mean() / float(sigma) ** 2 - 1) < 6 * np.sqrt(2) / 1e3
    assert mechanism.law(0.1).variance <= float(sigma**2) * 1.001


def test_small_sigma_on_integers_is_mostly_no_noise_but_never_less_private() -> None:
    """σ of a twentieth of a step: the rounded noise is 0 except with probability 2Φ(−10)."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=Fraction(1, 20))
    assert mechanism.law(0).pmf(0) == pytest.approx(1, abs=1e-15)
    assert mechanism.guarantee == dp.GDP(20)
