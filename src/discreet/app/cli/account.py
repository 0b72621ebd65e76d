"""Which budget pays: a ledger, and who spends from it; or, said out loud, none that lasts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Option

from discreet.app.cli.budgets import budget_of
from discreet.app.cli.dialect import called
from discreet.app.cli.making import check_names
from discreet.app.cli.outputs import key_files, ledger_files
from discreet.app.cli.presence import check_place, check_there, in_a_command, is_there
from discreet.app.cli.spending import Cap, Spending
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.app.cli.budgets import Budget
    from discreet.ledger.ledger import Ledger
    from discreet.query.explain import Explanation
    from discreet.query.plan import Plan
    from discreet.query.table import Query, Table
    from discreet.session import Session

_LEDGER = "The ledger"


class Opened(NamedTuple):
    """A session, and the ledger that it charges, if there is one."""

    session: Session
    ledger: Ledger | None


@dataclass(frozen=True)
class Account:
    """The ledger, the dataset in it, the analyst."""

    ledger: Annotated[
        str | None,
        Option(
            help="The ledger that keeps the budget: a file, or a postgresql:// address.",
            envvar="DISCREET_LEDGER",
            metavar="FILE|URL",
            rich_help_panel=_LEDGER,
        ),
    ] = None
    no_ledger: Annotated[
        bool,
        Option(
            "--no-ledger",
            help="Release without a ledger. Nothing then remembers what was spent, so the next "
            "run starts from zero and promises add up unseen: for invented data only.",
            rich_help_panel=_LEDGER,
        ),
    ] = False
    create: Annotated[
        bool,
        Option(
            "--create",
            help="Make the ledger and the dataset if they are not there; needs the cap. The "
            "dataset is named after the ledger's file unless --dataset says otherwise.",
            rich_help_panel=_LEDGER,
        ),
    ] = False
    dataset: Annotated[
        str | None,
        Option(
            help="The dataset's name in the ledger; not needed if there is one.",
            metavar="NAME",
            rich_help_panel=_LEDGER,
        ),
    ] = None
    analyst: Annotated[
        str | None,
        Option(
            help="Who asks, if the ledger has analysts.", metavar="NAME", rich_help_panel=_LEDGER
        ),
    ] = None
    idempotency_key: Annotated[
        str | None,
        Option(
            help="Under the same key, the same question gets the same answer again, and is "
            "charged once.",
            metavar="TEXT",
            rich_help_panel=_LEDGER,
        ),
    ] = None
    key: Annotated[
        str | None,
        Option(
            help="The private key that signs the ledger and certificates: Ed25519, as PEM.",
            envvar="DISCREET_KEY",
            metavar="FILE",
            rich_help_panel=_LEDGER,
        ),
    ] = None

    @property
    def files(self) -> list[str]:
        """What keeps the budget and signs for it: no answer may be written over it."""
        return [*ledger_files(self.ledger), *key_files(self.key)]

    def check(self) -> None:
        """Either there is a ledger or there is none; one from the environment may be left out."""
        if self.no_ledger and self.ledger not in (None, os.environ.get("DISCREET_LEDGER")):
            raise InvalidArgument(
                name="--ledger and --no-ledger", expected="one of them", given="both"
            )

    @contextmanager
    def hinted(self) -> Iterator[None]:
        """What to do where a budget does not hold what is asked of it."""
        from discreet.errors import BudgetExceeded

        try:
            yield
        except BudgetExceeded as error:
            shown = f": discreet ledger show {in_a_command(self.ledger or '')} says who spent it"
            error.add_note(f"ask for less{'' if self.no_ledger else shown}")
            raise

    @contextmanager
    def session(self, query: Query, table: Table, cap: Cap, spending: Spending) -> Iterator[Opened]:
        """A session on the ledger; without one, on a budget that just holds this answer."""
        import discreet as dp

        if self.ledger is not None and not self.no_ledger:
            self._check_creation(cap)
            with dp.Ledger(self.ledger, create=self.create, key=self.key) as ledger:
                yield Opened(self._on(ledger, table, cap), ledger)
            return
        if not self.no_ledger:
            raise InvalidArgument(
                name="--ledger",
                expected="given, so that what is spent is remembered after this run",
                given="nothing",
                hint="make one with: discreet ledger create people.ledger --dataset people "
                "--epsilon 3; or say --no-ledger if the data are invented",
            )
        if self.idempotency_key is not None:
            raise InvalidArgument(
                name="--idempotency-key",
                expected="given with a ledger, which keeps the answer",
                given="with --no-ledger",
            )
        budget: Budget | None = cap.budget()
        slack: Fraction | str | None = cap.slack
        if budget is None:
            budget, slack = _just_enough(query, spending)
        session = dp.Session(
            table,
            budget=budget,
            slack=slack,
            create=self.create,
            dataset=self.dataset,
            analyst=self.analyst,
            key=self.key,
        )
        yield Opened(session, None)

    def _on(self, ledger: Ledger, table: Table, cap: Cap) -> Session:
        """A session on a ledger that is open; who or what is not in it can be added."""
        import discreet as dp

        assert self.ledger is not None
        place = in_a_command(self.ledger)
        dataset, analyst = quote(self.dataset or "NAME"), quote(self.analyst or "NAME")
        if self.dataset is None and len(ledger.datasets) == 1:
            dataset = quote(ledger.datasets[0].name)
        who = f"add them: discreet ledger analysts {place} --dataset {dataset} --add {analyst}"
        what = f"add it: discreet ledger create {place} --dataset {dataset} --epsilon 3"
        with (
            called("--analyst", "analyst", hint=who),
            called("--dataset", "dataset", hint=what if self.dataset else ""),
        ):
            return dp.Session(
                table,
                budget=cap.budget(),
                slack=cap.slack,
                ledger=ledger,
                create=self.create,
                dataset=self.dataset,
                analyst=self.analyst,
                key=self.key,
            )

    def _check_creation(self, cap: Cap) -> None:
        """Nothing is made unasked, nor left behind empty where a budget is missing."""
        assert self.ledger is not None
        if not self.create:
            check_there(self.ledger)
        elif cap.budget() is None and not is_there(self.ledger):
            raise InvalidArgument(
                name="the cap",
                expected="given with --create, as --budget-epsilon, --budget-rho or --budget-mu",
                given="nothing",
                hint="it is the most that all answers together may cost one person, and stays "
                "fixed; as in --budget-epsilon 3",
            )
        else:
            check_place(self.ledger)
        if self.create:
            check_names(dataset=self.dataset)
        if cap.budget() is not None:
            cap.check()

    def explain(self, query: Query, table: Table, cap: Cap, spending: Spending) -> Explanation:
        """What a release would do; without a ledger or a cap, leaving out what would be left."""
        arguments = spending.arguments()
        alone = self.ledger is None or self.no_ledger or (self.create and not is_there(self.ledger))
        if alone and cap.budget() is None:
            return _explain_alone(query, arguments)
        pays = replace(self, no_ledger=alone, create=False, idempotency_key=None)
        with pays.session(query, table, cap, spending) as opened:
            return opened.session.explain(query, **arguments)


def _just_enough(query: Query, spending: Spending) -> tuple[Budget, Fraction | str | None]:
    """A budget that holds one answer, and its slack."""
    from discreet.guarantees import ZCDP
    from discreet.guarantees.filters import price

    arguments = spending.arguments()
    if spending.epsilon is not None and spending.delta is not None:
        charge = price(ZCDP, _plan_alone(query, arguments).guarantee, 0)
        return ZCDP(charge.amount), charge.slack
    if spending.error:
        raise InvalidArgument(
            name="the cap",
            expected="given with --error and without a ledger",
            given="nothing",
            hint="say how much may be spent at most, as in --budget-epsilon 1",
        )
    budget = budget_of(spending.epsilon, None, spending.rho, spending.mu, prefix="--")
    assert budget is not None
    return budget, spending.delta  # of ρ and μ, δ is what discovered keys may need


def _explain_alone(query: Query, arguments: dict[str, Any]) -> Explanation:
    from discreet.query.explain import explain

    if arguments["error"] is not None:
        raise InvalidArgument(
            name="--error",
            expected="asked of a budget, whose notion of privacy decides what is paid",
            given="neither a ledger nor a cap",
            hint="name a ledger, or say how much may be spent, as in --budget-epsilon 1",
        )
    return explain(_plan_alone(query, arguments))


def _plan_alone(query: Query, arguments: dict[str, Any]) -> Plan:
    from discreet.query.plan import make_plan
    from discreet.query.spend import Spend

    spend = {name: arguments[name] for name in ("epsilon", "delta", "rho", "mu")}
    return make_plan(query, Spend.read(**spend))
