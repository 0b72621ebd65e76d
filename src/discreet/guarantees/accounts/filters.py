"""Accounts for sessions in which the next budget may depend on the answers before.

A filter is a stopping rule: it lets a release pass while a sum stays within a cap. That the cap
is then a guarantee for the whole session, however mechanisms *and their budgets* were chosen, is
a theorem for each of three sums:

- ε, in pure differential privacy (Rogers, Roth, Ullman and Vadhan 2016);
- ρ, in zCDP (Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023);
- μ², in Gaussian differential privacy (Smith and Thakurta 2022; Koskela, Tobaben and Honkela
  2023).

For composed profiles in general it is false (arXiv 2602.06756), so there is no such filter.

Beside it runs a sum of δ₀, capped by the slack: see `slack`.

All of it assumes that a charge is a function of the questions and earlier *answers*, never of
the data, and that it is made before the release.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import BudgetExceeded, InvalidArgument, Refused
from discreet.exact import Number, non_negative
from discreet.guarantees.accounts.caps import zcdp_cap
from discreet.guarantees.accounts.charges import Charge, price
from discreet.guarantees.accounts.notions import Notion, in_words, of_sum, plain, read_cap
from discreet.guarantees.accounts.slack import (
    delta_with_slack,
    epsilon_with_slack,
    guarantee_with_slack,
    read_slack,
    without_slack,
)
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.short import Ratio, sum_up
from discreet.spelling import spelled


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
            raise InvalidArgument(name="total", expected="within the limit", given=given)
        sums = (spent.as_integer_ratio(), failing.as_integer_ratio())
        self._become(limit, allowed, sums, (cap.as_integer_ratio(), allowed.as_integer_ratio()))

    def _become(
        self,
        limit: Notion,
        slack: Fraction,
        sums: tuple[Ratio, Ratio],
        caps: tuple[Ratio, Ratio],
    ) -> Filter:
        # Past the door of a frozen class: checked values, all in one go.
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
        cap = zcdp_cap(epsilon=epsilon, delta=without_slack(delta, slack))
        return cls(limit=cap, slack=slack)

    # -- charging ----------------------------------------------------------------------------------

    def charge(self, cost: Guarantee, *, slack: Number = 0) -> Filter:
        """The account after this ``cost``, any guarantee, and ``slack`` more δ₀, 0 if left out;
        refused if either cap would break."""
        return self.add(self.price(cost, slack=slack))

    def add(self, charge: Charge) -> Filter:
        """The account after a charge that is priced already, by this account's `price`."""
        total, failing = self._sums
        total = sum_up(total, charge.amount)
        if charge.slack:
            failing = sum_up(failing, charge.slack)
        cap, allowed = self._caps
        # a/b > c/d, in integers
        if (
            total[0] * cap[1] > cap[0] * total[1]
            or failing[0] * allowed[1] > allowed[0] * failing[1]
        ):
            raise self._exceeded(charge)
        following = object.__new__(Filter)
        return following._become(self.limit, self.slack, (total, failing), self._caps)

    def price(self, cost: Guarantee, *, slack: Number = 0) -> Charge:
        """What this ``cost``, and ``slack`` more δ₀, takes from this account, whatever is spent."""
        charge = price(type(self.limit), cost, slack)
        if charge.slack and not self.slack:
            raise Refused(
                f"this cost fails outright with probability δ₀ = {plain(charge.slack)}, and the "
                f"account has no slack for it: open one with slack, or use what needs no delta"
            )
        return charge

    def remaining(self, cost: Guarantee, *, slack: Number = 0) -> int:
        """How many more charges of this ``cost`` and ``slack`` fit.

        >>> from discreet.guarantees import GDP
        >>> Filter(limit=GDP(mu=1)).charge(GDP(mu="1/2")).remaining(GDP(mu="1/10"))
        75
        """
        charge = self.price(cost, slack=slack)
        try:
            first = self.charge(cost, slack=slack)
        except BudgetExceeded:
            return 0
        # From the second one on, sums of this charge are exact: see `sum_up`.
        rooms = [(read_cap(self.limit) - first.total, charge.amount)]
        rooms += [(self.slack - first.spent_slack, charge.slack)]
        return 1 + min(room // size for room, size in rooms if size)

    def _exceeded(self, charge: Charge) -> BudgetExceeded:
        kind = type(self.limit)
        return BudgetExceeded(
            requested=in_words(kind, charge.amount, charge.slack),
            spent=in_words(kind, self.total, self.spent_slack),
            limit=in_words(kind, read_cap(self.limit), self.slack),
            left=in_words(kind, read_cap(self.limit) - self.total, self.slack - self.spent_slack),
        )

    # -- what it promises --------------------------------------------------------------------------

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
        return of_sum(type(self.limit), self.total)

    @property
    def guarantee(self) -> Guarantee:
        """What the whole session promises, whatever is still charged: its cap, and that it may
        fail outright as often as the slack allows.

        >>> from discreet.guarantees import Pure
        >>> Filter(limit=Pure(epsilon=1), slack="1e-6").guarantee
        Approx(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
        """
        return guarantee_with_slack(self.limit, self.slack)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 of the cap at ``delta``, rounded up; infinite below the slack.

        >>> from discreet.guarantees import ZCDP
        >>> Filter(limit=ZCDP(rho="0.5"), slack="1e-6").epsilon("1e-7")
        inf
        """
        return epsilon_with_slack(self.limit, self.slack, delta)

    def delta(self, epsilon: Number) -> float:
        """The δ of the cap at ``epsilon``, slack included, rounded up."""
        return delta_with_slack(self.limit, self.slack, epsilon)
