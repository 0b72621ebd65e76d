"""The exact route: recompute a guarantee from the output laws alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic
from typing import Any, Literal

from discreet.auditor.accusation import accused
from discreet.auditor.exact.comparison import compare, sides
from discreet.auditor.exact.judgement import Judgement, judge
from discreet.auditor.exact.neighbours import Climb, NeighbourPlan, Pair, Several, plan
from discreet.auditor.exact.sides import BITS, Event
from discreet.errors import InvalidArgument
from discreet.guarantees import Approx, Guarantee
from discreet.hints import spelled
from discreet.laws import Finite
from discreet.numeric.balls import ball, lower, precision, upper
from discreet.numeric.exact import round_up

# -- verdict and witness ---------------------------------------------------------------------------


Verdict = Literal["holds", "violated", "undecided"]


@dataclass(frozen=True)
class ExactWitness:
    """An event with its probabilities under two neighbouring inputs, as outward bounds."""

    first: int  #: pair[first] is the input under which the event is likelier
    event: Event
    probability: tuple[float, float]  #: under pair[first]
    other_probability: tuple[float, float]
    epsilon: float  #: the event shows at least this ε, at the claimed δ
    delta: float  #: and at least this δ, at the claimed ε

    def __str__(self) -> str:
        return (
            f"{self.event}: probability {_range(*self.probability)} on pair[{self.first}], "
            f"{_range(*self.other_probability)} on pair[{1 - self.first}]"
        )


@dataclass(frozen=True)
class Verification:
    """The verdict on a claim, from the output laws alone.

    ``found`` bounds the least true value of ``parameter`` over the pairs that were compared, and
    ``margin`` is what the claim leaves above it. ``proven`` says whether the verdict covers all
    neighbours, for the reason and under the assumption in ``why``, or only those that were tried.
    """

    verdict: Verdict
    claim: Guarantee
    parameter: str
    claimed: float
    found: tuple[float, float]
    worst: tuple[Any, Any] = field(repr=False)  #: the worst pair found
    proven: bool
    why: str
    witness: ExactWitness | None
    tried: int
    ceiling: float | None = None  #: no neighbours show more, tried or not, if that is proven
    tied: bool = False  #: the claim is met with equality, as far as 18 digits show
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the claim holds, for all neighbours if `proven`, else for those tried."""
        return self.verdict == "holds"

    @property
    def violated(self) -> bool:
        """Whether some neighbours break the claim, for certain."""
        return self.verdict == "violated"

    @property
    def margin(self) -> float:
        """The claimed value less the one found, or less what is proven for all; 0 for a tie."""
        bound = self.found[0] if self.violated else self.found[1]
        if math.isinf(bound):
            return -math.inf
        if not self.holds:
            return self.claimed - bound
        bound = bound if self.ceiling is None else self.ceiling
        return 0.0 if self.tied else max(0.0, self.claimed - bound)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_json(self) -> str:
        """The verdict as JSON. The pair itself is left out: it may be data."""
        shown = self.witness
        document = {
            "verdict": self.verdict,
            "claim": json.loads(self.claim.to_json()),
            "parameter": self.parameter,
            "claimed": _json(self.claimed),
            "found": [_json(bound) for bound in self.found],
            "margin": _json(self.margin),
            "proven": self.proven,
            "why": self.why,
            "tried": self.tried,
            "ceiling": self.ceiling,
            "tied": self.tied,
            "note": self.note,
            "witness": shown
            and {**vars(shown), "event": str(shown.event), "epsilon": _json(shown.epsilon)},
        }
        return json.dumps(document, ensure_ascii=False)


def _lines(v: Verification) -> list[str]:
    scope = "for all neighbours" if v.proven else "for the neighbours tried, which proves no more"
    head = {
        "holds": f"{v.claim} holds {scope}",
        "violated": f"{accused(v.claim)} is violated",
        "undecided": f"{accused(v.claim)} is undecided",
    }[v.verdict]
    pairs = "1 pair of neighbours" if v.tried == 1 else f"{v.tried} pairs of neighbours"
    lines = [
        head,
        f"  {v.parameter}: {_range(*v.found)} found in {pairs}, {v.claimed:.10g} claimed",
    ]
    if v.holds:
        tie = " (met with equality, as far as 18 digits tell)" if v.tied else ""
        lines.append(f"  margin: {v.margin:.6g}{tie}")
    lines.append(f"  why: {v.why}")
    if v.witness is not None:
        lines.append(f"  witness: {v.witness}")
        if v.violated:
            lines.append(f"  shows: ε ≥ {v.witness.epsilon:.10g}, δ ≥ {v.witness.delta:.10g}")
    if v.note:
        lines.append(f"  note: {v.note}")
    return lines


