"""A session's budget: opened from what the caller gave, and told in words."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.exact import Number, probability, round_up
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from discreet.guarantees.accounts.charges import Charge, price
from discreet.guarantees.accounts.filters import Filter
from discreet.guarantees.accounts.notions import Notion, in_words, sum_of
from discreet.query.numbers import short
from discreet.query.plan import Plan

Budget = Pure | ZCDP | GDP | Approx
_FINE = 2**40


def open_account(budget: Budget, slack: Number | None) -> Filter:
    """The caps of a budget.

    >>> open_account(Approx(1, 1e-6), None).slack
    Fraction(1, 2000000)
    """
    match budget:
        case Approx(epsilon0=epsilon, delta0=delta):
            kept = delta / 2 if slack is None else _slack(slack)
            return Filter.from_epsilon_delta(epsilon=epsilon, delta=delta, slack=kept)
        case Pure() | ZCDP() | GDP():
            return Filter(limit=budget, slack=0 if slack is None else _slack(slack))
    raise InvalidArgument(
        name="budget",
        expected="dp.Pure, dp.ZCDP, dp.GDP or dp.Approx, such as dp.Pure(3)",
        given=InvalidArgument.describe_parameter(budget),
    )


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


def cost_in_words(account: Filter, guarantee: Guarantee) -> str:
    """What a plan takes from this account."""
    charge = price(type(account.limit), guarantee, 0)
    return in_words(type(account.limit), charge.amount, charge.slack)


def account_in_words(account: Filter, plan: Plan) -> tuple[str, ...]:
    """What a plan means for this account."""
    kind = type(account.limit)
    charge = price(kind, plan.guarantee, 0)
    fits = _times(account, charge)
    part = charge.amount / sum_of(account.limit)
    words = in_words(kind, charge.amount, charge.slack)
    cost = f"Cost: {words} ({short(100 * float(part))} % of all)"
    spent = in_words(kind, account.total, account.spent_slack)
    limit = in_words(kind, sum_of(account.limit), account.slack)
    so_far = f"{spent} of {limit} is spent"
    if not fits:
        return (f"{cost}; {so_far}, so this does not fit.",)
    after = f"{fits - 1:,} more like it fit" if fits > 1 else "none like it fits"
    return (f"{cost}; {so_far}, and after this {after}.",)


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


def _slack(slack: Number) -> Fraction:
    return Fraction(0) if slack == 0 else probability(slack, name="slack")
