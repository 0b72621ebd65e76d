"""What one release takes from an account: a cost that adds up, and a chance of failing outright.

Every guarantee is split into a part that always holds and the probability δ₀ with which it does
not hold at all. For an (ε, δ₀) promise that is no loss: its worst pair *is* "with probability δ₀
tell all, else randomized response" (Kairouz, Oh and Viswanath 2015). The first part is charged
in the account's notion, δ₀ to its slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.errors import InvalidArgument
from discreet.exact import Number
from discreet.guarantees.accounts.notions import Notion
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.compose import compose
from discreet.guarantees.composition import Composition
from discreet.guarantees.conversions import proved, to_gdp, to_pure, to_zcdp
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.key_pair import KeyPair
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.least import Least
from discreet.guarantees.profile import unit_interval
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.short import LARGEST, is_short, short_up
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP

_SHORT = "at most 64 bits above and 64 below the stroke"

# Guarantees that are a few numbers, and so may be remembered with their price.
_SMALL = (
    Pure,
    Approx,
    ZCDP,
    GDP,
    TotalVariation,
    LaplacePair,
    BoundedRange,
    ResponsePair,
    SampledPair,
)
_MOST_SEEN = 1024
_SEEN: dict[tuple[type[Notion], int, int], tuple[Charge, Guarantee, Number]] = {}


@dataclass(frozen=True, slots=True)
class Charge:
    """The two numbers that are added up, exact: ε, ρ or μ², and δ₀."""

    amount: Fraction
    slack: Fraction


def split(guarantee: Guarantee) -> tuple[Guarantee, Fraction]:
    """A part that always holds, and the probability δ₀ that not even this holds.

    >>> split(Approx(epsilon=1, delta="1e-6"))
    (Pure(epsilon=Fraction(1, 1)), Fraction(1, 1000000))
    """
    match guarantee:
        case Approx(epsilon0=e, delta0=d):
            return Pure(e), d
        case TotalVariation(tv0=t):
            return Pure(0), t
        case KeyPair():
            return guarantee.split
        case Composition(parts=parts):
            # All of them hold but with the sum of the probabilities, as in the account itself.
            pieces = [(*split(part), count) for part, count in parts]
            failing = sum((count * d for _, d, count in pieces), Fraction(0))
            if not failing:
                return guarantee, failing
            return compose(g.repeat(count) for g, _, count in pieces), min(Fraction(1), failing)
    return guarantee, Fraction(0)


def price(kind: type[Notion], cost: Guarantee, slack: Number) -> Charge:
    """What this cost, and this much more slack, is in an account of that kind.

    >>> price(ZCDP, GDP(mu="1/3"), slack=0)
    Charge(amount=Fraction(1, 18), slack=Fraction(0, 1))
    """
    # Hashing fractions takes longer than adding them, so the very same objects are known by
    # their addresses; they are kept beside, so that no address is used again.
    key = (kind, id(cost), id(slack))
    if seen := _SEEN.get(key):
        return seen[0]
    charge = _priced_with_slack(kind, cost, slack)
    if isinstance(cost, _SMALL):
        if len(_SEEN) >= _MOST_SEEN:
            _SEEN.clear()
        _SEEN[key] = (charge, cost, slack)
    return charge


def _priced_with_slack(kind: type[Notion], cost: Guarantee, slack: Number) -> Charge:
    if not isinstance(cost, Guarantee):
        given = InvalidArgument.describe_parameter(cost)
        raise InvalidArgument(
            name="cost", expected="a guarantee", given=given, hint="such as mechanism.guarantee"
        )
    charge = (_priced if isinstance(cost, _SMALL) else _priced.__wrapped__)(kind, cost)
    extra = _short_slack(unit_interval(slack, name="slack"))
    charge = Charge(charge.amount, _short_slack(short_up(charge.slack + extra)))
    if charge.amount or charge.slack:
        return charge
    raise InvalidArgument(
        name="cost",
        expected="above 0",
        given="a guarantee that costs nothing",
        hint="what reveals nothing needs no charge",
    )


@lru_cache(maxsize=1024)
def _priced(kind: type[Notion], cost: Guarantee) -> Charge:
    if isinstance(cost, Least):
        # Each fact is true, so any may be charged: the one with least slack, then least cost.
        charges = proved(lambda fact: _priced.__wrapped__(kind, fact), cost.facts)
        return min(charges, key=lambda charge: (charge.slack, charge.amount))
    part, failing = split(cost)
    if isinstance(cost, Approx | TotalVariation):
        return Charge(_amount(kind, part, typed=True), _short_slack(failing))
    return Charge(_amount(kind, part, typed=part is cost), short_up(failing))


def _short_slack(slack: Fraction) -> Fraction:
    if is_short(slack) and slack <= 1:
        return slack
    given = InvalidArgument.describe_parameter(slack)
    raise InvalidArgument(name="slack", expected=f"at most 1, with {_SHORT}", given=given)


def _amount(kind: type[Notion], part: Guarantee, *, typed: bool) -> Fraction:
    """ε, ρ or μ². As typed it must be short; what a theorem computes is rounded up to be so."""
    given = typed and isinstance(part, kind)
    if kind is Pure:
        return _short(to_pure(part).epsilon0, name="epsilon", exact=given)
    if kind is ZCDP:
        return _short(to_zcdp(part).rho, name="rho", exact=given)
    # The μ of Gaussian noise is computed more often than typed (from ρ, or from ε and δ), so a
    # long one is rounded up unless it is absurdly small. Its square is exact, in 128 bits.
    mu = to_gdp(part).mu
    return _short(mu, name="mu", exact=given and mu * LARGEST < 1) ** 2


def _short(x: Fraction, *, name: str, exact: bool) -> Fraction:
    if is_short(x) or (x <= LARGEST and not exact):
        return short_up(x)
    raise InvalidArgument(
        name=name,
        expected=f"below 2⁶⁴ and, to be charged exactly, a fraction with {_SHORT}",
        given=InvalidArgument.describe_parameter(x),
        hint=f"the next such fraction is {short_up(x)}" if x <= LARGEST else "",
    )
