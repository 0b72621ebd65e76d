"""What may fail for one person fails more often for a group, by a chain that reaches the bound."""

import math

import pytest

from discreet.guarantees import Approx


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "0.001"), ("0.1", "0.01"), (2, "1e-6")])
def test_a_chain_of_neighbours_reaches_the_delta_of_a_group(epsilon, delta, k):
    """An event that never happens, then with p₁ = δ, p₂ = e^ε·p₁ + δ, and so on: each step is
    (ε, δ)-private, and at kε the group's δ is p_k. Catches a δ that only grows like k."""
    e, d, p = float(epsilon), float(delta), 0.0
    for _ in range(k):
        p = math.exp(e) * p + d
    together = Approx(epsilon, delta).group(k)
    assert together.epsilon0 == Approx(epsilon, 0).group(k).epsilon0
    assert p * (1 - 1e-12) <= together.delta(k * e) <= p * (1 + 1e-12)
