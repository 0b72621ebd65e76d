"""Every mechanism's guarantee against the profile of its own laws, neighbour by neighbour.

The laws come from `law()`, which other tests compare with what is released. A guarantee may
never be below the profile of any two neighbours, and is reached where it says it is exact.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.guarantees import BoundedRange, Guarantee, LaplacePair, Pure, ResponsePair, to_zcdp
from discreet.sensitivity import Sensitivity

POINTS = (0.0, 0.2, 0.5, 0.8, 0.95)  # as shares of the largest loss


def hockey_stick(p, q, x):
    """Σ (p − e^x·q)⁺ of two arrays of masses."""
    return float(np.maximum(p - np.exp(x) * q, 0.0).sum())


def masses(law, outcomes):
    return np.array([law.pmf(outcome) for outcome in outcomes])


def shares(guarantee: Guarantee, p, q, largest) -> list[float]:
    """The profile of both orders over that of the guarantee; asserts that none is above 1."""
    found = []
    for x in (share * largest for share in POINTS):
        true = max(hockey_stick(p, q, x), hockey_stick(q, p, x))
        claimed = guarantee.delta(x)
        assert true <= claimed + 1e-12
        found.append(true / claimed)
    return found


# -- Laplace -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [None, 1])
@pytest.mark.parametrize(("sensitivity", "scale"), [(1, 1), (1, 3), (3, 2), (4, 2), (5, "1/2")])
def test_laplace_on_integers_is_exact(step, sensitivity, scale):
    """Equal to the profile of the two discrete laws. Catches a continuous profile for integers,
    which would be too small, and Pure(ε) where more is known."""
    mechanism = dp.Laplace(sensitivity=sensitivity, scale=scale, step=step)
    outcomes = range(-200, 206)
    p, q = (masses(mechanism.law(value), outcomes) for value in (0, sensitivity))
    assert min(shares(mechanism.guarantee, p, q, float(mechanism.epsilon))) > 1 - 1e-9


@pytest.mark.no_cover
@pytest.mark.parametrize("step", [None, "fine"])
def test_laplace_on_floats_is_below_its_profile(step):
    """Rounded real noise at a shift of 1.5 and 3. Catches a profile of whole steps only."""
    mechanism = dp.Laplace(sensitivity=3, scale=2, step=step)
    edges = np.linspace(-40, 43, 1661)
    cuts = [float(edge) + 2.0**-12 for edge in edges]
    for shift in (1.5, 3.0):
        p, q = (np.diff([float(mechanism.law(v).cdf(cut)) for cut in cuts]) for v in (0.0, shift))
        least = min(shares(mechanism.guarantee, p, q, shift / 2))
    if step == "fine":
        assert least > 0.93  # cells of 0.05 where the scale is 2


def split_profile(mechanism, moves, x):
    """The hockey-stick divergence when each number moves on its own, by the discrete laws."""
    p, q = np.ones(1), np.ones(1)
    for move in moves:
        outcomes = range(-36, 37 + move)
        one, two = (masses(mechanism.law(value), outcomes) for value in (0, move))
        p, q = np.outer(p, one).ravel(), np.outer(q, two).ravel()
    return hockey_stick(p, q, x)


@pytest.mark.no_cover
@pytest.mark.parametrize("step", [None, 1])
def test_the_most_uneven_split_of_the_moves_is_the_worst_and_is_reached(step):
    """Three cells of 1; two of 2; a largest move of 2 in a sum of 3. Every split that the fact
    allows is below the guarantee, and the most uneven one is equal to it. Catches a guarantee
    for the even split, and one for the whole sum in one number."""
    for fact, worst, others in (
        (Sensitivity.spread(cells=3, each=1), (1, 1, 1), [(1, 1), (1,)]),
        (Sensitivity.spread(cells=2, each=2), (2, 2), [(2, 1), (1, 1), (2,)]),
        (Sensitivity(l0=3, linf=2, l1=3, l2=3), (2, 1), [(1, 1, 1), (1, 1), (2,)]),
    ):
        mechanism = dp.Laplace(sensitivity=fact, scale=2, step=step)
        for x in (0.0, 0.3, 0.5, 0.9, 1.2):
            claimed = mechanism.guarantee.delta(x)
            assert split_profile(mechanism, worst, x) == pytest.approx(claimed, rel=2e-4)
            for moves in others:
                assert split_profile(mechanism, moves, x) <= claimed + 1e-12
        plain = dp.Laplace(sensitivity=mechanism.sensitivity, scale=2, step=step)
        assert mechanism.guarantee.tv < plain.guarantee.tv
        assert mechanism.scale == plain.scale
        assert mechanism.epsilon == plain.epsilon


def test_sums_are_no_worse_than_one_number_that_moves_by_all():
    """The lemma on real noise, two and three coordinates, from the closed form of the losses:
    a − 2·Y cut to [0, a]. Catches a direction of the inequality that is wrong for some split."""
    grid = np.linspace(0.0, 1.0, 201)

    def losses(a):
        y = a * grid
        mass = np.diff(0.5 * np.exp(-y)) * -1
        middle = a - (y[1:] + y[:-1])
        return np.array([a, *middle, -a]), np.array([0.5, *mass, 0.5 * np.exp(-a)])

    def profile(moves, x):
        total, weight = np.zeros(1), np.ones(1)
        for move in moves:
            loss, mass = losses(move)
            total = np.add.outer(total, loss).ravel()
            weight = np.outer(weight, mass).ravel()
        return float((weight * np.maximum(1 - np.exp(x - total), 0)).sum())

    for x in (0.0, 0.4, 1.0, 1.6):
        for even, uneven in (((1, 1), (1.5, 0.5)), ((1.2, 0.8), (1.9, 0.1)), ((0.7,) * 2, (1.4,))):
            assert profile(even, x) <= profile(uneven, x) + 1e-3
    assert profile((2.0,), 0.5) == pytest.approx(LaplacePair(2).delta(0.5), abs=1e-3)


def test_a_fact_is_part_of_the_value():
    """Ten cells by one and one cell by ten have the same noise and different promises, so they
    are different mechanisms. Catches a guarantee that depends on something not compared."""
    ten = dp.Laplace(sensitivity=dp.sensitivity.counts(k=10, relation="add-remove"), epsilon=1)
    one = dp.Laplace(sensitivity=10, epsilon=1)
    assert ten != one
    assert ten.scale == one.scale
    assert ten.guarantee.epsilon(0) == one.guarantee.epsilon(0) == 1
    fraction = Sensitivity(l0=2, linf=Fraction(3, 2), l1=3, l2=3)
    assert dp.Laplace(sensitivity=fraction, scale=1).guarantee == Pure(3)  # no single pair
    assert dp.Laplace(sensitivity=fraction, scale=1, step="fine").guarantee.tv < Pure(3).tv


# -- selection -----------------------------------------------------------------------------------


def neighbours(monotone):
    """Scores and what one person can make of them: random ones, and half of them up."""
    rng = np.random.default_rng(4)
    for size in (2, 3, 5):
        for _ in range(20):
            scores = rng.integers(-3, 4, size) * rng.choice([0.5, 1.0, 3.0])
            yield scores, scores + rng.uniform(0 if monotone else -1, 1, size)
    for size, up in product((2, 4, 8), (1, 2, 3, 6)):
        if up < size:
            moved = np.where(np.arange(size) < up, 1.0, 0.0 if monotone else -1.0)
            yield np.zeros(size), moved
            yield -moved / 2, moved / 2


SELECTION = [
    (dp.Exponential, {}, BoundedRange(1)),
    (dp.NoisyMax, {"noise": "gumbel"}, BoundedRange(1)),
    (dp.NoisyMax, {"noise": "laplace"}, Pure(1)),
    (dp.NoisyMax, {"noise": "exponential"}, Pure(1)),
]


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("family", "given", "claim"), SELECTION)
def test_selection(family, given, claim, monotone):
    """Random neighbours: never above the guarantee; with Gumbel noise it is reached, and the
    losses of one pair lie in an interval of length ε. Catches bounded range for the other two,
    whose neighbours here exceed it, and a range that is too long by 2."""
    mechanism = family(sensitivity=1, epsilon=1, monotone=monotone, **given)
    assert mechanism.guarantee == claim
    reached, longest, beyond = 0.0, 0.0, 0.0
    for before, after in neighbours(monotone):
        outcomes = range(before.size)
        p, q = (masses(mechanism.law(scores.tolist()), outcomes) for scores in (before, after))
        reached = max([reached, *shares(mechanism.guarantee, p, q, 1)])
        beyond = max(beyond, hockey_stick(p, q, 0.8) / BoundedRange(1).delta(0.8))
        losses = np.log(p / q)
        longest = max(longest, losses.max() - losses.min())
    if claim == BoundedRange(1):
        assert longest == pytest.approx(1, abs=1e-9)
        assert reached > 1 - 1e-9
    else:
        assert longest > 1.1
        assert beyond > 1


def test_rho_of_permute_and_flip():
    """It is pure ε: ρ = ε·tanh(ε/2), not the ε²/8 of bounded range, which these two lists of
    scores exceed. A public accountant had this wrong. Catches BoundedRange for it."""
    mechanism = dp.NoisyMax(sensitivity=1, epsilon=1, noise="exponential")
    rho = float(to_zcdp(mechanism.guarantee).rho)
    assert rho == pytest.approx(np.tanh(0.5), rel=1e-12)
    p, q = (masses(mechanism.law(scores), range(2)) for scores in ([1.0, -1.0], [0.0, 0.0]))
    worst = max(np.log((p**a * q ** (1 - a)).sum()) / (a - 1) / a for a in (1.01, 1.5, 2, 4, 8))
    assert 1 / 8 < worst <= rho
    gumbel = dp.NoisyMax(sensitivity=1, epsilon=1, noise="gumbel").guarantee
    assert float(to_zcdp(gumbel).rho) == pytest.approx(1 / 8, rel=0.02)


def test_sparse_answers_are_pure():
    """All answers to three scores, on neighbours: never above Pure(ε)."""
    mechanism = dp.SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=1)
    assert mechanism.guarantee == Pure(1)
    answers = [(False,) * before + (True,) for before in range(3)] + [(False,) * 3]
    p, q = (masses(mechanism.law(scores), answers) for scores in ([0, 1, -1], [1, 0, 0]))
    assert p.sum() == pytest.approx(1)
    shares(mechanism.guarantee, p, q, 1)


# -- randomized response -------------------------------------------------------------------------


@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("given", [{"epsilon": 1}, {"epsilon": "1/10"}, {"truth": "1/2"}])
def test_randomized_response_is_exact(categories, given):
    """Equal to the profile of two answers' laws. Catches Pure(ε) for many categories, and an ε
    from `truth` that is rounded down."""
    mechanism = dp.RandomizedResponse(categories=categories, **given)
    p, q = (masses(mechanism.law(answer), range(categories)) for answer in (0, 1))
    assert min(shares(mechanism.guarantee, p, q, float(mechanism.epsilon))) > 1 - 1e-9
    assert isinstance(mechanism.guarantee, Pure if categories == 2 else ResponsePair)
    assert mechanism.guarantee.within(Pure(mechanism.epsilon))
