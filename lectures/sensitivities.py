"""Claims 9, 18 and 19: how far one record can move an answer, and the noise that follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, Final

import numpy as np

from discreet import sensitivity
from discreet.auditor.check_sensitivity import check_sensitivity
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.sensitivity import Sensitivity
from lectures.claim import Check, ClaimReport, Measured, shown

Function = Callable[[Sequence[Any]], Sequence[Fraction | int]]
Moves = tuple[int, Fraction, Fraction, Fraction]

LN2: Final = math.log(2)
GENOME: Final = 2 * 10**6
TRIES: Final = 300


def _neighbours(
    records: Sequence[Any], relation: str, sizes: Sequence[int]
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """All neighbouring datasets of these sizes: the second has one record more, or one replaced."""
    for size in sizes:
        for x in combinations_with_replacement(records, size):
            for new in records:
                if relation == "add-remove":
                    yield x, (*x, new)
                else:
                    for place in range(size):
                        yield x, (*x[:place], *x[place + 1 :], new)


def searched(
    f: Function, records: Sequence[Any], relation: str, sizes: Sequence[int] = range(4)
) -> Moves:
    """The sensitivity by trying all small neighbours: l0, l∞, l1 and the square of l2, exact."""
    found: list[Moves] = [(0, Fraction(0), Fraction(0), Fraction(0))]
    for x, y in _neighbours(records, relation, sizes):
        moves = [abs(Fraction(a) - b) for a, b in zip(f(x), f(y), strict=True)]
        squares = sum((m * m for m in moves), Fraction(0))
        found.append((sum(m > 0 for m in moves), max(moves), sum(moves, Fraction(0)), squares))
    l0, linf, l1, square = zip(*found, strict=True)
    return max(l0), max(linf), max(l1), max(square)


def _agrees(fact: Sensitivity, found: Moves) -> bool:
    """Whether the stated sensitivity is what the search found, in every norm."""
    l0, linf, l1, square = found
    near = abs(fact.l2**2 - square) <= square / 2**90  # an irrational l2 is rounded up
    return (fact.l0, fact.linf, fact.l1) == (l0, linf, l1) and near


def global_sensitivity(
    *, sum_fact: Callable[..., Sensitivity] = sensitivity.bounded_sum
) -> ClaimReport:
    """Claim 9: the largest change over all neighbours, in one dimension and in several."""
    relations = ("add-remove", "replace")
    ends = (-3, 1)
    values = [-3, -1, 0, 1]
    bits = list(product((0, 1), repeat=2))

    def total(x: Sequence[Any]) -> list[int]:
        return [sum(x)]

    def both(x: Sequence[Any]) -> list[int]:
        return [sum(record[i] for record in x) for i in range(2)]

    sums = {r: sum_fact(bounds=ends, relation=r) for r in relations}
    two = {r: sensitivity.counts(k=2, relation=r) for r in relations}
    caught = check_sensitivity(
        lambda x: np.clip(x, *ends).sum(), (-5, 5), 1, "add-remove", tries=TRIES
    )
    return ClaimReport(
        number=9,
        source="lecture 001, definition 2.1; lectures 003 and 004",
        statement="The global sensitivity of f is the largest ‖f(x) − f(x′)‖ over all neighbours, "
        "in ℝ or, in the norms L1 and L2, in ℝ^d.",
        checks=(
            Check(
                "sum of values in [−3, 1]: what dp.sensitivity states is the maximum over all "
                "small datasets and their neighbours, under both relations",
                all(_agrees(sums[r], searched(total, values, r)) for r in relations),
            ),
            Check(
                "two counts of any properties: the same in L1 and in L2",
                all(_agrees(two[r], searched(both, bits, r, range(3))) for r in relations),
            ),
            Check(
                "dp.check_sensitivity finds a lie: a sum of values in [−3, 1] declared as 1",
                caught.violated and caught.found == 3,
            ),
        ),
        numbers=(
            *(
                Measured(f"Δ of a sum in [−3, 1], {r}", shown(float(sums[r].l1)), "all neighbours")
                for r in relations
            ),
            Measured("Δ₁ and Δ₂ of two counts", _both(two["replace"]), "L1, and √2 for L2"),
            Measured("Δ found where 1 was declared", shown(float(caught.found)), f"{TRIES} tries"),
        ),
        note="Facts in dp.sensitivity are exact; for your own function dp.check_sensitivity "
        "searches, and finding nothing is no proof.",
    )


def proportions_and_histograms(
    *, histogram: Callable[..., Sensitivity] = sensitivity.histogram
) -> ClaimReport:
    """Claim 18: a proportion, and the counts of disjoint cells."""
    n = 4

    def share(x: Sequence[Any]) -> list[Fraction]:
        return [Fraction(sum(x), n)]

    def cells(x: Sequence[Any]) -> list[int]:
        return [list(x).count(i) for i in range(3)]

    proportion = sensitivity.proportion(n=n, relation="replace")
    facts = {r: histogram(relation=r) for r in ("replace", "add-remove")}
    found = {
        r: check_sensitivity(
            lambda x: np.bincount(x, minlength=3), [0, 1, 2], facts[r].l1, r, tries=TRIES
        )
        for r in facts
    }
    return ClaimReport(
        number=18,
        source="lecture 003, examples",
        statement="A proportion of n records has sensitivity 1/n; a histogram has L1 sensitivity 2 "
        "when a record is replaced (1 when one is added or removed).",
        checks=(
            Check(
                "proportion, n = 4: 1/n over all datasets and replaced records",
                _agrees(proportion, searched(share, (0, 1), "replace", [n])),
            ),
            Check(
                "histogram of three cells: 2 under replace and 1 under add-remove, over all "
                "datasets of up to three records",
                all(_agrees(facts[r], searched(cells, range(3), r)) for r in facts)
                and facts["replace"].l1 == 2
                and facts["add-remove"].l1 == 1,
            ),
            Check(
                "dp.check_sensitivity reaches these values and never more",
                all(not found[r].violated and found[r].found == facts[r].l1 for r in facts),
            ),
        ),
        numbers=(
            Measured("Δ of a proportion, n = 4", str(proportion.l1), "all datasets"),
            *(Measured(f"Δ₁ of a histogram, {r}", str(facts[r].l1), "all datasets") for r in facts),
        ),
        note="Under add-remove n itself is protected, so a proportion is refused there: release a "
        "noisy sum and a noisy count.",
    )


def many_counts(*, epsilon: float = LN2) -> ClaimReport:
    """Claim 19: the noise of K counts at once."""

    def deviation(k: int) -> float:
        fact = sensitivity.counts(k=k, relation="add-remove")
        return math.sqrt(Laplace(sensitivity=fact, epsilon=epsilon).variance)

    k = 3
    found = searched(
        lambda x: [sum(record[i] for record in x) for i in range(k)],
        list(product((0, 1), repeat=k)),
        "add-remove",
        range(3),
    )
    fact = sensitivity.counts(k=k, relation="add-remove")
    choice = NoisyMax(sensitivity=1, epsilon=epsilon, monotone=True)
    return ClaimReport(
        number=19,
        source="lecture 004, counting queries",
        statement="K counts at once have Δ₁ = K. With K = 2·10⁶ (a genome study) and ε = ln 2 the "
        "Laplace noise has standard deviation 4.08·10⁶; with K = 10 it is 20.4.",
        checks=(
            Check("Δ₁ = K for K = 3, over all small datasets", _agrees(fact, found)),
            Check("K = 2·10⁶: 4.08·10⁶", f"{deviation(GENOME):.3g}" == "4.08e+06"),
            Check("K = 10: 20.4", f"{deviation(10):.3g}" == "20.4"),
        ),
        numbers=(
            Measured("sd of each of 2·10⁶ counts", f"{deviation(GENOME):.6g}", "√2·K/ε, ε = ln 2"),
            Measured("sd of each of 10 counts", shown(deviation(10)), "the same"),
            Measured(
                "95 % error of the largest of 2·10⁶ counts",
                shown(choice.error(candidates=GENOME)),
                "noisy max, which says only which one it is, for the same ε",
            ),
        ),
        note="Such a release is useless below millions of records. What helps is to ask for fewer "
        "counts, or only for which is largest (claim 20).",
    )


def _both(fact: Sensitivity) -> str:
    return f"{shown(float(fact.l1))} and {shown(float(fact.l2))}"
