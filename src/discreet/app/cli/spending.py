"""What an answer may cost, and what all of them may: numbers go to the API as they were typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from discreet.app.cli.budgets import budget_of, check_cap
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.app.cli.budgets import Budget

_SPEND, _CAP, _GROUP = "The spend", "The cap", "The cap of a group"


def _number(words: str, panel: str) -> Any:
    """An option for an exact number, which is kept as it was typed."""
    return Option(help=words, metavar="NUMBER", rich_help_panel=panel)


@dataclass(frozen=True)
class Spending:
    """One answer: ε, (ε, δ), ρ, μ, or the error that is wanted."""

    epsilon: Annotated[
        str | None,
        _number("Spend so much ε: exact, as in 0.1 or 1/3.", _SPEND),
    ] = None
    delta: Annotated[
        str | None,
        _number("With --epsilon, or for --keys discover: this δ.", _SPEND),
    ] = None
    rho: Annotated[
        str | None,
        _number("Spend so much ρ of zCDP.", _SPEND),
    ] = None
    mu: Annotated[
        str | None,
        _number("Spend so much μ of Gaussian privacy.", _SPEND),
    ] = None
    error: Annotated[
        list[str] | None,
        Option(
            help="Instead of a spend: pay the least that keeps every value within this error "
            "(95 %), or only the named ones, as in mean_income=500.",
            metavar="ERROR|NAME=ERROR",
            rich_help_panel=_SPEND,
        ),
    ] = None
    group_size: Annotated[
        int | None,
        Option(
            help="With --error, for values whose error depends on it: rows of a group.",
            metavar="N",
            rich_help_panel=_SPEND,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """For ``Session.release`` and ``Session.explain``."""
        amounts = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho, "mu": self.mu}
        if not self.error and (self.epsilon, self.rho, self.mu) == (None, None, None):
            raise InvalidArgument(
                name="the spend",
                expected="given as --epsilon, --epsilon and --delta, --rho, --mu or --error",
                given="nothing" if self.delta is None else "--delta alone",
                hint="say how much privacy the answer may cost, as in --epsilon 0.5",
            )
        return {**_checked(amounts), "error": self._error(), "group_size": self.group_size}

    def _error(self) -> Any:
        pairs = [text.rpartition("=") for text in self.error or ()]
        for _, _, error in pairs:
            _positive(error, option="--error")
        if len(pairs) == 1 and not pairs[0][0]:
            return pairs[0][2]
        if any(not name for name, _, _ in pairs):
            raise InvalidArgument(
                name="--error",
                expected="one number, or name=number for each of several columns",
                given="both",
                hint="as in --error n=50 --error mean_income=500",
            )
        return {name.strip(): error for name, _, error in pairs} or None


@dataclass(frozen=True)
class Cap:
    """All answers together, as ``discreet release`` says it."""

    budget_epsilon: Annotated[
        str | None,
        _number("The most ε for all answers together.", _CAP),
    ] = None
    budget_delta: Annotated[
        str | None,
        _number("With --budget-epsilon: its δ.", _CAP),
    ] = None
    budget_rho: Annotated[
        str | None,
        _number("The most ρ for all answers together.", _CAP),
    ] = None
    budget_mu: Annotated[
        str | None,
        _number("The most μ for all answers together.", _CAP),
    ] = None
    slack: Annotated[
        str | None,
        _number("The part of δ for what may fail outright, such as discovered keys.", _CAP),
    ] = None

    def budget(self) -> Budget | None:
        """The cap, if one is stated."""
        amounts = (self.budget_epsilon, self.budget_delta, self.budget_rho, self.budget_mu)
        return budget_of(*amounts, prefix="--budget-")

    def check(self) -> None:
        """Refuse a cap that cannot be, before a ledger is made for it."""
        check_cap(self.budget(), self.slack, prefix="--budget-", slack_option="--slack")


@dataclass(frozen=True)
class LedgerCap:
    """A cap, as ``discreet ledger`` says it."""

    epsilon: Annotated[
        str | None,
        _number("The cap: the most ε, exact, as in 3 or 1/3.", _CAP),
    ] = None
    delta: Annotated[
        str | None,
        _number("With --epsilon: an (ε, δ) cap, kept as zCDP.", _CAP),
    ] = None
    rho: Annotated[str | None, _number("The cap in ρ of zCDP.", _CAP)] = None
    mu: Annotated[
        str | None,
        _number("The cap in μ of Gaussian privacy.", _CAP),
    ] = None
    slack: Annotated[
        str | None,
        _number("The part of δ for what may fail outright, such as discovered keys.", _CAP),
    ] = None

    def budget(self) -> Budget | None:
        """The cap, if one is stated."""
        return budget_of(self.epsilon, self.delta, self.rho, self.mu, prefix="--")

    def check(self) -> None:
        """Refuse a cap that cannot be, before a ledger is made for it."""
        check_cap(self.budget(), self.slack, prefix="--", slack_option="--slack")


@dataclass(frozen=True)
class GroupCap:
    """The cap of a new group of datasets."""

    group_epsilon: Annotated[
        str | None,
        _number("Make the group, with this cap in ε.", _GROUP),
    ] = None
    group_delta: Annotated[
        str | None,
        _number("With --group-epsilon: its δ.", _GROUP),
    ] = None
    group_rho: Annotated[
        str | None,
        _number("Make the group, with this cap in ρ.", _GROUP),
    ] = None
    group_mu: Annotated[
        str | None,
        _number("Make the group, with this cap in μ.", _GROUP),
    ] = None
    group_slack: Annotated[
        str | None,
        _number("The part of δ of the group for what may fail outright.", _GROUP),
    ] = None

    def budget(self) -> Budget | None:
        """The cap, if one is stated."""
        amounts = (self.group_epsilon, self.group_delta, self.group_rho, self.group_mu)
        return budget_of(*amounts, prefix="--group-")

    def check(self) -> None:
        """Refuse a cap that cannot be, before a ledger is made for it."""
        check_cap(self.budget(), self.group_slack, prefix="--group-", slack_option="--group-slack")


def _checked(amounts: dict[str, str | None]) -> dict[str, str | None]:
    """The amounts as they were typed, each of them a number above 0."""
    for name, text in amounts.items():
        if text is not None:
            _positive(text, option=f"--{name}")
    return amounts


def _positive(text: str, *, option: str) -> None:
    from discreet.numeric.exact import number

    if number(text, name=option) <= 0:
        raise InvalidArgument(
            name=option, expected="above 0", given=InvalidArgument.describe_parameter(text)
        )
