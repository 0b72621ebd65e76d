"""A session's budget: opened from what the caller gave, and told in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.guarantees import GDP, ZCDP, Pure
from discreet.guarantees.filters import Charge, Filter, Notion, in_words, price, sum_of
from discreet.ledger.entry import NamedFilter
from discreet.numeric.exact import round_up
from discreet.query.numerals import short
from discreet.query.plan import Plan

_FINE = 2**40


def left(account: Filter) -> Notion:
    """What may still be charged, rounded down where a root is not rational."""
    rest = sum_of(account.limit) - account.total
    match account.limit:
        case Pure():
            return Pure(rest)
        case ZCDP():
            return ZCDP(rest)
        case GDP():
            return GDP(Fraction(math.isqrt(int(rest * _FINE**2)), _FINE))


def accounts_in_words(caps: Sequence[NamedFilter], plan: Plan) -> tuple[str, ...]:
    """What a plan means for each account, by name if there are several."""
    return tuple(
        _account_in_words(cap.filter, plan, cap.name if len(caps) > 1 else "") for cap in caps
    )


def _account_in_words(account: Filter, plan: Plan, name: str) -> str:
    kind = type(account.limit)
    charge = price(kind, plan.guarantee, 0)
    fits = _times(account, charge)
    part = charge.amount / sum_of(account.limit)
    words = in_words(kind, charge.amount, charge.slack)
    whose = f" to the {name}" if name else ""
    cost = f"Cost{whose}: {words} ({short(100 * float(part))} % of all)"
    spent = in_words(kind, account.total, account.spent_slack)
    limit = in_words(kind, sum_of(account.limit), account.slack)
    so_far = f"{spent} of {limit} is spent"
    if not fits:
        return f"{cost}; {so_far}, so this does not fit."
    after = f"{fits - 1:,} more like it fit" if fits > 1 else "none like it fits"
    return f"{cost}; {so_far}, and after this {after}."


def planning_account(caps: Sequence[NamedFilter]) -> Filter:
    """The account to plan for: a pure one if any is, since it refuses what needs a δ; else that
    of the dataset."""
    return next((c.filter for c in caps if isinstance(c.filter.limit, Pure)), caps[0].filter)


def _times(account: Filter, charge: Charge) -> int:
    """How many such charges fit."""
    rooms = [(sum_of(account.limit) - account.total, charge.amount)]
    rooms += [(account.slack - account.spent_slack, charge.slack)]
    return int(min(room // size for room, size in rooms if size))


def notion_in_words(notion: Notion) -> str:
    """A notion with its number, for reading."""
    names = {Pure: "ε", ZCDP: "ρ", GDP: "μ"}
    value = notion.mu if isinstance(notion, GDP) else sum_of(notion)
    return f"{names[type(notion)]} = {round_up(value):.6g}"
