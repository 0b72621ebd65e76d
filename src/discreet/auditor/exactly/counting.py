"""RowCounts by key or by candidate, where one unit more or less is the neighbour."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from discreet.auditor.exactly.comparing import sides
from discreet.auditor.exactly.judging import judge
from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, Several
from discreet.balls import ball
from discreet.guarantees import Guarantee
from discreet.inputs import RowCounts, UnitCounts

Law = Callable[[Any], Any]

_MOST_UNITS = 400
_SURE = 10**-15
_MOST_KEYS = 4
_MOST_SIZES = 16


def of_unit_counts(law: Law, inputs: UnitCounts, claim: Guarantee) -> Plan:
    """Every size of a key up to where it is kept for certain, or all but certain."""
    sizes, ended = _sizes(law)
    if inputs.max_groups == 1:
        pairs: list[Pair] = [(n, n + 1) for n in sizes]
        if ended:
            words = "every size of a key was compared; from the last one on it is always kept"
            return Plan(pairs, proof=Proof(words))
        why = "keys of every size up to where they are kept but for one in 10¹⁵"
        return Plan(pairs, why, proof=_threshold_proof(law, claim))
    many = min(inputs.max_groups, _MOST_KEYS)
    sizes = range(0, len(sizes), max(1, len(sizes) // _MOST_SIZES))
    pairs = [(Several((n,) * many), Several((n + 1,) * many)) for n in sizes]
    pairs += [
        (Several((0,) * (many - 1) + (n,)), Several((1,) * (many - 1) + (n + 1,))) for n in sizes
    ]
    return Plan(pairs, f"{many} keys of one unit, of equal sizes or all but one held by it alone")


def _threshold_proof(law: Law, claim: Guarantee) -> Proof | None:
    """From one unit on, "kept" is a function of the noisy count, if the claim holds for that."""
    sizes = (1, 2, 7, 100)
    noisy = [(getattr(law(n), "count", None), getattr(law(n), "threshold", None)) for n in sizes]
    counts = [count for count, _ in noisy]
    if len({threshold for _, threshold in noisy}) > 1 or noisy[0][1] is None:
        return None
    if [getattr(count, "center", None) for count in counts] != list(sizes):
        return None
    if len({getattr(count, "shape", None) for count in counts}) > 1:
        return None
    if not all(judge(side, claim).holds for side in sides(counts[0], counts[1])):
        return None
    return Proof("from one unit on a key is kept by its noisy count, for which the claim holds")


def _sizes(law: Law) -> tuple[range, bool]:
    """Sizes n whose laws, and those of n + 1, are not both certain; whether they are all."""
    for n in range(1, _MOST_UNITS):
        missed = law(n).mass(False)
        if missed.is_zero():
            return range(n), all(law(m).mass(False).is_zero() for m in (n + 1, 2 * n, 10 * n))
        if missed < ball(0) + _SURE:
            return range(n), False
    return range(_MOST_UNITS), False


def of_counts(law: Law, inputs: RowCounts, claim: Guarantee) -> Plan:
    """A few rows at two or three candidates, and a person's rows at one of them."""
    pairs: list[Pair] = []
    few = (0, inputs.rows, 5 * inputs.rows)
    for size in (2, 3):
        for base in product(few, repeat=size):
            for place in range(size):
                more = [n + inputs.rows * (i == place) for i, n in enumerate(base)]
                pairs.append((list(base), more))
    return Plan(pairs)
