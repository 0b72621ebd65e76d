"""Broken and correct mechanisms with known truth, by their exact laws: catches a route that
misses a fault, overstates it, or accuses what is right."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import discreet as dp
from discreet import laws
from discreet.auditor.verify import verify
from discreet.inputs import Categories, Numbers, Scores, Stream
from discreet.laws.sparse_vector import SparseAnswers
from discreet.numeric.balls import ball, precision

ONE = Fraction(1)


@dataclass(frozen=True)
class ByLaw:
    """A mechanism that is nothing but its law, and what it says about its neighbours."""

    law: Any
    inputs: Any = None


@dataclass(frozen=True)
class DoubleZero:
    """Discrete Laplace noise with zero counted twice: P(0) is twice what it should be."""

    center: int

    def mass(self, outcome):
        with precision(192):
            weight = ball(-abs(Fraction(outcome) - self.center)).exp()
            return (2 if outcome == self.center else 1) * weight / self._total

    def cdf(self, x):
        with precision(192):
            r, last = ball(-1).exp(), math.floor(x) - self.center
            if last < 0:
                return r**-last / (1 - r) / self._total
            return 1 - r ** (last + 1) / (1 - r) / self._total

    @property
    def _total(self):
        r = ball(-1).exp()
        return 2 + 2 * r / (1 - r)


@dataclass(frozen=True)
class Rejected:
    """Discrete Laplace noise drawn again until it lies within 4."""

    center: int

    @property
    def outcomes(self):
        return range(self.center - 4, self.center + 5)

    def mass(self, outcome):
        with precision(192):
            if abs(outcome - self.center) > 4:
                return ball(0)
            weights = [ball(-abs(k)).exp() for k in range(-4, 5)]
            return ball(-abs(outcome - self.center)).exp() / sum(weights, start=ball(0))


@dataclass(frozen=True)
class Coin:
    """The truth with probability t = e/(1 + e), else a fair coin."""

    value: int
    outcomes = (0, 1)

    def mass(self, outcome):
        with precision(192):
            t = 1 / (1 + ball(-1).exp())
            return (1 - t) / 2 + (t if outcome == self.value else 0)


def sparse(scale_threshold, scale_query, hits, threshold=1):
    return lambda scores: SparseAnswers(
        scores,
        threshold=threshold,
        threshold_scale=scale_threshold,
        query_scale=scale_query,
        hits=hits,
    )


def argmax(noise, scale):
    return lambda scores: laws.NoisyArgmax(scores, scale=scale, noise=noise)


def gaussian(variance):
    return lambda value: laws.RealGaussian(value, variance)


def sigma_classic(epsilon, delta):
    return Fraction(math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


BROKEN = {
    # id: law, pair, claim, parameter found, digits
    "X01": (lambda x: laws.DiscreteLaplace(x, "1/2"), (0, 1), dp.Pure(1), 2, 1e-12),
    "X06": (sparse(4, "4/3", 1), ([1] * 10, [2] * 5 + [0] * 5), dp.Pure(1), 1.7418, 1e-4),
    "X11": (argmax("laplace", 1), ([6, 0, 0, 0, 0], [7, -1, 1, 1, 1]), dp.Pure(1), 1.9974, 1e-4),
    "X12": (lambda u: laws.Gibbs(u, 1), ([3, 1], [4, 0]), dp.Pure(1), 1.8912, 1e-4),
    "X14": (DoubleZero, (0, 1), dp.Pure(1), 1 + math.log(2), 1e-9),
    "X16": (Rejected, (0, 1), dp.Pure(1), math.inf, 0),
    "X18": (
        gaussian(Fraction("3.73063163481594")),
        (0, 1),
        dp.Approx(1, 1e-5),
        0.008468,
        1e-6,
    ),
    "X18b": (gaussian(sigma_classic(10, 1e-5) ** 2), (0, 1), dp.Approx(10, 1e-5), 2.2654e-5, 1e-9),
    "X19": (
        gaussian(Fraction("3.73063163481594") ** 2 / 10),
        (0, 1),
        dp.Approx(1, 1e-5),
        0.076963,
        1e-6,
    ),
    "X20": (
        lambda rows: laws.RealLaplace(Fraction(sum(rows), len(rows)), Fraction(1, len(rows))),
        ((0,), (0, 1)),
        dp.Approx(1, 0.1),
        0.1419,
        1e-4,
    ),
    "X24": (Coin, (0, 1), dp.Pure(1), 1.861995, 1e-6),
    "X28": (lambda x: laws.DiscreteLaplace(x, 1), (0, 5), dp.Pure(1), 5, 1e-12),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_broken_are_refuted_with_the_right_number(name):
    law, pair, claim, truth, digits = BROKEN[name]
    found = verify(ByLaw(law), claim, pairs=[pair])
    assert found.violated, str(found)
    assert found.found[0] == truth or abs(found.found[0] - truth) <= digits
    witness = found.witness
    if isinstance(claim, dp.Pure):  # the event shows more than is claimed
        assert witness.epsilon > 1
        assert witness.probability[0] > math.e * witness.other_probability[1]
    else:
        assert witness.delta > float(claim.delta0)


def test_rejected_noise_shows_its_delta():
    found = verify(ByLaw(Rejected), dp.Approx(1, 0.001), pairs=[(0, 1)])
    weights = [mpmath.exp(-abs(k)) for k in range(-4, 5)]
    assert found.violated
    assert found.found[0] == pytest.approx(float(weights[0] / sum(weights)), rel=1e-12)


CORRECT = {
    # id: law, pair, claim, tight value on this pair, digits
    "V02": (lambda x: laws.DiscreteLaplace(x, 1), (0, 1), dp.Pure(1), 1, 0),
    "V03": (
        gaussian(Fraction("3.73063163481594") ** 2),
        (0, 1),
        dp.Approx(1, "0.00001000000001"),
        1e-5,
        1e-13,
    ),
    "V05": (lambda x: dp.RandomizedResponse(epsilon=1).law(x), (0, 1), dp.Pure(1), 1, 0),
    "V07": (lambda u: laws.Gibbs(u, "1/2"), ([0, 0], [1, -1]), dp.Pure(1), 0.6201, 1e-4),
    "V07b": (lambda u: laws.Gibbs(u, "1/2"), ([9, 1], [10, 0]), dp.Pure(1), 0.9886, 1e-4),
    "V09": (argmax("laplace", 2), ([6, 0, 0, 0, 0], [7, -1, 1, 1, 1]), dp.Pure(1), 0.9953, 1e-4),
    "V10": (argmax("exponential", 2), ([0, 0], [1, -1]), dp.Pure(1), 1, 1e-12),
    "V20": (
        lambda n: dp.KeyThreshold(epsilon=1, delta="0.0133898", rule="laplace").law(n),
        (0, 1),
        dp.Approx(1, "0.0133898"),
        None,
        0,
    ),
}


@pytest.mark.parametrize("name", CORRECT)
def test_the_correct_hold_with_their_true_value(name):
    law, pair, claim, truth, digits = CORRECT[name]
    found = verify(ByLaw(law), claim, pairs=[pair])
    assert found.holds, str(found)
    if truth is not None:
        assert abs(found.found[1] - truth) <= max(digits, 1e-15)


def test_sampled_laplace_is_tight():
    """V24: ln(1 + 0.3(e − 1)) = 0.41574, and no less."""
    sampled = dp.PoissonSampled(dp.Laplace(sensitivity=1, epsilon=1), rate=0.3)
    truth = math.log1p(0.3 * (math.e - 1))
    pair = [((0, 1), (0, None))]
    assert verify(sampled, dp.Pure(truth + 1e-12), pairs=pair).holds
    assert verify(sampled, dp.Pure(truth - 1e-12), pairs=pair).violated


def test_a_search_finds_the_fault_without_being_shown_the_pair():
    scores = Scores(ONE, monotone=False)
    missing_half = ByLaw(lambda u: laws.Gibbs(u, 1), scores)
    assert verify(missing_half, dp.Pure(1)).violated
    too_little = ByLaw(argmax("laplace", 1), scores)
    found = verify(too_little, dp.Pure(1))
    assert found.violated and found.found[0] > 1.8
    coin = ByLaw(Coin, Categories(2))
    assert verify(coin, dp.Pure(1)).violated
    without_hits = ByLaw(sparse(4, "4/3", 1), Stream(ONE, monotone=False, threshold=ONE))
    assert verify(without_hits, dp.Pure(1)).violated
    half_scale = ByLaw(
        lambda x: laws.DiscreteLaplace(x, "1/2"),
        Numbers(total=ONE, largest=ONE, norm="l1", reals=False),
    )
    assert verify(half_scale, dp.Pure(1)).found == (2.0, 2.0)


def test_one_neighbour_in_many_is_not_overlooked():
    """A law that errs at a single category: caught since all pairs are compared."""

    def law(value):
        return laws.Finite((0, 1), (3, 1) if value == 3 else (1, 1))

    assert verify(ByLaw(law, Categories(5)), dp.Pure("1/2")).violated
    assert verify(ByLaw(law, Categories(50)), dp.Pure("1/2")).violated
    assert verify(ByLaw(law, Categories(3)), dp.Pure("1/2")).proven


def test_noise_that_depends_on_the_input_is_not_proven():
    """Translation is checked, not assumed: another scale at one value ends the proof."""

    def law(value):
        return laws.DiscreteLaplace(value, 2 if value == -3 else 1)

    inputs = Numbers(total=ONE, largest=ONE, norm="l1", reals=False)
    found = verify(ByLaw(law, inputs), dp.Pure(1))
    assert not (found.holds and found.proven)


def test_a_law_without_stated_tails_is_not_called_safe():
    """Nothing is known beyond the window, so pure privacy stays undecided."""

    @dataclass(frozen=True)
    class Untold:
        center: int

        def mass(self, outcome):
            return laws.DiscreteLaplace(self.center, 2).mass(outcome)

        def cdf(self, x):
            return laws.DiscreteLaplace(self.center, 2).cdf(x)

    pure = verify(ByLaw(Untold), dp.Pure(1), pairs=[(0, 1)])
    assert pure.verdict == "undecided" and "tails" in pure.note
    assert verify(ByLaw(Untold), dp.TotalVariation(0.3), pairs=[(0, 1)]).holds


@pytest.mark.long
def test_sparse_vector_on_its_worst_streams():
    """V11: Algorithm 1 of Lyu, Su and Li with one hit at T = 0 uses 0.9893 of its ε = 1."""
    law = sparse(2, 4, 1, threshold=0)
    found = verify(ByLaw(law), dp.Pure(1), pairs=[([0] * 10, [1] * 9 + [-1])])
    assert found.holds and 0.95 < found.found[0] < 1


def test_a_law_with_an_outcome_missing_is_refused():
    @dataclass(frozen=True)
    class Short:
        value: int
        outcomes = (0,)

        def mass(self, outcome):
            return laws.Gibbs([0, self.value], 1).mass(outcome)

    with pytest.raises(dp.InvalidArgument, match="sum to 1"):
        verify(ByLaw(Short), dp.Pure(1), pairs=[(0, 1)])


def test_proofs_for_all_scores_end_where_scores_are_changed_first():
    """Planted: scores doubled before the noise. The bound for all scores would be ε = 1."""
    scores = Scores(ONE, monotone=False)
    doubled = ByLaw(lambda u: laws.NoisyArgmax([2 * x for x in u], 2, "laplace"), scores)
    assert verify(doubled, dp.Pure(1)).violated
    assert not verify(doubled, dp.Pure(3)).proven
    stream = Stream(ONE, monotone=False, threshold=ONE)
    law = sparse(2, 4, 1)
    assert verify(ByLaw(law, stream), dp.Pure(1)).proven
    assert not verify(ByLaw(lambda u: law([2 * x for x in u]), stream), dp.Pure(4)).proven
