"""What ``discreet ledger show`` and ``discreet ledger verify`` print."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from discreet.cli.accounts import (
    ReadOnlyLedgerOptions,
    account_documents,
    facts_of,
    spent_without_cap,
)
from discreet.cli.failures import called
from discreet.cli.output import AnswerOptions, AsJson, in_words, short
from discreet.cli.paths import check_outputs, key_files, ledger_files
from discreet.errors import InvalidArgument, one_line
from discreet.neighbors import Unit
from discreet.signing import is_hexadecimal

if TYPE_CHECKING:
    from discreet.guarantees.filters import Filter
    from discreet.ledger import Account, Entry
    from discreet.ledger.ledger import Ledger


# -- ledger show -----------------------------------------------------------------------------------


_LABEL, _BAR = 30, 24


def show_history(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None, *, last: int, out: Console
) -> None:
    """Print accounts with bars, then each dataset over time and its last releases."""
    show = partial(out.print, soft_wrap=True)
    label = max(12, min(_LABEL, out.width // 3))
    across = max(8, min(_BAR, out.width // 4))
    show(Text(one_line(f"{ledger.location}, ledger {ledger.id}"), style="dim"))
    for account in _groups_of(ledger, chosen):
        show(_account_line(account, "", label=label, width=across))
    for data in chosen:
        for line in dataset_lines(ledger, data, label=label, width=across):
            show(line)
    if not chosen:
        out.print("there are no datasets yet: discreet ledger create LEDGER --dataset NAME")
    for data in chosen:
        history = ledger.history(data.name, analyst)
        assert data.filter is not None
        out.print()
        person = f"a person is {Unit(data.unit)}, {data.relation}"
        show(Text(one_line(f"{data.name}: {person}"), style="bold"))
        unanswered = {entry.number for entry in ledger.unanswered(data.name)}
        shown = list(history)[-last:] if last else []
        width = out.width if out.is_terminal else None  # in a pipe, width is not limited
        for line in (
            *timeline(history, data.filter, width=out.width),
            *_last(shown, len(history), unanswered, width=width),
        ):
            show(line)


def _groups_of(ledger: Ledger, chosen: Sequence[Account]) -> list[Account]:
    return [one for one in ledger.groups if any(one.name in data.groups for data in chosen)]


def history_document(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None
) -> dict[str, Any]:
    names = {account.name for account in chosen}
    people = [who for who in ledger.analysts if who.dataset in names]
    entries = [entry for name in sorted(names) for entry in ledger.history(name, analyst)]
    unanswered = {entry.number for entry in ledger.unanswered()}
    return {
        "accounts": account_documents(ledger, (*_groups_of(ledger, chosen), *chosen, *people)),
        "releases": [
            _entry(entry, unanswered) for entry in sorted(entries, key=lambda entry: entry.number)
        ],
    }


def draw_history(
    ledger: Ledger, chosen: Sequence[Account], analyst: str | None, path: str, keys: Sequence[str]
) -> None:
    """Draw one dataset's history, but never over a file of the ledger or of its ``keys``."""
    if len(chosen) != 1:
        raise InvalidArgument.missing(
            "--dataset",
            "given with --plot, which draws one dataset",
            hint=f"one of {', '.join(account.name for account in chosen)}" if chosen else "",
        )
    check_outputs({"--plot": Path(path)}, kept=[*ledger_files(ledger.location), *keys])
    with called({"path": "--plot"}):
        ledger.plot(chosen[0].name, analyst).save(path)


def show_release(
    ledger: Ledger, number: int, answer: AnswerOptions, *, key: str | None, as_json: bool
) -> None:
    """Show a stored answer and its certificate again, which costs nothing."""
    from discreet.session import certificate_of
    from discreet.signing import load_private

    answer.check(kept=[*ledger_files(ledger.location), *key_files(key)], as_json=as_json)
    entry = ledger.entry(number)
    if entry is None:
        raise InvalidArgument(
            "--release",
            "the number of a release of this ledger",
            str(number),
            hint="discreet ledger show lists them",
        )
    if any(one.number == number for one in ledger.unanswered()):
        raise InvalidArgument(
            "--release",
            "the number of a release whose answer was stored",
            f"{number}, which was charged and has no answer",
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
    """The question on the same line if it fits, else below it, in at most two lines."""
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


# -- what was spent, drawn with blocks -------------------------------------------------------------


_ACROSS: Final = " ▏▎▍▌▋▊▉█"
_UP: Final = " ▁▂▃▄▅▆▇█"
_HEIGHT: Final = 5  # lines of the chart of all spending
_COLOURS: Final = ("blue", "yellow", "green", "magenta", "cyan", "red")
_MOST: Final = 12  # analysts with a line of their own
_WIDEST: Final = 72  # columns
_SUM: Final = 12  # letters for what an analyst spent
_WIDE: Final = 60  # letters of a terminal that has room for these sums
_BOTH: Final = 44  # letters below a chart that have room for its first and last times in full
_NOBODY: Final = "no name"


def bar(share: float, width: int) -> Text:
    """A bar for a share, to an eighth of a letter: green, then yellow, and red when nearly full.

    >>> str(bar(0.3, 10))
    '███░░░░░░░'
    """
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    eighths = max(eighths, 1) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_ACROSS[rest] if rest else "")
    colour = "green" if share < 0.7 else "yellow" if share < 0.95 else "red"
    return Text().append(filled, colour).append("░" * (width - len(filled)), "dim")


