"""From what a mechanism says about its inputs to a plan of which neighbours to compare."""

from __future__ import annotations

from typing import Any

from discreet.auditor.exactly.additive import of_mean, of_numbers
from discreet.auditor.exactly.counting import of_counts, of_unit_counts
from discreet.auditor.exactly.neighbours import Plan
from discreet.auditor.exactly.selecting import of_categories, of_scores
from discreet.auditor.exactly.streaming import of_stream
from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee
from discreet.inputs import (
    Categories,
    Mean,
    Numbers,
    RowCounts,
    Sampled,
    Scores,
    Stream,
    UnitCounts,
)


def plan(mechanism: Any, claim: Guarantee) -> Plan:
    """Which neighbours to compare, and why they are enough."""
    law, inputs = mechanism.law, getattr(mechanism, "inputs", None)
    match inputs:
        case Numbers():
            return of_numbers(law, inputs, claim)
        case Mean():
            return of_mean(law, inputs, claim)
        case Categories():
            return of_categories(law, inputs, claim)
        case Scores():
            return of_scores(law, inputs, claim)
        case Stream():
            return of_stream(law, inputs, claim)
        case UnitCounts():
            return of_unit_counts(law, inputs, claim)
        case RowCounts():
            return of_counts(law, inputs, claim)
        case Sampled():
            return _sampled(mechanism, inputs, claim)
    raise InvalidArgument(
        name="pairs",
        expected="given, since the mechanism does not say what its neighbours look like",
        given="None",
        hint="list some neighbouring inputs, such as pairs=[(0, 1)]",
    )


def _sampled(mechanism: Any, inputs: Sampled, claim: Guarantee) -> Plan:
    """The neighbours of the mechanism itself, with the person in the sample or not there."""
    base = plan(mechanism.mechanism, mechanism.mechanism.guarantee)
    pairs = [((x, y), (x, None)) for x, y in base.pairs] + [
        ((y, x), (y, None)) for x, y in base.pairs
    ]
    return Plan(pairs, f"a person who is drawn or not, with {base.why}")
