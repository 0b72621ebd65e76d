"""``discreet release`` and ``discreet explain``: the same options, but explain reads no data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from discreet.cli.accounts import check_names
from discreet.cli.failures import Unwritten, called
from discreet.cli.options import (
    LATE,
    CapOptions,
    SpendOptions,
    Text,
    Texts,
    argument,
    budget_of,
    flag,
    flat,
    option,
)
from discreet.cli.output import AnswerOptions, AsJson, in_words, say, show_document
from discreet.cli.paths import (
    check_ledger_exists,
    check_ledger_place,
    key_files,
    ledger_exists,
    ledger_files,
    ledger_in_a_command,
)
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.guarantees.notion import Budget
    from discreet.ledger.ledger import Ledger
    from discreet.query.aggregates.aggregate import Aggregate, Flag
    from discreet.query.explain import Explanation
    from discreet.query.plan import Plan
    from discreet.query.table import Grouped, Query, Table
    from discreet.release import Result
    from discreet.session import Session


# -- the question ----------------------------------------------------------------------------------


_table, _groups = (partial(option, panel=panel) for panel in ("The table", "Groups and people"))
_ASKED = "What is asked"
_DISCOVER = "discover"
_LIMITS = ("max_groups", "max_rows_per_group", "max_rows")


@dataclass(frozen=True)
class QuestionOptions:
    """The table, which rows are kept, the groups, and the aggregates."""

    data: str = argument(
        "A CSV or Parquet file, or a pattern in quotes such as 'visits/*.parquet'.", "DATA"
    )
    unit: Text = _table(
        "The column that says whose row it is; without it, a row is a person.", "COLUMN"
    )
    relation: str = _table(
        "What stays hidden: whether a person is there at all (add-remove), or what "
        "their rows say (replace).",
        "add-remove|replace",
        default="add-remove",
    )
    schema: Texts = _table(
        "Fix the type of a column: boolean, integer, real, text, date or timestamp. "
        "Cells of a CSV file take the type they are used as. Repeat for more.",
        "COLUMN=TYPE",
    )
    delimiter: str = _table(
        "The character between the cells of a CSV file.", "CHARACTER", default=","
    )
    where: Texts = _table(
        'Keep rows for which this is true, as in "age >= 18", "city = \'A\'", "city in '
        "('A', 'B')\" or \"income is not null\". Repeat to demand several.",
        "CONDITION",
    )
    group_by: Texts = _groups(
        "Answer for each value of this column. Repeat to cross several.", "COLUMN"
    )
    keys: Texts = _groups(
        "The values to answer for, with commas, once for each --group-by in the same "
        "order. Or discover, once for all of them: it needs --delta and finds the groups that "
        "enough people are in.",
        "A,B,...|discover",
    )
    public_keys: Text = _groups(
        "A CSV or Parquet file with the group columns, one row for each group. It is "
        "public: it holds nothing about people, and all of it may be seen in the answer.",
        "FILE",
    )
    max_groups: int | None = _groups("Keep each person in at most this many groups.", "N")
    max_rows_per_group: int | None = _groups(
        "Keep at most this many rows of each person in a group.", "N"
    )
    max_rows: int | None = _groups(
        "Keep at most this many rows of each person in all. With --unit and none of the "
        "three, it is 1.",
        "N",
    )
    asked: dict[str, Any] = field(default_factory=dict, metadata=LATE)  #: by aggregates' flags

    # -- to a query --------------------------------------------------------------------------------

    def check_delta(self, spending: SpendOptions) -> None:
        """Refuse discovered keys without a δ, before anything is opened."""
        discovers = set(self.keys or ()) == {_DISCOVER}
        if discovers and spending.delta is None and not spending.error:
            raise InvalidArgument.missing(
                "--delta",
                "given with --keys discover, which may reveal a key of one person with "
                "that probability",
                hint="add it, as in --delta 1e-6, or list the keys",
            )

    def table(self) -> Table:
        """The table without steps, as a session is opened with it. Reads no rows."""
        import discreet as dp
        from discreet.cli.query_text import check_data, delimiter_hinted

        check_data(self.data)
        with delimiter_hinted(self.data, self._delimiter):
            return dp.table(
                self.data,
                unit=self.unit,
                relation=self.relation,
                schema=self._schema(),
                delimiter=self._delimiter,
            )

    def query(self, table: Table) -> Query:
        """The query on this table that the options ask for."""
        from discreet.cli.query_text import condition, delimiter_hinted

        with delimiter_hinted(self.data, self._delimiter):
            aggregates = self._aggregates(table)
            for text in self.where or ():
                table = table.where(condition(text, table.schema))
            return self._grouped(self._bounded(table)).agg(**aggregates)

    @property
    def _delimiter(self) -> str:
        return "\t" if self.delimiter in ("\\t", "tab") else self.delimiter

    def _schema(self) -> dict[str, str] | None:
        pairs = [text.rpartition("=") for text in self.schema or ()]
        for text, (column, _, kind) in zip(self.schema or (), pairs, strict=True):
            if not column or not kind:
                raise InvalidArgument.of(
                    "--schema", "column=type, as in --schema age=integer", text
                )
        return {column.strip(): kind.strip() for column, _, kind in pairs} or None

    @property
    def _limits(self) -> dict[str, int]:
        limits = {name: getattr(self, name) for name in _LIMITS}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def _bounded(self, table: Table) -> Table:
        if self._limits or self.unit is None:
            return table.bound(**self._limits) if self._limits else table
        return table.bound(max_rows=1)  # safe whatever the data are, and noted in every answer

    @property
    def unsaid(self) -> tuple[str, ...]:
        """A note for the top of the answer if no option says how many rows of a person are kept."""
        if self.unit is None or self._limits:
            return ()
        return (
            f"1 row of each {self.unit} is kept, since no --max-rows was given (nor --max-groups "
            "with --max-rows-per-group): counts of rows and sums are of one row per person",
        )

    def _grouped(self, table: Table) -> Table | Grouped:
        if self.group_by:
            return table.group_by(*self.group_by, keys=self._keys(table, self.group_by))
        if self.keys or self.public_keys:
            raise InvalidArgument.conflict(
                "--keys",
                "given with --group-by",
                "without it",
                hint="say which column they belong to, as in --group-by city --keys A,B",
            )
        return table

    def _keys(self, table: Table, columns: list[str]) -> Any:
        from pathlib import Path

        import discreet as dp
        from discreet.cli.query_text import listed, typed

        lists = self.keys or []
        if self.public_keys is not None and not lists:
            with called({"source": "--public-keys"}):
                return dp.public(Path(self.public_keys))
        if lists and set(lists) == {_DISCOVER} and self.public_keys is None:
            return _DISCOVER
        if len(lists) != len(columns) or self.public_keys is not None:
            raise InvalidArgument(
                "--keys",
                "given once for each --group-by, since the groups that occur would reveal people",
                "--keys and --public-keys" if self.public_keys else f"{len(lists)} of them",
                hint="list them, as in --keys A,B,C, name a public file with --public-keys, or say "
                "--keys discover with --delta",
            )
        found = {}
        for column, text in zip(columns, lists, strict=True):
            kind = table.schema.field(column, argument="--group-by").type
            values = listed(text, option="--keys")
            if _DISCOVER in values:
                raise InvalidArgument(
                    "--keys",
                    "keys for every --group-by, or discover once for all of them",
                    "discover beside keys",
                    hint="if a group is really called discover, name it in a file of --public-keys",
                )
            found[column] = [typed(value, kind, option="--keys") for value in values]
        return found

    def _aggregates(self, table: Table) -> dict[str, Aggregate]:
        from discreet.cli import query_text

        pairs: list[tuple[str, Aggregate]] = []
        for name, one in flags().items():
            texts = (self.asked[name] or ()) if one.metavar else [""] * bool(self.asked[name])
            pairs += (query_text.asked(one, text, table.schema) for text in texts)
        if not pairs:
            raise InvalidArgument(
                "the question",
                "at least one aggregate",
                "none",
                code="missing-argument",
                hint="say what to compute, as in --count or --mean income:0:200000",
            )
        return query_text.once(pairs)


def flags() -> dict[str, Flag]:
    """The flags of all aggregates, by the names that Python gives them."""
    from discreet.query.aggregates import KINDS

    found = [one for kind in KINDS.values() for one in kind.flags()]
    return {one.option.replace("-", "_"): one for one in found}


def complete(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each aggregate. They are loaded for no other command."""
    options = {
        name: (Texts, option(one.help, one.metavar, panel=_ASKED))
        if one.metavar
        else (bool, flag(f"--{one.option}", one.help, _ASKED))
        for name, one in flags().items()
    }
    return flat(command, asked=options)


