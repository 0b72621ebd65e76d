"""Options that several commands share, in frozen classes that are written once.

Numbers are passed to the API as they were typed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias, get_type_hints

from typer import Argument, Context, Option, Typer

from discreet.cli.failures import called
from discreet.errors import InvalidArgument

# -- classes of options ----------------------------------------------------------------------------


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None


def option(
    words: str, metavar: str, *, default: Any = None, panel: str | None = None, **more: Any
) -> Any:
    """An option, as the default of a parameter of a command or of a field in a class of options."""
    info = Option(help=words, metavar=metavar, rich_help_panel=panel, **more)
    return field(default=default, metadata={"typer": info})


def flag(name: str, words: str, panel: str | None = None) -> Any:
    """An option without a value."""
    info = Option(name, help=words, rich_help_panel=panel)
    return field(default=False, metadata={"typer": info})


def argument(words: str, metavar: str, *, default: Any = MISSING, **more: Any) -> Any:
    """An argument, which is given without a name; needed unless it has a default."""
    info = Argument(help=words, metavar=metavar, **more)
    return field(default=default, metadata={"typer": info})


#: Marks a field whose options are not known before its command runs; see `flat`.
LATE: Final = {"late": True}


def flat(command: Callable[..., None], **late: Any) -> Callable[..., None]:
    """Turn a command that takes classes of options into one that takes each of their options.

    Typer reads signatures, so the classes are unfolded into one and folded again on a call. A field
    marked as late holds what was given for the options that ``late`` has under its name.

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
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, given in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _unfolded(groups[name], late)
        else:
            parameters.append(_parameter(name, hints[name], given.default))

    def unfolded(**values: Any) -> None:
        def value_of(field: Field[Any]) -> Any:
            if "late" not in field.metadata:
                return values.pop(field.name)
            return {name: values.pop(name) for name in late.get(field.name, ())}

        folded = {
            name: kind(**{field.name: value_of(field) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**folded, **values)

    unfolded.__name__, unfolded.__doc__ = command.__name__, command.__doc__
    unfolded.__annotations__ = {p.name: p.annotation for p in parameters}
    unfolded.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=None
    )
    return unfolded


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    if isinstance(default, Field):
        hint = Annotated[hint, default.metadata["typer"]] if default.metadata else hint
        default = inspect.Parameter.empty if default.default is MISSING else default.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _unfolded(group: Any, late: Mapping[str, Mapping[str, Any]]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        if "late" in one.metadata:
            for name, (kind, given) in late.get(one.name, {}).items():
                yield _parameter(name, kind, given)
        else:
            yield _parameter(one.name, hints[one.name], one)


def group(name: str, words: str, *commands: Callable[..., None]) -> Typer:
    """Commands, each called like its function, under one name, which alone shows its help."""
    app = Typer(name=name)

    @app.callback(invoke_without_command=True, help=words)
    def alone(context: Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    for command in commands:
        app.command(command.__name__)(flat(command))
    return app


# -- a cap as it is typed --------------------------------------------------------------------------


if TYPE_CHECKING:
    from discreet.guarantees.notion import Budget


def budget_of(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None, *, prefix: str
) -> Budget | None:
    """The cap that was typed.

    >>> budget_of("3", None, None, None, prefix="--")
    Pure(epsilon=Fraction(3, 1))
    """
    from discreet.guarantees import GDP, ZCDP, Approx, Pure

    budgets: list[Budget] = []
    with called({name: f"{prefix}{name}" for name in ("epsilon", "delta", "rho", "mu")}):
        if epsilon is not None:
            budgets.append(Pure(epsilon) if delta is None else Approx(epsilon, delta))
        budgets += [notion(text) for notion, text in ((ZCDP, rho), (GDP, mu)) if text is not None]
    if len(budgets) > 1 or (delta is not None and epsilon is None):
        raise InvalidArgument(
            "the cap",
            f"one of {prefix}epsilon, {prefix}epsilon with {prefix}delta, {prefix}rho "
            f"and {prefix}mu",
            "several" if len(budgets) > 1 else f"{prefix}delta without {prefix}epsilon",
        )
    return budgets[0] if budgets else None


# -- what one answer may cost, and all answers together --------------------------------------------


# Exact numbers, which are kept as they were typed.
_spend, _cap, _group = (
    partial(option, metavar="NUMBER", panel=panel)
    for panel in ("The spend", "The cap", "The cap of a group")
)


@dataclass(frozen=True)
class SpendOptions:
    """One answer: ε, (ε, δ), ρ, μ, or the error that is wanted."""

    epsilon: Text = _spend("Spend this much ε: exact, as in 0.1 or 1/3.")
    delta: Text = _spend("With --epsilon, or for --keys discover: this δ.")
    rho: Text = _spend("Spend this much ρ of zCDP.")
    mu: Text = _spend("Spend this much μ of Gaussian privacy.")
    error: Texts = _spend(
        "Instead of a spend: pay the least that keeps every value within this error "
        "(95 %), or only the named ones, as in mean_income=500.",
        metavar="ERROR|NAME=ERROR",
    )
    group_size: int | None = _spend(
        "With --error, for values whose error depends on it: rows of a group.", metavar="N"
    )

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
        for name, text in amounts.items():
            if text is not None:
                _check_positive(text, option=f"--{name}")
        return {**amounts, "error": self._error(), "group_size": self.group_size}

    def _error(self) -> Any:
        pairs = [text.rpartition("=") for text in self.error or ()]
        for _, _, error in pairs:
            _check_positive(error, option="--error")
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
class _Cap:
    """A cap: its options are epsilon, delta, rho, mu and slack, in this order."""

    _prefix: ClassVar[str]

    def _typed(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def budget(self) -> Budget | None:
        """The cap, if one is stated."""
        return budget_of(*self._typed()[:4], prefix=self._prefix)

    def check(self) -> None:
        """Refuse a cap that cannot be, before a ledger is made for it."""
        from discreet.ledger import Cap

        budget, slack = self.budget(), self._typed()[4]
        option = f"--{fields(self)[4].name.replace('_', '-')}"
        if budget is not None:
            capped = ("budget", "limit", "epsilon", "rho", "mu")
            of_cap = dict.fromkeys(capped, f"{self._prefix}{next(iter(budget.fields))}")
            with called({"slack": option, "delta": f"{self._prefix}delta", **of_cap}):
                Cap.read(budget, slack)
        elif slack is not None:
            raise InvalidArgument.conflict(
                option, "given with the cap that it is a part of", "alone"
            )


_SLACK = "The part of δ for what may fail outright, such as discovered keys."


@dataclass(frozen=True)
class CapOptions(_Cap):
    """The cap on all answers together, as options of ``discreet release``."""

    _prefix = "--budget-"
    budget_epsilon: Text = _cap("The most ε for all answers together.")
    budget_delta: Text = _cap("With --budget-epsilon: its δ.")
    budget_rho: Text = _cap("The most ρ for all answers together.")
    budget_mu: Text = _cap("The most μ for all answers together.")
    slack: Text = _cap(_SLACK)


@dataclass(frozen=True)
class LedgerCapOptions(_Cap):
    """A cap, as options of ``discreet ledger``."""

    _prefix = "--"
    epsilon: Text = _cap("The cap: the most ε, exact, as in 3 or 1/3.")
    delta: Text = _cap("With --epsilon: an (ε, δ) cap, kept as zCDP.")
    rho: Text = _cap("The cap in ρ of zCDP.")
    mu: Text = _cap("The cap in μ of Gaussian privacy.")
    slack: Text = _cap(_SLACK)


@dataclass(frozen=True)
class GroupCapOptions(_Cap):
    """The cap of a new group of datasets."""

    _prefix = "--group-"
    group_epsilon: Text = _group("Make the group, with this cap in ε.")
    group_delta: Text = _group("With --group-epsilon: its δ.")
    group_rho: Text = _group("Make the group, with this cap in ρ.")
    group_mu: Text = _group("Make the group, with this cap in μ.")
    group_slack: Text = _group("The part of δ of the group for what may fail outright.")


def _check_positive(text: str, *, option: str) -> None:
    from discreet.numeric.exact import number

    if number(text, name=option) <= 0:
        raise InvalidArgument.of(option, "above 0", text)
