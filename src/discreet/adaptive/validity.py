"""From stability to the population: how far adaptively chosen answers can be from the truth.

The setting. S is a sample of n records drawn independently from a population D. An analyst asks
k queries q: record → [0, 1], each chosen after seeing the earlier answers, and gets a = q(S) + e; π
is the whole exchange. X is the largest |e| of the k, and δ(ε) bounds the privacy profile of the
whole exchange when one of the n records is *replaced*. What is wanted is q(D), the mean of q
over the population. The theorem: for all s, u ≥ 0 and t > s + u

    Pr[some |a − q(D)| ≥ t]  ≤  (E(X − s)₊ + δ(ln(1 + u))) / (t − s − u).

The proof, with everything conditioned on π, which fixes every q and every a:

1.  a − E[q(S)|π] = E[e|π], and |E[e|π]| ≤ E[X|π].
2.  E[q(S)|π] − q(D) is the average over i of E[q(xᵢ)|π] − q(D), and q has values in [0, 1], so
    each is at most Tᵢ = TV(law of xᵢ given π, D). By Bayes' rule the density of that law with
    respect to D is rᵢ(x, π) = dP(π|xᵢ = x)/dP(π), hence Tᵢ = E[(rᵢ(x, π) − 1)₊] over x from D.
3.  So every |a − q(D)| is at most Y(π) = E[X|π] + the average of Tᵢ. The hinge is subadditive
    and convex, so by Jensen's inequality (Y − s − u)₊ ≤ E[(X − s)₊|π] + the average over i of
    E[(rᵢ(x, π) − 1 − u)₊].
4.  Over π the last term becomes the mean over x of the hockey-stick divergence of order 1 + u
    of P(·|xᵢ = x) from P. Both are mixtures over the other records, and P also over a second
    draw x′ in place of x; the divergence is jointly convex, so it is at most the largest between
    two samples that differ in record i, δ(ln(1 + u)).
5.  Markov's inequality for (Y − s − u)₊ at t − s − u.

Set equal to a failure probability β and solved for t, the least width is a sum of two terms,
with the same β in both:

    superquantile of X:  min over s of s + E(X − s)₊/β,  the mean of X in the worst β of cases,
    drift:               min over ε ≥ 0 of e^ε − 1 + δ(ε)/β.

β = 1 gives the bound in expectation, E[X] + TV. It is a sharper form of the transfer theorem of
Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi and Shenfeld (2020), whose constants are in
`discreet.adaptive.noise_width`. See docs/decisions/0010-validity.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee
from discreet.hints import spelled
from discreet.numeric import balls
from discreet.numeric.balls import ball, upper
from discreet.numeric.exact import Number, number, round_up

_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 40  # each keeps 0.618 of the range: 10⁻⁸ of it is left, and the width is flat there


@spelled
def drift(guarantee: Guarantee, *, failure: Number) -> float:
    """How far the mean of any query that the answers suggest can move from the sample's to the
    population's, in the worst ``failure`` of cases; rounded up.

    The ``guarantee`` is that of the whole exchange, under replace neighbours. With a failure of 1
    it is the total variation distance: the bound in expectation.

    >>> from discreet.guarantees import GDP, Pure
    >>> round(drift(Pure(epsilon="0.05"), failure="0.05"), 6)            # e^ε − 1
    0.051271
    >>> round(drift(GDP(mu="0.02"), failure="0.05"), 6)
    0.041938
    >>> drift(GDP(mu=0.02), failure=1) == GDP(mu=0.02).tv
    True
    """
    if not isinstance(guarantee, Guarantee):
        expected = "a guarantee, such as dp.GDP(0.02) or what compose(...) returns"
        raise InvalidArgument.of("guarantee", expected, guarantee)
    beta = failure_probability(failure)

    def width(u: float) -> Fraction:
        # ε is at or below ln(1 + u), where δ is at or above what the theorem asks for.
        epsilon = max(0.0, math.nextafter(math.log1p(u), 0.0))
        used = max(Fraction(u), balls.upper_fraction(balls.ball(Fraction(epsilon)).expm1()))
        return used + Fraction(guarantee.delta(Fraction(epsilon))) / beta

    # δ is convex in e^ε, so this is convex in u, and no u above the width at 0 can be better.
    # No drift is above 1: it is a distance in total variation.
    return min(1.0, round_up(_least(width, 0.0, float(min(Fraction(1), width(0.0))))))


def superquantile(excess: Callable[[float], float], *, failure: Number, upper: float) -> float:
    """The mean of X in the worst ``failure`` of cases, min over s of s + E(X − s)₊/β; rounded up.

    ``excess(s)`` is E(X − s)₊ or an upper bound on it; ``upper`` is about the largest value of
    X worth considering: it only limits the search, as each s gives a bound that holds.

    >>> round(superquantile(lambda s: max(0.0, 1 - s) ** 2 / 2, failure=0.1, upper=1), 9)
    0.95
    """
    beta = failure_probability(failure)
    return round_up(_least(lambda s: Fraction(s) + Fraction(excess(s)) / beta, 0.0, upper))


def failure_probability(value: Number) -> Fraction:
    """Read a failure probability: above 0, at most 1."""
    exact = number(value, name="failure")
    if not 0 < exact <= 1:
        expected = "above 0 and at most 1 (for 95 % confidence it is 0.05)"
        raise InvalidArgument.of("failure", expected, value)
    return exact


def _least(width: Callable[[float], Fraction], low: float, high: float) -> Fraction:
    """The least value found by golden-section search, the two ends included.

    Every point is a bound that holds, so a search that stops early or meets a function that is
    not quite convex loses nothing but tightness.
    """
    best = min(width(low), width(high))
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = width(left), width(right)
    for _ in range(_STEPS):
        best = min(best, at_left, at_right)
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = width(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = width(right)
    return best


# -- validity by counting --------------------------------------------------------------------------
# How many different questions could ever have been asked.
#
# An analyst, human or not, is a function from the answers so far to the next question (whatever
# coins it tosses are independent of the sample: fix them first). If only N different questions can
# ever come up, over all possible answers, then each of the N has a mean over the sample that is
# near its mean over the population, as if it had been asked alone, except with probability β/N; and
# all N at once except with probability β, whichever of them are asked. For independent records, not
# necessarily alike, and values in [0, 1] (Hoeffding 1963, Theorem 1)
#
#     P(the sample's mean p̂ is on one side of the true mean p with n·KL(p̂‖p) ≥ L)  ≤  e^(−L),
#
# KL(p̂‖p) = p̂·ln(p̂/p) + (1 − p̂)·ln((1 − p̂)/(1 − p)) ≥ 2·(p̂ − p)². So L = ln(N/β) for each
# side.
#
# This is the argument of the Ladder (Blum and Hardt 2015) and of description length (Dwork,
# Feldman, Hardt, Pitassi, Reingold and Roth, NIPS 2015). It needs no noise, and protects nobody.


# Far above the rounding of KL in float64 (a few 10⁻¹⁶), far below any L/n (10⁻⁹ at the least).
_ROUNDING: Final = 1e-13


def exponent(count: int | Fraction, *, failure: Fraction) -> float:
    """L = ln(N/β), rounded up.

    >>> round(exponent(1, failure=Fraction(1, 20)), 12)
    2.995732273554
    """
    return upper(ball(Fraction(count) / failure).log())


def radius(n: int, exponent: float) -> float:
    """√(L/2n), rounded up: Hoeffding's distance, which holds for every mean.

    >>> round(radius(10**4, exponent(1, failure=Fraction(1, 20))), 6)
    0.012239
    """
    return min(1.0, upper(ball(Fraction(exponent) / (2 * n)).sqrt()))


def upper_end(mean: float, n: int, exponent: float) -> float:
    """The largest true mean that this mean of the sample allows: n·KL(p̂‖p) ≤ L; rounded up.

    >>> round(upper_end(0.9, 10**4, 3.0), 4), round(0.9 + radius(10**4, 3.0), 4)
    (0.9072, 0.9122)
    """
    limit = exponent / n + _ROUNDING
    low, high = min(max(mean, 0.0), 1.0), 1.0
    while (middle := (low + high) / 2) not in (low, high):
        enough = _relative_entropy(mean, middle) >= limit
        low, high = (low, middle) if enough else (middle, high)
    return high


def lower_end(mean: float, n: int, exponent: float) -> float:
    """The least true mean that this mean of the sample allows, rounded down.

    >>> round(lower_end(0.9, 10**4, 3.0), 4)
    0.8925
    """
    # 1 − mean is exact for means of ½ or more, and off by 2⁻⁵⁴ below: the last factor covers that.
    return max(0.0, 1.0 - upper_end(1.0 - mean, n, exponent) * (1 + 2.0**-50))


def _relative_entropy(mean: float, other: float) -> float:
    if other >= 1.0:
        return math.inf if mean < 1.0 else 0.0
    first = mean * math.log(mean / other) if mean > 0 else 0.0
    rest = (1 - mean) * math.log((1 - mean) / (1 - other)) if mean < 1 else 0.0
    return first + rest
