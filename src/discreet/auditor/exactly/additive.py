"""Noise that is added: all that matters is how far the centre moves.

Noise with a log-concave density (or masses) that moves with the input has a ratio that is
monotone in the output, and the profile of a shift grows with the shift. So one base point and the
largest shift stand for all. On reals the output is rounded to a grid, and how the input lies on
the grid matters a little: there the law before rounding stands for all, since rounding is a
function of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from discreet.auditor.exactly.comparing import sides
from discreet.auditor.exactly.cutting import largest_log_ratio
from discreet.auditor.exactly.judging import judge
from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, Several
from discreet.guarantees import Guarantee, Pure
from discreet.inputs import Mean, Numbers
from discreet.laws import CutGaussian, DiscreteLaplace, RealGaussian, RealLaplace, RoundedLaplace

Law = Callable[[Any], Any]

_MOST_COORDINATES = 12
_MOVED = "the noise is log-concave and moves with the input, and a larger shift is easier to see"
_ROUNDED = "rounding to the grid is a function of the real noise, for which the claim holds"


def of_numbers(law: Law, inputs: Numbers, claim: Guarantee) -> Plan:
    """Numbers with noise on each."""
    pairs: list[Pair] = []
    proofs: list[str | None] = []
    together = inputs.together or inputs.norm == "l2"
    largest = inputs.total if together else inputs.largest
    if inputs.integers and floor(largest) >= 1:
        shift = floor(largest)
        pairs.append((0, shift))
        values: list[Any] = [0, 1, -3, shift, 12345]
        if inputs.norm == "l1":
            proofs.append(_MOVED if _moves(law, values) else None)
        else:  # in several coordinates the move may be any real number: √2 is no shift of one
            proofs.append(_unrounded(law, values, largest, claim))
    if inputs.reals:
        step = Fraction(getattr(law(Fraction(0)), "step", 1))
        values = [Fraction(0), Fraction(1, 3), largest, Fraction(-17)]
        proofs.append(_unrounded(law, values, largest, claim))
        # How the input lies on the grid matters only where the real noise does not settle it.
        starts = (Fraction(0),) if proofs[-1] else (Fraction(0), step / 4, step / 2)
        pairs += [(start, start + largest) for start in starts]
    why = "the worst of the neighbours tried"
    if not together:
        pairs += _splits(inputs)
        why = "the shares of one person's move in several numbers that were tried"
        if not isinstance(claim, Pure):
            return Plan(pairs, why)
        # Losses of independent coordinates add up, each at most its move over the scale.
        ceiling = _ceiling(law, inputs)
        if ceiling is None or ceiling > claim.epsilon0:
            return Plan(pairs, why)
        words = "losses of the numbers add up, each at most its move over the scale of the noise"
        return Plan(pairs, proof=Proof(words, ceiling))
    if not proofs or None in proofs:
        return Plan(pairs, why)
    return Plan(pairs, proof=Proof("; ".join(dict.fromkeys([_MOVED, *(p for p in proofs if p)]))))


def of_mean(law: Law, inputs: Mean, claim: Guarantee) -> Plan:
    """A mean of n values in [0, 1], one replaced."""
    step = Fraction(1, inputs.n)
    pairs: list[Pair] = [(Fraction(0), step), (1 - step, Fraction(1))]
    if isinstance(law(Fraction(0)), CutGaussian):
        return _of_cut(law, step, pairs, claim)
    starts = [Fraction(0), step / 3, 1 - step]
    shifts = {law(start + step).center - law(start).center for start in starts}
    if not _alike(law, [*starts, Fraction(1, 2), Fraction(1)]) or len(shifts) != 1:
        return Plan(pairs)
    return Plan(pairs, proof=Proof(f"{_MOVED}; the mean moves by 1/n at most"))


def _of_cut(law: Law, step: Fraction, pairs: list[Pair], claim: Guarantee) -> Plan:
    """A law cut to an interval does not move as a whole: bounds over all base means instead."""
    if not isinstance(claim, Pure):
        return Plan(pairs)
    bounds = largest_log_ratio(law, step, claim.epsilon0)
    if bounds is None or bounds[1] > claim.epsilon0:
        return Plan(pairs)
    words = "branch and bound over all base means and shifts, with the log ratio at the ends"
    return Plan(pairs, proof=Proof(words, bounds[1]))


def _moves(law: Law, values: Sequence[Any]) -> bool:
    """Whether the laws at these values are one log-concave noise, centred on each of them."""
    return [getattr(law(v), "center", None) for v in values] == list(values) and _alike(law, values)


def _alike(law: Law, values: Sequence[Any]) -> bool:
    shapes = [getattr(law(value), "shape", None) for value in values]
    return shapes[0] is not None and all(shape == shapes[0] for shape in shapes)


def _unrounded(law: Law, values: Sequence[Any], shift: Fraction, claim: Guarantee) -> str | None:
    """The claim for the laws before rounding; None if it does not hold or there are none."""
    first: Any = getattr(law(values[0]), "unrounded", None)
    if not isinstance(first, RealLaplace | RealGaussian) or not _moves(law, values):
        return None
    shapes = {law(value).unrounded.shape for value in values}
    if shapes != {first.shape}:
        return None
    moved = _at(first, first.center + shift)
    verdicts = [judge(side, claim) for side in sides(first, moved)]
    return _ROUNDED if all(v.holds for v in verdicts) else None


def _at(law: RealLaplace | RealGaussian, center: Fraction) -> RealLaplace | RealGaussian:
    if isinstance(law, RealLaplace):
        return RealLaplace(center, law.scale)
    return RealGaussian(center, law.variance)


def _splits(inputs: Numbers) -> list[Pair]:
    """One person's move shared out: as unevenly as `largest` allows, and evenly."""
    if not inputs.integers:
        return []
    each, total = floor(inputs.largest), floor(inputs.total)
    full, rest = divmod(total, each) if each else (0, 0)
    if not 0 < full <= _MOST_COORDINATES:
        return []
    moves = {(each,) * full + ((rest,) if rest else ())}
    if total <= _MOST_COORDINATES:
        moves.add((1,) * total)
    return [(Several((0,) * len(m)), Several(m)) for m in sorted(moves)]


def _ceiling(law: Law, inputs: Numbers) -> Fraction | None:
    """total/scale, for Laplace noise: the most that the losses can add up to."""
    values: list[Any] = [
        *([0, 1, -3] if inputs.integers else []),
        *([Fraction(1, 3)] if inputs.reals else []),
    ]
    scales: list[Fraction] = []
    for value in values:
        one = law(value)
        if not isinstance(one, DiscreteLaplace | RoundedLaplace) or one.center != value:
            return None
        scales.append(one.scale)
    return inputs.total / min(scales)