# -- the budget that is charged --------------------------------------------------------------------


_LEDGER = "The ledger"
_ledger = partial(option, panel=_LEDGER)


@dataclass(frozen=True)
class AccountOptions:
    """The ledger, the dataset in it, and the analyst."""

    ledger: Text = _ledger(
        "The ledger that keeps the budget: a file, or a postgresql:// address.",
        "FILE|URL",
        envvar="DISCREET_LEDGER",
    )
    no_ledger: bool = flag(
        "--no-ledger",
        "Release without a ledger. Nothing then remembers what was spent, so the next "
        "run starts from zero and promises add up unseen: for invented data only.",
        _LEDGER,
    )
    create: bool = flag(
        "--create",
        "Make the ledger and the dataset if they are not there; needs the cap. The "
        "dataset is named after the ledger's file unless --dataset says otherwise.",
        _LEDGER,
    )
    dataset: Text = _ledger("The dataset's name in the ledger; not needed if there is one.", "NAME")
    analyst: Text = _ledger("Who asks, if the ledger has analysts.", "NAME")
    idempotency_key: Text = _ledger(
        "Under the same key, the same question gets the same answer again, and is charged once.",
        "TEXT",
    )
    key: Text = _ledger(
        "The private key that signs the ledger and certificates: Ed25519, as PEM.",
        "FILE",
        envvar="DISCREET_KEY",
    )

    @property
    def charged(self) -> str | None:
        """The ledger that is charged, if one is."""
        return None if self.no_ledger else self.ledger

    @property
    def files(self) -> list[str]:
        """The files of the ledger and its key, which an answer must not overwrite."""
        return [*ledger_files(self.ledger), *key_files(self.key)]

    def check(self) -> None:
        """Refuse --ledger together with --no-ledger; a ledger from the environment is ignored."""
        if self.no_ledger and self.ledger not in (None, os.environ.get("DISCREET_LEDGER")):
            raise InvalidArgument.conflict("--ledger and --no-ledger")

    @contextmanager
    def hinted(self) -> Iterator[None]:
        """Add to a `BudgetExceeded` what to do about it."""
        from discreet.errors import BudgetExceeded

        try:
            yield
        except BudgetExceeded as error:
            shown = f": discreet ledger show {ledger_in_a_command(self.charged)} says who spent it"
            error.add_note(f"ask for less{'' if self.no_ledger else shown}")
            raise

    @contextmanager
    def session(
        self, query: Query, table: Table, cap: CapOptions, spending: SpendOptions
    ) -> Iterator[tuple[Session, Ledger | None]]:
        """A session on the ledger, and the ledger; without one, a session on a budget just large
        enough for this answer."""
        import discreet as dp

        ledger: Ledger | None = None
        slack: Fraction | str | None = cap.slack
        with ExitStack() as opened:
            if self.charged is not None:
                self._check_creation(self.charged, cap)
                ledger = dp.Ledger(self.charged, create=self.create, key=self.key)
                opened.enter_context(ledger)
            else:
                self._check_alone()
            budget = cap.budget()
            if budget is None and ledger is None:
                budget, slack = _just_enough(query, spending)
            with self._hinted_accounts(ledger):
                session = dp.Session(
                    table,
                    budget=budget,
                    slack=slack,
                    ledger=ledger,
                    create=self.create,
                    dataset=self.dataset,
                    analyst=self.analyst,
                    key=self.key,
                )
            yield session, ledger

    def _check_alone(self) -> None:
        """Refuse to release without a ledger unless that is said, or where one is needed."""
        if not self.no_ledger:
            raise InvalidArgument.missing(
                "--ledger",
                "given, so that what is spent is remembered after this run",
                hint="make one with: discreet ledger create people.ledger --dataset people "
                "--epsilon 3; or say --no-ledger if the data are invented",
            )
        if self.idempotency_key is not None:
            raise InvalidArgument.conflict(
                "--idempotency-key",
                "given with a ledger, which keeps the answer",
                "with --no-ledger",
            )

    @contextmanager
    def _hinted_accounts(self, ledger: Ledger | None) -> Iterator[None]:
        """For an analyst or dataset that a ledger does not have, say how to add it."""
        place = ledger_in_a_command(self.charged)
        dataset, analyst = quote(self.dataset or "NAME"), quote(self.analyst or "NAME")
        if self.dataset is None and ledger is not None and len(ledger.datasets) == 1:
            dataset = quote(ledger.datasets[0].name)
        who = f"add them: discreet ledger analysts {place} --dataset {dataset} --add {analyst}"
        what = f"add it: discreet ledger create {place} --dataset {dataset} --epsilon 3"
        with (
            called({"analyst": "--analyst"}, hint=who),
            called({"dataset": "--dataset"}, hint=what if self.dataset else ""),
        ):
            yield

    def _check_creation(self, ledger: str, cap: CapOptions) -> None:
        """Refuse to make a ledger unless --create is given, or without a cap."""
        if not self.create:
            check_ledger_exists(ledger)
        elif cap.budget() is None and not ledger_exists(ledger):
            raise InvalidArgument.missing(
                "the cap",
                "given with --create, as --budget-epsilon, --budget-rho or --budget-mu",
                hint="it is the most that all answers together may cost one person, and stays "
                "fixed; as in --budget-epsilon 3",
            )
        else:
            check_ledger_place(ledger)
        if self.create:
            check_names(dataset=self.dataset)
        if cap.budget() is not None:
            cap.check()

    def explain(
        self, query: Query, table: Table, cap: CapOptions, spending: SpendOptions
    ) -> Explanation:
        """What a release would do. Without a ledger or a cap, what would be left is omitted."""
        arguments = spending.arguments()
        alone = self.charged is None or (self.create and not ledger_exists(self.charged))
        if alone and cap.budget() is None:
            return _explain_alone(query, arguments)
        pays = replace(self, no_ledger=alone, create=False, idempotency_key=None)
        with pays.session(query, table, cap, spending) as (session, _):
            return session.explain(query, **arguments)


