"""The least spend that reaches an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, ZCDP, Pure
from discreet.guarantees.filters import Filter
from discreet.numeric.exact import Number, integer, positive_float, probability
from discreet.query.plan import Plan, make_plan
from discreet.query.spend import Spend
from discreet.query.table import Query

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
    name = {Pure: "epsilon", ZCDP: "rho", GDP: "mu"}[type(account.limit)]
    size = 1 if group_size is None else integer(group_size, name="group_size", minimum=1)
    if size > _LARGEST_GROUP:
        given = InvalidArgument.describe_parameter(group_size)
        expected = f"at most {_LARGEST_GROUP:,}"
        raise InvalidArgument(name="group_size", expected=expected, given=given)
    known = None if delta is None else probability(delta, name="delta")

    def plan(amount: Fraction) -> Plan:
        return make_plan(query, Spend(**{name: amount, "delta": known}), account=account)

    wanted = _wanted(plan(Fraction(1)), error, size, known_size=group_size is not None)

    def reaches(amount: Fraction) -> bool:
        return all(e.error <= wanted.get(e.name, e.error) for e in plan(amount).expected(size))

    return plan(_least(reaches))


def _least(reaches: Callable[[Fraction], bool]) -> Fraction:
    """The least amount of four digits that reaches it, as all above it do."""
    high = Fraction(1)
    while not reaches(high):
        high *= 2
        if high > _LARGEST:
            raise InvalidArgument(
                name="error",
                expected="an error that some spend reaches",
                given="one that a million does not reach",
                hint="a group_size= that is larger, or bounds that are narrower, would",
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
                name="error",
                expected=f"given for columns of the answer: {', '.join(columns)}",
                given=f'"{name}"',
            )
        if columns[name].by_size and not known_size:
            raise InvalidArgument(
                name="group_size",
                expected=f"given, since the error of {name} depends on the rows of the group",
                given="nothing",
                hint="say for which size the error must hold, as in group_size=1000",
            )
    return widths
