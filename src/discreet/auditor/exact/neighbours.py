"""Which neighbours to compare for each kind of input, and what makes them the worst of all."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import floor
from typing import Any

from discreet.auditor.exact.comparison import sides
from discreet.auditor.exact.judgement import judge
from discreet.auditor.exact.known_laws import form, is_noise, location
from discreet.auditor.exact.sides import BITS
from discreet.errors import DiscreetError, InvalidArgument, Phrase
from discreet.guarantees import BoundedRange, Guarantee, Pure
from discreet.inputs import (
    BoundedMean,
    Categories,
    Numbers,
    RowCounts,
    Sampled,
    Scores,
    Stream,
    UnitCounts,
)
from discreet.laws import CutGaussian, DiscreteLaplace, Gibbs, NoisyArgmax, RoundedLaplace
from discreet.laws.noisy_argmax import NoisyLead
from discreet.laws.sparse_vector import FirstAbove, SparseAnswers
from discreet.numeric.balls import ball, lower_fraction, precision, upper_fraction

# -- plans and proofs ------------------------------------------------------------------------------


Pair = tuple[Any, Any]
Climb = Callable[[Pair], list[Pair]]


@dataclass(frozen=True)
class Several:
    """Inputs that are answered independently of each other."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Proof:
    """Why the pairs compared cover all neighbours, and a bound on their ε where there is one."""

    words: str
    ceiling: Fraction | None = None


@dataclass(frozen=True)
class NeighbourPlan:
    """The pairs to compare, where to climb from the worst of them, and a proof if there is one."""

    pairs: list[Pair]
    why: str = "the worst of the neighbours tried"
    climb: Climb | None = None
    proof: Proof | None = None
    every: bool = False  #: all pairs are compared, however long that takes
    short: str = ""  #: what was not tried, if it is so much that "holds" would be misleading


def close(
    first: Sequence[Fraction | float], second: Sequence[Fraction | float], sensitivity: Fraction
) -> Pair:
    """Two lists as floats, each number moved by at most the sensitivity.

    Rounding may put floats further apart than the numbers were: those would be no neighbours.

    >>> a, b = close([Fraction(1, 3)], [Fraction(2, 3)], Fraction(1, 3))
    >>> Fraction(b[0]) - Fraction(a[0]) <= Fraction(1, 3)
    True
    """
    base, moved = [float(x) for x in first], [float(x) for x in second]
    for i, x in enumerate(base):
        if abs(Fraction(moved[i]) - Fraction(x)) > sensitivity:
            farthest = Fraction(x) + (sensitivity if moved[i] > x else -sensitivity)
            moved[i] = float(farthest)
            if abs(Fraction(moved[i]) - Fraction(x)) > sensitivity:
                moved[i] = math.nextafter(moved[i], x)
    return base, moved


# -- the form of a law -----------------------------------------------------------------------------
# Whether it is the same at every input: looked at in many places, never proved. Proofs for all
# neighbours rest on the form of a law, such as "discrete Laplace noise of scale 2 around the
# input". A law is a function that anybody may have written, so its form is known only where it was
# looked at: at small numbers, around powers of two, at some fractions. A proof says so, and inputs
# that look different are compared like any other neighbour.


_SMALL = 64
_LARGEST_POWER = 60
_MOST_ODD = 4
_NOT_AN_INPUT = (DiscreetError, ValueError, ArithmeticError, LookupError)