def _just_enough(query: Query, spending: SpendOptions) -> tuple[Budget, Fraction | str | None]:
    """A budget just large enough for one answer, and its slack."""
    from discreet.guarantees import ZCDP
    from discreet.guarantees.filters import price

    arguments = spending.arguments()
    if spending.epsilon is not None and spending.delta is not None:
        charge = price(ZCDP, _plan_alone(query, arguments).guarantee, 0)
        return ZCDP(charge.amount), charge.slack
    if spending.error:
        raise InvalidArgument.missing(
            "the cap",
            "given with --error and without a ledger",
            hint="say how much may be spent at most, as in --budget-epsilon 1",
        )
    budget = budget_of(spending.epsilon, None, spending.rho, spending.mu, prefix="--")
    assert budget is not None
    return budget, spending.delta  # with ρ and μ, δ is what discovered keys may need


def _explain_alone(query: Query, arguments: dict[str, Any]) -> Explanation:
    from discreet.query.explain import explain

    if arguments["error"] is not None:
        raise InvalidArgument(
            "--error",
            "asked of a budget, whose notion of privacy decides what is paid",
            "neither a ledger nor a cap",
            hint="name a ledger, or say how much may be spent, as in --budget-epsilon 1",
        )
    return explain(_plan_alone(query, arguments))


