"""RowCounts by key or by candidate, where one unit more or less is the neighbour."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from discreet.auditor.exactly.comparing import sides
from discreet.auditor.exactly.judging import judge
from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, Several
from discreet.auditor.exactly.probing import laws_at, look, whole_numbers
from discreet.balls import ball
from discreet.guarantees import Guarantee
from discreet.inputs import RowCounts, UnitCounts

Law = Callable[[Any], Any]

_MOST_UNITS = 400
_SURE = 10**-15
_CHECKED = 24
_MOST_KEYS = 40
_MOST_SIZES = 16


def of_unit_counts(law: Law, inputs: UnitCounts, claim: Guarantee) -> Plan:
    """Every size of a key up to where it is kept for certain, or all but certain."""
    sizes, ended = _sizes(law)
    if inputs.max_groups == 1:
        pairs: list[Pair] = [(n, n + 1) for n in sizes]
        if ended:
            words = "every size of a key was compared; from the last one on it is always kept, "
            words += f"if the law has this form at every size, as it had at the {ended} looked at"
            return Plan(pairs, proof=Proof(words))
        why = "keys of every size up to where they are kept but for one in 10¹⁵"
        return Plan(pairs, why, proof=_threshold_proof(law, claim))
    many = min(inputs.max_groups, _MOST_KEYS)
    sizes = range(0, len(sizes), max(1, len(sizes) // _MOST_SIZES))
    pairs = [(Several((n,) * many), Several((n + 1,) * many)) for n in sizes]
    pairs += [
        (Several((0,) * (many - 1) + (n,)), Several((1,) * (many - 1) + (n + 1,))) for n in sizes
    ]
    why = f"{many} keys of one unit, of equal sizes or all but one held by it alone"
    short = "" if many == inputs.max_groups else f"a unit may hold more than {many} keys"
    return Plan(pairs, why, short=short)


def _threshold_proof(law: Law, claim: Guarantee) -> Proof | None:
    """From one unit on, "kept" is a function of the noisy count, if the claim holds for that."""
    kept = dict(laws_at(law, _many_sizes(1)))
    seen = look(lambda n: getattr(kept[n], "count", None), kept)
    thresholds = {getattr(one, "threshold", None) for one in kept.values()}
    if not seen.one_form or None in thresholds or len(thresholds) > 1:
        return None
    threshold = thresholds.pop()
    for one in list(kept.values())[:_CHECKED]:
        if not one.mass(True).overlaps(one.count.above(threshold)):
            return None  # it is not kept by its noisy count
    if not all(judge(side, claim).holds for side in sides(kept[1].count, kept[2].count)):
        return None
    words = "from one unit on a key is kept by its noisy count, for which the claim holds"
    return Proof(f"{words}; {seen.words}")


def _many_sizes(least: int) -> list[int]:
    """Sizes of keys, the small ones first and in order."""
    return sorted(n for n in whole_numbers() if n >= least)


def _sizes(law: Law) -> tuple[range, int]:
    """Sizes n whose laws, and those of n + 1, are not both certain; if they are all, the number
    of sizes that were looked at, else 0."""
    for n in range(1, _MOST_UNITS):
        missed = law(n).mass(False)
        if missed.is_zero():
            larger = [one for _, one in laws_at(law, _many_sizes(n))]
            certain = all(one.mass(False).is_zero() for one in larger)
            return range(n), len(larger) + n if certain else 0
        if missed < ball(0) + _SURE:
            return range(n), 0
    return range(_MOST_UNITS), 0


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
