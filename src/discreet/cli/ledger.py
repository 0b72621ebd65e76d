"""``discreet ledger``: budgets that last, who may spend them, and what was spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Context, Exit, Option, Typer

from discreet.cli import failures
from discreet.cli.accounts import (
    LedgerOptions,
    ReadOnlyLedgerOptions,
    account_document,
    account_documents,
    check_caps,
    check_groups,
    check_kept,
    check_names,
    check_new,
    datasets_of,
    facts_of,
    spent_without_cap,
    unknown_dataset,
)
from discreet.cli.options import GroupCapOptions, LedgerCapOptions, flat
from discreet.cli.output import (
    AnswerOptions,
    AsJson,
    cap_in_words,
    console,
    note,
    say,
    show_document,
)
from discreet.cli.paths import ledger_exists
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.ledger import Account
    from discreet.ledger.ledger import Ledger

ledger_app = Typer(name="ledger")


@ledger_app.callback(invoke_without_command=True)
def ledger(context: Context) -> None:
    """Budgets that last, who may spend them, and what was spent."""
    if context.invoked_subcommand is None:
        print(context.get_help())


_Dataset = Annotated[
    str | None, Option(help="Only this dataset; not needed if there is one.", metavar="NAME")
]


@ledger_app.command("create")
@flat
def create(
    *,
    place: LedgerOptions,
    dataset: Annotated[
        str | None, Option(help="Add this dataset, with the cap below.", metavar="NAME")
    ] = None,
    unit: Annotated[
        str | None,
        Option(
            help="The column that says whose row it is; without it, a row is a person.",
            metavar="COLUMN",
        ),
    ] = None,
    relation: Annotated[
        str,
        Option(
            help="What stays hidden: whether a person is there at all, or what their rows say.",
            metavar="add-remove|replace",
        ),
    ] = "add-remove",
    group: Annotated[
        list[str] | None,
        Option(
            help="Put the dataset into this group, which caps all datasets of the same people "
            "together. Repeat for more.",
            metavar="NAME",
        ),
    ] = None,
    cap: LedgerCapOptions,
    group_cap: GroupCapOptions,
    printed: AsJson,
) -> None:
    """Make a ledger, or add a dataset to one. What is there already stays as it is.

    A cap is never changed and a ledger is never replaced, so that nobody can reset what was spent.

    \b
    Example:
      discreet ledger create people.ledger --dataset people --unit person \\
        --epsilon 3
      discreet ledger create clinic.ledger --group patients --group-epsilon 5 \\
        --dataset visits --epsilon 3
    """
    budget, of_group = cap.budget(), group_cap.budget()
    groups = list(dict.fromkeys(group or []))
    check_caps(dataset, budget, groups, of_group)
    check_names(dataset=dataset, unit=unit, groups=groups, relation=relation)
    cap.check()
    group_cap.check()
    existed = ledger_exists(place.ledger)
    if not existed:
        check_groups(groups, of_group, there={})
    made: list[Account] = []
    with place.open(create=True) as ledger:
        there = {account.name: account for account in ledger.groups}
        check_groups(groups, of_group, there=there)
        if of_group is not None and groups[-1] not in there:
            check_new(dataset, ledger.datasets)
        datasets = ledger.datasets
        if dataset is not None:
            check_kept(
                dataset, datasets, budget=budget, unit=unit, relation=relation, groups=groups
            )
        old = {("group", name) for name in there} | {("dataset", one.name) for one in datasets}
        if of_group is not None:
            slack = group_cap.group_slack
            made.append(
                ledger.add_group(groups[-1], budget=of_group, slack=slack, relation=relation)
            )
        if dataset is not None and budget is not None:
            made.append(
                ledger.add_dataset(
                    dataset,
                    budget=budget,
                    slack=cap.slack,
                    unit=unit,
                    relation=relation,
                    groups=groups,
                )
            )
        facts = {**facts_of(ledger), "existed": existed}
    if printed.json:
        accounts = [
            {**account_document(account), "existed": (account.kind, account.name) in old}
            for account in made
        ]
        show_document("ledger create", {**facts, "accounts": accounts})
        return
    say(f"the ledger is in {facts['ledger']}{', and was there already' if existed else ''}")
    for account in made:
        stays = (account.kind, account.name) in old
        was = " was there already and stays as it is" if stays else ""
        say(f"{account.kind} {account.name}{was}: cap {cap_in_words(account)}")


@ledger_app.command("show")
@flat
def show(
    *,
    place: ReadOnlyLedgerOptions,
    dataset: _Dataset = None,
    analyst: Annotated[
        str | None, Option(help="Only what this analyst spent.", metavar="NAME")
    ] = None,
    last: Annotated[
        int, Option(help="How many of the last releases to list.", metavar="N", min=0)
    ] = 10,
    plot: Annotated[
        str | None,
        Option(help="Draw the history to this file: .svg, .png or .html.", metavar="FILE"),
    ] = None,
    release: Annotated[
        int | None,
        Option(help="Show the stored answer of this release again, for free.", metavar="NUMBER"),
    ] = None,
    answer: AnswerOptions,
    printed: AsJson,
) -> None:
    """Show accounts, what was spent by whom over time, and the last releases.

    \b
    Example:
      discreet ledger show people.ledger
      discreet ledger show people.ledger --plot spending.svg
      discreet ledger show people.ledger --release 3
    """
    from discreet.cli.ledger_report import (
        draw_history,
        history_document,
        show_history,
        show_release,
    )

    with place.open() as ledger:
        if release is not None:
            if plot is not None:
                raise InvalidArgument.conflict("--plot and --release")
            show_release(ledger, release, answer, key=place.key, as_json=printed.json)
            return
        if answer.is_asked:
            raise InvalidArgument.conflict(
                "--output, --format, --certificate and --force",
                "given with --release, whose answer they are about",
                "without it",
            )
        chosen = _asked_by(ledger, datasets_of(ledger, dataset), analyst)
        if plot is not None:
            draw_history(ledger, chosen, analyst, plot, keys=place.key_files)
        if printed.json:
            shown = history_document(ledger, chosen, analyst)
            show_document("ledger show", {**facts_of(ledger), **shown, "plot": plot})
        else:
            show_history(ledger, chosen, analyst, last=last, out=console())
    if plot is not None and not printed.json:
        note(f"the picture is in {plot}")


@ledger_app.command("analysts")
@flat
def analysts(
    *,
    place: LedgerOptions,
    dataset: _Dataset = None,
    add: Annotated[
        str | None,
        Option(help="Add this analyst, with the cap below if one is given.", metavar="NAME"),
    ] = None,
    cap: LedgerCapOptions,
    printed: AsJson,
) -> None:
    """List who may ask, and what each has left; or add somebody.

    The dataset's cap binds whatever the caps of its analysts add up to.

    \b
    Example:
      discreet ledger analysts people.ledger
      discreet ledger analysts people.ledger --add ann --epsilon 1
    """
    from discreet.cli.ledger_report import account_line, notion_of

    budget = cap.budget()
    if add is None and budget is not None:
        raise InvalidArgument.missing("--add", "given with a cap", hint="as in --add ann")
    cap.check()
    with place.open() as ledger:
        chosen = datasets_of(ledger, dataset)
        if add is not None:
            if len(chosen) != 1:
                raise unknown_dataset(chosen)
            name = chosen[0].name
            ledger.add_analyst(add, dataset=name, budget=budget, slack=cap.slack)
        people = {
            data.name: [who for who in ledger.analysts if who.dataset == data.name]
            for data in chosen
        }
        free = {data.name: spent_without_cap(ledger, data.name) for data in chosen}
        if printed.json:
            listed = [one for data in chosen for one in (data, *people[data.name])]
            accounts = account_documents(ledger, listed)
            show_document("ledger analysts", {**facts_of(ledger), "accounts": accounts})
            return
    out = console()
    for data in chosen:
        out.print(account_line(data, label=28, width=20), soft_wrap=True)
        for account in people[data.name]:
            line = account_line(
                account, label=28, width=20, free=free[data.name], notion=notion_of(data)
            )
            out.print(line, soft_wrap=True)
    if not any(people.values()):
        say("there are no analysts yet: anyone with the ledger may ask; --add NAME adds one")


@ledger_app.command("verify")
@flat
def verify(
    *,
    place: ReadOnlyLedgerOptions,
    expect: Annotated[
        str | None,
        Option(
            help="A record that was noted elsewhere, which must be in this ledger.",
            metavar="NUMBER:HASH",
        ),
    ] = None,
    printed: AsJson,
) -> None:
    """Read the whole ledger again, price every charge again, and say what was checked.

    \b
    Example:
      discreet ledger verify people.ledger
    """
    from discreet.cli.ledger_report import check_ledger

    ok = check_ledger(place, expect, as_json=printed.json)
    if not ok:
        raise Exit(failures.FAILED_CHECK)


@ledger_app.command("replay")
@flat
def replay(
    *,
    place: ReadOnlyLedgerOptions,
    dataset: _Dataset = None,
    analyst: Annotated[
        str | None, Option(help="Only what this analyst spent.", metavar="NAME")
    ] = None,
    fixed_in_advance: Annotated[
        bool,
        Option(
            "--fixed-in-advance",
            help="You know that all spends were fixed before the first answer was seen.",
        ),
    ] = False,
    delta: Annotated[
        str | None, Option(help="Say which ε it comes to at this δ.", metavar="NUMBER")
    ] = None,
    printed: AsJson,
) -> None:
    """Run the journal through the tight accountant: a guarantee, or an estimate that says so.

    \b
    Example:
      discreet ledger replay people.ledger --delta 1e-6
    """
    with place.open() as ledger:
        chosen = _asked_by(ledger, datasets_of(ledger, dataset), analyst)
        if len(chosen) != 1:
            raise unknown_dataset(chosen)
        played = ledger.history(chosen[0].name, analyst).replay(fixed_in_advance=fixed_in_advance)
        facts = facts_of(ledger)
    epsilon = None if delta is None else played.epsilon(delta)
    if printed.json:
        import json

        result = {
            **facts,
            "dataset": chosen[0].name,
            "releases": played.releases,
            "is_guarantee": played.is_guarantee,
            "reason": played.reason,
            "guarantee": json.loads(played.guarantee.to_json()),
            "delta": delta,
            "epsilon": epsilon,
        }
        show_document("ledger replay", result)
        return
    say(f"{chosen[0].name}: {played}")
    if epsilon is not None:
        say(f"at δ = {delta}: ε = {epsilon:.6g}")


# -- inside ----------------------------------------------------------------------------------------


def _asked_by(ledger: Ledger, chosen: list[Account], analyst: str | None) -> list[Account]:
    """Those of the chosen datasets that this analyst may ask about."""
    if analyst is None:
        return chosen
    people = [who for who in ledger.analysts if who.dataset in {data.name for data in chosen}]
    found = [d for d in chosen if any((w.dataset, w.name) == (d.name, analyst) for w in people)]
    if not found:
        names = ", ".join(dict.fromkeys(who.name for who in people))
        raise InvalidArgument.of(
            "--analyst",
            f"one of {names}" if names else "left out: there are no analysts yet",
            analyst,
        )
    return found