def _plan_alone(query: Query, arguments: dict[str, Any]) -> Plan:
    from discreet.query.plan import make_plan
    from discreet.query.purchase import Spend

    spend = {name: arguments[name] for name in ("epsilon", "delta", "rho", "mu")}
    return make_plan(query, Spend.read(**spend))


# -- what it cost and what is left -----------------------------------------------------------------


#: The facts about a release without a ledger.
_UNKEPT = {"record": None, "ledger": None, "stored": False, "charged": None, "remaining": None}


def receipt(ledger: Ledger | None, result: Result) -> tuple[dict[str, Any], list[str]]:
    """What was charged for an answer that was just given, and what is left of every account that
    it went to: as a document with exact numbers, and as lines for a terminal."""
    number = result.record
    entry = None if ledger is None or number is None else ledger.entry(number)
    if ledger is None or entry is None:
        return _UNKEPT, []
    charged = [
        {"account": cost.account, "amount": cost.amount, "slack": cost.slack}
        for cost in entry.costs
    ]
    names = {cost["account"] for cost in charged}
    remaining, lines = [], [f"record {entry.number} of {ledger.location}"]
    people = [who for who in ledger.analysts if who.dataset == entry.dataset]
    for account in (*ledger.datasets, *ledger.groups, *people):
        name, kept = f'{account.kind} "{account.name}"', account.filter
        if kept is None or name not in names:
            continue
        notion, cap = type(kept.limit), kept.limit.amount
        amount, slack = cap - kept.total, kept.slack - kept.spent_slack
        remaining.append({"account": name, "amount": amount, "slack": slack})
        left, whole = in_words(notion, amount, slack), in_words(notion, cap, kept.slack)
        lines.append(f"left of {account.kind} {account.name}: {left} of {whole}")
    facts = {
        "record": entry.number,
        "ledger": {"location": ledger.location, "id": ledger.id},
        "stored": any(f"stored answer of record {entry.number}:" in note for note in result.notes),
        "charged": charged,
        "remaining": remaining,
    }
    return facts, lines


