"""Our own mechanisms, recomputed from their laws: catches a guarantee that is too good."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet import laws
from discreet.auditor.verify import verify
from discreet.errors import InvalidArgument
from discreet.mechanisms.quantiles import Quantiles
from discreet.mechanisms.top_k import TopK
from discreet.sensitivity import counts

PROVEN = {
    "Laplace": lambda: dp.Laplace(sensitivity=1, epsilon=1),
    "Laplace, by a fraction": lambda: dp.Laplace(sensitivity=0.3, epsilon=1),
    "Laplace on integers": lambda: dp.Laplace(sensitivity=4, scale=2, step=1),
    "Laplace on reals": lambda: dp.Laplace(sensitivity=1, scale=2, step="fine"),
    "Gaussian": lambda: dp.Gaussian(sensitivity=1, epsilon=1, delta=1e-6),
    "Gaussian by rho": lambda: dp.Gaussian(sensitivity=1.5, rho=0.5),
    "Gaussian by mu": lambda: dp.Gaussian(sensitivity=1, mu=0.5),
    "Gaussian, classic": lambda: dp.Gaussian.classic(sensitivity=1, epsilon=1, delta=1e-6),
    "RandomizedResponse": lambda: dp.RandomizedResponse(epsilon=1),
    "RandomizedResponse of 4": lambda: dp.RandomizedResponse(epsilon=1, categories=4),
    "RandomizedResponse by truth": lambda: dp.RandomizedResponse(truth=0.5, categories=3),
    "Exponential": lambda: dp.Exponential(sensitivity=1, epsilon=1),
    "Exponential, monotone": lambda: dp.Exponential(sensitivity=1, epsilon=1, monotone=True),
    "NoisyMax": lambda: dp.NoisyMax(sensitivity=1, epsilon=1),
    "NoisyMax, monotone": lambda: dp.NoisyMax(sensitivity=1, epsilon=1, monotone=True),
    "NoisyMax, exponential": lambda: dp.NoisyMax(sensitivity=1, epsilon=1, noise="exponential"),
    "NoisyMax, gumbel": lambda: dp.NoisyMax(sensitivity=1, epsilon=1, noise="gumbel"),
    "NoisyMax, gap": lambda: dp.NoisyMax(sensitivity=1, epsilon=1, gap=True),
    "AboveThreshold": lambda: dp.AboveThreshold(sensitivity=1, epsilon=1, threshold=0),
    "KeyThreshold, optimal": lambda: dp.KeyThreshold(epsilon=1, delta=0.01),
    "KeyThreshold, laplace": lambda: dp.KeyThreshold(epsilon=1, delta=0.01, rule="laplace"),
    "StatisticalQueries, sigma": lambda: dp.StatisticalQueries([0] * 100, sigma=0.05),
    "StatisticalQueries, epsilon": lambda: dp.StatisticalQueries([0] * 100, epsilon=0.5),
}

TRIED = {
    "Laplace of ten counts": lambda: dp.Laplace(
        sensitivity=counts(k=10, relation="add-remove"), epsilon=2
    ),
    "KeyThreshold, of 2": lambda: dp.KeyThreshold(epsilon=1, delta=0.01, max_groups=2),
    "Quantiles": lambda: Quantiles(probabilities=[0.5], epsilon=1),
    "PoissonSampled, Gaussian": lambda: dp.PoissonSampled(
        dp.Gaussian(sensitivity=1, sigma=1), rate=0.3
    ),
}

SLOW = {
    "TopK": lambda: TopK(k=2, epsilon=1),
    "KeyThreshold, gaussian": lambda: dp.KeyThreshold(epsilon=1, delta=1e-3, rule="gaussian"),
    "PoissonSampled, Laplace": lambda: dp.PoissonSampled(
        dp.Laplace(sensitivity=1, epsilon=1), rate=0.3
    ),
    "Quantiles, two": lambda: Quantiles(probabilities=[0.25, 0.5], epsilon=1),
    "TopK, replaced": lambda: TopK(k=2, epsilon=1, monotone=False),
}
SLOW_PROVEN = {
    "SparseVector": lambda: dp.SparseVector(sensitivity=1, epsilon=1, threshold=3, hits=2),
    "SparseVector, gap": lambda: dp.SparseVector(
        sensitivity=1, epsilon=1, threshold=0, hits=2, gap=True
    ),
}


@pytest.mark.parametrize("name", PROVEN)
def test_holds_for_all_neighbours(name):
    found = verify(PROVEN[name]())
    assert (found.verdict, found.proven) == ("holds", True), str(found)
    assert found.margin >= 0


@pytest.mark.parametrize("name", TRIED)
def test_holds_for_the_neighbours_tried(name):
    found = verify(TRIED[name]())
    assert (found.verdict, found.proven) == ("holds", False), str(found)
    assert "which proves no more" in str(found)


@pytest.mark.long
@pytest.mark.parametrize("name", [*SLOW, *SLOW_PROVEN])
def test_holds_slowly(name):
    found = verify({**SLOW, **SLOW_PROVEN}[name]())
    assert (found.verdict, found.proven) == ("holds", name in SLOW_PROVEN), str(found)


@dataclass(frozen=True)
class Halved:
    """A mechanism that claims half of what it costs: the planted lie of this file."""

    mechanism: Any

    @property
    def law(self) -> Any:
        return self.mechanism.law

    @property
    def inputs(self) -> Any:
        return self.mechanism.inputs

    @property
    def guarantee(self) -> Any:
        match self.mechanism.guarantee:
            case dp.GDP(mu=mu):
                return dp.GDP(mu / 2)
            case dp.Pure() as pure:
                return dp.Pure(pure.epsilon0 / 2)
            case other:
                return dp.Pure(Fraction(other.epsilon(0)) / 2)


@pytest.mark.parametrize(
    "name",
    [
        "Laplace",
        "Gaussian",
        "RandomizedResponse of 4",
        "Exponential",
        "NoisyMax",
        "NoisyMax, exponential",
        "AboveThreshold",
        "StatisticalQueries, sigma",
        "StatisticalQueries, epsilon",
    ],
)
def test_half_of_the_price_is_refuted(name):
    found = verify(Halved(PROVEN[name]()))
    assert found.violated, str(found)
    assert found.margin < 0
    assert found.witness is not None


def test_laplace_is_tight_and_proven():
    found = verify(dp.Laplace(sensitivity=1, epsilon=1))
    assert found.holds and found.proven and not found.tied
    assert found.margin == 0.0
    assert found.found == (1.0, 1.0)


def test_every_notion_is_decided_on_both_sides_of_the_truth():
    """For discrete Laplace noise of scale 1, moved by 1: ε = 1, TV = tanh ½, ρ = tanh ½, and
    the GDP profile must pass above (0, tanh ½)."""
    tv = Fraction(math.tanh(0.5))
    mechanism, pair = dp.Laplace(sensitivity=1, scale=1), [(0, 1)]
    little = Fraction(1, 10**6)
    for claim, verdict in [
        (dp.Pure(1), "holds"),
        (dp.Pure(1 - little), "violated"),
        (dp.TotalVariation(tv + little), "holds"),
        (dp.TotalVariation(tv - little), "violated"),
        (dp.Approx(0.5, Fraction((math.e - math.exp(0.5)) / (1 + math.e)) + little), "holds"),
        (dp.Approx(0.5, Fraction((math.e - math.exp(0.5)) / (1 + math.e)) - little), "violated"),
        (dp.ZCDP(tv + little), "holds"),
        (dp.ZCDP(tv - little), "violated"),
        (dp.GDP(2), "holds"),
        (dp.GDP(1.2), "violated"),
    ]:
        assert verify(mechanism, claim, pairs=pair).verdict == verdict, claim


def test_a_formula_used_outside_its_range_is_refuted():
    """X18b: σ = √(2·ln(1.25/δ))/ε at ε = 10, δ = 1e-5, where the true δ is 2.2654e-5. No sample
    shows it: an oracle would need 3·10¹¹ draws."""
    sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / 10
    found = verify(dp.Gaussian(sensitivity=1, sigma=sigma, step="fine"), dp.Approx(10, 1e-5))
    assert found.violated
    assert found.found[0] == pytest.approx(2.2654e-5, rel=1e-3)
    witness = found.witness
    assert witness.probability[0] - math.exp(10) * witness.other_probability[1] > 2.2e-5
    good = dp.Gaussian(sensitivity=1, epsilon=10, delta=1e-5)
    assert verify(good, dp.Approx(10, 1e-5)).proven


def test_a_normal_law_is_gdp_by_its_definition_and_no_less():
    mechanism = dp.Gaussian(sensitivity=1, sigma=2)
    assert verify(mechanism, dp.GDP("1/2")).proven
    assert verify(mechanism, dp.ZCDP("1/8")).proven
    assert verify(mechanism, dp.GDP("0.4999")).violated
    assert verify(mechanism, dp.Pure(30)).violated


def test_reports_say_what_was_shown_and_never_the_inputs():
    found = verify(dp.Laplace(sensitivity=1, epsilon=1), dp.Pure("1/2"), pairs=[(777, 778)])
    text, document = str(found), json.loads(found.to_json())
    assert "pair[0]" in text and "violated" in text
    assert document["verdict"] == "violated" and document["witness"]["epsilon"] >= 0.99
    assert "worst" not in document
    assert found.worst == (777, 778)
    assert found.witness.event(0) != found.witness.event(10**6)


def test_what_cannot_be_verified_is_said():
    with pytest.raises(InvalidArgument, match=r"anything with a method law"):
        verify(3, dp.Pure(1))
    with pytest.raises(InvalidArgument, match="a guarantee"):
        verify(_Bare(), pairs=[(0, 1)])
    with pytest.raises(InvalidArgument, match="pairs"):
        verify(_Bare(), dp.Pure(1))
    with pytest.raises(InvalidArgument, match="at least one pair"):
        verify(_Bare(), dp.Pure(1), pairs=[])
    with pytest.raises(InvalidArgument, match="outcomes and mass"):
        verify(_Bare(), dp.Pure(1), pairs=[(0, 1)])


class _Bare:
    def law(self, value: int) -> object:
        return object()


def test_laws_that_lie_about_their_tails_are_refused():
    @dataclass(frozen=True)
    class Liar(laws.DiscreteLaplace):
        center: int
        scale: Fraction

        def __init__(self, center: int) -> None:
            super().__init__(center, 2)

        @property
        def tails(self):
            return (*super().tails[:2], Fraction(1, 3))

    class Mechanism:
        law = Liar

    with pytest.raises(InvalidArgument, match="tails"):
        verify(Mechanism(), dp.Pure(1), pairs=[(0, 1)])
