"""One claim against one order of two laws: does it hold, by how much, and which event shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial, reduce
from itertools import pairwise
from typing import Any

from discreet.auditor.exact.comparison import compare
from discreet.auditor.exact.half_lines import HalfLines
from discreet.auditor.exact.known_laws import is_noise, is_ours
from discreet.auditor.exact.partitions import Parts
from discreet.auditor.exact.sides import BITS, ShownEvent, Side
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Composition,
    Guarantee,
    LaplacePair,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
)
from discreet.laws import Gibbs
from discreet.laws.mixture import Mixture
from discreet.numeric.balls import arb, ball, lower, precision, sharp, upper


@dataclass(frozen=True)
class Judgement:
    """What one order of two laws says about a claim."""

    holds: bool | None  #: None: undecided
    tied: bool  #: equal to the claim as far as balls can tell, to one part in 10¹⁸
    parameter: str  #: what `claimed` and `found` are: "epsilon", "delta", "tv", "mu", "rho"
    claimed: float
    found: tuple[float, float]  #: bounds on the least true value for these laws
    shown: ShownEvent | None  #: the event that shows it
    at: Fraction  #: the ε at which the event was chosen
    note: str = ""

    @property
    def severity(self) -> float:
        """How much of the claim is used up, for finding the worst."""
        if self.holds is False and math.isinf(self.found[1]):
            return math.inf
        middle = self.found[0] if math.isinf(self.found[1]) else sum(self.found) / 2
        return middle / self.claimed if self.claimed > 0 else middle


# -- Rényi divergences of every order --------------------------------------------------------------
# (α − 1)·D_α is convex in α, so a grid of orders is enough.


_MOST_CELLS = 400


def judge_orders(side: Side, rho: Fraction) -> Judgement | None:
    """Decide ρ-zCDP for P against Q; None where divergences are not computed."""
    if isinstance(side, HalfLines) and side.kind not in ("RealGaussian", "RealLaplace"):
        return None
    if isinstance(side, HalfLines) and side.kind == "RealGaussian":
        exact = (side.first.center - side.second.center) ** 2 / (2 * side.first.variance)
        value = ball(exact)
        return _of_orders(side, rho, exact <= rho, (lower(value), upper(value)), exact)
    if not isinstance(side, HalfLines | Parts):
        return None
    loss = side.loss(rho)
    if loss.ball is None or not loss.complete:
        infinite = loss.ball is None
        found = (math.inf, math.inf) if infinite else (0.0, math.inf)
        return _of_orders(side, rho, False if infinite else None, found, rho)
    # From α = loss/ρ on, D_α ≤ D_∞ ≤ ρ·α. Below, L(α) = (α − 1)·D_α = log Σ p^α·q^(1−α) is
    # convex with L(1) = 0; on each cell its chord must stay below ρ·α·(α − 1).
    last = Fraction(upper(loss.ball)) / rho if rho else Fraction(10**6)
    if last <= 1:
        found = (0.0, upper(loss.ball))
        return _of_orders(side, rho, True, found, rho, "the largest loss is below")
    return _cells(side, rho, last)


def _of_orders(
    side: Side,
    rho: Fraction,
    holds: bool | None,
    found: tuple[float, float],
    at: Fraction,
    note: str = "",
) -> Judgement:
    """Whether D_α ≤ ρ·α for all α > 1, and the largest D_α/α seen."""
    return Judgement(holds, False, "rho", float(rho), found, side.event(at), at, note)


def _cells(side: HalfLines | Parts, rho: Fraction, last: Fraction) -> Judgement:
    """Refine the cells until each is decided."""

    @cache
    def grown(order: Fraction) -> arb:
        value = ball(0) if order == 1 else side.renyi(order)
        assert value is not None
        return value

    slope = _divergence(side)  # L′(1), the Kullback-Leibler divergence
    best, best_at = slope, Fraction(1)
    cells = [(Fraction(1), last)]
    holds: bool | None = not slope > ball(rho)
    steps = 0
    with precision(BITS):
        while cells and holds:
            a, b = cells.pop()
            steps += 1
            for order in (a, b):
                if order > 1:
                    ratio = grown(order) / ball(order * (order - 1))
                    if float(ratio) > float(best):
                        best, best_at = ratio, order
                    if ratio > ball(rho):
                        holds = False
            if not _below(a, b, grown(a), grown(b), rho, slope if a == 1 else None):
                if steps > _MOST_CELLS or b - a < Fraction(1, 10**6):
                    holds = None if holds else holds
                    break
                middle = (a + b) / 2
                cells += [(middle, b), (a, middle)]
    high = upper(ball(rho)) if holds else math.inf
    found = (lower(best), max(high, upper(best)) if holds is None else upper(best))
    at = Fraction(float(best)) * (2 * best_at - 1)
    note = f"the divergence of order {float(best_at):.4g} is the largest for its order"
    return _of_orders(side, rho, holds, found, at, note)


def _below(
    a: Fraction, b: Fraction, at_a: arb, at_b: arb, rho: Fraction, slope: arb | None
) -> bool:
    """Whether the chord from a to b stays below ρ·α·(α − 1).

    The chord less the parabola is concave, largest at α* = (m + ρ)/(2ρ) for a slope m. In the
    first cell the chord starts where the parabola does, with the slope m of the chord, and
    α·(α − 1)·ρ ≥ (α − 1)·ρ there: m ≤ ρ is enough.
    """
    m = (at_b - at_a) / ball(b - a)
    if slope is not None:
        return bool(m <= ball(rho))
    top = Fraction(float((m + ball(rho)) / ball(2 * rho)))
    top = min(max(top, a), b)
    # Any point bounds a concave function with its slope there: check both ends and the top.
    value = at_a + m * ball(top - a) - ball(rho * top * (top - 1))
    tilt = abs(m + ball(rho - 2 * rho * top)) * ball(b - a) if a < top < b else ball(0)
    ends = (at_a - ball(rho * a * (a - 1)), at_b - ball(rho * b * (b - 1)))
    return bool(value + tilt <= 0) and all(bool(end <= 0) for end in ends)


def _divergence(side: HalfLines | Parts) -> arb:
    """Σ p·log(p/q)."""
    if isinstance(side, HalfLines):
        return side.divergence()
    with precision(BITS):
        terms = (p.first * (p.first / p.second).log() for p in side.parts if not p.first.is_zero())
        return sum(terms, start=ball(0))


# -- a whole profile against another ---------------------------------------------------------------
# H(x) ≤ δ(x) for every x ≥ 0, from finitely many x. Both are convex in K = e^x. Between two grid
# points the hockey stick H lies below its chord, and the claim δ above the secants of the cells on
# either side, extended. Where the one lies below the other the cell is decided; else it is halved.


FLOOR = 1e-12  # the claimed δ down to which a profile that never ends is checked
_FARTHEST = 10_000
_FAR_OUT = 1 << 40
_FIRST = 16
_MOST = 600
_MOST_SLOW = 150  # where each hockey stick takes a search
_TIE = Fraction(1, 10**18)
_LEAST = Fraction(1, 1000)  # smaller sizes count as this one: balls have 80 bits of the whole
_ZERO = Fraction(1, 10**28)


class _Walk:
    """Values at the x asked for, each computed once; and what was seen on the way."""

    def __init__(self, side: Side, claim: Guarantee) -> None:
        self.side, self.claim, self.tied = side, claim, False
        self.stick, self.promised = cache(side.hockey), cache(partial(promised, claim))
        self.checked: set[Fraction] = set()

    def keeps(self, x: Fraction) -> bool | None:
        """Whether the claim is above the hockey stick at x."""
        self.checked.add(x)
        if self.stick(x).is_zero():
            return True
        excess = self.stick(x) - self.promised(x)
        if excess > 0:
            return False
        kept, tie = _sign(excess, self.promised(x))
        self.tied |= tie
        return kept


@lru_cache(maxsize=4096)
def promised(claim: Guarantee, x: Fraction) -> arb:
    """δ(x) of the claim as a ball, the larger of its two orders; for x < 0 by symmetry."""
    if isinstance(claim, Composition):  # it answers with floats, rounded up
        return ball(Fraction(claim.delta(x)))
    values = []
    for own, other in claim._orders:
        if x >= 0:
            values.append(sharp(partial(own, x)))
        else:
            values.append(
                sharp(lambda other=other: -ball(x).expm1() + ball(x).exp() * other(-x))  # type: ignore[misc]
            )
    with precision(BITS):
        return reduce(lambda a, b: a.max(b), values).min(ball(1))


def scan(side: Side, claim: Guarantee) -> Judgement:
    """Decide the whole profile for P against Q, every ε ≥ 0."""
    walk = _Walk(side, claim)
    points = _grid(side, claim)
    end = points[-1]
    with precision(BITS):
        cells = list(pairwise(points))
        budget = _MOST if side.kinks() is not None else _MOST_SLOW
        undecided: list[tuple[Fraction, Fraction]] = []
        for x in points:
            verdict = walk.keeps(x)
            if verdict is False:
                return _result(walk, False, [x])
            if verdict is None:
                undecided.append((x, x))
        convex = claim._convex
        while cells:
            a, b = cells.pop()
            below, tie = _cell(walk, a, b, convex)
            walk.tied |= tie and below
            if below:
                continue
            budget -= 1
            if budget < 0 or b - a < Fraction(1, 10**7):
                undecided.append((a, b))
                break
            short = _short((a + b) / 2, a, b)
            if walk.keeps(short) is False:
                return _result(walk, False, [short])
            cells += [(short, b), (a, short)]
        kept, tie = _ends(walk, end)
        walk.tied |= tie
        if kept is False:
            return _result(walk, False, [end])
        note = "between grid points, to one part in 10⁶" if isinstance(claim, Composition) else ""
        if undecided:
            a, b = undecided[0]
            note = f"undecided between ε = {float(a):.6g} and {float(b):.6g}"
        elif kept is None:
            note = (
                f"kept up to ε = {float(end):.4g}, where the claimed δ is "
                f"{upper(walk.promised(end)):.2g}; undecided beyond"
            )
        holds = None if undecided or kept is None else True
        return _result(walk, holds, sorted(walk.checked), note)


def _grid(side: Side, claim: Guarantee) -> list[Fraction]:
    """Points from 0 to where the claim or the hockey stick ends, with the bends of either."""
    if isinstance(claim, Composition):
        last = claim.delta(_FARTHEST)
        reach = claim.epsilon(min(1.0, last * (1 + 1e-9) + FLOOR))
    else:
        reach = max(claim._reach(FLOOR), claim._reach(FLOOR, swapped=True))
    end = _short(Fraction(min(reach, _FARTHEST)))
    if claim._bounded:
        end += Fraction(1, 64)
    points = {end * i / _FIRST for i in range(_FIRST + 1)}
    kinks = side.kinks() or ()
    if side.ends is not None and side.ends > end:
        # The claim is checked until no finite loss is left, however little it still allows.
        points |= {(end + side.ends) / 2, *(x for x in kinks if x > end)}
    if side.ends is not None:
        points |= {side.ends, *_far(side, claim, max(end, side.ends))}
    points |= {x for x in (*kinks, *_bends(claim)) if 0 <= x <= end}
    return sorted(points)


def _far(side: Side, claim: Guarantee, start: Fraction) -> list[Fraction]:
    """Where the claim falls below the limit of the hockey stick, if that limit is too large."""
    left = side.hockey(start)
    if isinstance(claim, Composition) or not left > ball(_escape(claim)):
        return []
    x = max(start, Fraction(1))
    while x < _FAR_OUT and not left > promised(claim, x):
        x *= 2
    return [x]


def _bends(claim: Guarantee) -> list[Fraction]:
    """Where the claim itself bends, if that is known exactly and a short list."""
    if isinstance(claim, LaplacePair) and claim.steps is not None and claim.steps <= 64:
        return [claim.epsilon0 * (claim.steps - 2 * j) / claim.steps for j in range(claim.steps)]
    if isinstance(claim, LaplacePair | ResponsePair | BoundedRange):
        return [claim.epsilon0]
    if isinstance(claim, Composition) or not claim._bounded:
        return []
    # An end that is not rational is enclosed, so closely that the cell around it is a tie.
    high = Fraction(claim.epsilon(0))
    low = high * (1 - Fraction(1, 1 << 50))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if promised(claim, middle) > ball(_ZERO) else (low, middle)
    return [low, high]


def _sign(
    excess: arb, size: arb, tolerance: Fraction = _TIE, least: Fraction = Fraction(0)
) -> tuple[bool | None, bool]:
    """Whether the excess is at most 0, and whether that is a tie, to the tolerance.

    What is certainly above 0 is a tie only in proportion to the claimed δ (or up to the least that
    is given); what balls cannot distinguish from 0 may be one of their last bits.
    """
    if excess <= 0:
        return True, False
    if excess > 0:
        tied = bool(excess <= (size * ball(tolerance)).max(ball(least)))
        return tied, tied
    if excess <= size.max(ball(_LEAST)) * ball(tolerance):
        return True, True
    return None, False


def _tolerance(claim: Guarantee) -> Fraction:
    """The tolerance between grid points: larger for a composition, which answers in floats."""
    return Fraction(1, 10**6) if isinstance(claim, Composition) else _TIE


def _cell(walk: _Walk, a: Fraction, b: Fraction, convex: bool) -> tuple[bool, bool]:
    """Whether the claim is above the hockey stick between a and b, and whether by a tie."""
    h1, h2, d1, d2 = walk.stick(a), walk.stick(b), walk.promised(a), walk.promised(b)
    if h1.is_zero():
        return True, False
    # Around an end of the claim that is not rational, it is 0 on one side and not on the other.
    least = 4 * _ZERO if b - a < _TIE else Fraction(0)
    if isinstance(walk.claim, Composition):
        least = _LEAST * _tolerance(walk.claim)
    quick, tie = _sign(h1 - d2, d2, least=least)  # neither ever increases
    if quick:
        return True, tie
    if not convex:
        return False, False
    width = b - a
    k1, k2 = ball(a).exp(), ball(b).exp()
    before = _short(a - width / 2, a - width, a)
    after = _short(b + width / 2, b, b + width)
    k0, k3 = ball(before).exp(), ball(after).exp()
    left = (d1 - walk.promised(before)) / (k1 - k0)
    right = (walk.promised(after) - d2) / (k3 - k2)
    chord = (h2 - h1) / (k2 - k1)
    # Up to a point k the left secant is used, from there on the right one; any k will do, and
    # the best is where the two meet.
    if (left - right).contains(0):
        k = (k1 + k2) / 2
    else:
        k = (d2 - right * k2 - d1 + left * k1) / (left - right)
        k = _inside(k, k1, k2)
    own = h1 + chord * (k - k1)
    excesses = (h1 - d1, h2 - d2, own - d1 - left * (k - k1), own - d2 - right * (k - k2))
    verdicts = [_sign(excess, d2, _tolerance(walk.claim), least) for excess in excesses]
    return all(v is True for v, _ in verdicts), any(tie for _, tie in verdicts)


def _inside(k: arb, low: arb, high: arb) -> arb:
    """An exact point near k, or the end beyond which it lies."""
    middle = k.mid()
    if not middle > low:
        return low
    return middle if middle < high else high


def _ends(walk: _Walk, end: Fraction) -> tuple[bool | None, bool]:
    """Whether the claim is kept everywhere from the last point on, and whether by a tie."""
    value, claim = walk.stick(end), walk.claim
    if isinstance(claim, Composition):
        limit = ball(Fraction(claim.delta(_FARTHEST)) if end < _FARTHEST else 0)
    else:
        limit = ball(_escape(claim))
    if value <= limit:
        return True, False
    if walk.side.ends is None or walk.side.ends > end:
        return None, False
    # What is left at the end is left for ever.
    kept, tie = _sign(value - limit, limit)
    if kept is False and isinstance(claim, Composition):
        return None, False  # its limit is only bounded from above
    return kept, tie


def _escape(claim: Guarantee) -> Fraction:
    return max(claim._escape(), claim._escape(swapped=True))


def _result(walk: _Walk, holds: bool | None, points: list[Fraction], note: str = "") -> Judgement:
    """Report the x at which most of the claimed δ is used up."""

    def used(x: Fraction) -> float:
        claimed, found = float(walk.promised(x)), float(walk.stick(x))
        if claimed <= FLOOR:
            return math.inf if found > 1e-9 else 0.0
        return found / claimed

    at = max(points, key=used)
    claimed, found = float(walk.promised(at)), _bounds(walk.stick(at))
    return Judgement(holds, walk.tied, "delta", claimed, found, walk.side.event(at), at, note)


def _bounds(value: arb) -> tuple[float, float]:
    """Of what is never below 0."""
    return max(0.0, lower(value)), upper(value)


def _short(x: Fraction, low: Fraction | None = None, high: Fraction | None = None) -> Fraction:
    """x to 48 binary digits, if that stays between the bounds: short fractions are fast."""
    rounded = Fraction(round(x * (1 << 48)), 1 << 48)
    return x if low is not None and high is not None and not low < rounded < high else rounded


# -- judgements, by the notion of the claim --------------------------------------------------------


TOLERANCE = Fraction(1, 10**18)  # of a tie that balls cannot decide, relative to the claim
_ROUNDING = "rounding loses information"


def judge(side: Side, claim: Guarantee) -> Judgement:
    """Decide the claim for P against Q."""
    match claim:
        case Pure():
            return _pure(side, claim.epsilon0)
        case Approx():
            return _stick(side, claim.epsilon0, claim.delta0, "delta")
        case TotalVariation():
            return _stick(side, Fraction(0), claim.tv0, "tv")
        case ZCDP():
            return _zcdp(side, claim)
    exact = _by_definition(side, claim)
    if exact is None:
        exact = _before_rounding(side, claim)
    return scan(side, claim) if exact is None else exact


def _before_rounding(side: Side, claim: Guarantee) -> Judgement | None:
    """The laws before rounding, if the claim holds for them."""
    real = _unrounded(side)
    whole = None if real is None else judge(real, claim)
    if whole is None or not whole.holds:
        return None
    found, shown = _bounds(side.hockey(whole.at)), side.event(whole.at)
    return replace(whole, found=found, shown=shown, note=_ROUNDING)


def _unrounded(side: Side) -> Side | None:
    """The laws before rounding, if both were rounded to one grid."""
    laws = _laws(side)
    if laws is None or not _alike(*laws) or not hasattr(laws[0], "unrounded"):
        return None
    return compare(laws[0].unrounded, laws[1].unrounded)


def _pure(side: Side, epsilon: Fraction) -> Judgement:
    """The largest log ratio against ε."""
    loss = side.loss(epsilon)
    holds: bool | None
    if loss.ball is None:
        holds, tied, found = False, False, (math.inf, math.inf)
    else:
        holds, tied = _decide(loss.ball, epsilon, loss.exact)
        found = (lower(loss.ball), upper(loss.ball))
    note = ""
    if not loss.complete:
        found = (max(0.0, found[0]), math.inf)
        if holds is not False:
            holds, note = None, "the ratio is not known for all outcomes, such as far tails"
    return Judgement(holds, tied, "epsilon", float(epsilon), found, loss.shown, epsilon, note)


def _stick(side: Side, x: Fraction, delta: Fraction, parameter: str) -> Judgement:
    """The hockey stick at one x against δ."""
    value = side.hockey(x)
    holds, tied = _decide(value, delta)
    return Judgement(holds, tied, parameter, float(delta), _bounds(value), side.event(x), x)


def _decide(
    value: arb, claimed: Fraction, exact: Fraction | None = None
) -> tuple[bool | None, bool]:
    """Whether a value, exact where it is known, is at most the claimed one; whether by a tie."""
    if exact is not None:
        return exact <= claimed, False
    with precision(BITS):
        excess = value - ball(claimed)
        if excess <= 0:
            return True, False
        if excess > 0:
            return False, False
        tied = bool(excess < ball(TOLERANCE * max(claimed, Fraction(1, 1000))))
        return (True if tied else None), tied


def _by_definition(side: Side, claim: Guarantee) -> Judgement | None:
    """Notions that are defined by a pair of laws, met by laws of that very family.

    A normal law against itself moved by s is GDP(s/σ), and a Laplace law LaplacePair(s/scale), by
    the definition of these notions; a larger s is easier to see. Rounding loses information.
    """
    if isinstance(claim, BoundedRange) and isinstance(side, Parts):
        return _range(side, claim)
    laws = _laws(side)
    if laws is not None and isinstance(claim, SampledPair):
        return _sampled(side, laws, claim)
    if laws is None or not _alike(*laws):
        return None
    first, second = (getattr(law, "unrounded", law) for law in laws)
    shift, kind = abs(first.center - second.center), first.shape[0]
    rounded = first is not laws[0]
    match claim, kind:
        case GDP(), "RealGaussian":
            square = shift**2 / first.variance
            holds, parameter, claimed = square <= claim.mu**2, "mu", float(claim.mu)
            with precision(BITS):
                root = ball(square).sqrt()
        case LaplacePair(steps=None), "RealLaplace":
            holds, parameter = shift / first.scale <= claim.epsilon0, "epsilon"
            root, claimed = ball(shift / first.scale), float(claim.epsilon0)
        case _:
            return None
    if rounded and not holds:
        return None  # rounding may have lost what breaks it
    found = (max(0.0, _least(side, claim, root) if rounded else lower(root)), upper(root))
    x = Fraction(float(root)) / 2  # an ε at which an event is worth a look
    note = _ROUNDING if rounded else ""
    return Judgement(holds, False, parameter, claimed, found, side.event(x), x, note)


def _least(side: Side, claim: Guarantee, root: arb) -> float:
    """What rounded noise still shows of the parameter: by its TV for GDP, else by its loss."""
    if isinstance(claim, GDP):  # TV = 2Φ(μ/2) − 1 = erf(μ/√8)
        with precision(BITS):
            return min(lower(side.hockey(Fraction(0)).erfinv() * ball(8).sqrt()), lower(root))
    loss = side.loss(claim.epsilon0 if isinstance(claim, LaplacePair) else Fraction(0))
    return lower(root) if loss.ball is None else min(lower(loss.ball), lower(root))


def _laws(side: Side) -> tuple[Any, Any] | None:
    if isinstance(side, HalfLines):
        return side.first, side.second
    return side.laws if isinstance(side, Parts) else None


def _alike(first: Any, second: Any) -> bool:
    """Whether both are the same noise of ours, on the same grid, around two centres."""
    return is_noise(first) and is_noise(second) and first.shape == second.shape


def _sampled(side: Side, laws: tuple[Any, Any], claim: SampledPair) -> Judgement | None:
    """A normal law that a coin moves, against the one it moves from, by the same definition."""
    mixture, alone = laws if type(laws[0]) is Mixture else (laws[1], laws[0])
    if type(mixture) is not Mixture or mixture.second != alone or not is_ours(mixture):
        return None
    moved = _by_definition(HalfLines(mixture.first, alone), claim.base)
    if moved is None or not moved.holds or mixture.share > claim.rate:
        return None
    x = Fraction(0)
    found, claimed = _bounds(side.hockey(x)), float(promised(claim, x))
    note = "moved or not by a coin, which is the definition of sampling"
    return Judgement(True, False, "delta", claimed, found, side.event(x), x, note)


def _range(side: Parts, claim: BoundedRange) -> Judgement | None:
    """Bounded range by its definition: all losses in an interval of length ε.

    The profile does not decide it: a longer range may hide below the implied δ.
    """
    over, under = side.loss(claim.epsilon0), side.swapped.loss(claim.epsilon0)
    x, claimed = claim.epsilon0 / 4, float(claim.epsilon0)
    if over.ball is None or under.ball is None:
        shown = over.shown if over.ball is None else side.event(x)
        inf = (math.inf, math.inf)
        return Judgement(False, False, "range", claimed, inf, shown, x, "a loss is infinite")
    exact = _gibbs_range(side)
    with precision(BITS):
        length = ball(exact) if exact is not None else over.ball + under.ball
    holds, tied = _decide(length, claim.epsilon0, exact)
    if holds and not (over.complete and under.complete):
        holds = None
    found = (lower(length), upper(length))
    note = "all losses lie in an interval of this length, which is the definition"
    if holds:
        return Judgement(True, tied, "range", claimed, found, side.event(x), x, note)
    if holds is False:
        note = "the losses of the likeliest and of the least likely outcome are this far apart"
        return Judgement(False, False, "range", claimed, found, over.shown, x, note)
    return Judgement(None, False, "range", claimed, (found[0], math.inf), over.shown, x)


def _gibbs_range(side: Parts) -> Fraction | None:
    """rate·(max − min) of the differences of the scores, for two Gibbs laws of the same rate."""
    match side.laws:
        case (Gibbs() as first, Gibbs() as second) if is_ours(first) and is_ours(second):
            if first.rate == second.rate and len(first.scores) == len(second.scores):
                moves = [a - b for a, b in zip(first.scores, second.scores, strict=True)]
                return first.rate * (max(moves) - min(moves))
    return None


def _zcdp(side: Side, claim: ZCDP) -> Judgement:
    """Rényi divergences of all orders against ρ times the order."""
    whole = _unrounded(side) if isinstance(side, HalfLines) else None
    verdict = None if whole is None else judge_orders(whole, claim.rho)
    if verdict is not None and verdict.holds:
        found = (_event_rho(side, verdict.at), verdict.found[1])
        return replace(verdict, found=found, shown=side.event(verdict.at), note=_ROUNDING)
    verdict = judge_orders(side, claim.rho)
    if verdict is None:
        # A profile that is kept does not prove ρ-zCDP; one that is broken refutes it.
        kept = scan(side, claim)
        note = "the profile that it implies is kept, but divergences are not known for these laws"
        return replace(kept, holds=None, note=note) if kept.holds else kept
    return verdict


def _event_rho(side: Side, x: Fraction) -> float:
    """ρ is at least the Kullback-Leibler divergence of one event."""
    shown = side.event(x)
    if shown is None:
        return 0.0
    with precision(BITS):
        p, q = shown.first, shown.second
        return max(0.0, lower(p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()))
