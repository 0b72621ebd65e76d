"""Every run counts: sums with known answers, for each way in which runs are counted."""

from fractions import Fraction

import pytest

from discreet.guarantees import GDP, ZCDP, Approx, Pure, compose


def test_squares_of_mu_add_up():
    """Catches a hundred Gaussians accounted as one."""
    assert GDP(1).repeat(4) == GDP(2)
    assert compose([GDP(2), GDP(1), GDP(2)]) == GDP(3)
    assert compose([GDP(1).repeat(4), GDP(2), GDP(1)]) == GDP(3)


def test_rho_adds_up():
    """Catches the largest ρ in place of the sum."""
    assert ZCDP("1/10").repeat(3) == ZCDP("3/10")
    assert compose([ZCDP("1/10"), ZCDP("1/5"), ZCDP("1/10")]) == ZCDP("2/5")


def test_the_sum_of_many_is_not_below_the_sum():
    """65 of 1/1024, 2/1024, ... and one that is next to nothing: their sum is above a short
    fraction by 2^-165. Catches terms that are rounded down before they are added."""
    parts = [Fraction(i, 1024) for i in range(1, 66)] + [Fraction(1, 2**165)]
    together = compose([ZCDP(part) for part in parts])
    assert sum(parts) <= together.rho <= sum(parts) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_composition_that_is_repeated(k):
    """Catches k runs of a list that cost as much as one: at δ = 0 losses add up exactly."""
    both = compose([Pure(1), Pure("1/4")])
    assert both.repeat(k).epsilon(0) == k * 1.25
    assert both.repeat(k).counts == {Pure(1): k, Pure("1/4"): k}


def test_the_largest_losses_of_all_runs_add_up():
    """Catches k runs of ε that are told to be pure ε."""
    together = compose([Pure(1), Pure(1), Pure("1/4")])
    assert together.epsilon(0) == 2.25
    assert together.delta(2) > 0 == together.delta("2.25")


@pytest.mark.parametrize("k", [2, 10])
def test_the_failures_of_all_runs_add_up(k):
    """Catches the δ of one run for that of k: whatever ε is, 1 − (1 − δ)^k stays."""
    failing = 1 - (1 - Fraction(1, 100)) ** k
    found = Approx(1, "0.01").repeat(k).delta(100)
    assert failing <= Fraction(found) <= failing * (1 + Fraction(1, 10**12))