def dataset_lines(ledger: Ledger, data: Account, *, label: int, width: int) -> Iterator[Text]:
    """A line for a dataset, and one for each of its analysts."""
    assert data.filter is not None
    free, notion = spent_without_cap(ledger, data.name), type(data.filter.limit)
    for account in (data, *(who for who in ledger.analysts if who.dataset == data.name)):
        spent = in_words(notion, free.get(account.name, Fraction(0)), Fraction(0))
        yield _account_line(account, spent, label=label, width=width)


def _account_line(account: Account, spent: str, *, label: int, width: int) -> Text:
    """One account: its name, a bar, and what is spent of its cap, an (ε, δ) cap also as it was
    stated; without a cap, ``spent``."""
    indent = "  " if account.kind == "analyst" else ""
    name = fitted(one_line(f"{indent}{account.kind} {account.name}"), label)
    line = Text().append(name, "bold" if account.kind == "dataset" else "")
    releases = f", {account.releases:,} release{'s' * (account.releases != 1)}"
    kept = account.filter
    if kept is None:
        return line.append(f"  {spent} spent, no cap of their own{releases}", style="dim")
    cap, kind = kept.limit.amount, type(kept.limit)
    share = float(kept.total / cap)
    words = f"{in_words(kind, kept.total, kept.spent_slack)} of {in_words(kind, cap, kept.slack)}"
    if account.budget is not None and account.budget != kept.limit:
        words = f"{words}, which keeps {short(account.budget.words)}"
    line.append("  ").append_text(bar(share, width)).append(f" {100 * share:4.0f} %  {words}")
    return line.append(releases, style="dim")


def fitted(text: str, width: int) -> str:
    """Text in this many cells, cut in the middle: names that begin alike often end differently.

    >>> fitted("ann", 5), fitted("annabelle", 6)
    ('ann  ', 'ann…le')
    """
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    end = (width - 1) // 2
    tail = next(text[i:] for i in range(len(text) + 1) if cell_len(text[i:]) <= end)
    return set_cell_size(set_cell_size(text, width - 1 - end) + "…" + tail, width)


def timeline(entries: Sequence[Entry], account: Filter, *, width: int) -> list[Text]:
    """Spending over time: one line of columns per analyst, and the total against the cap."""
    if not entries:
        return [Text("nothing was spent yet", style="dim")]
    people = _people(entries)
    label = min(max(cell_len(name) for name in (*people.values(), "together")), 20)
    columns = max(min(width - label - 4 - (_SUM if width >= _WIDE else 0), _WIDEST), 8)
    places, step = _places(entries, columns)
    spent: defaultdict[str, list[Fraction]] = defaultdict(lambda: [Fraction(0)] * columns)
    for entry, place in zip(entries, places, strict=True):
        spent[people[entry.analyst]][place] += entry.costs[0].amount
    highest = max(max(line) for line in spent.values())
    lines = [Text(f"spent over time, by whom; a column is {_span(step)}", style="dim")]
    for i, (name, amounts) in enumerate(spent.items()):
        cells = "".join(_column(float(amount / highest)) for amount in amounts)
        line = Text(f"{fitted(name, label)}  ").append(cells, _COLOURS[i % len(_COLOURS)])
        total = in_words(type(account.limit), sum(amounts, Fraction(0)), Fraction(0))
        lines.append(line.append("▏", "dim").append(total if width >= _WIDE else "", "dim"))
    return [
        *lines,
        Text(f"{'cap':>{label}}  {'─' * columns}", style="dim"),
        *_together(list(spent.values()), account, label),
        _dates(entries, label, columns),
    ]


def _people(entries: Sequence[Entry]) -> dict[str | None, str]:
    """The name each analyst is shown under, in the order of their first charge."""
    return {
        name: "others" if place >= _MOST else _NOBODY if name is None else one_line(name)
        for place, name in enumerate(dict.fromkeys(entry.analyst for entry in entries))
    }


