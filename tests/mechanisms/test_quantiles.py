"""Quantiles: the law against a plain definition, privacy by full enumeration, error."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.guarantees import to_zcdp
from discreet.laws import Gibbs
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.quantiles import Quantiles, QuantilesLaw, deal, gather, halves
from discreet.testing import seeded

FALSE_ALARM = 1e-9
HALF, QUARTILES = (Fraction(1, 2),), tuple(Fraction(k, 4) for k in (1, 2, 3))
NINTH, PAIR = (Fraction(9, 10),), (Fraction(1, 4), Fraction(9, 10))
UNEVEN = (Fraction(1, 10), Fraction(1, 3), Fraction(9, 10))


# -- the definition, written as plainly as possible, with mistakes that can be planted ------------


def chances(rows: list[int], places: range, p: Fraction, scale_of) -> list[float]:
    """The exponential mechanism on places for the p-quantile of a list of rows' places."""
    n = len(rows)
    weights = []
    for place in places:
        below = sum(row < place for row in rows)
        through = sum(row <= place for row in rows)
        d = max(Fraction(0), below - p * n, p * n - through)
        weights.append(math.exp(-d / scale_of(p)))
    return [w / sum(weights) for w in weights]


def definition(counts, asked, step, rows=1, spots=1, planted=""):
    """P(outcome) for every outcome of the mechanism as it is described."""

    def scale_of(p: Fraction) -> Fraction:
        worst = Fraction(1, 2) if planted == "half" else max(p, 1 - p)
        return 2 * worst * rows / step

    def piece(rows_here: list[int], places: range, low: Fraction, high: Fraction, ps):
        if not ps:
            return {(): 1.0}
        inner = [(p - low) / (high - low) for p in ps]
        outcomes: dict[tuple[int, ...], float] = defaultdict(float)
        if len(ps) <= 2:
            candidates = range(places[0] // spots, places[-1] // spots + 1)
            values = [row // spots for row in rows_here]
            laws = [chances(values, candidates, p, scale_of) for p in inner]
            for way in product(candidates, repeat=len(ps)):
                chance = math.prod(law[i - candidates[0]] for law, i in zip(laws, way, strict=True))
                outcomes[tuple(sorted(way))] += chance
            return outcomes
        middle = len(ps) // 2
        for place, chance in zip(
            places, chances(rows_here, places, inner[middle], scale_of), strict=True
        ):
            below = [row for row in rows_here if row < place]
            above = [row for row in rows_here if row > place]
            at = [row for row in rows_here if row == place]
            half = len(at) // 2
            if planted == "overlap":
                below, above = below + at, above + at
            elif planted == "exact split":  # where the quantile is, which all rows decide
                here = math.floor(inner[middle] * len(rows_here)) - len(below)
                here = max(0, min(len(at), here))
                below, above = below + at[:here], above + at[here:]
            else:
                below, above = below + at[:half], above + at[half:]
            p = ps[middle]
            first = piece(below, range(places[0], place + 1), low, p, ps[:middle])
            second = piece(above, range(place, places[-1] + 1), p, high, ps[middle + 1 :])
            for (a, x), (b, y) in product(first.items(), second.items()):
                outcomes[(*a, place // spots, *b)] += chance * x * y
        return outcomes

    dealt = [
        i * spots + number % spots for i, count in enumerate(counts) for number in range(count)
    ]
    everything = range(len(counts) * spots)
    return dict(piece(dealt, everything, Fraction(0), Fraction(1), tuple(sorted(asked))))


def vectors(candidates: int, most: int):
    """All count vectors of at most so many rows."""
    return [v for v in product(range(most + 1), repeat=candidates) if sum(v) <= most]


def worst_loss(candidates, most, asked, rows, spots=1, planted="", epsilon=1) -> float:
    """The largest |ln P(o)/P′(o)|/ε over all counts of up to ``most`` rows and all neighbours."""
    step = Fraction(epsilon) / len(asked).bit_length()

    @cache
    def law(counts):
        return definition(counts, asked, step, rows, spots, planted)

    found = 0.0
    for counts, added in product(vectors(candidates, most), vectors(candidates, rows)):
        here, there = law(counts), law(tuple(map(sum, zip(counts, added, strict=True))))
        found = max(found, *(abs(math.log(here[o] / there[o])) for o in here))
    return found / epsilon


# -- the law -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spots", [1, 2, 3])
@pytest.mark.parametrize("asked", [HALF, NINTH, PAIR, QUARTILES, UNEVEN])
def test_the_law_is_the_definition(asked, spots):
    """Catches a wrong distance, scale, split, rescaled probability or place, to 12 digits."""
    for counts in [(0, 0, 0), (3, 0, 4), (1, 5, 2), (0, 7, 0), (9, 1, 1)]:
        expected = definition(counts, asked, Fraction(1, 2), 2, spots)
        law = QuantilesLaw(np.array(counts), asked, 2, Fraction(1, 2), spots)
        for outcome in vectors(3, 9) if len(asked) == 3 else expected:
            if all(i < 3 for i in outcome):
                assert law.pmf(outcome) == pytest.approx(expected.get(outcome, 0), rel=1e-12)
        assert len(asked) == 1 or law.pmf(range(len(asked), 0, -1)) == 0  # never falling
    assert sum(expected.values()) == pytest.approx(1)


def test_the_law_of_seven_probabilities_is_the_definition():
    """Two splits on a path: catches a piece that forgets where it starts."""
    asked = tuple(Fraction(k, 8) for k in range(1, 8))
    counts = (2, 1, 4)
    expected = definition(counts, asked, Fraction(3), 1, 2)
    law = QuantilesLaw(np.array(counts), asked, 1, Fraction(3), 2)
    likeliest = sorted(expected, key=expected.__getitem__)[-8:]
    for outcome in likeliest:
        assert law.pmf(outcome) == pytest.approx(expected[outcome], rel=1e-12)


def test_one_probability_is_one_exponential_mechanism():
    """The formula in the docstring, with Δ = max(p, 1 − p)·rows."""
    law = Quantiles(probabilities=[0.9], epsilon=1, rows=3).law([4, 0, 6])
    far = Gibbs([-5, -5, 0], rate=Fraction(10, 9) / 6)  # p·n = 9; 4 rows are below
    assert [law.pmf([i]) for i in range(3)] == pytest.approx([far.pmf(i) for i in range(3)])


@pytest.mark.no_cover
@pytest.mark.parametrize("asked", [NINTH, PAIR, QUARTILES])
def test_release_follows_its_law_and_no_other(asked, monkeypatch):
    """n = 2000 draws, false-alarm rate 1e-9; ε 60 % larger is rejected.

    With 3 places a candidate, so that the sum over places is short.
    """
    monkeypatch.setattr("discreet.mechanisms.quantiles.MOST_SPOTS", 3)
    mechanism = Quantiles(probabilities=asked, epsilon=1.5)
    counts, n = [4, 1, 7, 5], 2000
    with seeded(11):
        draws = Counter(map(tuple, mechanism.release([counts] * n).tolist()))

    def fits(law) -> bool:
        likely = {o: law.pmf(o) * n for o in draws if law.pmf(o) * n >= 10}
        observed = [draws[o] for o in likely]
        cells = [*likely.values(), n - sum(likely.values())]
        return chisquare([*observed, n - sum(observed)], cells).pvalue > FALSE_ALARM

    assert fits(mechanism.law(counts))
    assert not fits(Quantiles(probabilities=asked, epsilon=2.4).law(counts))


# -- privacy -------------------------------------------------------------------------------------

ENUMERATED = [
    (3, 4, HALF, 1, 1),
    (4, 4, NINTH, 2, 1),
    (5, 4, NINTH, 1, 1),
    (4, 4, PAIR, 1, 1),
    (4, 4, QUARTILES, 1, 1),
    (3, 4, QUARTILES, 2, 1),
    (3, 4, QUARTILES, 1, 3),
    (3, 4, UNEVEN, 2, 2),
    (5, 3, UNEVEN, 1, 1),
]


@pytest.mark.no_cover
@pytest.mark.parametrize(("candidates", "most", "asked", "rows", "spots"), ENUMERATED)
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), 3])
def test_no_outcome_is_e_to_epsilon_times_likelier(candidates, most, asked, rows, spots, epsilon):
    """Every outcome, every counts of up to so many rows, every neighbour, whole recursion."""
    assert worst_loss(candidates, most, asked, rows, spots, epsilon=epsilon) <= 1 + 1e-9


PAIRS = [
    # counts, where a row is added, asked, the mistake, its loss over ε, the loss without it
    ((0, 10, *[0] * 10), 11, NINTH, "half", 1.62, 0.89),
    ((0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0), 5, QUARTILES, "overlap", 1.20, 0.83),
    ((0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0), 11, QUARTILES, "exact split", 1.03, 0.73),
]


@pytest.mark.parametrize(("counts", "at", "asked", "planted", "found", "ours"), PAIRS)
def test_mistakes_are_seen(counts, at, asked, planted, found, ours):
    """Sensitivity ½ for every p, rows at the split in both pieces, a split that depends on all
    rows: each costs more than ε, by exact enumeration, where ours costs less."""
    epsilon = Fraction(1, 20)
    step = epsilon / len(asked).bit_length()
    neighbour = [count + (i == at) for i, count in enumerate(counts)]

    def loss(planted: str) -> float:
        here, there = (definition(c, asked, step, planted=planted) for c in (counts, neighbour))
        return max(abs(math.log(here[o] / there[o])) for o in here) / epsilon

    assert loss(planted) == pytest.approx(found, abs=0.01)
    assert loss("") == pytest.approx(ours, abs=0.01)


@pytest.mark.parametrize("asked", [HALF, QUARTILES])
def test_the_promise_in_rho_holds_too(asked):
    """Rényi divergences of order 1.5, 2 and 10 of all neighbours are at most α·ρ."""
    mechanism = Quantiles(probabilities=asked, rho=0.5)
    rho = float(to_zcdp(mechanism.guarantee).rho)
    law = cache(lambda counts: definition(counts, asked, mechanism.step, 1, 2))
    for counts, added in product(vectors(3, 3), vectors(3, 1)):
        here, there = law(counts), law(tuple(map(sum, zip(counts, added, strict=True))))
        for alpha, (p, q) in product([1.5, 2, 10], [(here, there), (there, here)]):
            moment = sum(p[o] ** alpha * q[o] ** (1 - alpha) for o in p)
            assert math.log(moment) / (alpha - 1) <= alpha * rho


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    added=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    spots=st.integers(1, 6),
    at=st.integers(0, 29),
)
def test_rows_are_shared_out(counts, added, spots, at):
    """What is added to the whole is added to the parts, none is taken away, none counts twice."""
    before = np.array(counts)
    after = before + np.array(added[: before.size])
    places, more = deal(before, spots), deal(after, spots)
    assert (more >= places).all()
    assert gather(more - places, 0, spots).tolist() == (after - before).tolist()
    parts, larger = halves(places, at % places.size), halves(more, at % places.size)
    grown = [big - small for small, big in zip(parts, larger, strict=True)]
    assert all((part >= 0).all() for part in grown)
    assert sum(part.sum() for part in grown) == (after - before).sum()