def _range(low: float, high: float) -> str:
    """Bounds as one number where they agree to ten digits."""
    if f"{low:.10g}" == f"{high:.10g}" or math.isclose(low, high, rel_tol=1e-10):
        return f"{high:.10g}"
    return f"at least {low:.10g}" if math.isinf(high) else f"{low:.6g} to {high:.10g}"


def _json(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)


# -- the recomputation -----------------------------------------------------------------------------


Judged = tuple[Judgement, int, Pair]  # pair[i] is the input of the law that is P

_MOST_STEPS = 60
_PAYS = 1e-4
_SECONDS = 15  # for neighbours that are only tried; proofs and given pairs have no limit
_STRIDE = 7


@spelled
def verify(
    mechanism: Any, claim: Guarantee | None = None, *, pairs: Iterable[Pair] | None = None
) -> Verification:
    """Decide a claim about a mechanism from its output laws: holds, violated or undecided.

    ``mechanism`` is anything with ``law(value)``, which is a law of `discreet.laws` or a dict of
    probabilities; its own ``guarantee`` is the claim unless one is given, and its ``inputs`` say
    what neighbours look like unless ``pairs`` lists some. Both orders of every pair are compared,
    by exact sums and outward bounds. The result says whether it covers all neighbours
    (``proven``) or only those tried. A proof for all neighbours rests on the form of the law,
    such as one noise around every input. That is an assumption: ``why`` says at how many inputs
    the law was looked at, and had that form.

    >>> from discreet.guarantees import Pure
    >>> from discreet.laws import DiscreteLaplace
    >>> class Half:                                        # half of the noise that it needs
    ...     def law(self, value):
    ...         return DiscreteLaplace(center=value, scale="1/2")
    >>> finding = verify(Half(), Pure(1), pairs=[(0, 1)])
    >>> finding.violated, finding.found
    (True, (2.0, 2.0))
    """
    law = getattr(mechanism, "law", None)
    if not callable(law) or isinstance(mechanism, type):
        raise InvalidArgument.of(
            "mechanism",
            "anything with a method law(value)",
            mechanism,
            hint="make one first, as in dp.Laplace(sensitivity=1, epsilon=1)"
            if isinstance(mechanism, type)
            else "for code without a known law use dp.audit",
        )
    claimed = getattr(mechanism, "guarantee", None) if claim is None else claim
    if not isinstance(claimed, Guarantee):
        raise InvalidArgument.of(
            "claim", "a guarantee such as Pure(1), where the mechanism states none", claimed
        )
    search = _given(pairs) if pairs is not None else plan(mechanism, claimed)
    return _verdict(search, law, claimed)


def _given(pairs: Iterable[Pair]) -> NeighbourPlan:
    listed = list(pairs)
    if not listed or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in listed):
        raise InvalidArgument(
            "pairs",
            "at least one pair of inputs, such as [(0, 1)]",
            "none" if not listed else "something else",
        )
    why = "only the pairs that were given"
    return NeighbourPlan([(x, y) for x, y in listed], why, every=True)


def _verdict(search: NeighbourPlan, law: Any, claim: Guarantee) -> Verification:
    judged: list[Judged] = []
    end = math.inf if search.every or search.proof is not None else monotonic() + _SECONDS
    # Every seventh pair first: whenever the time is up, pairs of all kinds have been compared.
    order = [pair for start in range(_STRIDE) for pair in search.pairs[start::_STRIDE]]
    for pair in order:
        judged += _both(law, claim, pair)
        if monotonic() > end:
            break
    if search.climb is not None:
        judged += _climb(search.climb, law, claim, max(judged, key=_severity), end)
    left, why = len(order) - len(judged) // 2, search.why
    if left > 0:
        why = f"{why}, of which {left} were left out after {_SECONDS} seconds"
    return _summary(replace(search, why=why), claim, judged)


def _severity(judged: Judged) -> float:
    return judged[0].severity


