"""Claims 14 to 16: randomized response, what can be learned from it, and what cannot."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from discreet.guarantees import Pure
from discreet.laws import Finite
from discreet.mechanisms.randomized_response import RandomizedResponse
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import proven

HALF: Final = Fraction(1, 2)
SHARES: Final = (Fraction(1, 4), HALF, Fraction(3, 4))

Response = Callable[[Fraction, int], Finite]


def coins(q: Fraction, true: int) -> Finite:
    """The law of one report: the truth with probability q, else a fair coin."""
    law = RandomizedResponse(truth=q).law(true)
    assert isinstance(law, Finite)
    return law


def randomized_response(*, law: Response = coins) -> ClaimReport:
    """Claim 14: what the coins promise."""

    def ratio(q: Fraction) -> Fraction:
        yes, no = law(q, 1), law(q, 0)
        pairs = [(yes.probability(y), no.probability(y)) for y in (0, 1)]
        return max(max(p / r, r / p) for p, r in pairs)

    return ClaimReport(
        number=14,
        source="lectures 003 and 004, randomized response",
        statement="Tell the truth with probability q, else toss a fair coin: that is ε-DP with "
        "ε = ln((1+q)/(1−q)); q = ½ gives ln 3.",
        checks=(
            Check(
                "the largest ratio of the two laws is (1+q)/(1−q) at q = ¼, ½, ¾, in exact "
                "fractions: so ε is that and no less",
                all(ratio(q) == (1 + q) / (1 - q) for q in SHARES),
            ),
            Check("at q = ½ the ratio is 3", ratio(HALF) == 3),
            Check(
                "the verifier, for all neighbours: it is ε-DP, with this ε rounded up to a float",
                all(
                    proven(RandomizedResponse(truth=q), Pure(RandomizedResponse(truth=q).epsilon))
                    for q in SHARES
                ),
            ),
        ),
        numbers=tuple(
            Measured(
                f"ε at q = {q}",
                f"ln {ratio(q)} = {shown(math.log(ratio(q)))}",
                "the law of a yes against that of a no",
            )
            for q in SHARES
        ),
        note="Every single answer is protected, before anybody collects it (local privacy).",
    )


def estimate(*, law: Response = coins, respondents: int = 12) -> ClaimReport:
    """Claim 15: the share of a yes is estimated without bias."""
    n = respondents

    def lecture(q: Fraction, ones: int) -> Fraction:
        return (Fraction(ones, n) - (1 - q) / 2) / q

    def mean(q: Fraction, share: Fraction) -> Fraction:
        """E of the estimate: each respondent is in category 1 with this probability."""
        p = share * law(q, 1).probability(1) + (1 - share) * law(q, 0).probability(1)
        return sum(
            (
                math.comb(n, ones) * p**ones * (1 - p) ** (n - ones) * lecture(q, ones)
                for ones in range(n + 1)
            ),
            Fraction(0),
        )

    def product(q: Fraction, ones: int) -> float:
        found = RandomizedResponse(truth=q).estimate([1] * ones + [0] * (n - ones)).value
        assert isinstance(found, float)
        return found

    shares = [Fraction(k, 10) for k in range(11)]
    shown_share = Fraction(3, 10)
    return ClaimReport(
        number=15,
        source="lectures 003 and 004, unbiased estimate",
        statement="With p̂ the observed share of yes, (p̂ − (1−q)/2)/q estimates the true share "
        "without bias; at q = ½ that is 2p̂ − ½.",
        checks=(
            Check(
                f"its mean over all answers of {n} people is the true share, exactly, for shares "
                "0, 0.1, …, 1 and q = ¼, ½, ¾",
                all(mean(q, share) == share for q in SHARES for share in shares),
            ),
            Check(
                "at q = ½ it is 2p̂ − ½",
                all(lecture(HALF, k) == 2 * Fraction(k, n) - HALF for k in range(n + 1)),
            ),
            Check(
                "RandomizedResponse.estimate returns it",
                all(product(q, k) == float(lecture(q, k)) for q in SHARES for k in range(n + 1)),
            ),
        ),
        numbers=(
            Measured(
                "E of the estimate, true share 0.3, q = ½",
                shown(float(mean(HALF, shown_share))),
                "the binomial sum, in fractions",
            ),
            Measured(
                "95 % half-width of the share from 10,000 answers, q = ½",
                shown(RandomizedResponse(truth=HALF).error(respondents=10_000)),
                "normal approximation at the worst share",
            ),
        ),
        note="One estimate may lie below 0 or above 1; only its mean is right.",
    )


def deniability(*, law: Response = coins) -> ClaimReport:
    """Claim 16: what a yes says about the one who gave it."""
    priors = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), HALF, Fraction(9, 10)]

    def bayes(q: Fraction, r: Fraction) -> Fraction:
        yes, no = law(q, 1).probability(1), law(q, 0).probability(1)
        return yes * r / (yes * r + no * (1 - r))

    def lecture(q: Fraction, r: Fraction) -> Fraction:
        return (1 + q) * r / ((1 + q) * r + (1 - q) * (1 - r))

    def promised(r: Fraction) -> float:
        return RandomizedResponse(truth=HALF).guarantee.posterior(r)

    return ClaimReport(
        number=16,
        source="lecture 004, plausible deniability",
        statement="If a share r says yes truthfully, a reported yes is true with probability "
        "(1+q)r/((1+q)r + (1−q)(1−r)); at q = ½ that is 3r/(1+2r) ≤ 3r.",
        checks=(
            Check(
                "Bayes' rule on the law gives this, in exact fractions, for five r and three q",
                all(bayes(q, r) == lecture(q, r) for q in SHARES for r in priors),
            ),
            Check(
                "at q = ½ it is 3r/(1+2r), never above 3r",
                all(bayes(HALF, r) == 3 * r / (1 + 2 * r) <= 3 * r for r in priors),
            ),
            Check(
                "the posterior read from the guarantee is the same, to 14 digits, and never lower",
                all(0 <= promised(r) - bayes(HALF, r) < Fraction(1, 10**14) for r in priors),
            ),
        ),
        numbers=tuple(
            Measured(
                f"posterior after a yes, r = {float(r):g}",
                shown(float(bayes(HALF, r))),
                f"Bayes' rule; 3r = {float(3 * r):g}",
            )
            for r in priors[1:4]
        ),
        note="guarantee.posterior(prior) gives this bound for any mechanism: under ε-DP the odds "
        "grow by e^ε at most.",
    )
