"""What was spent, drawn with blocks: bars for accounts, columns for time, a colour an analyst."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from discreet.app.cli.amounts import in_words, short
from discreet.guarantees import Approx
from discreet.guarantees.filters import plain, sum_of
from discreet.printable import one_line

if TYPE_CHECKING:
    from discreet.guarantees.filters import Filter, Notion
    from discreet.ledger import Account, Entry

_ACROSS: Final = " ▏▎▍▌▋▊▉█"
_UP: Final = " ▁▂▃▄▅▆▇█"
_HEIGHT: Final = 5  # lines of the chart of all spending
_COLOURS: Final = ("blue", "yellow", "green", "magenta", "cyan", "red")
_MOST: Final = 12  # analysts with a line of their own
_WIDEST: Final = 72  # columns
_SUM: Final = 12  # letters for what an analyst spent
_WIDE: Final = 60  # letters of a terminal that has space for them
_BOTH: Final = 44  # letters below a chart that hold both of its moments in full
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


def account_line(
    account: Account,
    *,
    label: int,
    width: int,
    free: Mapping[str, Fraction] = MappingProxyType({}),
    notion: type[Notion] | None = None,
) -> Text:
    """One account: its name, a bar, what is spent of what. ``free`` is what analysts spent, in
    the dataset's ``notion``, who have no cap."""
    indent = "  " if account.kind == "analyst" else ""
    name = fitted(one_line(f"{indent}{account.kind} {account.name}"), label)
    line = Text().append(name, "bold" if account.kind == "dataset" else "")
    releases = f", {_releases(account.releases)}"
    if account.filter is None:
        spent = free.get(account.name, Fraction(0))
        told = "" if notion is None else f"{in_words(notion, spent, Fraction(0))} spent, "
        return line.append(f"  {told}no cap of their own{releases}", style="dim")
    share, words = spent_of(account)
    line.append("  ").append_text(bar(share, width)).append(f" {100 * share:4.0f} %  {words}")
    return line.append(releases, style="dim")


def notion_of(account: Account) -> type[Notion] | None:
    """What an account adds up."""
    return None if account.filter is None else type(account.filter.limit)


def spent_of(account: Account) -> tuple[float, str]:
    """The share that is spent, and both sums in words; a cap in (ε, δ) as it was stated too."""
    kept = account.filter
    assert kept is not None
    cap, kind = sum_of(kept.limit), type(kept.limit)
    spent = in_words(kind, kept.total, kept.spent_slack)
    words = f"{spent} of {in_words(kind, cap, kept.slack)}"
    if isinstance(account.budget, Approx):
        stated = f"ε = {plain(account.budget.epsilon0)} at δ = {plain(account.budget.delta0)}"
        words = f"{words}, which keeps {short(stated)}"
    return float(kept.total / cap), words


def fitted(text: str, width: int) -> str:
    """Text in so many cells, cut in its middle: names that begin alike often end differently.

    >>> fitted("ann", 5), fitted("annabelle", 6)
    ('ann  ', 'ann…le')
    """
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    end = (width - 1) // 2
    tail = next(text[i:] for i in range(len(text) + 1) if cell_len(text[i:]) <= end)
    return set_cell_size(set_cell_size(text, width - 1 - end) + "…" + tail, width)


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
        line = Text(f"{fitted(name, label)}  ").append(cells, _COLOURS[i % len(_COLOURS)])
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
            own = _NOBODY if entry.analyst is None else one_line(entry.analyst)
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


def _releases(number: int) -> str:
    return f"{number:,} release{'s' * (number != 1)}"