def _places(entries: Sequence[Entry], columns: int) -> tuple[list[int], timedelta]:
    """The column of each charge; where the clock was set back, time stands still."""
    times = list(accumulate((entry.time for entry in entries), max))
    first, latest = times[0], times[-1]
    step = (latest - first) / columns or timedelta(seconds=1)
    return [min(int((time - first) / step), columns - 1) for time in times], step


def _together(spent: list[list[Fraction]], account: Filter, label: int) -> Iterator[Text]:
    """The sum so far, a few lines high; the top of the top line is the cap."""
    totals = accumulate(sum(column, Fraction(0)) for column in zip(*spent, strict=True))
    shares = [float(total / account.limit.amount) for total in totals]
    for row in reversed(range(_HEIGHT)):
        cells = "".join(_column(share * _HEIGHT - row) for share in shares)
        head = "together" if row == 0 else ""
        yield Text().append(f"{head:>{label}}  ", "dim").append(cells).append("▏", "dim")


def _column(share: float) -> str:
    return _UP[min(max(round(8 * share), 1), 8)] if share > 0 else " "


def _dates(entries: Sequence[Entry], label: int, columns: int) -> Text:
    first, last = entries[0].time, max(entry.time for entry in entries)
    minutes = "%H:%M:%S" if last - first < timedelta(hours=1) else "%H:%M"
    form = f"%Y-%m-%d {minutes}"
    if columns < _BOTH:
        form = minutes if first.date() == last.date() else "%Y-%m-%d"
    left, right = f"{first:{form}}", f"{last:{form}} UTC"
    gap = max(columns - len(left) - len(right), 1)
    return Text(" " * (label + 2) + left + " " * gap + right, style="dim")


def _span(step: timedelta) -> str:
    for unit, seconds in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        size = step.total_seconds() / seconds
        if size >= 0.95:
            return f"about {size:.2g} {unit}{'s' * (f'{size:.2g}' != '1')}"
    return "less than a second"


# -- ledger verify ---------------------------------------------------------------------------------


_SHOWN = 20  # charges without an answer that are listed
_AFTER_ANSWERS = 4  # sentences of a verification, up to the one that counts answers
_OLDER = "Not shown by this: that the ledger and its head are not an older copy"


def check_ledger(place: ReadOnlyLedgerOptions, expect: str | None, printed: AsJson) -> bool:
    """Check everything, print the result, and return whether a noted record is there."""
    wanted = _expected(expect)
    with place.open() as ledger:
        checked = ledger.verify()
        found = None if wanted is None else ledger.hash_of(wanted[0])
        open_charges = ledger.unanswered()
        facts = facts_of(ledger)
    headline = None if wanted is None else _compared(wanted, found, checked.head[0])
    ok = wanted is None or found == wanted[1]
    sentences = [
        sentence
        for sentence in checked.sentences
        if not (wanted and ok and sentence.startswith(_OLDER))
    ]
    if open_charges:
        sentences.insert(_AFTER_ANSWERS, _named(open_charges))
    if checked.public_key is not None:
        pinned = " (the one you gave)" if place.public_key or place.key else ""
        sentences.append(f"The records are signed with the key {checked.public_key}{pinned}.")
    number, digest = checked.head
    result = {
        **facts,
        "ok": ok,
        "expected": headline,
        "records": checked.records,
        "charges": checked.charges,
        "unanswered": [entry.number for entry in open_charges],
        "head": {"number": number, "hash": digest},
        "signed": checked.signed,
        "public_key": checked.public_key,
        "sentences": sentences,
    }
    noted = f"Note this elsewhere, for --expect: {number}:{digest}"
    lines = [*([headline] if headline else []), *(f"- {told}" for told in sentences), noted]
    printed.tell("ledger verify", result, *lines)
    return ok


def _compared(wanted: tuple[int, str], found: str | None, last: int) -> str:
    """The headline: whether the record that was noted elsewhere is in the ledger."""
    number, digest = wanted
    if found == digest:
        return f"Record {number} is the one noted: nothing before it was changed or taken away."
    if found is None:
        return (
            f"FAILED: there is no record {number}, the last is {last}: this is an older copy, or "
            "another ledger."
        )
    return f"FAILED: record {number} is NOT the one noted: the ledger was replaced or rewritten."


def _named(entries: Sequence[Entry]) -> str:
    numbers = ", ".join(str(entry.number) for entry in entries[:_SHOWN])
    more = f" and {len(entries) - _SHOWN:,} more" if len(entries) > _SHOWN else ""
    return f"Charged without an answer: record{'s' * (len(entries) > 1)} {numbers}{more}."


def _expected(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    number, _, digest = text.partition(":")
    if number.isascii() and number.isdecimal() and len(number) < 19 and is_hexadecimal(digest):
        return int(number), digest.lower()
    raise InvalidArgument.of("--expect", "NUMBER:HASH, as discreet ledger verify prints them", text)