def test_a_rounded_even_spread_would_not_share_out():
    """Why rows are dealt: two rows over five places as ⌊2·k/5⌋ and three rows differ by three."""
    spread = [[c * (k + 1) // 5 - c * k // 5 for k in range(5)] for c in (2, 3)]
    assert sum(abs(a - b) for a, b in zip(*spread, strict=True)) == 3
    dealt = [deal(np.array([c]), 5) for c in (2, 3)]
    assert np.abs(dealt[1] - dealt[0]).sum() == 1


# -- accuracy ------------------------------------------------------------------------------------


def far(counts, indices, asked) -> list[float]:
    """How many rows lie between each index and its quantile."""
    through = np.cumsum(counts)
    n = through[-1]
    return [
        float(max(0, through[i] - counts[i] - p * n, p * n - through[i]))
        for i, p in zip(indices, asked, strict=True)
    ]


@pytest.mark.parametrize("asked", [PAIR, QUARTILES, UNEVEN])
def test_error_holds_exactly(asked, monkeypatch):
    """P(all within error) ≥ confidence by enumeration, also where many rows share a value.

    ε = 40 makes widths of a few rows.
    """
    monkeypatch.setattr("discreet.mechanisms.quantiles.MOST_SPOTS", 4)
    mechanism, spots = Quantiles(probabilities=asked, epsilon=40), 4 if len(asked) > 2 else 1
    for counts in [(5, 0, 1, 3), (20, 0, 0, 9), (3, 30, 4, 1), (1, 1, 1, 1), (0, 1, 25, 25)]:
        widths = mechanism.error(0.5, candidates=4, heaviest=max(counts))
        assert max(widths) < sum(counts)
        law = definition(counts, asked, mechanism.step, 1, spots)
        inside = sum(p for o, p in law.items() if (far(counts, o, asked) <= widths).all())
        assert inside >= 0.5


def test_error_of_one_probability_is_that_of_the_exponential_mechanism():
    mechanism = Quantiles(probabilities=[0.9], epsilon=1, rows=2)
    single = Exponential(sensitivity=Fraction(18, 10), epsilon=1)
    assert mechanism.error(0.95, candidates=50) == single.error(0.95, candidates=50)


def test_many_equal_values_do_not_bias_the_other_quantiles():
    """60 % of the rows are 0, so the median is; the upper quartile is still the upper quartile.

    Catches a split that gives all rows at the median to one side, or half of them: that would
    release the 0.65-quantile, 8 places off, however large ε is.
    """
    counts = np.array([6000] + [100] * 40)
    with seeded(5):
        released = Quantiles(probabilities=QUARTILES, epsilon=50).release([counts] * 20)
    assert (released[:, :2] == 0).all()
    assert (abs(released[:, 2] - 15) <= 1).all()


def test_all_rows_at_one_candidate():
    """Every probability finds it, wherever it is: pieces that end there are not empty."""
    asked = [k / 10 for k in range(1, 10)]
    for place in (0, 3, 6):
        counts = [3000 * (i == place) for i in range(7)]
        assert (Quantiles(probabilities=asked, epsilon=8).release(counts) == place).all()


def test_error_is_kept_on_a_fine_grid():
    """n = 20 releases; widths at a confidence of 1 − 1e-9, so false alarms below 2e-8."""
    counts = np.bincount(np.arange(20_000) ** 2 % 9973, minlength=10_000)
    asked = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(19, 20))
    mechanism = Quantiles(probabilities=asked, epsilon=1)
    widths = mechanism.error(1 - Fraction(1, 10**9), candidates=10_000, heaviest=counts.max())
    with seeded(6):
        released = mechanism.release([counts] * 20)
    off = np.array([far(counts, one, asked) for one in released])
    assert (off <= widths).all()
    assert (off > widths / 50).any()
    assert max(widths) < 0.03 * counts.sum()
