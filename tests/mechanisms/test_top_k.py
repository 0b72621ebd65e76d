"""The k commonest: the law against sorted noise, privacy by full enumeration, error, doors."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InvalidArgument
from discreet.guarantees import BoundedRange, Pure, to_pure, to_zcdp
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.top_k import TopK
from discreet.noise import entropy
from discreet.testing import seeded

FALSE_ALARM = 1e-9


def definition(counts, k, scale) -> dict[tuple[int, ...], float]:
    """Peeling, as plainly as possible: each choice is ∝ e^(count/scale) among those left."""
    outcomes = {}
    for order in permutations(range(len(counts)), k):
        chance, left = 1.0, list(range(len(counts)))
        for i in order:
            chance *= math.exp(counts[i] / scale) / sum(math.exp(counts[j] / scale) for j in left)
            left.remove(i)
        outcomes[order] = chance
    return outcomes


def test_the_law_is_the_definition():
    """To 12 digits, and everything else is impossible."""
    mechanism = TopK(k=2, epsilon=1, rows=3)
    law, counts = mechanism.law([5, 0, 7, 2]), [5, 0, 7, 2]
    for outcome, chance in definition(counts, 2, 6).items():
        assert law.pmf(outcome) == pytest.approx(chance, rel=1e-12)
    assert law.pmf((1, 1)) == law.pmf((0,)) == law.pmf((0, 9)) == law.pmf((0, 1, 2)) == 0


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [True, False])
def test_release_follows_its_law_and_no_other(monotone):
    """n = 3000, false-alarm rate 1e-9. Catches a candidate named by its place among those left,
    and noise off by 30 %."""
    mechanism = TopK(k=2, epsilon=2, monotone=monotone)
    counts, n = [3, 0, 4, 1], 3000
    with seeded(1):
        draws = Counter(mechanism.release(counts) for _ in range(n))

    def fits(law) -> bool:
        cells = list(permutations(range(4), 2))
        expected = np.array([law.pmf(o) for o in cells])
        observed = np.array([draws[o] for o in cells])
        return chisquare(observed, expected / expected.sum() * n).pvalue > FALSE_ALARM

    assert fits(mechanism.law(counts))
    assert not fits(TopK(k=2, epsilon=2.6, monotone=monotone).law(counts))


def test_one_shot_gumbel_noise_is_the_same():
    """Durfee and Rogers 2019: sorting counts plus Gumbel noise once. n = 20000, rate 1e-9."""
    counts, scale, n = np.array([3, 0, 4, 1]), 2.0, 20_000
    with seeded(2):
        words = entropy.source().words(4 * n).reshape(n, 4)
    gumbel = -np.log(-np.log((words.astype(float) + 0.5) / 2.0**64))
    order = np.argsort(-(counts + scale * gumbel), axis=1)[:, :2]
    draws = Counter(map(tuple, order.tolist()))
    law = definition(counts, 2, scale)
    assert chisquare([draws[o] for o in law], [p * n for p in law.values()]).pvalue > FALSE_ALARM
    assert chisquare([draws[o] for o in law], [n / 12] * 12).pvalue < FALSE_ALARM


def worst_loss(k, moves, scale, *, candidates, most) -> float:
    """The largest |ln P/P′| over all counts up to ``most`` and all moves of one person."""
    law = cache(lambda counts: definition(counts, k, scale))
    found = 0.0
    for counts, move in product(
        product(range(most + 1), repeat=candidates), product(moves, repeat=candidates)
    ):
        here, there = law(counts), law(tuple(map(sum, zip(counts, move, strict=True))))
        found = max(found, *(abs(math.log(here[o] / there[o])) for o in here))
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("rows", "monotone", "moves"),
    [(1, True, (0, 1)), (2, True, (0, 1, 2)), (1, False, (-1, 0, 1))],
)
@pytest.mark.parametrize("k", [1, 2])
def test_no_outcome_is_e_to_epsilon_times_likelier(rows, monotone, moves, k):
    """All outcomes of all neighbours of small counts of 5 candidates; half the noise is caught."""
    mechanism = TopK(k=k, epsilon=Fraction(1, 10), rows=rows, monotone=monotone)
    scale = float(mechanism.scale)
    assert worst_loss(k, moves, scale, candidates=5, most=1) <= 0.1 * (1 + 1e-9)
    assert worst_loss(k, moves, scale / 2, candidates=5, most=1) > 0.1


def test_counts_of_a_replaced_person_are_not_monotone():
    """One count rises, another falls: with monotone=True that costs more than ε."""
    for monotone, over in ((True, True), (False, False)):
        mechanism = TopK(k=1, epsilon=4, monotone=monotone)
        here, there = mechanism.law([3, 1]), mechanism.law([2, 2])
        assert (math.log(there.pmf((1,)) / here.pmf((1,))) > 4) == over


def test_error_holds_and_is_not_idle():
    """One best, all others just below the bound: never left out more often than promised."""
    mechanism = TopK(k=3, epsilon=1)
    width = mechanism.error(0.95, candidates=6)
    single = Exponential(sensitivity=1, epsilon=Fraction(1, 3), monotone=True)
    assert width == single.error(1 - Fraction(5, 300), candidates=6)

    def right(gap: float) -> float:
        counts = [3 * gap, 2 * gap, gap, 0, 0, 0]
        law = definition(counts, 3, float(mechanism.scale))
        return sum(p for o, p in law.items() if o == (0, 1, 2))

    assert right(width) >= 0.95
    assert right(width / 2) < 0.95


def test_the_commonest_of_many():
    """In order, wherever they stand; floats are read exactly too."""
    counts = np.zeros(100_000, np.int64)
    counts[[70_000, 3, 99_999]] = 9000, 6000, 3000
    assert TopK(k=3, epsilon=1).release(counts) == (70_000, 3, 99_999)
    assert TopK(k=3, epsilon=1).release(counts.astype(float)) == (70_000, 3, 99_999)
    assert sorted(TopK(k=4, epsilon=1).release([0, 0, 0, 0])) == [0, 1, 2, 3]


def test_guarantee_and_value():
    """k shares of ε, or the largest that keep ρ; frozen, picklable."""
    mechanism = TopK(k=4, epsilon=1, rows=2)
    assert mechanism.guarantee == BoundedRange(Fraction(1, 4)).repeat(4)
    assert to_pure(mechanism.guarantee) == Pure(1)
    assert mechanism.scale == 8
    assert TopK(k=4, epsilon=1, rows=2, monotone=False).scale == 16
    by_rho = TopK(k=10, rho=0.1)
    assert 0.0999 < to_zcdp(by_rho.guarantee).rho <= Fraction(1, 10)
    assert pickle.loads(pickle.dumps(by_rho)) == by_rho
    with pytest.raises(AttributeError):
        mechanism.k = 1


BAD = [
    ({"k": 0, "epsilon": 1}, "k"),
    ({"k": 1.5, "epsilon": 1}, "k"),
    ({"k": 10**9, "epsilon": 1}, "k"),
    ({"k": 1}, "epsilon or rho"),
    ({"k": 1, "epsilon": 1, "rho": 1}, "epsilon or rho"),
    ({"k": 1, "epsilon": -1}, "epsilon"),
    ({"k": 1, "epsilon": "1e-300"}, "epsilon"),
    ({"k": 1, "epsilon": 1, "rows": 0}, "rows"),
    ({"k": 1, "epsilon": 1, "monotone": 1}, "monotone"),
]


@pytest.mark.parametrize(("parameters", "name"), BAD)
def test_bad_parameters(parameters, name):
    """One sentence each, that names the parameter."""
    with pytest.raises(InvalidArgument) as refusal:
        TopK(**parameters)
    assert refusal.value.name == name


def test_fewer_candidates_than_places():
    """Refused before anything is drawn, in release, law and error alike."""
    mechanism = TopK(k=3, epsilon=1)
    for ask in (
        lambda: mechanism.release([1, 2]),
        lambda: mechanism.law([1, 2]),
        lambda: mechanism.error(0.95, candidates=2),
    ):
        with pytest.raises(InvalidArgument, match="number of candidates, 2"):
            ask()
    with pytest.raises(InvalidArgument, match="counts"):
        mechanism.release([[1, 2, 3]])
