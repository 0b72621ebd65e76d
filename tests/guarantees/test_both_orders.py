"""A guarantee whose two orders differ promises the worse of them, whatever is asked."""

from fractions import Fraction

import pytest

from discreet.guarantees import GDP, Pure, compose
from discreet.guarantees.key_discovery import KeyPair
from discreet.guarantees.sampled import OneWay, SampledPair

PAIRS = [
    SampledPair(GDP(mu=1), rate=0.8),
    SampledPair(Pure(epsilon=2), rate=0.1),
    KeyPair(coins=[(0, 0.01)], base=Pure(epsilon=1)),
    KeyPair(coins=[(Fraction(1, 10), Fraction(3, 10)), (Fraction(6, 10), Fraction(95, 100))]),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("delta", ["0.02", "0.1", "0.2"])
def test_epsilon_holds_in_both_orders(pair, delta):
    """Catches an ε that is read from the harmless order: adding a person, not removing one."""
    orders = [OneWay(pair, swapped=swapped).epsilon(delta) for swapped in (False, True)]
    assert pair.epsilon(delta) == max(orders)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("epsilon", [-2, "-0.3", 0, "0.3", 2])
def test_delta_holds_in_both_orders(pair, epsilon):
    """The same for δ, below zero too, where the swapped profile counts."""
    orders = [OneWay(pair, swapped=swapped).delta(epsilon) for swapped in (False, True)]
    assert pair.delta(epsilon) == max(orders)


def test_the_orders_differ():
    """Or there was nothing to see: at ε = 0.3 and below zero, and for ε at a δ."""
    for ask in (lambda g: g.delta("0.3"), lambda g: g.delta("-0.3"), lambda g: g.epsilon("0.02")):
        found = [(ask(OneWay(p, swapped=False)), ask(OneWay(p, swapped=True))) for p in PAIRS]
        assert any(first > second for first, second in found), found
    assert any(
        OneWay(p, swapped=True).delta(e) > OneWay(p, swapped=False).delta(e)
        for p in PAIRS
        for e in (-2, "-0.3", "0.3")
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_a_composition_is_no_better_than_either_order(swapped):
    """Catches a composition that looks at one order: a key that is seldom shown tells more when
    it is, and one that is seldom hidden when it is not."""
    low, high = Fraction(1, 100), Fraction(1, 10)
    coins = [(1 - high, 1 - low)] if swapped else [(low, high)]
    pair = KeyPair(coins=coins)

    def delta(guarantee):
        return compose([guarantee, guarantee], tolerance=0.5).delta(1)  # a coarse grid will do

    assert delta(OneWay(pair, swapped=not swapped)) < delta(OneWay(pair, swapped=swapped)) / 2
    assert delta(pair) >= delta(OneWay(pair, swapped=swapped)) * (1 - 1e-9)
