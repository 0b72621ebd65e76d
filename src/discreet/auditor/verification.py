"""What the exact route says about a claim, and the event that shows it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from discreet.auditor.accusing import accused
from discreet.auditor.exactly.event import Event
from discreet.guarantees import Guarantee

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
        low, high = self.probability
        other_low, other_high = self.other_probability
        return (
            f"{self.event}: probability {_range(low, high)} on pair[{self.first}], "
            f"{_range(other_low, other_high)} on pair[{1 - self.first}]"
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
    ceiling: float | None = None  #: no neighbours show more, tried or not; where that is proven
    tied: bool = False  #: the claim is met with equality, as far as 18 digits tell
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
        witness = None
        if self.witness is not None:
            witness = {
                "first": self.witness.first,
                "event": str(self.witness.event),
                "probability": list(self.witness.probability),
                "other_probability": list(self.witness.other_probability),
                "epsilon": _json(self.witness.epsilon),
                "delta": self.witness.delta,
            }
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
            "witness": witness,
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
