"""What was spent, drawn with blocks: bars for accounts, columns for time, a colour an analyst."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from discreet.app.cli.printing import clean
from discreet.guarantees.accounts.notions import in_words, sum_of

if TYPE_CHECKING:
    from discreet.guarantees.accounts.filters import Filter
    from discreet.ledger import Account, Entry

_ACROSS: Final = " ▏▎▍▌▋▊▉█"
_UP: Final = " ▁▂▃▄▅▆▇█"
_HEIGHT: Final = 5  # lines of the chart of all spending
_COLOURS: Final = ("blue", "yellow", "green", "magenta", "cyan", "red")
_MOST: Final = 12  # analysts with a line of their own
_WIDEST: Final = 72  # columns
_SUM: Final = 12  # letters for what an analyst spent
_WIDE: Final = 60  # letters of a terminal that has space for them
_NOBODY: Final = "no name"


def bar(share: float, width: int) -> Text:
    """A share of a width, to an eighth of a letter: green, then yellow, red when nearly full.

    >>> str(bar(0.3, 10))
    '███░░░░░░░'
    """
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    eighths = max(eighths, 1) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_ACROSS[rest] if rest else "")
    colour = "green" if share < 0.7 else "yellow" if share < 0.95 else "red"
    return Text().append(filled, colour).append("░" * (width - len(filled)), "dim")


def account_line(account: Account, *, label: int, width: int) -> Text:
    """One account: its name, a bar, what is spent of what."""
    indent = "  " if account.kind == "analyst" else ""
    name = set_cell_size(clean(f"{indent}{account.kind} {account.name}"), label)
    line = Text().append(name, "bold" if account.kind == "dataset" else "")
    if account.filter is None:
        return line.append("  no cap of their own", style="dim")
    share, words = spent_of(account.filter)
    line.append("  ").append_text(bar(share, width)).append(f" {100 * share:4.0f} %  {words}")
    return line.append(f", {_releases(account.releases)}", style="dim")


def spent_of(account: Filter) -> tuple[float, str]:
    """The share that is spent, and both sums in words."""
    cap, kind = sum_of(account.limit), type(account.limit)
    spent = in_words(kind, account.total, account.spent_slack)
    return float(account.total / cap), f"{spent} of {in_words(kind, cap, account.slack)}"


def timeline(entries: Sequence[Entry], account: Filter, *, width: int) -> list[Text]:
    """Spending over time: a line of columns for each analyst, and all of it against the cap."""
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
        line = Text(f"{set_cell_size(name, label)}  ").append(cells, _COLOURS[i % len(_COLOURS)])
        total = in_words(type(account.limit), sum(amounts, Fraction(0)), Fraction(0))
        lines.append(line.append("▏", "dim").append(total if width >= _WIDE else "", "dim"))
    return [
        *lines,
        Text(f"{'cap':>{label}}  {'─' * columns}", style="dim"),
        *_together(list(spent.values()), account, label),
        _dates(entries, label, columns),
    ]


# -- inside ----------------------------------------------------------------------------------------


def _people(entries: Sequence[Entry]) -> dict[str | None, str]:
    """Under which name each analyst is shown, in the order of their first charge."""
    names: dict[str | None, str] = {}
    for entry in entries:
        if entry.analyst not in names:
            own = _NOBODY if entry.analyst is None else clean(entry.analyst)
            names[entry.analyst] = own if len(names) < _MOST else "others"
    return names


def _places(entries: Sequence[Entry], columns: int) -> tuple[list[int], timedelta]:
    """The column of each charge; a clock that was set back stands still."""
    first = latest = entries[0].time
    times = []
    for entry in entries:
        latest = max(latest, entry.time)
        times.append(latest)
    step = (latest - first) / columns or timedelta(seconds=1)
    return [min(int((time - first) / step), columns - 1) for time in times], step


def _together(spent: list[list[Fraction]], account: Filter, label: int) -> list[Text]:
    """The sum so far, a few lines high; the top of the highest is the cap."""
    totals = accumulate(sum(column, Fraction(0)) for column in zip(*spent, strict=True))
    shares = [float(total / sum_of(account.limit)) for total in totals]
    lines = []
    for row in reversed(range(_HEIGHT)):
        cells = "".join(_column(share * _HEIGHT - row) for share in shares)
        head = "together" if row == 0 else ""
        lines.append(Text().append(f"{head:>{label}}  ", "dim").append(cells).append("▏", "dim"))
    return lines


def _column(share: float) -> str:
    if share <= 0:
        return " "
    return _UP[min(max(round(8 * share), 1), 8)]


def _dates(entries: Sequence[Entry], label: int, columns: int) -> Text:
    first, last = entries[0].time, max(entry.time for entry in entries)
    form = "%Y-%m-%d" if columns < 34 else "%Y-%m-%d %H:%M"
    left, right = f"{first:{form}}", f"{last:{form}} UTC"
    gap = max(columns - len(left) - len(right), 1)
    return Text(" " * (label + 2) + left + " " * gap + right, style="dim")


def _span(step: timedelta) -> str:
    for unit, seconds in (("day", 86400), ("hour", 3600), ("minute", 60)):
        size = step.total_seconds() / seconds
        if size >= 0.95:
            return f"about {size:.2g} {unit}{'s' * (f'{size:.2g}' != '1')}"
    return "less than a minute"


def _releases(number: int) -> str:
    return f"{number:,} release{'s' * (number != 1)}"
