"""What ``discreet ledger show`` shows: accounts, time, releases; or one answer again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from discreet.app.cli.answers import Answer
from discreet.app.cli.drawing import account_line, timeline
from discreet.app.cli.outputs import check_places, key_files, ledger_files
from discreet.app.cli.places import account_document
from discreet.app.cli.printing import clean
from discreet.errors import InvalidArgument
from discreet.guarantees.accounts.notions import in_words

if TYPE_CHECKING:
    from discreet.ledger import Account, Entry
    from discreet.ledger.ledger import Ledger

_LABEL, _BAR = 30, 24


def show_history(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None, *, last: int, out: Console
) -> None:
    """Accounts with bars, then each dataset over time and its last releases."""
    label = max(12, min(_LABEL, out.width // 3))
    width = max(8, min(_BAR, out.width // 4))
    names = {account.name for account in chosen}
    groups = {name for account in chosen for name in account.groups}
    accounts = [account for account in ledger.groups if account.name in groups]
    for data in chosen:
        accounts += [data, *(who for who in ledger.analysts if who.dataset == data.name)]
    out.print(Text(clean(f"{ledger.location}, ledger {ledger.id}"), style="dim"), soft_wrap=True)
    for account in accounts:
        out.print(account_line(account, label=label, width=width), soft_wrap=True)
    if not names:
        out.print("there are no datasets yet: discreet ledger create LEDGER --dataset NAME")
    for data in chosen:
        history = ledger.history(data.name, analyst)
        assert data.filter is not None
        out.print()
        out.print(Text(clean(f"{data.name}: {_person(data)}"), style="bold"), soft_wrap=True)
        for line in timeline(history, data.filter, width=out.width):
            out.print(line, soft_wrap=True)
        for line in _last(list(history)[-last:] if last else [], len(history)):
            if out.is_terminal:
                out.print(line, no_wrap=True, overflow="ellipsis")
            else:
                out.print(line, soft_wrap=True)


def history_document(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None
) -> dict[str, Any]:
    """The same as a document."""
    names = {account.name for account in chosen}
    groups = [a for a in ledger.groups if any(a.name in data.groups for data in chosen)]
    people = [who for who in ledger.analysts if who.dataset in names]
    entries = [entry for name in sorted(names) for entry in ledger.history(name, analyst)]
    return {
        "accounts": [account_document(account) for account in (*groups, *chosen, *people)],
        "releases": [_entry(entry) for entry in sorted(entries, key=lambda entry: entry.number)],
    }


def draw_history(
    ledger: Ledger,
    chosen: Sequence[Account],
    analyst: str | None,
    path: str,
    *,
    keys: Sequence[str],
) -> None:
    """A picture of one dataset's history, not over a file of the ledger or of its ``keys``."""
    from pathlib import Path

    if len(chosen) != 1:
        raise InvalidArgument(
            name="--dataset",
            expected="given with --plot, which draws one dataset",
            given="nothing",
            hint=f"one of {', '.join(account.name for account in chosen)}" if chosen else "",
        )
    check_places({"--plot": Path(path)}, kept=[*ledger_files(ledger.location), *keys])
    ledger.plot(chosen[0].name, analyst).save(path)


def show_release(
    ledger: Ledger, number: int, answer: Answer, *, key: str | None, as_json: bool
) -> None:
    """A stored answer, and its certificate: it costs nothing to have them again."""
    from discreet.session.certifying import certificate_of
    from discreet.signing import load_private

    answer.check(kept=[*ledger_files(ledger.location), *key_files(key)])
    entry = ledger.entry(number)
    if entry is None:
        raise InvalidArgument(
            name="--release",
            expected="the number of a release of this ledger",
            given=str(number),
            hint="discreet ledger show lists them",
        )
    result = ledger.recall(entry)
    signer = None if key is None else load_private(key)
    issue = partial(certificate_of, entry=entry, result=result, ledger=ledger.id, key=signer)
    answer.deliver(
        replace(result, issue=issue),
        command="ledger show",
        facts={"release": _entry(entry)},
        as_json=as_json,
    )


def _person(data: Account) -> str:
    from discreet.neighbors import Unit

    return f"a person is {Unit(data.unit)}, {data.relation}"


def _last(entries: Sequence[Entry], total: int) -> list[Text]:
    if not entries:
        return []
    shown = f"the last {len(entries)} of {total:,} releases" if len(entries) < total else "releases"
    lines = [Text(f"{shown}:", style="dim")]
    who = min(max(cell_len(entry.analyst or "-") for entry in entries), 20)
    for entry in entries:
        cost = entry.costs[0]
        words = in_words(cost.notion, cost.amount, cost.slack)
        name = set_cell_size(clean(entry.analyst or "-"), who)
        line = Text(f"{entry.number:>6}  {entry.time:%Y-%m-%d %H:%M}  {name}  ")
        lines.append(line.append(words, "bold").append(clean(f"  {entry.question}")))
    return lines


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time,
        "dataset": entry.dataset,
        "analyst": entry.analyst,
        "question": entry.question,
        "mechanisms": list(entry.mechanisms),
        "guarantee": json.loads(entry.guarantee.to_json()),
        "costs": [
            {"account": cost.account, "amount": cost.amount, "slack": cost.slack}
            for cost in entry.costs
        ],
        "hash": entry.hash,
    }
