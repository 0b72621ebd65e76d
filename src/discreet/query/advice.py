"""When noise swamps an answer, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from discreet.mechanisms.noisy_max import NoisyMax
from discreet.neighbors import Relation
from discreet.query.bought import Noise
from discreet.query.keys import ListedKeys
from discreet.query.numbers import short
from discreet.query.parts import (
    TIELESS,
    PresenceCounts,
    PresentCount,
    QuantileChoice,
    RowCount,
    UnitCount,
)
from discreet.query.plan import Plan

_SWAMPED = 1_000  # rows: an error beyond this hides all but large groups
_COUNTS = (RowCount, PresentCount, PresenceCounts, UnitCount)


def warnings_for(plan: Plan) -> Iterator[str]:
    """What the analyst should know before paying."""
    for one in plan.bought.values():
        if isinstance(one, Noise) and isinstance(one.part, _COUNTS) and one.error > _SWAMPED:
            yield _swamped(plan, one)
            return
    counts_rows = any(isinstance(part, RowCount | PresenceCounts) for part in plan.bought)
    for part in plan.bought:
        if isinstance(part, QuantileChoice) and len(part.probabilities) > TIELESS:
            if not counts_rows:
                yield (
                    f"how far {part.words} may be off is not known without the number of rows: add "
                    "dp.count(), or ask for fewer than three."
                )
            break
    for expected in plan.expected(1_000):
        if expected.unit == "ranks" and expected.error >= 500:
            yield (
                f"in a group of 1,000 rows the rank of {expected.name} is off by as much as half "
                "of them: ask for fewer quantiles at once, wider steps or a larger spend."
            )
            break
    wide = [e for e in plan.expected(1_000) if e.by_size and _useless(plan, e.name, e.error)]
    for expected in wide:
        yield (
            f"the error of {expected.name} in a group of 1,000 rows is as wide as its bounds: "
            "use narrower bounds, coarser groups, fewer columns or a larger spend."
        )


def _swamped(plan: Plan, one: Noise) -> str:
    count, groups = one.part, plan.query.contribution.touched
    text = (
        f"the noise swamps the answer: the error of {count.words} is ± {short(one.error)}, so "
        f"groups below {short(10 * one.error)} rows are known to 10 % at best."
    )
    helps = []
    if groups > 1:
        helps.append(
            f"fewer or coarser groups (one person moves {groups:,} of them; with 10 the error "
            f"would be ± {short(one.error * 10 / groups)})"
            if groups > 10 and one.noise == "laplace"
            else "fewer or coarser groups"
        )
    if len(plan.bought) > 1:
        helps.append("fewer columns")
    helps.append("more rows, or a larger spend")
    keys = plan.query.keys
    if isinstance(keys, ListedKeys) and groups > 1:
        helps.append(_selection(plan, one, len(keys)))
    return f"{text} What would help: {'; '.join(helps)}."


def _selection(plan: Plan, one: Noise, keys: int) -> str:
    """Which group is largest costs the same however many there are (claim 20)."""
    epsilon = plan.money.share(Fraction(1)).pure
    monotone = plan.query.table.relation is Relation.ADD_REMOVE
    rows = plan.query.contribution.rows
    chosen = NoisyMax(sensitivity=rows, epsilon=epsilon, monotone=monotone)
    return (
        f"to ask which of the {keys:,} groups is largest (top_k) instead of {keys:,} counts: for "
        f"the same spend it is within {short(chosen.error(candidates=keys))} rows of the best"
    )


def _useless(plan: Plan, name: str, error: float) -> bool:
    bounds = [
        aggregate.bounds
        for asked, aggregate in plan.query.aggregates
        if asked == name and hasattr(aggregate, "bounds")
    ]
    return any(error >= float(upper - lower) / 2 for lower, upper in bounds)
