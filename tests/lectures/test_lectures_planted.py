"""Planted errors: a wrong law, scale or bound makes the verdict on its claim flip.

Each case is what a claim's check is given in place of the truth. A check that passed all the
same could not fail at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet import bounds, neighbors, sensitivity
from discreet.errors import InternalError
from discreet.guarantees import GDP, Pure
from discreet.laws import Finite, Gibbs
from discreet.laws.gaussian import RealGaussian
from discreet.laws.laplace import RealLaplace
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.statistical_queries import StatisticalQueries
from lectures import (
    distances,
    gaussians,
    generalization,
    groups,
    laplaces,
    means,
    oracles,
    responses,
    selections,
    sensitivities,
    squares,
    stability,
)
from lectures.claim import Check, ClaimReport
from lectures.report import Report
from lectures.trial import FromLaw, verified

UNLIKE = (Finite("abc", (6, 3, 1)), Finite("abc", (3, 4, 3)))


def halved(law: Callable[[Fraction, int], Finite]) -> Callable[[Fraction, int], Finite]:
    """Randomized response that tells the truth half as often as it says."""
    return lambda q, true: law(q / 2, true)


def replacing(x: object, y: object, _: str) -> float:
    """The distance under replace, whatever relation is asked for."""
    return neighbors.distance(x, y, "replace")


PLANTED: list[tuple[int, Callable[[], ClaimReport]]] = [
    (1, lambda: stability.tv_stability(reading=lambda g: g.tv * 0.99)),
    (1, lambda: stability.tv_stability(reading=lambda g: g.delta(Fraction(1, 100)))),
    (2, lambda: oracles.gaussian_oracle(oracle=lambda s, x: StatisticalQueries(s, sigma=x / 2))),
    (4, lambda: distances.multiplicative_distance(laws=UNLIKE)),
    (5, lambda: distances.three_forms(coin=(Gibbs((1, 0), 2), Gibbs((0, 1), 2)))),
    (6, lambda: oracles.laplace_oracle(law=lambda mean, m, e: RealLaplace(mean, 1 / (2 * m * e)))),
    (6, lambda: oracles.laplace_oracle(law=lambda mean, m, e: RealGaussian(mean, 1 / (m * e)))),
    (7, lambda: stability.tv_of_pure(bound=lambda e: 0.999 * math.tanh(e / 2))),
    (8, lambda: stability.loss_tail(bound=lambda mu, e: 0.9 * GDP(mu).delta(e))),
    (
        9,
        lambda: sensitivities.global_sensitivity(
            sum_fact=lambda bounds, relation: sensitivity.bounded_sum(
                bounds=(-2, 1), relation=relation
            )
        ),
    ),
    (10, lambda: laplaces.laplace_mechanism(noise=lambda s, e: Laplace(
        sensitivity=s, scale=s / (2 * e), step=1))),
    (11, lambda: gaussians.tail(bound=lambda t: 0.99 * bounds.gaussian_tail(t))),
    (12, lambda: gaussians.classic(constant=Fraction(51, 100))),
    (13, lambda: gaussians.many_numbers(l2=Fraction)),
    (14, lambda: responses.randomized_response(law=halved(responses.coins))),
    (15, lambda: responses.estimate(law=halved(responses.coins))),
    (16, lambda: responses.deniability(law=halved(responses.coins))),
    (17, lambda: groups.group_privacy(distance=replacing)),
    (17, lambda: groups.group_privacy(group=lambda g, _: g)),
    (
        18,
        lambda: sensitivities.proportions_and_histograms(
            histogram=lambda relation: sensitivity.histogram(relation="add-remove")
        ),
    ),
    (19, lambda: sensitivities.many_counts(epsilon=1)),
    (20, lambda: selections.noisy_max(noise=lambda e: NoisyMax(
        sensitivity=1, epsilon=2 * e, monotone=True))),
    (21, lambda: selections.exponential(mechanism=lambda s, e: Exponential(
        sensitivity=s, epsilon=2 * e))),
    (22, lambda: means.by_distance(factor=1)),
    (24, lambda: generalization.validity(law=lambda q, m, true: generalization.response(
        (1 + q) / 2, m, true))),
]  # fmt: skip


@pytest.mark.parametrize(("number", "planted"), PLANTED)
def test_a_planted_error_flips_the_verdict(number: int, planted: Callable[[], ClaimReport]) -> None:
    """Catches a check that passes whatever it is given."""
    claim = planted()
    assert claim.number == number
    assert claim.verdict == "wrong as written"


def test_claim_3_depends_on_the_bound_that_is_printed() -> None:
    """With the lost bracket in place claim 3 holds; with no true correction it is only wrong."""
    assert oracles.gaussian_tv(printed=bounds.gaussian_tv).verdict == "holds"
    assert oracles.gaussian_tv(corrected=oracles.misprinted).verdict == "wrong as written"


def test_claim_23_is_not_corrected_by_a_law_on_the_line() -> None:
    """Catches a certificate for the restricted density that does not look at it."""
    claim = squares.by_square(restricted=lambda mean, n, e: RealGaussian(mean, Fraction(1, n * e)))
    assert claim.verdict == "wrong as written"


def test_claim_23_a_laplace_output_would_pass() -> None:
    """Catches a refutation of the normal output that does not look at it: Laplace noise of scale
    1/(nε) is ε-DP, so that check passes and the one of Δu still fails."""
    claim = squares.by_square(output=lambda mean, n, e: RealLaplace(mean, Fraction(1, n * e)))
    assert [c.passed for c in claim.checks if not c.corrects] == [False, False, True]
    assert claim.verdict == "corrected"


def test_the_verdict_follows_from_the_checks() -> None:
    """Catches a verdict that is typed in."""

    def verdict(*checks: Check) -> str:
        return ClaimReport(number=1, source="-", statement="-", checks=checks).verdict

    good, bad = Check("x", True), Check("x", False)
    mended, unmended = Check("x", True, corrects=True), Check("x", False, corrects=True)
    assert verdict(good, good) == "holds"
    assert verdict(good, bad) == "wrong as written"
    assert verdict(bad, mended) == "corrected"
    assert verdict(bad, mended, unmended) == "wrong as written"
    assert verdict(good, unmended) == "holds"


def test_an_undecided_check_is_no_verdict() -> None:
    """Catches a tie that nobody decided and that is reported as right or wrong."""

    class Vague:
        """A law whose probabilities are known to one part in ten."""

        outcomes = (0, 1)

        def mass(self, outcome: int) -> object:
            from discreet.numeric.balls import ball

            return ball(Fraction(45, 100)).union(ball(Fraction(55, 100)))

    with pytest.raises(InternalError, match="could not decide"):
        verified(FromLaw(lambda _: Vague()), Pure(Fraction(1, 100)), (0, 1))


def test_a_report_in_which_all_claims_hold_says_so() -> None:
    """Catches a summary that counts to 23 or to two."""
    claim = ClaimReport(number=1, source="-", statement="-", checks=(Check("x", True),))
    assert Report((claim,)).summary == "All 1 claims hold."
