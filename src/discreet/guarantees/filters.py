"""Accounts for sessions in which the next budget may depend on earlier answers.

A filter is a stopping rule: it lets a release pass while a sum stays within a cap. That the cap
is then a guarantee for the whole session, however mechanisms *and their budgets* were chosen, is
a theorem for each of three sums:

- ε, in pure differential privacy (Rogers, Roth, Ullman and Vadhan 2016);
- ρ, in zCDP (Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023);
- μ², in Gaussian differential privacy (Smith and Thakurta 2022; Koskela, Tobaben and Honkela
  2023).

For composed profiles in general it is false (arXiv 2602.06756), so there is no such filter.

A sum of δ₀ runs alongside, capped by the slack: see what a filter promises.

All of it assumes that a charge is a function of the questions and earlier *answers*, never of
the data, and that it is made before the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from discreet.errors import BudgetExceeded, Idiom, InvalidArgument, Refused
from discreet.guarantees.approx import read_slack, without_slack
from discreet.guarantees.composition import Least, proved
from discreet.guarantees.guarantee import Guarantee, unit_interval
from discreet.guarantees.notion import Notion, plain
from discreet.guarantees.zcdp import ZCDP
from discreet.hints import spelled
from discreet.numeric.exact import Number, non_negative, round_up
from discreet.numeric.short_fractions import LARGEST, Ratio, is_short, short_up, sum_up


@dataclass(frozen=True, init=False, repr=False)
class Filter:
    """A cap on ε, ρ or μ² with a δ slack, and what has been charged against it so far.

    ``limit`` is the cap: ``dp.Pure``, ``dp.ZCDP`` or ``dp.GDP``. ``slack`` is the most that δ₀ may
    add up to, the chances that mechanisms fail outright; 0 if left out, which refuses them.
    ``total`` (of ε, ρ or μ²) and ``spent_slack`` restore an account that was written down; left
    out, nothing is spent yet.

    A filter is a value: `charge` returns the next one and leaves this one as it is, so a refused
    charge leaves no trace. Sums are exact rationals, rounded up to a multiple of 2⁻¹²⁸ once their
    denominator passes 256 bits. Costs are rounded up to at most 64 bits above and below the
    stroke where a theorem computes them; as typed they are exact, or refused if longer. A cost
    of zero is refused as a mistake: what reveals nothing needs no charge.

    >>> from discreet.guarantees import GDP, ZCDP, Approx, Pure
    >>> account = Filter(limit=Pure(epsilon=1))
    >>> account = account.charge(Pure(epsilon="0.7"))
    >>> account.spent, account.remaining(Pure(epsilon="0.1"))
    (Pure(epsilon=Fraction(7, 10)), 3)
    >>> account.charge(Pure(epsilon="0.4"))
    Traceback (most recent call last):
    discreet.errors.BudgetExceeded: the request needs ε = 0.4, but ε = 0.7 of ε = 1 is already \
