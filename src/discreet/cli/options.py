"""Options that several commands share, in frozen classes that are written once.

Numbers are passed to the API as they were typed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Option

from discreet.cli.failures import called
from discreet.errors import InvalidArgument

# -- classes of options ----------------------------------------------------------------------------


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a command that takes classes of options into one that takes each of their options.

    Typer reads signatures, so the classes are unfolded into one and folded again on a call.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> def area(size: Size) -> None:
    ...     print(size.width * size.height)
    >>> inspect.signature(flat(area))
    <Signature (*, width: int, height: int = 1) -> None>
    >>> flat(area)(width=2, height=3)
    6
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: kind for name, kind in hints.items() if name != "return" and is_dataclass(kind)
    }
    parameters: list[inspect.Parameter] = []
    for name, given in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _unfolded(groups[name])
        else:
            parameters.append(
                given.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            )

    def unfolded(**values: Any) -> None:
        folded = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**folded, **values)

    unfolded.__name__, unfolded.__doc__ = command.__name__, command.__doc__
    unfolded.__annotations__ = {p.name: p.annotation for p in parameters}
    unfolded.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=None
    )
    return unfolded


def _unfolded(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


# -- a cap as it is typed --------------------------------------------------------------------------


if TYPE_CHECKING:
    from discreet.guarantees import GDP, ZCDP, Approx, Pure

    Budget = Pure | ZCDP | GDP | Approx


def budget_of(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None, *, prefix: str
) -> Budget | None:
    """The cap that was typed.

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
            "the cap",
            f"one of {prefix}epsilon, {prefix}epsilon with {prefix}delta, {prefix}rho "
            f"and {prefix}mu",
            "several" if len(budgets) > 1 else f"{prefix}delta without {prefix}epsilon",
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
        raise InvalidArgument.conflict(
            slack_option, "given with the cap that it is a part of", "alone"
        )


# -- what one answer may cost, and all answers together --------------------------------------------


_SPEND, _CAP, _GROUP = "The spend", "The cap", "The cap of a group"


def _number(words: str, panel: str) -> Any:
    """An option for an exact number, which is kept as it was typed."""
    return Option(help=words, metavar="NUMBER", rich_help_panel=panel)


@dataclass(frozen=True)
class SpendOptions:
    """One answer: ε, (ε, δ), ρ, μ, or the error that is wanted."""

    epsilon: Annotated[
        str | None,
        _number("Spend this much ε: exact, as in 0.1 or 1/3.", _SPEND),
    ] = None
    delta: Annotated[
        str | None,
        _number("With --epsilon, or for --keys discover: this δ.", _SPEND),
    ] = None
    rho: Annotated[
        str | None,
        _number("Spend this much ρ of zCDP.", _SPEND),
    ] = None
    mu: Annotated[
        str | None,
        _number("Spend this much μ of Gaussian privacy.", _SPEND),
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
        """The spend as arguments of ``Session.release`` and ``Session.explain``."""
        amounts = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho, "mu": self.mu}
        if not self.error and (self.epsilon, self.rho, self.mu) == (None, None, None):
            raise InvalidArgument(
                "the spend",
                "given as --epsilon, --epsilon and --delta, --rho, --mu or --error",
                "nothing" if self.delta is None else "--delta alone",
                code="missing-argument",
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
            raise InvalidArgument.conflict(
                "--error",
                "one number, or name=number for each of several columns",
                hint="as in --error n=50 --error mean_income=500",
            )
        return {name.strip(): error for name, _, error in pairs} or None


@dataclass(frozen=True)
class CapOptions:
    """The cap on all answers together, as options of ``discreet release``."""

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
class LedgerCapOptions:
    """A cap, as options of ``discreet ledger``."""

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
class GroupCapOptions:
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
        raise InvalidArgument.of(option, "above 0", text)
