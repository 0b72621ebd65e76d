"""Noise that is added: all that matters is how far the centre moves.

Noise with a log-concave density (or masses) that moves with the input has a ratio that is
monotone in the output, and the profile of a shift grows with the shift. So one base point and the
largest shift stand for all. On reals the output is rounded to a grid, and how the input lies on
the grid matters a little: there the law before rounding stands for all, since rounding is a
function of it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

from discreet.auditor.exactly.comparing import sides
from discreet.auditor.exactly.cutting import largest_log_ratio
from discreet.auditor.exactly.families import form, is_noise, place
from discreet.auditor.exactly.judging import judge
from discreet.auditor.exactly.neighbours import Pair, Plan, Proof, Several
from discreet.auditor.exactly.probing import Look, look, numbers, whole_numbers
from discreet.guarantees import Guarantee, Pure
from discreet.inputs import Mean, Numbers
from discreet.laws import CutGaussian, DiscreteLaplace, RealGaussian, RealLaplace, RoundedLaplace

Law = Callable[[Any], Any]

_LAPLACE = DiscreteLaplace | RoundedLaplace
_MOST_COORDINATES = 1000
_MOST_EVEN = 12
_MOVED = "the noise is log-concave and moves with the input, and a larger shift is easier to see"
_ROUNDED = "rounding to the grid is a function of the real noise, for which the claim holds"


def of_numbers(law: Law, inputs: Numbers, claim: Guarantee) -> Plan:
    """Numbers with noise on each."""
    pairs: list[Pair] = []
    together = inputs.together or inputs.norm == "l2"
    largest = inputs.total if together else inputs.largest
    seen = _looked(law, inputs, largest)
    shift = floor(largest)
    # On whole numbers the pair below is the worst; in several coordinates, though, the move may
    # be any real number: √2 is no shift of one.
    proofs: list[str | None] = []
    if inputs.integers and shift >= 1:
        pairs.append((0, shift))
        if inputs.norm == "l1":
            moves = is_noise(law(0)) and not isinstance(law(0), CutGaussian)
            proofs.append(_MOVED if moves else None)
        else:
            proofs.append(_unrounded(law(0), largest, claim))
    if inputs.reals:
        one = law(Fraction(0))
        step = Fraction(getattr(one, "step", 1))
        proofs.append(_unrounded(one, largest, claim))
        # How the input lies on the grid matters only where the real noise does not settle it.
        starts = (Fraction(0),) if proofs[-1] else (Fraction(0), step / 4, step / 2)
        pairs += [(start, start + largest) for start in starts]
    if seen.odd:
        pairs += seen.around(largest if inputs.reals else shift)
    if not together:
        return _shared(law, inputs, claim, pairs, seen)
    if not seen.one_form or not proofs or None in proofs:
        return Plan(pairs)
    words = [_MOVED, *(proof for proof in proofs if proof)]
    return Plan(pairs, proof=Proof("; ".join([*dict.fromkeys(words), seen.words])))


def _looked(law: Law, inputs: Numbers, largest: Fraction) -> Look:
    """The law at many whole numbers and, where they may come in, at many others."""
    seen = Look(0, ())
    if inputs.integers:
        seen += look(law, whole_numbers([floor(largest), floor(inputs.total)]))
    if inputs.reals:  # another noise may be added to these: they are a look of their own
        step = Fraction(getattr(law(Fraction(0)), "step", 1))
        seen += look(law, numbers(step, [largest, inputs.total]))
    return seen


def _shared(law: Law, inputs: Numbers, claim: Guarantee, pairs: list[Pair], seen: Look) -> Plan:
    """A move that one person shares out among several numbers."""
    why = "the shares of one person's move in several numbers that were tried"
    splits = _splits(inputs)
    short = "" if splits else "one person may move more numbers than were moved together"
    pairs = pairs + splits
    one = law(0 if inputs.integers else Fraction(0))
    if not isinstance(claim, Pure) or not seen.one_form or not isinstance(one, _LAPLACE):
        return Plan(pairs, why, short=short)
    # Losses of independent coordinates add up, each at most its move over the scale.
    ceiling = inputs.total / one.scale
    if ceiling > claim.epsilon0:
        return Plan(pairs, why, short=short)
    words = "losses of the numbers add up, each at most its move over the scale of the noise"
    return Plan(pairs, proof=Proof(f"{words}; {seen.words}", ceiling))


def of_mean(law: Law, inputs: Mean, claim: Guarantee) -> Plan:
    """A mean of n values in [0, 1], one replaced."""
    step = Fraction(1, inputs.n)
    pairs: list[Pair] = [(Fraction(0), step), (1 - step, Fraction(1))]
    if isinstance(law(Fraction(0)), CutGaussian):
        return _of_cut(law, step, pairs, claim)
    starts = _means(step)
    laws = {start: law(start) for start in starts}
    if not is_noise(laws[starts[0]]):
        return Plan(pairs)
    moved = {start: law(start + step) for start in starts}
    one = form(laws[starts[0]])
    odd = [x for x in starts if form(laws[x]) != one or form(moved[x]) != one]
    shifts = {place(moved[x]) - place(laws[x]) for x in starts if not odd}
    if odd or len(shifts) > 1:
        return Plan(pairs + [(x, x + step) for x in odd[:4]])
    words = f"{_MOVED}; the mean moves by 1/n at most; {Look(len(starts), ()).words}"
    return Plan(pairs, proof=Proof(words))


def _means(step: Fraction) -> list[Fraction]:
    """Means that can move up by a step: at both ends, in between, and off the multiples of 1/n."""
    places = {Fraction(i, 64) * (1 - step) for i in range(65)}
    places |= {min(step * i, 1 - step) for i in (1, 2, 3, 5, 17)}
    places |= {step * Fraction(1, 1 << i) * (1 - step) for i in range(1, 20)}
    return sorted({x - x % step for x in places} | places)


def _of_cut(law: Law, step: Fraction, pairs: list[Pair], claim: Guarantee) -> Plan:
    """A law cut to an interval does not move as a whole: bounds over all base means instead."""
    if not isinstance(claim, Pure):
        return Plan(pairs)
    seen = look(law, [*_means(step), Fraction(1)])
    if not seen.one_form:
        return Plan(pairs + [pair for pair in seen.around(step) if min(pair) >= 0 <= 1 - max(pair)])
    bounds = largest_log_ratio(law(Fraction(0)), step, claim.epsilon0)
    if bounds is None or bounds[1] > claim.epsilon0:
        return Plan(pairs)
    words = "branch and bound over all base means and shifts, with the log ratio at the ends"
    return Plan(pairs, proof=Proof(f"{words}; {seen.words}", bounds[1]))


def _unrounded(one: Any, shift: Fraction, claim: Guarantee) -> str | None:
    """The claim for the law before rounding; None if it does not hold or there is none."""
    if not is_noise(one) or not hasattr(one, "unrounded"):
        return None
    first = one.unrounded
    verdicts = [judge(side, claim) for side in sides(first, _at(first, first.center + shift))]
    return _ROUNDED if all(v.holds for v in verdicts) else None


def _at(law: RealLaplace | RealGaussian, center: Fraction) -> RealLaplace | RealGaussian:
    if isinstance(law, RealLaplace):
        return RealLaplace(center, law.scale)
    return RealGaussian(center, law.variance)


def _splits(inputs: Numbers) -> list[Pair]:
    """One person's move shared out: as unevenly as `largest` allows, and evenly."""
    each, total = inputs.largest, inputs.total
    if not inputs.reals:
        each, total = Fraction(floor(each)), Fraction(floor(total))
    full, rest = divmod(total, each) if each else (0, Fraction(0))
    if not 0 < full < _MOST_COORDINATES:
        return []
    moves = {(each,) * full + ((rest,) if rest else ())}
    if inputs.integers and total.denominator == 1 and total <= _MOST_EVEN:
        moves.add((Fraction(1),) * int(total))
    return [_several(move, inputs) for move in sorted(moves)]


def _several(move: tuple[Fraction, ...], inputs: Numbers) -> Pair:
    if inputs.integers and all(one.denominator == 1 for one in move):
        return Several((0,) * len(move)), Several(tuple(map(int, move)))
    return Several((Fraction(0),) * len(move)), Several(move)
