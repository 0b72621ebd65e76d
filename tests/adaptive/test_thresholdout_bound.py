"""The width of a reusable holdout: its noise, the questions it can be asked, its choice."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.adaptive.thresholdout import LargestNoise, Settings, Terms, choose


def terms(**changes) -> Terms:
    good = {"n": 10_000, "training": 10_000, "queries": 100, "hits": 5, "failure": Fraction(1, 20)}
    return Terms(**(good | changes))


def largest_tail(x: float, count: int) -> float:
    """P(the largest of `count` Laplace numbers > x)."""
    tail = math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2
    return -math.expm1(count * math.log1p(-tail)) if tail < 1 else 1.0


def noise_tail(a: float, b: float, count: int, x: float) -> float:
    """P(a·A + b·max L > x) by integration over A."""
    return sum(
        quad(
            lambda z: math.exp(-abs(z)) / 2 * largest_tail((x - a * z) / b, count),
            *ends,
            limit=200,
            epsabs=1e-13,
        )[0]
        for ends in [(-40, 0), (0, 10), (10, 40)]
    )


@pytest.mark.parametrize(("a", "b", "count"), [(3.0, 10.0, 1), (1.5, 2.0, 50), (2.0, 9.0, 5000)])
def test_noise_is_rounded_up_and_not_by_much(a, b, count) -> None:
    """Catches noise that is rounded down, a lost tail, and k that is off by a factor of 1.1."""
    noise = LargestNoise(a, b, count)
    for x in np.linspace(b, b * (math.log(count) + 12), 5):
        exact = noise_tail(a, b, count, x)
        assert exact <= noise.tail(x) <= exact * 1.03
        more = LargestNoise(a, b, math.ceil(1.1 * count))
        assert more.tail(x) > exact * 1.03 or exact > 0.5 or count == 1
        excess = quad(lambda y: noise_tail(a, b, count, y), x, x + 40 * b, epsrel=1e-6)[0]
        assert excess <= noise.excess(x) * (1 + 1e-6) <= excess * 1.03
    below = -100.0 * b  # all of it is above: the mean less s
    assert noise.excess(below) - noise.excess(below + 1) == pytest.approx(1)


@pytest.mark.parametrize(("queries", "hits", "levels"), [(4, 2, 1), (3, 3, 2), (5, 1, 3)])
def test_questions_are_counted_as_by_listing_every_history(queries, hits, levels) -> None:
    """Catches a wrong binomial, and a question after the last hit, which is never answered."""
    replies = [None, *range(levels + 1)]  # no hit, or a hit and its value
    found = [0] * hits
    for asked in range(queries):
        for history in product(replies, repeat=asked):
            used = sum(reply is not None for reply in history)
            if used < hits:
                found[used] += 1
    agreed = terms(queries=queries, hits=hits)
    assert [agreed.questions(used, levels) for used in range(hits)] == found


def test_the_threshold_keeps_false_alarms_rare() -> None:
    """Catches a rule that uses the hits up: noise and fluctuation of a fixed question."""
    agreed = terms()
    chosen = Settings(agreed, Fraction(1), choose_threshold(agreed))
    a, b = (float(s / (10_000 * 2**32)) for s in scales(chosen))
    beyond = float(chosen.threshold) - agreed.fluctuation
    assert noise_tail(a, b, 1, beyond) == pytest.approx(agreed.false_alarm / 4, rel=1e-3)
    variance = (1 / agreed.n + 1 / agreed.training) / 4
    assert 2 * math.exp(-(agreed.fluctuation**2) / (2 * variance)) <= agreed.false_alarm / 2 + 1e-12


def choose_threshold(agreed: Terms) -> Fraction:
    found = choose(agreed, private=True, epsilon=Fraction(1), threshold=None, error=None)
    return found.threshold


def scales(settings: Settings) -> tuple[Fraction, Fraction]:
    assert settings.mechanism is not None
    return settings.mechanism.threshold_scale, settings.mechanism.query_scale


def test_widths_are_made_of_their_terms() -> None:
    """Catches a forgotten term: threshold, noise, drift, the union, or the split of failure."""
    agreed = terms()
    noisy = choose(agreed, private=True, epsilon=None, threshold=None, error=None)
    assert noisy.epsilon is not None
    t, epsilon = float(noisy.threshold), float(noisy.epsilon)
    a, b = (float(s / (agreed.n * 2**32)) for s in scales(noisy))
    # Just the threshold, the typical largest noise and e^ε − 1 are less than all of it.
    typical = b * math.log(agreed.queries / 2)
    assert t + typical + math.expm1(epsilon) < noisy.by_privacy < 1
    assert noise_tail(a, b, agreed.queries, noisy.largest_error(Fraction(1, 20)) - t) <= 0.05
    assert t + typical < noisy.by_counting < noisy.by_privacy
    plain = choose(agreed, private=False, epsilon=None, threshold=None, error=None)
    union = math.log(2 * 5 * math.comb(100, 5) * (plain.levels + 1) ** 4 / 0.05)
    expected = float(plain.threshold) + math.sqrt(union / (2 * agreed.n))
    assert plain.by_counting == pytest.approx(expected, abs=1e-6)
    assert plain.by_privacy == 1
    assert sorted(plain.counted(used) for used in range(5)) == [plain.counted(u) for u in range(5)]


def test_the_chosen_epsilon_is_the_best_and_an_error_is_met_by_the_least() -> None:
    agreed = terms()
    best = choose(agreed, private=True, epsilon=None, threshold=None, error=None)
    assert best.epsilon is not None
    for factor in (Fraction(2, 3), Fraction(3, 2)):
        other = choose(
            agreed, private=True, epsilon=best.epsilon * factor, threshold=None, error=None
        )
        assert other.by_privacy > best.by_privacy
    goal = Fraction(1, 8)
    least = choose(agreed, private=True, epsilon=None, threshold=None, error=goal)
    assert least.epsilon is not None
    assert least.width <= goal
    weaker = choose(
        agreed, private=True, epsilon=least.epsilon * Fraction(3, 4), threshold=None, error=None
    )
    assert weaker.width > goal


@pytest.mark.parametrize(("n", "k", "hits"), [(2000, 20, 20), (50, 10, 10), (10_000, 100, 100)])
def test_no_answer_states_more_than_the_width(n, k, hits) -> None:
    """Catches the number of questions taken at the last hit: it falls where hits are many."""
    some = Settings(terms(n=n, queries=k, hits=hits), None, Fraction(3, 10))
    widths = [some.counted(used) for used in range(hits)]
    assert widths == sorted(widths)
    assert some.by_counting == max(widths)
    most = max(some.terms.questions(used, some.levels) for used in range(hits))
    assert some.terms.exponent(hits - 1, some.levels, Fraction(1, 20)) == pytest.approx(
        math.log(2 * hits * most * 20)
    )


def test_beyond_what_is_known_of_the_noise_nothing_is_stated() -> None:
    """Catches a search that returns its upper end as if it held."""
    some = Settings(terms(), Fraction(1), Fraction(1, 10))
    assert some.largest_error(Fraction(1, 10**9)) < 1
    assert some.largest_error(Fraction(1, 10**20)) == math.inf


def test_a_threshold_finer_than_the_grid_counts_the_grid() -> None:
    """Catches the rounding of a hit left out on the side where only the threshold was counted."""
    fine = Settings(terms(n=10), None, Fraction(0))
    assert fine.largest_error(Fraction(1, 20)) >= 0.5 / fine.levels
    noisy = Settings(terms(n=10), Fraction(1000), Fraction(0))
    assert noisy._agreed >= 0.5 / noisy.levels