@dataclass(frozen=True)
class Look:
    """What a look at a law in many places found."""

    same: int  #: at how many inputs it had one form, which is that of the first of them
    odd: tuple[Any, ...]  #: inputs at which it had another one, a few of them

    def __add__(self, other: Look) -> Look:
        return Look(self.same + other.same, self.odd + other.odd)

    @property
    def one_form(self) -> bool:
        """Whether the law had one form wherever it was looked at, and a form that is known."""
        return self.same > 0 and not self.odd

    @property
    def words(self) -> str:
        """The assumption that remains, in words."""
        return f"if the law has this form at every input, as it had at the {self.same} looked at"

    def proof(self, words: str, ceiling: Fraction, claim: Pure | BoundedRange) -> Proof | None:
        """What follows if nothing shows more than the ceiling; None if the claim is below it."""
        return Proof(f"{words}; {self.words}", ceiling) if ceiling <= claim.epsilon0 else None

    def around(self, shift: Fraction | int) -> list[Pair]:
        """Neighbours of the inputs that looked different."""
        return [pair for v in self.odd for pair in ((v, v + shift), (v - shift, v))]


def look(law: Callable[[Any], Any], inputs: Iterable[Any]) -> Look:
    """Compare the form of the law at the inputs, and whether it takes them as they are."""
    first: Any = None
    same = 0
    odd: list[Any] = []
    for value, one in laws_at(law, inputs):
        found = form(one)
        first = found if first is None else first
        if first is None:
            return Look(0, ())  # the form of a law of another type is not known
        if found == first and location(one) == value:
            same += 1
        elif len(odd) < _MOST_ODD:
            odd.append(value)
    return Look(same, tuple(odd))


