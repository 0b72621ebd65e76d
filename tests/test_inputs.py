"""What mechanisms say about their neighbours: a wrong word here would send the auditor astray."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet import inputs
from discreet.mechanisms.quantiles import Quantiles
from discreet.mechanisms.top_k import TopK
from discreet.sensitivity import counts

SAID = [
    (
        dp.Laplace(sensitivity=2, epsilon=1),
        inputs.Numbers(total=Fraction(2), largest=Fraction(2), norm="l1"),
    ),
    (
        dp.Laplace(sensitivity=counts(k=3, relation="add-remove"), epsilon=1),
        inputs.Numbers(total=Fraction(3), largest=Fraction(1), norm="l1"),
    ),
    (
        dp.Gaussian(sensitivity=1, sigma=2, step="fine"),
        inputs.Numbers(total=Fraction(1), largest=Fraction(1), norm="l2", integers=False),
    ),
    (dp.RandomizedResponse(epsilon=1, categories=5), inputs.Categories(5)),
    (dp.Exponential(sensitivity=2, epsilon=1), inputs.Scores(Fraction(2), monotone=False)),
    (
        dp.NoisyMax(sensitivity=1, epsilon=1, gap=True, monotone=True),
        inputs.Scores(Fraction(1), monotone=True, least=2),
    ),
    (
        dp.AboveThreshold(sensitivity=1, epsilon=1, threshold=7),
        inputs.Stream(Fraction(1), monotone=False, threshold=Fraction(7)),
    ),
    (dp.KeyThreshold(epsilon=1, delta=1e-6, max_groups=3), inputs.UnitCounts(3)),
    (dp.StatisticalQueries([0] * 20, sigma=1), inputs.BoundedMean(20)),
    (TopK(k=2, epsilon=1, rows=3), inputs.Scores(Fraction(3), monotone=True, least=2)),
    (Quantiles(probabilities=[0.5], epsilon=1, rows=2), inputs.RowCounts(2)),
]


@pytest.mark.parametrize(("mechanism", "said"), SAID, ids=lambda x: type(x).__name__)
def test_each_mechanism_says_what_its_neighbours_look_like(mechanism, said):
    assert mechanism.inputs == said


def test_a_sampled_mechanism_hands_on_what_is_sampled():
    base = dp.Laplace(sensitivity=1, epsilon=1)
    assert dp.PoissonSampled(base, rate=0.5).inputs == inputs.Sampled(base.inputs)


def test_a_move_may_be_shared_out():
    assert not inputs.Numbers(total=Fraction(2), largest=Fraction(1), norm="l1").together
    assert inputs.Numbers(total=Fraction(2), largest=Fraction(2), norm="l1").together
