"""Parameters read from an event, against the guarantees' own trade-off curves."""

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.auditor.sampling.parameters import question


@pytest.mark.parametrize(
    "claim",
    [
        dp.Pure(0.7),
        dp.Approx(0.5, 0.01),
        dp.GDP(0.8),
        dp.TotalVariation(0.3),
        dp.Pure(0.4).repeat(5),
        dp.Laplace(sensitivity=2, scale=1, step="fine").guarantee,
    ],
    ids=str,
)
@pytest.mark.parametrize("q", [0.001, 0.05, 0.4, 0.9])
def test_the_best_event_a_claim_allows_does_not_violate_it(claim, q):
    """Catches a parameter that accuses a point on the claim's own curve, or misses one above it."""
    # ZCDP is not among them: it is judged by Rényi divergences, which say more than the profile
    # that follows from them. See below.
    deciding = question(claim).parameters[0]
    allowed = claim.tradeoff(q)
    at = deciding.least(np.array([allowed * (1 - 1e-6)]), np.array([q]))[0]
    assert not deciding.exceeded_by(float(at))
    above = allowed + 0.25 * (1 - allowed)
    if allowed < 0.99:
        assert deciding.exceeded_by(float(deciding.least(np.array([above]), np.array([q]))[0]))


@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_a_coin_of_gaussian_noise_shows_less_than_its_rho(mu):
    """Catches a Rényi divergence of coins that is too large: it is at most μ²/2 (data processing),
    and near it for the best coins."""
    rho = question(dp.ZCDP(1)).reported.least
    q = np.linspace(0.001, 0.5, 200)
    p = stats.norm.cdf(stats.norm.ppf(q) + mu)
    shown = rho(p, q).max()
    assert 0.6 * mu**2 / 2 < shown <= mu**2 / 2


def test_every_reading_grows_with_p_and_falls_with_q():
    """The region's corners rest on it."""
    p, q = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41), indexing="ij")
    for claim in (dp.Pure(1), dp.Approx(1, 0.1), dp.ZCDP(1), dp.GDP(1), dp.TotalVariation(0.5)):
        for parameter in question(claim).parameters:
            found = parameter.least(p.ravel(), q.ravel()).reshape(p.shape)
            assert np.all(np.isfinite(found)), parameter.name
            assert np.all(np.diff(found, axis=0) >= -1e-12), parameter.name
            assert np.all(np.diff(found, axis=1) <= 1e-12), parameter.name
