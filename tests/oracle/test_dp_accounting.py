"""Against Google's dp-accounting on random compositions: never below what is possible, and at
least as tight as its own upper bound."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from discreet.guarantees import GDP, LaplacePair, ResponsePair, SampledPair, compose

INTERVAL = 1e-4  # dp-accounting's default
# Its transforms err by about 1e-16, on either side: 1e-7 of a δ of 1e-9.
THEIR_ROUNDING = 1e-7


def piece(rng):
    """A guarantee of ours, how often, and the same for dp-accounting."""
    kind = rng.choice(["laplace", "gaussian", "response", "sampled", "steps"])
    k = rng.choice([1, 2, 5, 10, 50, 200])
    e = Fraction(str(round(10 ** rng.uniform(-2, 0.2) / math.sqrt(k), 6)))
    match kind:
        case "laplace":
            return LaplacePair(e), k, lambda **o: pld.from_laplace_mechanism(float(1 / e), **o)
        case "gaussian":
            return GDP(e), k, lambda **o: pld.from_gaussian_mechanism(float(1 / e), **o)
        case "response":
            b = rng.choice([2, 3, 10])
            noise = b / (math.exp(e) + b - 1)  # the share of answers that are drawn at random

            def response(*, use_connect_dots=True, **o):
                return pld.from_randomized_response(noise, b, **o)

            return ResponsePair(e, b), k, response
        case "steps":
            n = rng.choice([1, 2, 3])
            return (
                LaplacePair(e * n, steps=n),
                k,
                lambda **o: pld.from_discrete_laplace_mechanism(float(e), sensitivity=n, **o),
            )
    q, sigma = rng.choice([0.01, 0.1, 0.3]), round(rng.uniform(0.8, 3), 3)
    return (
        SampledPair(GDP(1 / Fraction(str(sigma))), q),
        k,
        lambda **o: pld.from_gaussian_mechanism(sigma, sampling_prob=q, **o),
    )


def theirs(pieces, delta, **options):
    total = None
    for _, k, make in pieces:
        part = make(value_discretization_interval=INTERVAL, **options).self_compose(k)
        total = part if total is None else total.compose(part)
    return total.get_epsilon_for_delta(delta)


def check(seed, cases):
    rng = random.Random(seed)
    for _ in range(cases):
        pieces = [piece(rng) for _ in range(rng.randint(1, 4))]
        delta = 10 ** rng.uniform(-9, -2)
        lower, upper = compose([g.repeat(k) for g, k, _ in pieces]).bracket(delta)
        pessimistic = theirs(pieces, delta)
        optimistic = theirs(pieces, delta, pessimistic_estimate=False, use_connect_dots=False)
        shown = [(g, k) for g, k, _ in pieces], delta
        assert upper >= optimistic, shown
        assert upper <= pessimistic * (1 + THEIR_ROUNDING), shown
        assert lower <= pessimistic * (1 + THEIR_ROUNDING), shown
        assert upper <= lower * (1 + 1e-3), shown


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_d1_ours_is_never_below_theirs_from_below_and_never_above_theirs_from_above(seed):
    """Below their optimistic bound, ours would be wrong; above their pessimistic one, it would
    be looser than what exists. Four compositions a seed here, 300 in `make test-long`."""
    check(seed, 4)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(100, 110))
def test_d1_the_same_on_many_compositions(seed):
    check(seed, 30)