# -- the commands ----------------------------------------------------------------------------------


def release(
    question: QuestionOptions,
    spending: SpendOptions,
    account: AccountOptions,
    cap: CapOptions,
    answer: AnswerOptions,
    printed: AsJson,
) -> None:
    """Answer a question about a table of people, with noise that hides each of them.

    The cost is charged to the ledger before a row is read, and never given back.

    \b
    Example:
      discreet release people.csv --unit person --group-by city --keys A,B,C \\
        --count --mean income:0:200000 --epsilon 0.5 --ledger people.ledger
    """
    account.check()
    files = [question.data, *([question.public_keys] if question.public_keys else [])]
    answer.check(kept=[*files, *account.files], as_json=printed.json)
    question.check_delta(spending)
    arguments = spending.arguments()
    table = question.table()
    query = question.query(table)
    with account.session(query, table, cap, spending) as (session, ledger):
        with account.hinted():
            result = session.release(query, **arguments, idempotency_key=account.idempotency_key)
        facts, paid = receipt(ledger, result)
    result = replace(result, notes=(*question.unsaid, *result.notes))
    try:
        answer.deliver(result, facts=facts, beside=paid, as_json=printed.json)
    except BrokenPipeError:
        raise  # the reader of the output has left
    except OSError as error:
        if account.charged is None:
            raise
        kept = "the answer is kept: discreet ledger show lists it, --release shows it again"
        raise Unwritten(error, kept) from None


def explain(
    question: QuestionOptions,
    spending: SpendOptions,
    account: AccountOptions,
    cap: CapOptions,
    answer: AnswerOptions,
    printed: AsJson,
) -> None:
    """Say what a release with the same options would do and cost, and how large its errors are.

    Reads no rows, charges nothing, and writes nothing.

    \b
    Example:
      discreet explain people.csv --unit person --group-by city --keys A,B,C \\
        --count --mean income:0:200000 --epsilon 0.5
    """
    account.check()
    answer.check_format(as_json=printed.json)
    question.check_delta(spending)
    table = question.table()
    query = question.query(table)
    told = account.explain(query, table, cap, spending)
    told = replace(told, warnings=(*(f"{note}." for note in question.unsaid), *told.warnings))
    if printed.json or answer.format == "json":
        errors = [
            {"name": e.name, "error": e.error, "unit": e.unit, "by_size": e.by_size}
            for e in told.errors
        ]
        sentences, warnings = list(told.sentences), list(told.warnings)
        show_document("explain", {"sentences": sentences, "warnings": warnings, "errors": errors})
    else:
        say(*str(told).splitlines())
