"""From a question and a spend to mechanisms: a pure function of query, schema and spend.

A part that several aggregates need is bought once and shared. Each part gets a share of the spend
in proportion to the largest weight of the aggregates that use it; discovery of keys gets an average
share. All noise of a plan is of one kind: where the account allows both, the one with the smaller
error for this spend. On an account in ρ or μ² the same (ε, δ) can cost very different amounts, so
there errors are compared at the same charge, and a kind that does not fit is not considered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import Idiom, InvalidArgument, Phrase, Refused
from discreet.guarantees import ZCDP, Guarantee, compose
from discreet.guarantees.filters import Cost, Filter, price
from discreet.guarantees.notion import Notion
from discreet.lazy import cached_property
from discreet.numeric.exact import Number, integer, positive_float, probability
from discreet.query.aggregates.aggregate import Expected, Output
from discreet.query.expressions import Typed
from discreet.query.keys import DiscoveredKeys, ListedKeys, any_key
from discreet.query.measures import Additive, AllRows, Measure, PresenceCounts, Present
from discreet.query.purchase import (
    AddedNoise,
    Discovery,
    Finder,
    Kind,
    Part,
    Purchase,
    Spend,
    buy,
    gaussian_share,
)
from discreet.query.request import Request
from discreet.query.table import Query


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What is bought for a query, and what it will cost: all known before data is touched."""

    query: Query
    bought: Mapping[Part, Purchase]
    money: Spend  # what noise was bought with
    reason: str  # why this noise
    account: Filter | None = None  # that it is meant for

    @cached_property
    def guarantee(self) -> Guarantee:
        """The joint promise of all parts."""
        return compose([one.guarantee for one in self.bought.values()])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine must compute."""
        parts = [part for part in self.bought if not isinstance(part, Discovery)]
        return tuple(dict.fromkeys(measure for part in parts for measure in part.measures))

    def request(self, salt: int, keys: ListedKeys | None = None) -> Request:
        """One pass over the table. Where keys are discovered, the first pass asks for the number of
        people by key, and a second one, with the keys that were found, for everything else."""
        query = self.query
        finding = self.finder is not None and keys is None
        return Request(
            steps=query.table.steps,
            unit=query.table.unit.column,
            group=query.group,
            keys=query.keys if keys is None else keys,
            bound=query.table.limit,
            measures=Discovery.measures if finding else self.measures,
            salt=salt,
        )

    @property
    def requests(self) -> tuple[Request, ...]:
        """What the engine will be asked, so that it can check it beforehand; a made-up key stands
        for those that are still to be discovered."""
        first = self.request(0)
        if self.finder is None:
            return (first,)
        return first, self.request(0, any_key(value.type for _, value in self.query.group))

    @property
    def finder(self) -> Finder | None:
        """How keys are discovered, if they are."""
        return next((one for one in self.bought.values() if isinstance(one, Finder)), None)

    def draw(self, columns: Mapping[Measure, Any]) -> dict[Part, Any]:
        """Draw noise for every part: takes exact integers, returns noisy ones and choices."""
        return {
            part: one.release(one.part.exact(columns))
            for part, one in self.bought.items()
            if not isinstance(one, Finder)
        }

    def outputs(self, values: Mapping[Part, Any]) -> list[Output]:
        """The columns of the answer, from the noisy values of each part."""
        return [
            output
            for name, aggregate in self.query.aggregates
            for output in aggregate.outputs(name, self.bought, values)
        ]

    def expected(self, size: int) -> list[Expected]:
        """The errors at 95 %, for a group of this many rows where that matters."""
        return [
            expected
            for name, aggregate in self.query.aggregates
            for expected in aggregate.expected(name, self.bought, size)
        ]

    # -- compared with other plans for the same spend ----------------------------------------------

    @cached_property
    def score(self) -> float:
        """The mean of the logarithms of all errors, so that comparisons do not depend on units.

        On an account in ρ or μ² these are the errors for a charge of 1: errors are inversely
        proportional to the square root of the charge.
        """
        noise = [one for one in self.bought.values() if isinstance(one, AddedNoise)]
        size = sum(math.log(one.deviation) for one in noise) / max(len(noise), 1)
        if self.account is None or not self.account.limit.gaussian:
            return size
        return size + math.log(self._charge(self.account).amount) / 2

    @property
    def fits(self) -> bool:
        """Does the account have room for it?"""
        if self.account is None:
            return True
        charge = self._charge(self.account)
        room = self.account.limit.amount - self.account.total
        slack = self.account.slack - self.account.spent_slack
        return charge.amount <= room and charge.slack <= slack

    def _charge(self, account: Filter) -> Cost:
        return price(type(account.limit), self.guarantee, 0)


def make_plan(query: Query, spend: Spend, *, account: Filter | None = None) -> Plan:
    """The plan with the least error for this spend; with an account, as that stands now."""
    weights: dict[Part, Fraction] = {}
    counted = _counted([value for _, one in query.aggregates for value in one.counts])
    for _, aggregate in query.aggregates:
        for part in (*aggregate.parts, *(counted[value] for value in aggregate.counts)):
            weights[part] = max(weights.get(part, Fraction(0)), aggregate.weight)
    if isinstance(query.keys, DiscoveredKeys):
        weights[Discovery()] = sum(weights.values(), Fraction(0)) / len(weights)
    if account is not None and not account.limit.gaussian:
        _check_pure(spend, weights, account.limit)
    total = sum(weights.values())
    shares = {part: weight / total for part, weight in weights.items()}
    plans = _candidates(query, spend, shares, account)
    if len(plans) > 1:
        plans.sort(key=lambda plan: (not plan.fits, plan.score))
    return replace(plans[0], reason=_reason(plans))


def _counted(values: list[Typed | None]) -> dict[Typed | None, Part]:
    """The part that counts the rows with each value; None stands for all rows.

    A value that cannot be missing shares the count of rows. If exactly one value can be missing,
    the counts of rows with and without it are bought together, for the price of one: the first
    serves a mean, and their sum, which has the noise of both, is the count of rows. Otherwise each
    has a count of its own.
    """
    missing = {value for value in values if value is not None and value.nullable}
    rows = any(value not in missing for value in values)
    both = PresenceCounts(*missing) if rows and len(missing) == 1 else None
    return {value: both or (Present(value) if value in missing else AllRows()) for value in values}


def _candidates(
    query: Query, spend: Spend, shares: dict[Part, Fraction], account: Filter | None
) -> list[Plan]:
    pure = account is not None and not account.limit.gaussian
    if spend.kind != "epsilon":
        reason = f"for a spend in {spend.symbol} its error is the smaller one"
    elif pure and spend.delta is not None:
        reason = "this account is pure, and Gaussian noise needs a delta"
    else:
        reason = "a spend in ε alone is a pure promise, which Gaussian noise never gives"
    plain = Plan(query, _buy_all(query, spend, shares, spend.delta), spend, reason, account)
    added = any(isinstance(part, Additive) for part in shares)
    if spend.kind != "epsilon" or spend.delta is None or pure or not added:
        return [plain]
    # Gaussian noise: discovery takes its share of ε and half of δ; the other parts take the largest
    # μ that keeps to what is left. On an account in ρ it is the largest ρ, and half of δ is set
    # aside, as in an (ε, δ) budget: then spending such a budget at once just fits.
    finds = shares.get(Discovery(), Fraction(0))
    in_rho = account is not None and isinstance(account.limit, ZCDP)
    delta = spend.delta / 2 if finds or in_rho else spend.delta
    gaussian = gaussian_share(spend.amount * (1 - finds), delta, in_rho=in_rho)
    rest = {part: share / (1 - finds) for part, share in shares.items() if part != Discovery()}
    bought = _buy_all(query, gaussian, rest, None)
    if finds:
        found = buy(Discovery(), spend, share=finds, contribution=query.contribution, delta=delta)
        bought = {**bought, Discovery(): found}
    return [plain, Plan(query, bought, gaussian, "", account)]


def _buy_all(
    query: Query, money: Spend, shares: dict[Part, Fraction], delta: Fraction | None
) -> dict[Part, Purchase]:
    return {
        part: buy(part, money, share=share, contribution=query.contribution, delta=delta)
        for part, share in shares.items()
    }


def _reason(plans: list[Plan]) -> str:
    best, *others = plans
    if not others:
        return best.reason
    name = "Laplace" if best.money.noise == "gaussian" else "Gaussian"
    if best.fits and not others[0].fits:
        return f"this account has no room for {name} noise of this spend"
    ratio = math.exp(others[0].score - best.score)
    basis = "this spend" if best.account is None else "what is charged to this account"
    return f"for {basis} {name} noise would be {ratio:.3g} times as large"


def _check_pure(spend: Spend, weights: Mapping[Part, Fraction], limit: Notion) -> None:
    if spend.kind != "epsilon":
        raise Refused(
            f"this account adds up {limit.adjective}{limit.symbol}, and Gaussian noise has none",
            remedy=Phrase("spend {epsilon=}, or {}", Idiom.CAP_NOT_PURE),
            code="notion-mismatch",
        )
    if Discovery() in weights:
        raise Refused(
            "discovered keys need a delta, and this account is pure",
            remedy=Phrase("list the keys, or {}", Idiom.CAP_WITH_DELTA),
            code="notion-mismatch",
        )


# -- the least spend that reaches an error ---------------------------------------------------------


_STEPS = 40
_LARGEST = Fraction(10**6)
_LARGEST_GROUP = 10**15  # rows
_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)  # so that it is charged as it is shown


def least_spend(
    query: Query,
    error: Number | Mapping[str, Number],
    *,
    account: Filter,
    delta: Number | None,
    group_size: int | None,
) -> Plan:
    """The plan of the least ε (ρ, μ on such an account) whose errors are all within `error`."""
    kinds: dict[str, Kind] = {"rho": "rho", "mu": "mu"}
    kind = kinds.get(account.limit.parameter, "epsilon")
    size = 1 if group_size is None else integer(group_size, name="group_size", minimum=1)
    if size > _LARGEST_GROUP:
        expected = f"at most {_LARGEST_GROUP:,}"
        raise InvalidArgument.of("group_size", expected, group_size)
    known = None if delta is None else probability(delta, name="delta")

    def plan(amount: Fraction) -> Plan:
        return make_plan(query, Spend(kind, amount, known), account=account)

    wanted = _wanted(plan(Fraction(1)), error, size, known_size=group_size is not None)

    def reaches(amount: Fraction) -> bool:
        return all(e.error <= wanted.get(e.name, e.error) for e in plan(amount).expected(size))

    return plan(_least(reaches))


def _least(reaches: Callable[[Fraction], bool]) -> Fraction:
    """The least amount of four digits that reaches the error; all larger amounts do too."""
    high = Fraction(1)
    while not reaches(high):
        high *= 2
        if high > _LARGEST:
            raise InvalidArgument(
                "error",
                "an error that some spend reaches",
                "one that a million does not reach",
                hint=Phrase("a {group_size=} that is larger, or bounds that are narrower, would"),
            )
    low = high / 2
    while low > Fraction(1, 10**9) and reaches(low):
        low, high = low / 2, low
    for _ in range(_STEPS):
        if high - low <= low / 10**6:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Fraction(_FOUR_DIGITS.divide(Decimal(high.numerator), Decimal(high.denominator)))


def _wanted(
    plan: Plan, error: Number | Mapping[str, Number], size: int, *, known_size: bool
) -> dict[str, float]:
    columns = {expected.name: expected for expected in plan.expected(size)}
    if isinstance(error, Mapping):
        widths = {
            name: positive_float(width, name=f"error of {name}") for name, width in error.items()
        }
    else:
        widths = dict.fromkeys(columns, positive_float(error, name="error"))
    for name in widths:
        if name not in columns:
            raise InvalidArgument(
                "error", f"given for columns of the answer: {', '.join(columns)}", f'"{name}"'
            )
        if columns[name].by_size and not known_size:
            raise InvalidArgument.missing(
                "group_size",
                f"given, since the error of {name} depends on the rows of the group",
                hint=Phrase("say for which size the error must hold, as in {group_size=1000}"),
            )
    return widths