def laws_at(law: Callable[[Any], Any], inputs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The laws at these inputs; a value without a law is not an input."""
    for value in inputs:
        with suppress(*_NOT_AN_INPUT):
            yield value, law(value)


def whole_numbers(near: Iterable[int] = ()) -> list[int]:
    """Small numbers, powers of two and those next to them, some others, and some near `near`."""
    sizes = [*range(_SMALL + 1), *(1000, 1001, 12345, 999_983, 10**9 + 7)]
    sizes += [(1 << k) + d for k in range(7, _LARGEST_POWER + 1) for d in (-1, 0, 1)]
    sizes += [n * d for n in near for d in (1, 2, 3)] + [n + d for n in near for d in (-1, 1)]
    return list(dict.fromkeys([*sizes, *(-size for size in sizes)]))


def numbers(step: Fraction, near: Iterable[Fraction] = ()) -> list[Fraction]:
    """Whole numbers, multiples of the step, and what lies between them."""
    parts = [Fraction(1, 3), Fraction(1, 2), Fraction(-2, 7), Fraction(1, 1 << 30)]
    found = [Fraction(n) for n in whole_numbers()]
    found += [n + part for n in (0, 1, -3, 17, 12345, 1 << 20, -(1 << 40)) for part in parts]
    found += [step * n for n in (1, 2, 3, 17, 1000, 1 << 20, -1, -5)]
    found += [step * (n + part) for n in (0, 1, -8, 1 << 16) for part in parts]
    found += [x * k for x in near for k in (1, 2, 3, -1)]
    return list(dict.fromkeys(found))


def lists_of_scores(least: int, near: Sequence[Fraction] = ()) -> list[list[float]]:
    """Scores of one to eight candidates, and of many: equal, in order, with a leader or not."""
    sizes = [float(n) for n in whole_numbers() if abs(n) < 1 << 53]
    sizes += [0.5, 0.1, -0.3, 1e-9, *(float(x) for x in near)]
    found = [[0.0], [0.0] * 33, [float(i % 7) for i in range(100)]]
    for x in sizes:
        found += [[x, 0.0], [0.0, x, 1.0], [x, x]]
    for count in range(1, 9):
        found += [[float(i) for i in range(count)], [5.5] + [-1.0] * (count - 1)]
        found += [[(7.25 * i * i) % 11 - 5 for i in range(count)]]
    return [scores for scores in found if len(scores) >= least]


# -- normal laws cut to an interval ----------------------------------------------------------------
# The largest log ratio over all centres and shifts. The density is ∝ e^(−(y − c)²/(2v)) on an
# interval. The log ratio of the laws at c and c + s is linear in y, so it is largest at an end of
# the interval; call it F(c, s) there. With m(u) the mean of the law at u, in units of the
# interval's width w from that end,
#
#     ∂F/∂s = ±m(c + s)·w/v, at most w/v in size, and
#     ∂F/∂c = ±(m(c + s) − m(c))·w/v, at most s/v,    since m′ = (variance of the law)/v ≤ 1
#
# (a normal law cut to an interval has at most its own variance; Brascamp and Lieb 1976). So in a
# box of half-widths h and k around (c, s) no log ratio exceeds F(c, s) + (s + k)·h/v + w·k/v, and
# branch and bound over boxes decides a claim for all neighbours.


_MOST_BOXES = 4000
_MARGIN = Fraction(1, 4)  # of the margin that the bound may give away


def largest_log_ratio(
    one: CutGaussian, shift: Fraction, claimed: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Bounds on the log ratio over all c and c + s in the interval, 0 ≤ s ≤ shift, both orders.

    `one` stands for the law at every centre. None where the claim is not decided in time.
    """
    low, high = one.interval
    rate = 1 / one.variance
    # A heap of boxes, the one with the largest bound first: (−bound, c, s, h, k).
    c, s = (low + high - shift) / 2, shift / 2
    h, k = (high - low - shift) / 2 + shift / 2, shift / 2
    best = Fraction(0)
    heap: list[tuple[Fraction, Fraction, Fraction, Fraction, Fraction]] = []

    def push(c: Fraction, s: Fraction, h: Fraction, k: Fraction) -> None:
        nonlocal best
        at_least, at_most = _value(one, c, s)
        if low <= c and c + s <= high:  # only what neighbours can be counts as found
            best = max(best, at_least)
        bound = at_most + (s + k) * h * rate + (high - low) * k * rate
        heapq.heappush(heap, (-bound, c, s, h, k))

    push(c, s, h, k)
    for _ in range(_MOST_BOXES):
        bound, c, s, h, k = heap[0]
        if best > claimed or -bound <= best + (claimed - best) * _MARGIN:
            return best, -bound
        heapq.heappop(heap)
        if (s + k) * h >= (high - low) * k:
            push(c - h / 2, s, h / 2, k)
            push(c + h / 2, s, h / 2, k)
        else:
            push(c, s - k / 2, h, k / 2)
            push(c, s + k / 2, h, k / 2)
    return (best, -heap[0][0]) if -heap[0][0] <= claimed else None


def _value(one: CutGaussian, c: Fraction, s: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the larger of the two extreme log ratios at (c, s)."""
    low, high = one.interval
    first, second = (replace(one, center=center) for center in (c, c + s))
    with precision(BITS):
        over = (first.density(low) / second.density(low)).log()
        under = (second.density(high) / first.density(high)).log()
        largest = over.max(under)
        return lower_fraction(largest), upper_fraction(largest)


# -- numbers with noise added ----------------------------------------------------------------------
# All that matters is how far the centre moves. Noise with a log-concave density (or masses) that
# moves with the input has a ratio that is monotone in the output, and the profile of a shift grows
# with the shift. So one base point and the largest shift stand for all. On reals the output is
# rounded to a grid, and how the input lies on the grid matters a little: there the law before
# rounding stands for all, since rounding is a function of it.


Law = Callable[[Any], Any]

_LAPLACE = DiscreteLaplace | RoundedLaplace
_MOST_COORDINATES = 1000
_MOST_EVEN = 12
_MOVED = "the noise is log-concave and moves with the input, and a larger shift is easier to see"
_ROUNDED = "rounding to the grid is a function of the real noise, for which the claim holds"


def of_numbers(law: Law, inputs: Numbers, claim: Guarantee) -> NeighbourPlan:
    """Neighbours for numbers that each get noise."""
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
        return NeighbourPlan(pairs)
    words = [_MOVED, *(proof for proof in proofs if proof)]
    return NeighbourPlan(pairs, proof=Proof("; ".join([*dict.fromkeys(words), seen.words])))


def _looked(law: Law, inputs: Numbers, largest: Fraction) -> Look:
    """A look at many whole numbers and, where other numbers are allowed, at many of those."""
    seen = Look(0, ())
    if inputs.integers:
        seen += look(law, whole_numbers([floor(largest), floor(inputs.total)]))
    if inputs.reals:  # these may get another noise, so they are looked at separately
        step = Fraction(getattr(law(Fraction(0)), "step", 1))
        seen += look(law, numbers(step, [largest, inputs.total]))
    return seen


def _shared(
    law: Law, inputs: Numbers, claim: Guarantee, pairs: list[Pair], seen: Look
) -> NeighbourPlan:
    """A move that one person shares out among several numbers."""
    why = "the shares of one person's move in several numbers that were tried"
    splits = _splits(inputs)
    short = "" if splits else "one person may move more numbers than were moved together"
    pairs = pairs + splits
    one = law(0 if inputs.integers else Fraction(0))
    if isinstance(claim, Pure) and seen.one_form and isinstance(one, _LAPLACE):
        words = "losses of the numbers add up, each at most its move over the scale of the noise"
        if proof := seen.proof(words, inputs.total / one.scale, claim):
            return NeighbourPlan(pairs, proof=proof)
    return NeighbourPlan(pairs, why, short=short)


def of_mean(law: Law, inputs: BoundedMean, claim: Guarantee) -> NeighbourPlan:
    """A mean of n values in [0, 1], one replaced."""
    step = Fraction(1, inputs.n)
    pairs: list[Pair] = [(Fraction(0), step), (1 - step, Fraction(1))]
    if isinstance(law(Fraction(0)), CutGaussian):
        return _of_cut(law, step, pairs, claim)
    starts = _means(step)
    laws = {start: law(start) for start in starts}
    if not is_noise(laws[starts[0]]):
        return NeighbourPlan(pairs)
    moved = {start: law(start + step) for start in starts}
    one = form(laws[starts[0]])
    odd = [x for x in starts if form(laws[x]) != one or form(moved[x]) != one]
    shifts = {location(moved[x]) - location(laws[x]) for x in starts if not odd}
    if odd or len(shifts) > 1:
        return NeighbourPlan(pairs + [(x, x + step) for x in odd[:4]])
    words = f"{_MOVED}; the mean moves by 1/n at most; {Look(len(starts), ()).words}"
    return NeighbourPlan(pairs, proof=Proof(words))


def _means(step: Fraction) -> list[Fraction]:
    """Means that can move up by a step: at both ends, in between, and off the multiples of 1/n."""
    places = {Fraction(i, 64) * (1 - step) for i in range(65)}
    places |= {min(step * i, 1 - step) for i in (1, 2, 3, 5, 17)}
    places |= {step * Fraction(1, 1 << i) * (1 - step) for i in range(1, 20)}
    return sorted({x - x % step for x in places} | places)


def _of_cut(law: Law, step: Fraction, pairs: list[Pair], claim: Guarantee) -> NeighbourPlan:
    """A law cut to an interval does not move as a whole: bounds over all base means instead."""
    if not isinstance(claim, Pure):
        return NeighbourPlan(pairs)
    seen = look(law, [*_means(step), Fraction(1)])
    if not seen.one_form:
        return NeighbourPlan(
            pairs + [pair for pair in seen.around(step) if min(pair) >= 0 <= 1 - max(pair)]
        )
    bounds = largest_log_ratio(law(Fraction(0)), step, claim.epsilon0)
    words = "branch and bound over all base means and shifts, with the log ratio at the ends"
    proof = None if bounds is None else seen.proof(words, bounds[1], claim)
    return NeighbourPlan(pairs, proof=proof)


def _unrounded(one: Any, shift: Fraction, claim: Guarantee) -> str | None:
    """The claim for the law before rounding; None if it does not hold or there is none."""
    if not is_noise(one) or not hasattr(one, "unrounded"):
        return None
    first = one.unrounded
    moved = replace(first, center=first.center + shift)
    verdicts = [judge(side, claim) for side in sides(first, moved)]
    return _ROUNDED if all(v.holds for v in verdicts) else None


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


# -- counts by key or by candidate, one unit more or less ------------------------------------------


_MOST_UNITS = 400
_SURE = 10**-15
_CHECKED = 24
_MOST_KEYS = 40
_MOST_SIZES = 16


def of_unit_counts(law: Law, inputs: UnitCounts, claim: Guarantee) -> NeighbourPlan:
    """Every size of a key, up to where it is certain, or nearly certain, to be kept."""
    sizes, ended = _key_sizes(law)
    if inputs.max_groups == 1:
        pairs: list[Pair] = [(n, n + 1) for n in sizes]
        if ended:
            words = "every size of a key was compared; from the last one on it is always kept, "
            words += f"if the law has this form at every size, as it had at the {ended} looked at"
            return NeighbourPlan(pairs, proof=Proof(words))
        why = "keys of every size up to where they are kept but for one in 10¹⁵"
        return NeighbourPlan(pairs, why, proof=_threshold_proof(law, claim))
    many = min(inputs.max_groups, _MOST_KEYS)
    sizes = range(0, len(sizes), max(1, len(sizes) // _MOST_SIZES))
    pairs = [(Several((n,) * many), Several((n + 1,) * many)) for n in sizes]
    pairs += [
        (Several((0,) * (many - 1) + (n,)), Several((1,) * (many - 1) + (n + 1,))) for n in sizes
    ]
    why = f"{many} keys of one unit, of equal sizes or all but one held by it alone"
    short = "" if many == inputs.max_groups else f"a unit may hold more than {many} keys"
    return NeighbourPlan(pairs, why, short=short)


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


def _key_sizes(law: Law) -> tuple[range, int]:
    """Sizes n whose laws, and those of n + 1, are not both certain; and, if these are all of them,
    the number of sizes that were looked at, else 0."""
    for n in range(1, _MOST_UNITS):
        missed = law(n).mass(False)
        if missed.is_zero():
            larger = [one for _, one in laws_at(law, _many_sizes(n))]
            certain = all(one.mass(False).is_zero() for one in larger)
            return range(n), len(larger) + n if certain else 0
        if missed < ball(0) + _SURE:
            return range(n), 0
    return range(_MOST_UNITS), 0


def of_counts(law: Law, inputs: RowCounts, claim: Guarantee) -> NeighbourPlan:
    """A few rows at two or three candidates, and a person's rows at one of them."""
    pairs: list[Pair] = []
    few = (0, inputs.rows, 5 * inputs.rows)
    for base in (*product(few, repeat=2), *product(few, repeat=3)):
        for place in range(len(base)):
            more = [n + inputs.rows * (i == place) for i, n in enumerate(base)]
            pairs.append((list(base), more))
    return NeighbourPlan(pairs)


# -- choices among candidates ----------------------------------------------------------------------
# Neighbours at the vertices, and bounds for all base points.


_ALL_PAIRS = 12  # categories up to which every pair is compared
_CHAIN = 64  # with more categories, how many are compared with the next
_LEADS = (0, 1, 2, 4, 6, 8, 14)
_SIZES = (2, 3, 5)


def of_categories(law: Law, inputs: Categories, claim: Guarantee) -> NeighbourPlan:
    """Neighbours that differ in a category: any one to any other."""
    if inputs.count <= _ALL_PAIRS:
        pairs: list[Pair] = list(combinations(range(inputs.count), 2))
        return NeighbourPlan(pairs, proof=Proof("all pairs of categories were compared"))
    last = inputs.count - 1
    pairs = [(i, i + 1) for i in range(min(last, _CHAIN))]
    return NeighbourPlan([*pairs, (0, last), (last - 1, last), (last // 2, 0)])


def of_scores(law: Law, inputs: Scores, claim: Guarantee) -> NeighbourPlan:
    """Scores that lead by more or less, moved to the vertices of what one person can do.

    The probability of a candidate grows with its own score and falls with every other. So for
    each base point its ratio is largest at a vertex: its own score moved down and all others up.
    """
    pairs: list[Pair] = []
    for size, lead in product(_SIZES, _LEADS):
        if size >= inputs.least:
            base = [lead * inputs.sensitivity, *[Fraction(0)] * (size - 1)]
            pairs += [close(base, v, inputs.sensitivity) for v in _vertices(base, inputs)]

    def climb(pair: Pair) -> list[Pair]:
        """Move one score of both inputs by a step, up or down."""
        steps = []
        for i in range(len(pair[0])):
            for move in (2.0, -2.0):
                shift = move * float(inputs.sensitivity)
                first, second = ([*v[:i], v[i] + shift, *v[i + 1 :]] for v in pair)
                steps.append(close(first, second, inputs.sensitivity))
        return steps

    seen = look(law, lists_of_scores(inputs.least, [inputs.sensitivity]))
    odd = [v for v in seen.odd if 1 < len(v) <= max(_SIZES)]
    for v in odd:
        moved = _vertices(list(map(Fraction, v)), inputs)
        pairs += [close(v, w, inputs.sensitivity) for w in moved]
    return NeighbourPlan(pairs, climb=climb, proof=_selection_proof(law, inputs, claim, seen))


def _vertices(base: list[Fraction], inputs: Scores) -> list[list[Fraction]]:
    """The leader moved against all others, and another candidate moved against all others."""
    up, own = inputs.sensitivity, Fraction(0) if inputs.monotone else -inputs.sensitivity
    return [
        [score + (own if i == chosen else up) for i, score in enumerate(base)] for chosen in (0, 1)
    ]


def _selection_proof(law: Law, inputs: Scores, claim: Guarantee, seen: Look) -> Proof | None:
    """A bound on the log ratio for all scores, however many, from the laws' own parameters."""
    if not seen.one_form or not isinstance(claim, Pure | BoundedRange):
        return None
    reach = (1 if inputs.monotone else 2) * inputs.sensitivity
    one = law([0.0] * max(2, inputs.least))
    match one:
        case Gibbs():
            # log P(i)/P′(i) = rate·(uᵢ − uᵢ′) + log(Z′/Z), where the second term is a mean of
            # the moves in the exponent: between them. So all losses lie within rate·reach.
            ceiling = reach * one.rate
            words = "losses lie in an interval of rate·(largest less smallest move), at any scores"
        case NoisyArgmax() | NoisyLead() if isinstance(claim, Pure):
            # Given the noise of the others, candidate i wins (by a lead) if its own noise is
            # above some m. One person moves m by at most `reach`, and for Laplace and for
            # exponential noise P(N > m) ≤ e^(reach/scale)·P(N > m + reach), for every m; with a
            # gap the same holds for the density of the lead.
            ceiling = reach / one.scale
            words = (
                "the winner's noise passes the others by a level that one person moves by at most "
                "this, and no tail of the noise falls faster than e^(-move/scale)"
            )
        case _:
            return None
    return seen.proof(words, ceiling, claim)


# -- streams of scores and a noisy threshold -------------------------------------------------------


_PLACES = (-4, -1, 0)  # of the scores, in sensitivities from the threshold


def of_stream(law: Law, inputs: Stream, claim: Guarantee) -> NeighbourPlan:
    """Equal scores near the threshold, all moved up, all down, or the last one the other way.

    Refusals are likelier where scores are low and hits where they are high: what tells two
    neighbours apart best is a run of refusals whose scores move one way, before a hit whose
    score moves the other way.
    """
    step = inputs.sensitivity
    pairs: list[Pair] = []
    for size, place in product(_stream_lengths(law([0.0])), _PLACES):
        base = [inputs.threshold + place * step] * size
        other = Fraction(0) if inputs.monotone else -step
        ends = {1, size // 2, size} - {0}
        moves = [[other] * (size - end) + [step] * end for end in ends]
        moves += [[step] * (size - end) + [other] * end for end in ends - {size}]
        pairs += [
            close(base, [score + m for score, m in zip(base, move, strict=True)], step)
            for move in moves
        ]

    def climb(pair: Pair) -> list[Pair]:
        """Move the last score, or all before it, of both inputs."""
        shifts = (2 * float(step), -2 * float(step))
        last = [tuple([*v[:-1], v[-1] + s] for v in pair) for s in shifts]
        rest = [tuple([*(x + s for x in v[:-1]), v[-1]] for v in pair) for s in shifts]
        return [close(first, second, step) for first, second in (*last, *rest)]

    seen = look(law, lists_of_scores(1, [step, inputs.threshold]))
    return NeighbourPlan(pairs, climb=climb, proof=_stream_proof(law, inputs, claim, seen))


def _stream_lengths(one: Any) -> tuple[int, ...]:
    """Lengths of streams: the more outcomes there are, the shorter."""
    if isinstance(one, FirstAbove):
        return 1, 3, 5
    return (1, 2) if getattr(one, "step", None) is not None else (1, 4)


def _stream_proof(law: Law, inputs: Stream, claim: Guarantee, seen: Look) -> Proof | None:
    """Δ/a + hits·2Δ/b, or hits·Δ/b for monotone scores, whatever the stream and however long.

    Under the integral over the noisy threshold y, move y by Δ: its density changes by a factor of
    at most e^(Δ/a), each refusal becomes no less likely, and each of at most `hits` hits has its
    noise moved by at most 2Δ against a tail of scale b. (If all scores rise, the hits move by Δ
    at most; if all fall, y stays where it is and the hits move by Δ at most.)
    """
    one = law([0.0])
    answers = one.answers if isinstance(one, FirstAbove) else one
    if not isinstance(answers, SparseAnswers) or not isinstance(claim, Pure) or not seen.one_form:
        return None
    reach = (1 if inputs.monotone else 2) * inputs.sensitivity
    ceiling = (
        inputs.sensitivity / answers.threshold_scale + answers.hits * reach / answers.query_scale
    )
    words = "with the noisy threshold moved by the sensitivity, every factor of the law is bounded"
    return seen.proof(words, ceiling, claim)


# -- the plan for a mechanism, from what it says of its inputs -------------------------------------


_PLANS: dict[type, Callable[[Law, Any, Guarantee], NeighbourPlan]] = {
    Numbers: of_numbers,
    BoundedMean: of_mean,
    Categories: of_categories,
    Scores: of_scores,
    Stream: of_stream,
    UnitCounts: of_unit_counts,
    RowCounts: of_counts,
}


def plan(mechanism: Any, claim: Guarantee) -> NeighbourPlan:
    """Which neighbours to compare, and why they are enough."""
    inputs = getattr(mechanism, "inputs", None)
    if isinstance(inputs, Sampled):
        return _sampled(mechanism)
    for kind, planned in _PLANS.items():
        if isinstance(inputs, kind):
            return planned(mechanism.law, inputs, claim)
    raise InvalidArgument.of(
        "pairs",
        "given, since the mechanism does not say what its neighbours look like",
        None,
        hint=Phrase("list some neighbouring inputs, such as {pairs=[(0, 1)]}"),
    )


def _sampled(mechanism: Any) -> NeighbourPlan:
    """The neighbours of the mechanism itself, with the person in the sample or not there."""
    base = plan(mechanism.mechanism, mechanism.mechanism.guarantee)
    orders = [*base.pairs, *((y, x) for x, y in base.pairs)]
    pairs = [((x, y), (x, None)) for x, y in orders]
    return NeighbourPlan(pairs, f"a person who is drawn or not, with {base.why}")
