"""One claim against one order of two laws: does it hold, by how much, and which event shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.comparing import compare
from discreet.auditor.exactly.families import is_noise, is_ours
from discreet.auditor.exactly.halflines import HalfLines
from discreet.auditor.exactly.orders import judge_orders
from discreet.auditor.exactly.parts import Parts
from discreet.auditor.exactly.profiles import Scan, promised, scan
from discreet.auditor.exactly.sides import BITS, Shown, Side
from discreet.balls import ball, lower, precision, upper
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Guarantee,
    LaplacePair,
    Pure,
    SampledPair,
    TotalVariation,
)
from discreet.laws import Gibbs
from discreet.laws.mixture import Mixture

if TYPE_CHECKING:
    from flint import arb

TOLERANCE = Fraction(1, 10**18)  # of a tie that balls cannot decide, relative to the claim


@dataclass(frozen=True)
class Judgement:
    """What one order of two laws says about a claim."""

    holds: bool | None  #: None: undecided
    tied: bool  #: equal to the claim as far as balls can tell, to one part in 10¹⁸
    parameter: str  #: what `claimed` and `found` are: "epsilon", "delta", "tv", "mu", "rho"
    claimed: float
    found: tuple[float, float]  #: bounds on the least true value for these laws
    shown: Shown | None  #: the event that shows it
    at: Fraction  #: the ε at which the event was chosen
    note: str = ""

    @property
    def severity(self) -> float:
        """How much of the claim is used up, for finding the worst."""
        if self.holds is False and math.isinf(self.found[1]):
            return math.inf
        middle = self.found[0] if math.isinf(self.found[1]) else sum(self.found) / 2
        return middle / self.claimed if self.claimed > 0 else middle


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
    return _profile(side, claim) if exact is None else exact


def _before_rounding(side: Side, claim: Guarantee) -> Judgement | None:
    """The laws before rounding, if the claim holds for them: rounding loses information."""
    laws = _laws(side)
    if laws is None or not _alike(*laws) or not hasattr(laws[0], "unrounded"):
        return None
    whole = judge(compare(laws[0].unrounded, laws[1].unrounded), claim)
    if not whole.holds:
        return None
    value = side.hockey(whole.at)
    found = (max(0.0, lower(value)), upper(value))
    return replace(
        whole, found=found, shown=side.event(whole.at), note="rounding loses information"
    )


def _pure(side: Side, epsilon: Fraction) -> Judgement:
    """The largest log ratio against ε."""
    loss = side.loss(epsilon)
    holds: bool | None
    if loss.ball is None:
        holds, tied, found = False, False, (math.inf, math.inf)
    elif loss.exact is not None:
        holds, tied = loss.exact <= epsilon, False
        found = (lower(loss.ball), upper(loss.ball))
    else:
        with precision(BITS):
            holds, tied = _decide(loss.ball - ball(epsilon), epsilon)
        found = (lower(loss.ball), upper(loss.ball))
    note = ""
    if not loss.complete:
        holds, found = (False if holds is False else None), (max(0.0, found[0]), math.inf)
        note = "" if holds is False else "the ratio is not known of all outcomes, such as far tails"
    return Judgement(holds, tied, "epsilon", float(epsilon), found, loss.shown, epsilon, note)


def _stick(side: Side, x: Fraction, delta: Fraction, parameter: str) -> Judgement:
    """The hockey stick at one x against δ."""
    value = side.hockey(x)
    with precision(BITS):
        holds, tied = _decide(value - ball(delta), delta)
    found = (max(0.0, lower(value)), upper(value))
    return Judgement(holds, tied, parameter, float(delta), found, side.event(x), x)


def _decide(excess: arb, size: Fraction) -> tuple[bool | None, bool]:
    """Whether the excess over a claim of this size is at most 0, and whether that is a tie."""
    if excess <= 0:
        return True, False
    if excess > 0:
        return False, False
    tied = bool(excess < ball(TOLERANCE * max(size, Fraction(1, 1000))))
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
            holds = True if square <= claim.mu**2 else (None if rounded else False)
            with precision(BITS):
                root = ball(square).sqrt()
            parameter, claimed = "mu", float(claim.mu)
        case LaplacePair(steps=None), "RealLaplace":
            holds = True if shift / first.scale <= claim.epsilon0 else (None if rounded else False)
            root = ball(shift / first.scale)
            parameter, claimed = "epsilon", float(claim.epsilon0)
        case _:
            return None
    if holds is None:
        return None
    found = (max(0.0, _least(side, claim, root) if rounded else lower(root)), upper(root))
    note = "rounding loses information" if rounded else ""
    x = _telling(root)
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
    """Whether both are one noise of ours, on one grid, around two centres."""
    return is_noise(first) and is_noise(second) and first.shape == second.shape


def _sampled(side: Side, laws: tuple[Any, Any], claim: SampledPair) -> Judgement | None:
    """A normal law that a coin moves, against the one it moves from, by the same definition."""
    mixture, alone = laws if type(laws[0]) is Mixture else (laws[1], laws[0])
    if type(mixture) is not Mixture or mixture.second != alone or not is_ours(mixture):
        return None
    moved = _by_definition(HalfLines(mixture.first, alone), claim.base)
    if moved is None or not moved.holds or mixture.share > claim.rate:
        return None
    value = side.hockey(Fraction(0))
    found, claimed = (max(0.0, lower(value)), upper(value)), float(promised(claim, Fraction(0)))
    note = "moved or not by a coin, which is the definition of sampling"
    shown = side.event(Fraction(0))
    return Judgement(True, False, "delta", claimed, found, shown, Fraction(0), note)


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
    holds: bool | None
    with precision(BITS):
        exact = _gibbs_range(side)
        length = ball(exact) if exact is not None else over.ball + under.ball
        if exact is not None:
            holds, tied = exact <= claim.epsilon0, False
        else:
            holds, tied = _decide(length - ball(claim.epsilon0), claim.epsilon0)
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
    """rate·(max − min) of the differences of the scores, for two laws of Gibbs with one rate."""
    match side.laws:
        case (Gibbs() as first, Gibbs() as second) if _same_choice(first, second):
            moves = [a - b for a, b in zip(first.scores, second.scores, strict=True)]
            return first.rate * (max(moves) - min(moves))
    return None


def _same_choice(first: Gibbs, second: Gibbs) -> bool:
    known = is_ours(first) and is_ours(second)
    return known and first.rate == second.rate and len(first.scores) == len(second.scores)


def _telling(size: arb) -> Fraction:
    """An ε at which an event is worth a look: half of the square, or half."""
    return Fraction(float(size)) / 2


def _zcdp(side: Side, claim: ZCDP) -> Judgement:
    """Rényi divergences of all orders against ρ times the order."""
    rounded = isinstance(side, HalfLines) and _alike(side.first, side.second)
    if isinstance(side, HalfLines) and rounded and hasattr(side.first, "unrounded"):
        whole = HalfLines(side.first.unrounded, side.second.unrounded)
        verdict = judge_orders(whole, claim.rho)
        if verdict is not None and verdict.holds:
            x = verdict.at
            found = (_event_rho(side, x), verdict.found[1])
            return Judgement(
                True,
                False,
                "rho",
                float(claim.rho),
                found,
                side.event(x),
                x,
                "rounding loses information",
            )
    verdict = judge_orders(side, claim.rho)
    if verdict is None:
        # A profile that is kept does not make ρ-zCDP, only one that is broken refutes it.
        kept = _profile(side, claim)
        note = "the profile that it implies is kept, but divergences are not known of these laws"
        return replace(kept, holds=None, note=note) if kept.holds else kept
    return Judgement(
        verdict.holds,
        verdict.tied,
        "rho",
        float(claim.rho),
        verdict.found,
        side.event(verdict.at),
        verdict.at,
        verdict.note,
    )


def _event_rho(side: Side, x: Fraction) -> float:
    """ρ is at least the Kullback-Leibler divergence of one event."""
    shown = side.event(x)
    if shown is None:
        return 0.0
    with precision(BITS):
        p, q = shown.first, shown.second
        return max(0.0, lower(p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()))


def _profile(side: Side, claim: Guarantee) -> Judgement:
    """The whole profile, every ε ≥ 0."""
    found: Scan = scan(side, claim)
    return Judgement(
        found.holds,
        found.tied,
        "delta",
        found.claimed,
        found.found,
        side.event(found.at),
        found.at,
        found.note,
    )
