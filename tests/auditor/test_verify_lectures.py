"""Claims 3 and 23 of the lectures, which are wrong as written: shown, and put right."""

import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import pytest

import discreet as dp
from discreet.auditor.exact.neighbours import largest_log_ratio
from discreet.auditor.verify import verify
from discreet.inputs import BoundedMean
from discreet.laws import CutGaussian, RealGaussian


@dataclass(frozen=True)
class SquaredDistance:
    """The exponential mechanism with u = −(mean − l)²: density ∝ e^(−(nε/2)(mean − l)²)."""

    n: int
    epsilon: Fraction
    restricted: bool

    @property
    def inputs(self):
        return BoundedMean(self.n)

    @property
    def guarantee(self):
        return dp.Pure(self.epsilon)

    def law(self, mean):
        variance = 1 / (self.n * Fraction(self.epsilon))
        if self.restricted:
            return CutGaussian(mean, variance, (0, 1))
        return RealGaussian(mean, variance)


@pytest.mark.parametrize("claimed", [1, 3, 20])
def test_on_the_real_line_no_epsilon_is_enough(claimed):
    found = verify(SquaredDistance(100, Fraction(1), restricted=False), dp.Pure(claimed))
    assert found.violated
    assert found.witness.epsilon > claimed


def test_the_witness_has_two_probabilities():
    found = verify(SquaredDistance(4, Fraction(1), restricted=False), dp.Pure(1))
    low, high = found.witness.probability
    other_low, other_high = found.witness.other_probability
    assert 0 < low <= high and 0 < other_low <= other_high
    assert low > math.e * other_high
    # the event is a half-line; both probabilities by another library
    cut = float(str(found.witness.event).rsplit(" ", 1)[1])
    deviation = 0.5
    for center, bounds in ((0, (low, high)), (Fraction(1, 4), (other_low, other_high))):
        truth = mpmath.ncdf((cut - float(center)) / deviation)
        assert bounds[0] == pytest.approx(float(truth), rel=1e-9)


@pytest.mark.parametrize(
    ("n", "epsilon", "share"), [(100, 1, 0.918), (10, 2, 0.802), (10**5, 1, 0.9975)]
)
def test_on_the_interval_it_holds_for_all_neighbouring_means(n, epsilon, share):
    found = verify(SquaredDistance(n, Fraction(epsilon), restricted=True))
    assert found.holds and found.proven, str(found)
    assert found.found[1] / epsilon == pytest.approx(share, abs=5e-4)
    assert found.found[1] <= found.ceiling < epsilon
    assert found.margin > 0


def test_branch_and_bound_meets_the_value_at_the_corner():
    """The supremum lies at means 1 − 1/n and 1, by quadrature here."""
    n, epsilon = 10, Fraction(2)
    mechanism = SquaredDistance(n, epsilon, restricted=True)
    low, high = largest_log_ratio(mechanism.law(0), Fraction(1, n), epsilon)

    def density(mean):
        weight = lambda y: mpmath.exp(-n * float(epsilon) / 2 * (mean - y) ** 2)  # noqa: E731
        return weight(0) / mpmath.quad(weight, [0, 1])

    truth = float(mpmath.log(density(1 - 1 / n) / density(1)))
    assert low <= truth <= high
    assert low == pytest.approx(truth, rel=0.05)


def test_branch_and_bound_refuses_what_is_not_so():
    """Planted: the same law with twice the rate breaks ε = 1, and is not certified."""
    broken = SquaredDistance(100, Fraction(2), restricted=True)
    found = verify(broken, dp.Pure(1))
    assert found.violated


def exact_tv(m, sigma):
    return float(2 * mpmath.ncdf(1 / (2 * m * sigma)) - 1)


def test_claim_3_and_its_misprint():
    m, sigma = 100, 0.05
    queries = dp.StatisticalQueries([0] * m, sigma=sigma)
    bound = 1 / (math.sqrt(2 * math.pi) * m * sigma)
    found = verify(queries, dp.TotalVariation(bound))
    assert found.holds and found.proven
    assert found.found[1] == pytest.approx(exact_tv(m, sigma), rel=1e-9)
    assert bound == pytest.approx(0.0797885, abs=1e-7)
    assert exact_tv(m, sigma) == pytest.approx(0.0796557, abs=1e-7)
    # The misprint 1/√(2πmσ) is larger here, and hides the error; it is too small only for mσ
    # between about 0.16 and 0.91.
    assert 1 / math.sqrt(2 * math.pi * m * sigma) == pytest.approx(0.178, abs=1e-3)
    assert verify(queries, dp.TotalVariation(1 / math.sqrt(2 * math.pi * m * sigma))).holds


def test_the_misprint_is_refuted_by_an_event():
    m, sigma = 10, 0.05
    misprint = 1 / math.sqrt(2 * math.pi * m * sigma)
    queries = dp.StatisticalQueries([0] * m, sigma=sigma)
    found = verify(queries, dp.TotalVariation(misprint))
    assert found.violated
    assert found.found[0] == pytest.approx(exact_tv(m, sigma), rel=1e-9)
    shown = found.witness.probability[0] - found.witness.other_probability[1]
    assert shown == pytest.approx(0.6826895, abs=1e-6)
    assert shown > misprint