spent, so ε = 0.3 is left

    Any guarantee can be charged for which a theorem gives the account's notion:

    >>> account = Filter(limit=ZCDP(rho="0.5"), slack="1e-6")
    >>> account = account.charge(GDP(mu="1/2")).charge(Approx(epsilon="0.1", delta="1e-7"))
    >>> round(float(account.spent.rho), 9), account.spent_slack
    (0.129995837, Fraction(1, 10000000))
    """

    limit: Notion  #: the cap
    slack: Fraction  #: the cap on the sum of δ₀
    _sums: tuple[Ratio, Ratio]  #: of ε, ρ or μ², and of δ₀
    _caps: tuple[Ratio, Ratio] = field(compare=False)

    @spelled
    def __init__(
        self, *, limit: Notion, slack: Number = 0, total: Number = 0, spent_slack: Number = 0
    ) -> None:
        """Open an account; `total` and `spent_slack` restore one that was written down."""
        cap, allowed = read_cap(limit), read_slack(slack)
        spent, failing = non_negative(total, name="total"), non_negative(spent_slack, name="slack")
        if spent > cap or failing > allowed:
            given = in_words(type(limit), spent, failing)
            raise InvalidArgument("total", "within the limit", given)
        sums = (spent.as_integer_ratio(), failing.as_integer_ratio())
        self._become(limit, allowed, sums, (cap.as_integer_ratio(), allowed.as_integer_ratio()))

    def _become(
        self,
        limit: Notion,
        slack: Fraction,
        sums: tuple[Ratio, Ratio],
        caps: tuple[Ratio, Ratio],
    ) -> Filter:
        # The class is frozen, so this goes around it: the values are checked, and set all at once.
        self.__dict__.update(limit=limit, slack=slack, _sums=sums, _caps=caps)
        return self

    def __repr__(self) -> str:
        state = f"total={self.total!r}, spent_slack={self.spent_slack!r}"
        return f"Filter(limit={self.limit!r}, slack={self.slack!r}, {state})"

    @classmethod
    def from_epsilon_delta(cls, *, epsilon: Number, delta: Number, slack: Number = 0) -> Filter:
        """The zCDP account whose sessions are (ε, δ)-private, for ``epsilon`` and ``delta``.

        δ is split: ``slack`` is kept for mechanisms that fail outright, and what is left of the
        other runs, (δ − slack)/(1 − slack), goes into the conversion to ρ. A larger slack leaves
        a smaller ρ; 0 allows no charge that needs δ₀.

        >>> account = Filter.from_epsilon_delta(epsilon=1, delta="1e-6", slack="1e-7")
        >>> round(float(account.limit.rho), 6), account.epsilon("1e-6")
        (0.02413, 1.0)
        """
        cap = ZCDP.greatest(epsilon=epsilon, delta=without_slack(delta, slack))
        return cls(limit=cap, slack=slack)

    # -- charging ----------------------------------------------------------------------------------

    def charge(self, cost: Guarantee, *, slack: Number = 0) -> Filter:
        """The account after this ``cost``, any guarantee, and ``slack`` more δ₀, 0 if left out;
        refused if either cap would be exceeded."""
        priced = self.price(cost, slack=slack)
        return self.add(priced.amount, priced.slack)

    def add(self, amount: Fraction, slack: Fraction) -> Filter:
        """The account after a cost that is priced already, by this account's `price`: its
        ``amount`` of ε, ρ or μ², and its ``slack`` of δ₀."""
        total, failing = self._sums
        total = sum_up(total, amount)
        if slack:
            failing = sum_up(failing, slack)
        cap, allowed = self._caps
        # a/b > c/d, in integers
        if (
            total[0] * cap[1] > cap[0] * total[1]
            or failing[0] * allowed[1] > allowed[0] * failing[1]
        ):
            raise self._exceeded(amount, slack)
        following = object.__new__(Filter)
        return following._become(self.limit, self.slack, (total, failing), self._caps)

    def price(self, cost: Guarantee, *, slack: Number = 0) -> Cost:
        """What this ``cost``, and ``slack`` more δ₀, takes from this account, whatever is spent."""
        priced = price(type(self.limit), cost, slack)
        if priced.slack and not self.slack:
            raise Refused(
                f"this cost fails outright with probability δ₀ = {plain(priced.slack)}, and the "
                f"account has no slack for it",
                remedy=Idiom.CAP_WITH_SLACK,
                code="notion-mismatch",
            )
        return priced

    def remaining(self, cost: Guarantee, *, slack: Number = 0) -> int:
        """How many more charges of this ``cost`` and ``slack`` fit.

        >>> from discreet.guarantees import GDP
        >>> Filter(limit=GDP(mu=1)).charge(GDP(mu="1/2")).remaining(GDP(mu="1/10"))
        75
        """
        priced = self.price(cost, slack=slack)
        try:
            first = self.charge(cost, slack=slack)
        except BudgetExceeded:
            return 0
        # From the second one on, sums of this charge are exact: see `sum_up`.
        rooms = [(read_cap(self.limit) - first.total, priced.amount)]
        rooms += [(self.slack - first.spent_slack, priced.slack)]
        return 1 + min(room // size for room, size in rooms if size)

    def _exceeded(self, amount: Fraction, slack: Fraction) -> BudgetExceeded:
        kind = type(self.limit)
        return BudgetExceeded(
            requested=in_words(kind, amount, slack),
            spent=in_words(kind, self.total, self.spent_slack),
            limit=in_words(kind, read_cap(self.limit), self.slack),
            left=in_words(kind, read_cap(self.limit) - self.total, self.slack - self.spent_slack),
        )

    # -- what it promises --------------------------------------------------------------------------
    # A sum of δ₀ runs beside the sum of costs, for mechanisms that fail outright with a small
    # probability. If it stays within the slack, and the costs within the cap, the fully adaptive
    # session has at most the profile
    #
    #     δ(x) ≤ slack + (1 − slack)·δ_cap(x).
    #
    # Proof. On the run where nothing fails, each transcript weighs w = Π(1 − δᵢ) ≥ 1 − slack, the
    # same for both neighbours, since the δᵢ are functions of the transcript. Let p and q be the
    # densities of the session made of the parts that do not fail; by the theorem of the filter they
    # satisfy the cap. Then
    #
    #     δ(x) ≤ ∫ max(0, w·(p − e^x·q)) + ∫ (1 − w)·p,
    #
    # which is largest where w is least, at 1 − slack. ∎ (For zCDP see also Whitehouse, Ramdas,
    # Rogers and Wu 2023, who filter ρ and δ of approximate zCDP side by side.)

    @property
    def total(self) -> Fraction:
        """The sum of ε, ρ or μ² so far."""
        return Fraction(*self._sums[0])

    @property
    def spent_slack(self) -> Fraction:
        """The sum of δ₀ so far."""
        return Fraction(*self._sums[1])

    @property
    def spent(self) -> Notion:
        """What has been charged so far, in the notion of the limit, rounded up for GDP."""
        return self.limit.of_amount(self.total)

    @property
    def guarantee(self) -> Guarantee:
        """What the whole session promises, whatever is still charged: its cap, and that it may
        fail outright as often as the slack allows.

        >>> from discreet.guarantees import Pure
        >>> Filter(limit=Pure(epsilon=1), slack="1e-6").guarantee
        Approx(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
        """
        return self.limit.failing(self.slack)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 of the cap at ``delta``, rounded up; infinite below the slack.

        >>> from discreet.guarantees import ZCDP
        >>> Filter(limit=ZCDP(rho="0.5"), slack="1e-6").epsilon("1e-7")
        inf
        """
        target = unit_interval(delta, name="delta")
        if target < self.slack:
            return math.inf
        return self.limit.epsilon((target - self.slack) / (1 - self.slack))

    def delta(self, epsilon: Number) -> float:
        """The δ of the cap at ``epsilon``, slack included, rounded up."""
        cap = Fraction(self.limit.delta(epsilon))
        return min(1.0, round_up(self.slack + (1 - self.slack) * cap))


# -- sums in words ---------------------------------------------------------------------------------


def read_cap(limit: Notion) -> Fraction:
    """The cap on the sum, of a limit that an account can have."""
    if isinstance(limit, Notion) and limit.amount > 0:
        return limit.amount
    raise InvalidArgument(
        "limit",
        "Pure, ZCDP or GDP, above 0",
        f"a value of type {type(limit).__name__}",
        hint=Idiom.CAP_OF_APPROX,
    )


def in_words(kind: type[Notion], total: Fraction, slack: Fraction) -> str:
    """A sum, and the slack with it, as text for messages.

    >>> from discreet.guarantees import Pure
    >>> in_words(ZCDP, Fraction(1, 2), Fraction(0)), in_words(Pure, Fraction(3), Fraction(1, 1000))
    ('ρ = 0.5', 'ε = 3 with δ₀ = 0.001')
    """
    words = f"{kind.sum_symbol} = {plain(total)}"
    return f"{words} with δ₀ = {plain(slack)}" if slack else words


# -- what one release takes from an account --------------------------------------------------------
# A cost that adds up, and a chance of failing outright. Every guarantee is split into a part that
# always holds and the probability δ₀ with which it does not hold at all. For an (ε, δ₀) promise
# nothing is lost: its worst pair *is* "with probability δ₀ reveal all, else randomized response"
# (Kairouz, Oh and Viswanath 2015). The first part is charged in the account's notion, δ₀ to its
# slack.


_SHORT = "at most 64 bits above and 64 below the stroke"

_MOST_SEEN = 1024
_SEEN: dict[tuple[type[Notion], int, int], tuple[Cost, Guarantee, Number]] = {}


class Cost(NamedTuple):
    """What one account is charged: the two numbers that are added up, exact."""

    account: str  #: its name; empty where only the notion matters
    notion: type[Notion]
    amount: Fraction  #: ε, ρ or μ²
    slack: Fraction  #: δ₀

    @property
    def words(self) -> str:
        """The amount, without the name of the account."""
        return in_words(self.notion, self.amount, self.slack)

    def __str__(self) -> str:
        return f"{self.words} of {self.account}"


def price(kind: type[Notion], cost: Guarantee, slack: Number) -> Cost:
    """What this cost, and this much more slack, is in an account of that kind.

    >>> from discreet.guarantees import GDP
    >>> price(ZCDP, GDP(mu="1/2"), slack=0).words
    'ρ = 0.125'
    """
    # Hashing fractions takes longer than adding them, so objects are recognized by their
    # addresses; they are stored with the price, so that no address is used again.
    key = (kind, id(cost), id(slack))
    if seen := _SEEN.get(key):
        return seen[0]
    priced = _priced_with_slack(kind, cost, slack)
    if cost.small:
        if len(_SEEN) >= _MOST_SEEN:
            _SEEN.clear()
        _SEEN[key] = (priced, cost, slack)
    return priced


def _priced_with_slack(kind: type[Notion], cost: Guarantee, slack: Number) -> Cost:
    if not isinstance(cost, Guarantee):
        raise InvalidArgument.of("cost", "a guarantee", cost, hint="such as mechanism.guarantee")
    amount, failing = (_priced if cost.small else _priced.__wrapped__)(kind, cost)
    extra = _short_slack(unit_interval(slack, name="slack"))
    failing = _short_slack(short_up(failing + extra))
    if amount or failing:
        return Cost("", kind, amount, failing)
    raise InvalidArgument(
        "cost",
        "above 0",
        "a guarantee that costs nothing",
        hint="what reveals nothing needs no charge",
    )


@lru_cache(maxsize=1024)
def _priced(kind: type[Notion], cost: Guarantee) -> tuple[Fraction, Fraction]:
    if isinstance(cost, Least):
        # Each fact is true, so any may be charged: the one with least slack, then least cost.
        prices = proved(lambda fact: _priced.__wrapped__(kind, fact), cost.facts)
        return min(prices, key=lambda price: (price[1], price[0]))
    part, failing = cost._split
    if cost._point is not None:  # as typed
        return _amount(kind, part, typed=True), _short_slack(failing)
    return _amount(kind, part, typed=part is cost), short_up(failing)


def _short_slack(slack: Fraction) -> Fraction:
    if is_short(slack) and slack <= 1:
        return slack
    raise InvalidArgument.of("slack", f"at most 1, with {_SHORT}", slack)


def _amount(kind: type[Notion], part: Guarantee, *, typed: bool) -> Fraction:
    """ε, ρ or μ². As typed it must be short; what a theorem computes is rounded up to be so, and
    so is what few people type unless it is absurdly small. The square of a short μ is exact."""
    value = kind.of(part).value
    given = typed and isinstance(part, kind) and (kind.typed_exactly or value * LARGEST < 1)
    return kind(_short(value, name=kind.parameter, exact=given)).amount


def _short(x: Fraction, *, name: str, exact: bool) -> Fraction:
    if is_short(x) or (x <= LARGEST and not exact):
        return short_up(x)
    raise InvalidArgument.of(
        name,
        f"below 2⁶⁴ and, to be charged exactly, a fraction with {_SHORT}",
        x,
        hint=f"the next such fraction is {short_up(x)}" if x <= LARGEST else "",
    )
