"""Laws that lie, or that change where nobody looks: catches a "holds" or a "proven" that is not
so, and a "violated" where nothing is wrong. What each law really does is in its docstring."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet.auditor.exact.comparison import compare
from discreet.auditor.exact.known_laws import form
from discreet.auditor.exact.neighbours import close, look, whole_numbers
from discreet.auditor.exact.sides import is_one_of
from discreet.auditor.verify import verify
from discreet.guarantees import GDP, ZCDP, Approx, BoundedRange, Pure, SampledPair, TotalVariation
from discreet.inputs import BoundedMean, Categories, Numbers, Scores, Stream, UnitCounts
from discreet.laws import (
    CutGaussian,
    DiscreteLaplace,
    Finite,
    Gibbs,
    RealGaussian,
    RealLaplace,
    RoundedGaussian,
)
from discreet.laws.sparse_vector import SparseAnswers
from discreet.numeric.balls import ball, precision
from discreet.sensitivity import Sensitivity

ONE = Fraction(1)
WHOLE = Numbers(total=ONE, largest=ONE, norm="l1", reals=False)


@dataclass(frozen=True)
class ByLaw:
    law: Any
    inputs: Any = None


# -- a law has one form only where it was looked at --------------------------------------------


CHANGING = {
    "scale, far out": (lambda v: DiscreteLaplace(v, 1 if abs(v) < 20000 else "1/10"), WHOLE),
    "centre, far out": (lambda v: DiscreteLaplace(v if abs(v) < 20000 else 10 * v, 1), WHOLE),
    "scale, at one number": (lambda v: DiscreteLaplace(v, "1/50" if v == 17 else 1), WHOLE),
    "scale, of several": (
        lambda v: DiscreteLaplace(v, 3 if abs(v) < 10 else "1/10"),
        Numbers(total=Fraction(3), largest=ONE, norm="l1", reals=False),
    ),
}


@pytest.mark.parametrize("name", CHANGING)
def test_noise_that_changes_somewhere_is_found(name):
    law, inputs = CHANGING[name]
    found = verify(ByLaw(law, inputs), Pure(1))
    assert found.violated, str(found)


def test_what_was_assumed_is_said():
    found = verify(ByLaw(lambda v: DiscreteLaplace(v, 1), WHOLE), Pure(1))
    assert found.proven and "if the law has this form at every input" in found.why
    looked = int(found.why.split("at the ")[-1].split()[0])
    assert looked > 400


def test_choices_streams_means_and_keys_that_change_are_not_proven():
    """Each has the form that the proof needs, but not at every input."""
    scores = Scores(ONE, monotone=False)
    assert verify(ByLaw(lambda u: Gibbs(u, "1/2" if max(u) < 40 else 3), scores), Pure(1)).violated

    def sparse(u):
        scale = 4 if max(u) < 40 else "1/2"
        return SparseAnswers(u, threshold=0, threshold_scale=2, query_scale=scale, hits=1)

    found = verify(ByLaw(sparse, Stream(ONE, monotone=False, threshold=Fraction(0))), Pure(1))
    assert not found.proven

    def cut(mean):
        return CutGaussian(mean, Fraction(1, 100) if mean < Fraction(9, 10) else Fraction(1, 10**4))

    assert verify(ByLaw(cut, BoundedMean(100)), Pure(1)).violated

    def mean(value):
        return RealGaussian(value, ONE if value < Fraction(1, 4) else Fraction(1, 10**4))

    assert verify(ByLaw(mean, BoundedMean(100)), TotalVariation("1/100")).violated

    def kept(n):
        return Finite((False, True), (1, 1) if n == 1000 else (max(0, 3 - n), min(n, 3)))

    found = verify(ByLaw(kept, UnitCounts(1)), Approx(1, "1/2"))
    assert not found.proven


def test_noise_that_is_cut_to_an_interval_does_not_move_as_a_whole():
    """How far 0 and 1 are apart does not say how far 50 and 51 are."""
    law = ByLaw(lambda v: CutGaussian(v, 100, (0, 100)), WHOLE)
    assert not verify(law, Pure(3)).proven


def test_a_form_is_that_of_our_own_types_alone():
    class Other(DiscreteLaplace):
        pass

    assert form(Other(0, 1)) is None
    seen = look(lambda v: Other(v, 1), whole_numbers())
    assert not seen.one_form and seen.same == 0
    assert look(lambda v: DiscreteLaplace(v, 1), whole_numbers()).one_form
    refused = look(lambda v: DiscreteLaplace(v, 1) if v < 9 else [].pop(), range(20))
    assert refused.one_form and refused.same == 9


# -- probabilities that do not add up ------------------------------------------------------------


@dataclass(frozen=True)
class HalfGrid:
    """Noise on the half-integers, which share nothing with the integers that are looked at."""

    center: int

    def _place(self, x):
        return Fraction(x) - self.center - Fraction(1, 2)

    def mass(self, outcome):
        return DiscreteLaplace(0, "1/10").mass(self._place(outcome))

    def cdf(self, x):
        return DiscreteLaplace(0, "1/10").cdf(math.floor(self._place(x)))


@pytest.mark.parametrize("claim", [TotalVariation("1/10"), Approx(1, "1e-6"), GDP("1/10")])
def test_mass_off_the_grid_is_missed(claim):
    with pytest.raises(dp.InvalidArgument, match=r"sum to 1.*law\.step"):
        verify(ByLaw(HalfGrid), claim, pairs=[(0, 1)])


@dataclass(frozen=True)
class OnGrid:
    step: Fraction

    def mass(self, outcome):
        return DiscreteLaplace(0, 1).mass(Fraction(outcome) / self.step)

    def cdf(self, x):
        return DiscreteLaplace(0, 1).cdf(math.floor(Fraction(x) / self.step))


def test_two_grids_are_compared_on_both():
    """Steps of 1/2 and of 1/3: most of what the finer one puts out is not on the coarser one."""
    p = {Fraction(k, 2): DiscreteLaplace(0, 1).pmf(k) for k in range(-60, 61)}
    q = {Fraction(k, 3): DiscreteLaplace(0, 1).pmf(k) for k in range(-60, 61)}
    sticks = [
        sum(max(0, m - math.e * b.get(x, 0)) for x, m in a.items()) for a, b in ((p, q), (q, p))
    ]
    assert sticks[1] > sticks[0] + 0.01
    law = ByLaw(lambda v: OnGrid(Fraction(1, 2 + v)))
    found = verify(law, Approx(1, Fraction(sum(sticks) / 2)), pairs=[(0, 1)])
    assert found.violated and found.found[0] == pytest.approx(sticks[1])


@dataclass(frozen=True)
class Short:
    """Two outcomes, of which something is missing under input 0."""

    value: int
    gap: Fraction = Fraction(1, 10**13)
    outcomes = (0, 1)

    def mass(self, outcome):
        with precision(192):
            return ball(Fraction(1, 2) - (self.gap if self.value == 0 else 0))


def test_what_is_missing_counts_as_failing():
    mechanism = ByLaw(Short, Categories(2))
    for claim in (Pure(1), Approx(1, "1e-14"), ZCDP(1), BoundedRange(1), GDP(1)):
        assert not verify(mechanism, claim).holds, claim
    assert verify(mechanism, Approx(1, "1e-12")).proven
    several = ByLaw(lambda v: Short(v), None)
    both = compare((several.law(0),) * 2, (several.law(1),) * 2)
    assert float(both.hockey(ONE)) > 0 and not both.loss(ONE).complete


class _Odd(Short):
    def mass(self, outcome):
        return self.gap


@pytest.mark.parametrize("mass", [0.5, Fraction(1, 2), ball(0) / ball(0), ball(-1)])
def test_probabilities_must_be_balls(mass):
    with pytest.raises(dp.InvalidArgument, match="finite balls"):
        verify(ByLaw(lambda v: _Odd(v, mass)), Pure(1), pairs=[(0, 1)])


# -- outcomes that give an input away --------------------------------------------------------------


@pytest.mark.parametrize("digits", [14, 18, 22, 30])
def test_a_rare_outcome_that_gives_the_input_away_is_found(digits):
    rare = Fraction(1, 10**digits)

    def law(v):
        return Finite((0, 1, 2), (1 - rare, 1, rare) if v == 0 else (1, 1, 0))

    for claim in (GDP("1/2"), SampledPair(GDP(1), "1/100"), ZCDP(1), Pure(9), BoundedRange(9)):
        assert verify(ByLaw(law, Categories(2)), claim).violated, claim


def test_a_rare_outcome_of_a_large_finite_loss_is_found():
    def law(v):
        rare = Fraction(1, 10**22) if v == 0 else Fraction(1, 10**60)
        return Finite((0, 1, 2), (1 - rare, 1, rare))

    for claim in (GDP("1/2"), SampledPair(GDP(1), "1/100")):
        found = verify(ByLaw(law, Categories(2)), claim)
        assert found.violated and found.witness.event(2), str(found)
    assert verify(ByLaw(law, Categories(2)), GDP(20)).proven  # δ(87) is above 10⁻²² there


def test_tails_that_are_not_known_leave_a_profile_undecided():
    @dataclass(frozen=True)
    class Untold:
        center: int

        def mass(self, outcome):
            return RoundedGaussian(self.center, 2, 1).mass(outcome)

        def cdf(self, x):
            return RoundedGaussian(self.center, 2, 1).cdf(x)

    found = verify(ByLaw(Untold), GDP(1), pairs=[(0, 1)])
    assert found.verdict == "undecided" and "undecided beyond" in found.note


# -- NaN is one outcome ----------------------------------------------------------------------------


def test_two_nan_are_one_outcome():
    def law(v):
        return Finite((float("nan"), 0), (1 + v, 1))

    equal = verify(ByLaw(lambda v: law(0)), Pure(0), pairs=[(0, 1)])
    assert equal.holds and equal.found == (0.0, 0.0)
    found = verify(ByLaw(law), Pure("1/10"), pairs=[(1, 0)])
    assert found.violated and found.found[0] == pytest.approx(math.log(3 / 2))
    assert is_one_of([float("nan")])(float("nan")) and not is_one_of([1.0])(float("nan"))
    assert is_one_of([(1, math.nan), 2])((1, float("nan")))
    assert law(1).probability(float("nan")) == Fraction(2, 3)
    assert law(1).probability(math.inf) == 0
    with pytest.raises(dp.InvalidArgument, match="distinct outcomes"):
        Finite((float("nan"), float("nan")), (1, 1))


# -- what laws say about themselves ----------------------------------------------------------------


@dataclass(frozen=True)
class Cauchy:
    """A density whose ratio is not monotone; `shape` would say that it is."""

    center: int
    scale = ONE
    shape: Any = ("cauchy", 1)

    def density(self, y):
        z = (y if hasattr(y, "mid") else ball(Fraction(y))) - ball(self.center)
        return 1 / (z.pi() * (1 + z * z))

    def cdf(self, y):
        with precision(192):
            z = ball(Fraction(y) - self.center)
            return ball(1) / 2 + z.atan() / z.pi()

    def above(self, y):
        return 1 - self.cdf(y)


@pytest.mark.parametrize("shape", [("cauchy", 1), 1.5])
def test_a_shape_is_not_believed(shape):
    law = ByLaw(lambda v: Cauchy(v, shape))
    found = verify(law, Approx("1/2", "1/10"), pairs=[(0, 1)])
    assert found.violated and found.found[0] == pytest.approx(0.11907, abs=1e-5)


@dataclass(frozen=True)
class TwoPoints:
    """±5 around the centre, with a shape and no monotone ratio."""

    center: int
    step = 1
    shape = ("two points",)

    def mass(self, outcome):
        return ball(Fraction(1, 2) if abs(Fraction(outcome) - self.center) == 5 else 0)

    def cdf(self, x):
        return ball(sum(Fraction(1, 2) for end in (-5, 5) if x >= self.center + end))


def test_two_points_share_nothing():
    found = verify(ByLaw(TwoPoints), TotalVariation("6/10"), pairs=[(0, 1)])
    assert found.violated and found.found == (1.0, 1.0)


@dataclass(frozen=True)
class Spiky:
    """Discrete Laplace noise but for 1 % far out in the tail, where `tails` denies it."""

    center: int
    step = 1

    @property
    def tails(self):
        return DiscreteLaplace(self.center, 1).tails

    def mass(self, outcome):
        return self._mixed(DiscreteLaplace(self.center, 1).mass(outcome), outcome == self._spike)

    def cdf(self, x):
        return self._mixed(DiscreteLaplace(self.center, 1).cdf(x), x >= self._spike)

    @property
    def _spike(self):
        return 1000 * self.center + 500

    def _mixed(self, noise, spike):
        with precision(192):
            return noise * 99 / 100 + ball(Fraction(int(spike), 100))


def test_tails_are_held_against_all_that_lies_in_them():
    with pytest.raises(dp.InvalidArgument, match="tails"):
        verify(ByLaw(Spiky), Pure("11/10"), pairs=[(0, 1)])


def test_logarithms_are_held_against_the_probabilities():
    @dataclass(frozen=True)
    class Modest:
        value: int
        outcomes = (0, 1)

        def mass(self, outcome):
            return Finite((0, 1), (1, 1 + self.value)).mass(outcome)

        def log_weight(self, outcome):
            return Fraction(0), "all alike"

    with pytest.raises(dp.InvalidArgument, match="log_weight"):
        verify(ByLaw(Modest), Pure("1/10"), pairs=[(0, 1)])


def test_noise_of_two_scales_is_no_noise_that_moves():
    """σ = 10 against σ = 1: a shift of 1/10 of the first σ says nothing about the second."""
    law = ByLaw(lambda v: RoundedGaussian(v, 10 if v == 0 else 1, 1))
    assert verify(law, GDP("1/5"), pairs=[(0, 1)]).violated
    coarse = ByLaw(lambda v: RoundedGaussian(0, 1, 1 + v))  # one noise, on two grids
    assert not verify(coarse, GDP("1/5"), pairs=[(0, 1)]).holds


# -- notions that are more than their profile ------------------------------------------------------


def test_a_kept_profile_is_not_concentrated_privacy():
    law = ByLaw(lambda v: RealLaplace(v, 1))
    divergence = math.exp(-1)  # Kullback-Leibler, of Laplace laws one scale apart
    low, high = Fraction(divergence - 1e-9), Fraction(divergence + 1e-3)
    assert verify(law, ZCDP(low), pairs=[(0, 1)]).violated
    assert verify(law, ZCDP(high), pairs=[(0, 1)]).holds
    sampled = dp.PoissonSampled(dp.Gaussian(sensitivity=1, sigma=1), rate=0.3)
    assert verify(sampled, ZCDP(1)).verdict == "undecided"


def test_a_long_range_below_the_profile_is_found():
    rare, ratio = Fraction(1, 10**4), Fraction(math.exp(0.9))

    def law(v):
        weights = (rare, rare / ratio) if v == 0 else (rare / ratio, rare)
        return Finite((0, 1, 2), (*weights, 1 - rare - rare / ratio))

    found = verify(ByLaw(law, Categories(2)), BoundedRange(1))
    assert found.violated and found.found[0] == pytest.approx(1.8)
    assert verify(ByLaw(law, Categories(2)), BoundedRange("1.81")).proven


# -- several numbers, several keys -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "each", "step"), [(20, 1, None), (6, "1/2", None), (3, 2, "fine"), (200, 1, None)]
)
def test_a_person_moves_all_the_numbers_that_they_can(cells, each, step):
    more = {} if step is None else {"step": step}
    spread = Sensitivity.spread(cells=cells, each=each)
    mechanism = dp.Laplace(sensitivity=spread, epsilon=1, **more)
    found = verify(mechanism, Pure("99/100"))
    assert found.violated and found.found[0] == pytest.approx(1)
    assert found.witness.epsilon > 0.99
    output = [-(10**6)] * cells
    assert found.witness.event(output) and not found.witness.event([10**6] * cells)
    assert verify(mechanism, Pure("1.000001")).proven


def test_what_was_not_moved_is_not_called_safe():
    inputs = Numbers(total=Fraction(10**4), largest=ONE, norm="l1", reals=False)
    found = verify(ByLaw(lambda v: DiscreteLaplace(v, 10**4), inputs), TotalVariation("1/10"))
    assert found.verdict == "undecided" and "more numbers" in found.note


def test_all_keys_of_a_unit_are_new_at_once():
    mechanism = dp.KeyThreshold(epsilon=1, delta=1e-6, max_groups=10)
    assert verify(mechanism, Approx(1, "5e-7")).violated
    many = dp.KeyThreshold(epsilon=1, delta=1e-6, max_groups=100)
    assert "more than 40 keys" in verify(many, Approx(1, "1e-6")).note


def test_products_of_equal_factors_are_merged():
    """Ten coins of 0.6 against 0.5: eleven parts, by the binomial law."""
    coins = [Finite((0, 1), weights) for weights in ((2, 3), (1, 1))]
    side = compare((coins[0],) * 10, (coins[1],) * 10)
    p, q = (
        [math.comb(10, k) * one**k * (1 - one) ** (10 - k) for k in range(11)] for one in (0.6, 0.5)
    )
    assert len(side.parts) == 11
    truth = sum(max(0, a - b) for a, b in zip(p, q, strict=True))
    assert float(side.hockey(Fraction(0))) == pytest.approx(truth)
    event = side.event(Fraction(0)).event
    assert event((1,) * 10) and event((0, 1) * 2 + (1,) * 6) and not event((0,) * 10)


# -- our own are not accused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.Exponential(sensitivity="16/13", epsilon=2.79),
        dp.NoisyMax(sensitivity="13/3", epsilon=3, noise="gumbel"),
        dp.NoisyMax(sensitivity="1/3", epsilon=3, monotone=True, noise="exponential"),
        dp.NoisyMax(sensitivity=0.1, epsilon=1, noise="exponential"),
    ],
)
def test_sensitivities_that_are_no_floats(mechanism):
    assert verify(mechanism).proven


def test_rounding_never_moves_neighbours_apart():
    for s in (Fraction(16, 13), Fraction(1, 3), Fraction(1, 10)):
        for base in (0, s, 3 * s, Fraction(1, 7)):
            for sign in (1, -1):
                (a,), (b,) = close([base], [base + sign * s], s)
                assert abs(Fraction(b) - Fraction(a)) <= s
                assert abs(Fraction(b) - Fraction(a)) > s * (1 - Fraction(1, 10**12))


def test_equal_laws_are_equal():
    for law in (RealGaussian(0, 1), RealLaplace(0, 1), DiscreteLaplace(0, 1), Gibbs((0, 1), 1)):
        for claim in (Pure(0), GDP(1), TotalVariation(0), ZCDP(1)):
            found = verify(ByLaw(lambda v, law=law: law), claim, pairs=[(0, 1)])
            assert found.holds and found.found == (0.0, 0.0), (law, claim)


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (TotalVariation("0.3829249"), "TotalVariation(tv=0.3829249)"),
        (Approx(1, "0.1269367"), "Approx(epsilon=1, delta=0.1269367)"),
        (GDP("0.99999999999"), "GDP(mu=0.9999999999)"),
    ],
)
def test_an_accusation_is_true_of_the_number_that_it_prints(claim, told):
    found = verify(dp.Gaussian(sensitivity=1, sigma=1, step="fine"), claim)
    assert str(replace(found, verdict="violated")).startswith(f"{told} is violated")


def test_pairs_may_be_any_pairs():
    law = ByLaw(lambda v: Finite((0, 1), (1, 1 + v)))
    assert verify(law, Pure(1), pairs=(pair for pair in [(0, 1)])).holds
    with pytest.raises(dp.InvalidArgument, match="at least one pair"):
        verify(law, Pure(1), pairs=[0])
    with pytest.raises(dp.InvalidArgument, match=r"law\(value\)"):
        verify(ByLaw(5), Pure(1), pairs=[(0, 1)])


def test_what_is_only_tried_is_tried_for_a_while(monkeypatch):
    """Proofs and given pairs are not cut short."""
    monkeypatch.setattr("discreet.auditor.verify._SECONDS", -1)
    found = verify(dp.PoissonSampled(dp.Gaussian(sensitivity=1, sigma=1), rate=0.3))
    assert found.tried == 1 and "left out" in found.why and not found.proven
    assert verify(dp.RandomizedResponse(epsilon=1, categories=4)).tried == 6
    law = ByLaw(lambda v: Finite((0, 1), (1, 1 + v)))
    assert verify(law, Pure(1), pairs=[(0, 1), (0, 0)]).tried == 2


def test_a_law_may_be_a_dict_of_probabilities():
    """Catches a refusal of what anybody would write down first."""

    class Coin:
        guarantee = Pure(1)

        def law(self, value):
            return {value: Fraction(3, 4), 1 - value: Fraction(1, 4)}

    finding = verify(Coin(), pairs=[(0, 1)])
    assert finding.violated and finding.found[0] == pytest.approx(math.log(3))
