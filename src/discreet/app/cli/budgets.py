"""A cap as it is typed: one notion of privacy, with its numbers, and slack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.app.cli.dialect import called
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.guarantees import GDP, ZCDP, Approx, Pure

    Budget = Pure | ZCDP | GDP | Approx


def budget_of(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None, *, prefix: str
) -> Budget | None:
    """A cap from what was typed.

    >>> budget_of("3", None, None, None, prefix="--")
    Pure(epsilon=Fraction(3, 1))
    """
    from discreet.guarantees import GDP, ZCDP, Approx, Pure

    def made() -> Iterator[Budget]:
        if epsilon is not None:
            with called(f"{prefix}epsilon", "epsilon"), called(f"{prefix}delta", "delta"):
                yield Pure(epsilon) if delta is None else Approx(epsilon, delta)
        if rho is not None:
            with called(f"{prefix}rho", "rho"):
                yield ZCDP(rho)
        if mu is not None:
            with called(f"{prefix}mu", "mu"):
                yield GDP(mu)

    budgets = list(made())
    if len(budgets) > 1 or (delta is not None and epsilon is None):
        raise InvalidArgument(
            name="the cap",
            expected=f"one of {prefix}epsilon, {prefix}epsilon with {prefix}delta, {prefix}rho "
            f"and {prefix}mu",
            given="several" if len(budgets) > 1 else f"{prefix}delta without {prefix}epsilon",
        )
    return budgets[0] if budgets else None


def check_cap(budget: Budget | None, slack: str | None, *, prefix: str, slack_option: str) -> None:
    """Refuse a cap that cannot be, before a ledger is made for it."""
    from discreet.guarantees import GDP, ZCDP
    from discreet.ledger import Cap

    if budget is not None:
        names = {ZCDP: "rho", GDP: "mu"}
        option = f"{prefix}{names.get(type(budget), 'epsilon')}"
        with (
            called(slack_option, "slack"),
            called(f"{prefix}delta", "delta"),
            called(option, "budget", "limit", "epsilon", "rho", "mu"),
        ):
            Cap.read(budget, slack)
    elif slack is not None:
        raise InvalidArgument(
            name=slack_option, expected="given with the cap that it is a part of", given="alone"
        )
