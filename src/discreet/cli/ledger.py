"""``discreet ledger``: budgets that last, who may spend them, and what was spent."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from typer import Exit

from discreet.cli import accounts, failures
from discreet.cli.accounts import LedgerOptions, ReadOnlyLedgerOptions
from discreet.cli.options import GroupCapOptions, LedgerCapOptions, Text, Texts, flag, group, option
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

_DATASET = option("Only this dataset; not needed if there is one.", "NAME")
_ANALYST = option("Only what this analyst spent.", "NAME")


def create(
    *,
    place: LedgerOptions,
    dataset: Text = option("Add this dataset, with the cap below.", "NAME"),
    unit: Text = option(
        "The column that says whose row it is; without it, a row is a person.", "COLUMN"
    ),
    relation: str = option(
        "What stays hidden: whether a person is there at all, or what their rows say.",
        "add-remove|replace",
        default="add-remove",
    ),
    group: Texts = option(
        "Put the dataset into this group, which caps all datasets of the same people "
        "together. Repeat for more.",
        "NAME",
    ),
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
    accounts.check_caps(dataset, budget, groups, of_group)
    accounts.check_names(dataset=dataset, unit=unit, groups=groups, relation=relation)
    cap.check()
    group_cap.check()
    existed = ledger_exists(place.ledger)
    if not existed:
        accounts.check_groups(groups, of_group, there=())
    made: list[tuple[Account, bool]] = []  # and whether it was there already
    with place.open(create=True) as ledger:
        there = {account.name for account in ledger.groups}
        datasets = {account.name: account for account in ledger.datasets}
        accounts.check_groups(groups, of_group, there=there)
        kept: dict[str, Any] = {"unit": unit, "relation": relation, "groups": groups}
        if dataset in datasets:
            if of_group is not None and groups[-1] not in there:
                raise InvalidArgument.of(
                    "--dataset",
                    "one that is not there yet, since it joins a group when it is added",
                    dataset,
                )
            accounts.check_kept(datasets[dataset], budget=budget, **kept)
        if of_group is not None:
            slack, name = group_cap.group_slack, groups[-1]
            account = ledger.add_group(name, budget=of_group, slack=slack, relation=relation)
            made.append((account, name in there))
        if dataset is not None and budget is not None:
            account = ledger.add_dataset(dataset, budget=budget, slack=cap.slack, **kept)
            made.append((account, dataset in datasets))
        facts = {**accounts.facts_of(ledger), "existed": existed}
    documents = [{**accounts.account_document(one), "existed": was} for one, was in made]
    printed.tell(
        "ledger create",
        {**facts, "accounts": documents},
        f"the ledger is in {facts['ledger']}{', and was there already' * existed}",
        *(
            f"{one.kind} {one.name}{' was there already and stays as it is' * was}: "
            f"cap {cap_in_words(one)}"
            for one, was in made
        ),
    )


def show(
    *,
    place: ReadOnlyLedgerOptions,
    dataset: Text = _DATASET,
    analyst: Text = _ANALYST,
    last: int = option("How many of the last releases to list.", "N", default=10, min=0),
    plot: Text = option("Draw the history to this file: .svg, .png or .html.", "FILE"),
    release: int | None = option(
        "Show the stored answer of this release again, for free.", "NUMBER"
    ),
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
    from discreet.cli import ledger_report as report

    with place.open() as ledger:
        if release is not None:
            if plot is not None:
                raise InvalidArgument.conflict("--plot and --release")
            report.show_release(ledger, release, answer, key=place.key, as_json=printed.json)
            return
        if answer != AnswerOptions():
            raise InvalidArgument.conflict(
                "--output, --format, --certificate and --force",
                "given with --release, whose answer they are about",
                "without it",
            )
        chosen = _asked_by(ledger, accounts.datasets_of(ledger, dataset), analyst)
        if plot is not None:
            report.draw_history(ledger, chosen, analyst, plot, keys=place.key_files)
        if printed.json:
            shown = report.history_document(ledger, chosen, analyst)
            show_document("ledger show", {**accounts.facts_of(ledger), **shown, "plot": plot})
        else:
            report.show_history(ledger, chosen, analyst, last=last, out=console())
    if plot is not None and not printed.json:
        note(f"the picture is in {plot}")


def analysts(
    *,
    place: LedgerOptions,
    dataset: Text = _DATASET,
    add: Text = option("Add this analyst, with the cap below if one is given.", "NAME"),
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
    from discreet.cli.ledger_report import dataset_lines

    budget = cap.budget()
    if add is None and budget is not None:
        raise InvalidArgument.missing("--add", "given with a cap", hint="as in --add ann")
    cap.check()
    with place.open() as ledger:
        chosen = accounts.datasets_of(ledger, dataset)
        if add is not None:
            if len(chosen) != 1:
                raise accounts.unknown_dataset(chosen)
            name = chosen[0].name
            ledger.add_analyst(add, dataset=name, budget=budget, slack=cap.slack)
        if printed.json:
            people = ledger.analysts
            listed = [(d, *(who for who in people if who.dataset == d.name)) for d in chosen]
            documents = accounts.account_documents(ledger, chain.from_iterable(listed))
            show_document("ledger analysts", {**accounts.facts_of(ledger), "accounts": documents})
            return
        lines = [line for d in chosen for line in dataset_lines(ledger, d, label=28, width=20)]
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)
    if len(lines) == len(chosen):
        say("there are no analysts yet: anyone with the ledger may ask; --add NAME adds one")


def verify(
    *,
    place: ReadOnlyLedgerOptions,
    expect: Text = option(
        "A record that was noted elsewhere, which must be in this ledger.", "NUMBER:HASH"
    ),
    printed: AsJson,
) -> None:
    """Read the whole ledger again, price every charge again, and say what was checked.

    \b
    Example:
      discreet ledger verify people.ledger
    """
    from discreet.cli.ledger_report import check_ledger

    if not check_ledger(place, expect, printed):
        raise Exit(failures.FAILED_CHECK)


def replay(
    *,
    place: ReadOnlyLedgerOptions,
    dataset: Text = _DATASET,
    analyst: Text = _ANALYST,
    fixed_in_advance: bool = flag(
        "--fixed-in-advance",
        "You know that all spends were fixed before the first answer was seen.",
    ),
    delta: Text = option("Say which ε it comes to at this δ.", "NUMBER"),
    printed: AsJson,
) -> None:
    """Run the journal through the tight accountant: a guarantee, or an estimate that says so.

    \b
    Example:
      discreet ledger replay people.ledger --delta 1e-6
    """
    with place.open() as ledger:
        chosen = _asked_by(ledger, accounts.datasets_of(ledger, dataset), analyst)
        if len(chosen) != 1:
            raise accounts.unknown_dataset(chosen)
        played = ledger.history(chosen[0].name, analyst).replay(fixed_in_advance=fixed_in_advance)
        facts = accounts.facts_of(ledger)
    epsilon = None if delta is None else played.epsilon(delta)
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
    at_delta = [] if epsilon is None else [f"at δ = {delta}: ε = {epsilon:.6g}"]
    printed.tell("ledger replay", result, f"{chosen[0].name}: {played}", *at_delta)


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


ledger_app = group(
    "ledger",
    "Budgets that last, who may spend them, and what was spent.",
    *(create, show, analysts, verify, replay),
)
