"""What ``discreet ledger show`` shows: accounts, time, releases; or one answer again."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from discreet.app.cli.amounts import in_words
from discreet.app.cli.answers import Answer
from discreet.app.cli.dialect import called
from discreet.app.cli.drawing import account_line, fitted, notion_of, timeline
from discreet.app.cli.outputs import check_places, key_files, ledger_files
from discreet.app.cli.places import account_documents, spent_without_cap
from discreet.errors import InvalidArgument
from discreet.printable import one_line

if TYPE_CHECKING:
    from discreet.ledger import Account, Entry
    from discreet.ledger.ledger import Ledger

_LABEL, _BAR = 30, 24


def show_history(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None, *, last: int, out: Console
) -> None:
    """Accounts with bars, then each dataset over time and its last releases."""
    label = max(12, min(_LABEL, out.width // 3))
    across = max(8, min(_BAR, out.width // 4))
    names = {account.name for account in chosen}
    groups = {name for account in chosen for name in account.groups}
    out.print(Text(one_line(f"{ledger.location}, ledger {ledger.id}"), style="dim"), soft_wrap=True)
    for account in ledger.groups:
        if account.name in groups:
            out.print(account_line(account, label=label, width=across), soft_wrap=True)
    people = ledger.analysts
    for data in chosen:
        free, notion = spent_without_cap(ledger, data.name), notion_of(data)
        for account in (data, *(who for who in people if who.dataset == data.name)):
            line = account_line(account, label=label, width=across, free=free, notion=notion)
            out.print(line, soft_wrap=True)
    if not names:
        out.print("there are no datasets yet: discreet ledger create LEDGER --dataset NAME")
    for data in chosen:
        history = ledger.history(data.name, analyst)
        assert data.filter is not None
        out.print()
        out.print(Text(one_line(f"{data.name}: {_person(data)}"), style="bold"), soft_wrap=True)
        for line in timeline(history, data.filter, width=out.width):
            out.print(line, soft_wrap=True)
        unanswered = {entry.number for entry in ledger.unanswered(data.name)}
        shown = list(history)[-last:] if last else []
        width = out.width if out.is_terminal else None  # a pipe has as much space as it needs
        for line in _last(shown, len(history), unanswered, width=width):
            out.print(line, soft_wrap=True)


def history_document(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None
) -> dict[str, Any]:
    """The same as a document."""
    names = {account.name for account in chosen}
    groups = [a for a in ledger.groups if any(a.name in data.groups for data in chosen)]
    people = [who for who in ledger.analysts if who.dataset in names]
    entries = [entry for name in sorted(names) for entry in ledger.history(name, analyst)]
    unanswered = {entry.number for entry in ledger.unanswered()}
    return {
        "accounts": account_documents(ledger, (*groups, *chosen, *people)),
        "releases": [
            _entry(entry, unanswered) for entry in sorted(entries, key=lambda entry: entry.number)
        ],
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
    with called("--plot", "path"):
        ledger.plot(chosen[0].name, analyst).save(path)


def show_release(
    ledger: Ledger, number: int, answer: Answer, *, key: str | None, as_json: bool
) -> None:
    """A stored answer, and its certificate: it costs nothing to have them again."""
    from discreet.session.certifying import certificate_of
    from discreet.signing import load_private

    answer.check(kept=[*ledger_files(ledger.location), *key_files(key)], as_json=as_json)
    entry = ledger.entry(number)
    if entry is None:
        raise InvalidArgument(
            name="--release",
            expected="the number of a release of this ledger",
            given=str(number),
            hint="discreet ledger show lists them",
        )
    if any(one.number == number for one in ledger.unanswered()):
        raise InvalidArgument(
            name="--release",
            expected="the number of a release whose answer was stored",
            given=f"{number}, which was charged and has no answer",
            hint="it was charged by hand, is still running, or was cut off; it stays charged, and "
            "nothing can be shown for it",
        )
    result = ledger.recall(entry)
    signer = None if key is None else load_private(key)
    issue = partial(certificate_of, entry=entry, result=result, ledger=ledger.id, key=signer)
    answer.deliver(
        replace(result, issue=issue),
        command="ledger show",
        facts={"release": _entry(entry, ())},
        as_json=as_json,
    )


def _person(data: Account) -> str:
    from discreet.neighbors import Unit

    return f"a person is {Unit(data.unit)}, {data.relation}"


def _last(
    entries: Sequence[Entry], total: int, unanswered: Collection[int], *, width: int | None
) -> list[Text]:
    if not entries:
        return []
    shown = f"the last {len(entries)} of {total:,} releases" if len(entries) < total else "releases"
    lines = [Text(f"{shown}:", style="dim")]
    who = min(max(cell_len(entry.analyst or "-") for entry in entries), 20)
    for entry in entries:
        cost = entry.costs[0]
        words = in_words(cost.notion, cost.amount, cost.slack)
        name = fitted(one_line(entry.analyst or "-"), who)
        line = Text(f"{entry.number:>6}  {entry.time:%Y-%m-%d %H:%M}  {name}  ")
        line.append(words, "bold")
        if entry.number in unanswered:
            line.append("  no answer", "yellow")
        lines += _with_question(line, one_line(entry.question), width)
    return lines


def _with_question(line: Text, question: str, width: int | None) -> list[Text]:
    """The question beside the rest where it fits; else below, in two lines at most."""
    if width is None or line.cell_len + 2 + cell_len(question) <= width:
        return [line.append(f"  {question}")]
    told = textwrap.wrap(question, max(width - 8, 12), max_lines=2, placeholder=" …")
    return [line, *(Text(f"        {part}") for part in told)]


def _entry(entry: Entry, unanswered: Collection[int]) -> dict[str, Any]:
    return {
        "number": entry.number,
        "answered": entry.number not in unanswered,
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