def _climb(climb: Climb, law: Any, claim: Guarantee, start: Judged, end: float) -> list[Judged]:
    """Walk to worse and worse neighbours, one step at a time, while it pays."""
    seen, best = list[Judged](), start
    while len(seen) < 2 * _MOST_STEPS and best[0].holds is not False and monotonic() <= end:
        steps = [item for pair in climb(best[2]) for item in _both(law, claim, pair)]
        seen += steps
        next_best = max(steps, key=_severity)
        if not _severity(next_best) > _severity(best) + _PAYS:
            break
        best = next_best
    return seen


def _both(law: Any, claim: Guarantee, pair: Pair) -> list[Judged]:
    """Both orders of a pair."""
    first, second = (law_of(law, value) for value in pair)
    return [(judge(side, claim), i, pair) for i, side in enumerate(sides(first, second))]


def law_of(law: Any, value: Any) -> Any:
    """The law of one input; a tuple of laws for `Several` independent ones."""
    if isinstance(value, Several):
        return tuple(law_of(law, one) for one in value.values)
    found = law(value)
    if isinstance(found, Mapping):  # {outcome: probability}, as anybody would write it down
        return Finite(tuple(found), tuple(found.values()))
    return found


def _summary(search: NeighbourPlan, claim: Guarantee, judged: list[Judged]) -> Verification:
    broken = [item for item in judged if item[0].holds is False]
    open_ = [item for item in judged if item[0].holds is None]
    pool = broken or open_ or judged
    worst, first, pair = max(pool, key=_severity)
    verdict: Verdict = "violated" if broken else "undecided" if open_ or search.short else "holds"
    proof = search.proof if verdict == "holds" else None
    why = search.why if proof is None else proof.words
    # Where the proof bounds all neighbours, the margin is what is left above that.
    ceiling = proof.ceiling if proof and worst.parameter in ("epsilon", "range") else None
    return Verification(
        verdict=verdict,
        claim=claim,
        parameter=worst.parameter,
        claimed=worst.claimed,
        found=worst.found,
        worst=_plain(pair),
        proven=bool(broken) or proof is not None,
        why="the witness shows it, by outward bounds on both probabilities" if broken else why,
        witness=_witness(worst, first, claim),
        tried=len(judged) // 2,
        ceiling=None if ceiling is None else round_up(ceiling),
        tied=worst.tied and ceiling is None,
        note="; ".join(filter(None, [worst.note, "" if broken else search.short])),
    )


def _plain(pair: Pair) -> Pair:
    first, second = (value.values if isinstance(value, Several) else value for value in pair)
    return first, second


def _witness(worst: Judgement, first: int, claim: Guarantee) -> ExactWitness | None:
    if worst.shown is None:
        return None
    shown, delta = worst.shown, claim.delta0 if isinstance(claim, Approx) else Fraction(0)
    with precision(BITS):
        above = shown.first - ball(delta)
        if shown.second.is_zero():
            epsilon = math.inf
        else:
            epsilon = lower((above / shown.second).log()) if above > 0 else 0.0
        excess = lower(shown.first - ball(worst.at).exp() * shown.second)
    return ExactWitness(
        first=first,
        event=shown.event,
        probability=(max(0.0, lower(shown.first)), min(1.0, upper(shown.first))),
        other_probability=(max(0.0, lower(shown.second)), min(1.0, upper(shown.second))),
        epsilon=max(0.0, epsilon),
        delta=max(0.0, excess),
    )


# -- which neighbours to draw from, where none were given and the law is known ---------------------


_SIMPLE, _FURTHEST = 3, 3
_DIGITS = 9  # of a distance: pairs that agree to this many are one pair, moved elsewhere


def distinguishing_pairs(mechanism: Any, claim: Guarantee) -> list[Pair]:
    """The simplest neighbours of the exact route, and those furthest apart in total variation.

    The pair with the largest ε is not sought: what tells it apart may come once in a million
    outputs, and code without any noise may answer both alike.

    >>> import discreet as dp
    >>> noisy = dp.Exponential(sensitivity=1, epsilon=1)
    >>> ([1.0, 0.0], [0.0, 1.0]) in distinguishing_pairs(noisy, noisy.guarantee)
    True
    """
    pairs = plan(mechanism, claim).pairs
    found: dict[float, Pair] = {}
    for pair in pairs:
        first, second = (law_of(mechanism.law, value) for value in pair)
        with precision(BITS):
            distance = lower(compare(first, second).hockey(Fraction(0)))
        found.setdefault(round(distance, _DIGITS), pair)
    furthest = [found[distance] for distance in sorted(found, reverse=True)]
    return [_plain(pair) for pair in (*pairs[:_SIMPLE], *furthest[:_FURTHEST])]
