"""Claim 24: stability makes answers to adaptively chosen queries hold on the population."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from discreet.adaptive.bounds import splitting_width
from discreet.adaptive.noise_width import Noise, width_of
from discreet.adaptive.validity import drift
from discreet.laws import Finite
from discreet.mechanisms.randomized_response import RandomizedResponse
from lectures.claim import Check, ClaimReport, Measured, shown

SAMPLE: Final = 100_000
QUERIES: Final = 1_000
FAILURE: Final = Fraction(1, 20)
SIGMA: Final = Fraction(1, 80)  # near the σ with the least error
# Records, kinds of records, and the probability q that a report is the truth.
CASES: Final = tuple(
    (n, m, Fraction(k, 4)) for n in (1, 2, 3) for m in (2, 3, 4) for k in (1, 2, 3)
)

Response = Callable[[Fraction, int, int], Finite]


def response(q: Fraction, kinds: int, true: int) -> Finite:
    """The law of one record's report."""
    law = RandomizedResponse(truth=q, categories=kinds).law(true)
    assert isinstance(law, Finite)
    return law


def moved(n: int, kinds: int, q: Fraction, law: Response) -> Fraction:
    """E |E[φ(S) | reports] − φ(D)| for the analyst who picks the worst φ for what was reported.

    The records are independent and uniform, so each one's law given the reports is that of its
    own report; the worst φ marks the kinds that became likelier on average.
    """
    given = [
        [Fraction(law(q, kinds, true).probability(y)) for true in range(kinds)]
        for y in range(kinds)
    ]
    fair = Fraction(1, kinds)
    total = Fraction(0)
    for reports in product(range(kinds), repeat=n):
        # of one record: P(x | y) = P(y | x)/m over P(y)
        seen = [sum(given[y], Fraction(0)) * fair for y in reports]
        laws = [
            [p * fair / share for p in given[y]] for y, share in zip(reports, seen, strict=True)
        ]
        average = [sum(column, Fraction(0)) / n for column in zip(*laws, strict=True)]
        total += prod(seen, start=Fraction(1)) * sum(
            (max(p - fair, Fraction(0)) for p in average), Fraction(0)
        )
    return total


def validity(*, law: Response = response) -> ClaimReport:
    """Claim 24: what the sample says of a query picked from answers, and what is true of it."""
    noise = Noise("gaussian", SIGMA, SAMPLE)
    whole = noise.total(QUERIES)
    width = width_of(noise, queries=QUERIES, failure=FAILURE, whole=whole)
    split = splitting_width(SAMPLE, queries=QUERIES, failure=FAILURE)
    return ClaimReport(
        number=24,
        source="lecture 000, what stability is for (adaptive data analysis)",
        statement="Stability makes answers to adaptively chosen queries hold on the population, "
        "not only on the sample.",
        checks=(
            Check(
                f"{len(CASES)} small cases, all reports and the worst query for each enumerated in "
                "exact fractions: what the sample says about a query picked from its reports is "
                "off by at most the TV stability q, on average",
                all(moved(n, m, q, law) <= q for n, m, q in CASES),
            ),
            Check(
                "that bound is nearly reached: with one record of m kinds it is q(1 − 1/m)",
                all(moved(1, m, q, law) == q * (1 - Fraction(1, m)) for n, m, q in CASES if n == 1),
            ),
            Check(
                "with hardly any stability, q = 0.999, the sample says nearly 1 of a query that is "
                "true of one in 30",
                moved(1, 30, Fraction(999, 1000), law) > Fraction(96, 100),
            ),
            Check(
                "dp.adaptive.drift of noisy answers is their TV at a failure of 1: the bound in "
                "expectation",
                drift(whole, failure=1) == whole.tv,
            ),
            Check(
                "noise beats a fresh part of the sample for each of 1,000 questions to 100,000 "
                "records",
                width < split,
            ),
        ),
        numbers=(
            Measured(
                "off by, one record of 4 kinds, q = 1/2",
                shown(float(moved(1, 4, Fraction(1, 2), law))),
                "enumerated; its TV stability is 0.5",
            ),
            Measured("TV stability of 1,000 answers", shown(whole.tv), f"noise {noise}"),
            Measured("error of all 1,000, 95 %", shown(width), "noise, and drift from the sample"),
            Measured("the same by splitting", shown(split), "100 fresh records per question"),
        ),
        note="dp.adaptive.Analyst answers such queries and states its error on the population.",
    )
