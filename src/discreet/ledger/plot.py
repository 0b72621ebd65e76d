"""A picture of a history: what was spent over time, by whom, against the cap.

Drawn by Altair, which is imported on first use.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

from discreet.guarantees.filters import Filter
from discreet.ledger.history import Entry
from discreet.plot import Plot, altair, dressed, limit_line
from discreet.release.text import number, text

NOBODY: Final = "no name"
OTHERS: Final = "others"
_MOST = 7  # analysts with a colour of their own
_LONGEST = 24  # letters of a name in the legend
_LINE = 84  # letters below the title
_PLACES = 400  # steps along the time axis
_LOW = 0.08  # a share of the cap below which it is left out of the picture
_MARGIN = 0.04  # of the time shown, before the first charge and after the last
# Shown before and after a charge that is alone: what comes after it is not known.
_BEFORE, _AFTER = timedelta(seconds=45), timedelta(seconds=15)
#: How ticks are written where less time than this is shown; above the last, by month.
_TICKS: Final = (
    (timedelta(seconds=6), "%H:%M:%S.%L"),
    (timedelta(minutes=6), "%H:%M:%S"),
    (timedelta(days=1.5), "%H:%M"),
    (timedelta(days=6), "%b %-d %H:%M"),
    (timedelta(days=300), "%b %-d"),
)
_WIDTH, _HEIGHT = 560, 280
_BLUE, _DARK = "#8fb3dd", "#22303f"
_COLOURS: Final = (
    *("#5b8fc9", "#e0974f", "#6aa886", "#b678b0", "#c9b24e", "#7d8fa8", "#d07f7c", "#b9bfc7"),
)


def draw(entries: Sequence[Entry], *, dataset: str, account: Filter) -> Plot:
    """Everything charged to one dataset, cumulated: one colour per analyst, the cap as a line."""
    alt = altair()

    rows, names = _steps(entries)
    symbol = account.limit.sum_symbol
    cap, spent = float(account.limit.amount), float(_sum(entries))
    with_cap = spent >= _LOW * cap or not rows
    top = 1.1 * cap if with_cap else 1.25 * spent
    layers = [_areas(rows, names, top, symbol, _time_axis(entries))] if rows else []
    if with_cap:
        words = _words(account, account.limit.amount, account.slack)
        height = _height("cap:Q", 1.1 * cap, symbol)
        layers += limit_line(height, "cap", cap, f"cap: {words}")
    subtitle = _subtitle(entries, account, with_cap=with_cap)
    chart = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    return Plot(dressed(chart, f"Spending on {_short(dataset, 40)}", subtitle))


# -- what is drawn ---------------------------------------------------------------------------------


def _steps(entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], list[str]]:
    """For each moment and each analyst the sum so far, and the analysts, largest sum last."""
    if not entries:
        return [], []
    shown = _shown(entries)
    order = list(dict.fromkeys(shown.values()))
    start, end, times = _times(entries)
    so_far = dict.fromkeys(order, 0.0)
    moments: dict[datetime, dict[str, float]] = {start: dict(so_far)}
    step = (end - start) / _PLACES
    for entry, time in zip(entries, times, strict=True):
        so_far[shown[entry.analyst]] += float(entry.costs[0].amount)
        place = time if len(entries) <= _PLACES else start + ((time - start) // step + 1) * step
        moments[place] = dict(so_far)
    moments[end] = dict(so_far)
    rows = [
        {"time": time.isoformat(), "analyst": name, "spent": sums[name], "order": order.index(name)}
        for time, sums in moments.items()
        for name in order
    ]
    return rows, order


def _shown(entries: Sequence[Entry]) -> dict[str | None, str]:
    """The name each analyst is drawn under; those who spent least are drawn together as others."""
    sums: defaultdict[str | None, float] = defaultdict(float)
    for entry in entries:
        sums[entry.analyst] += float(entry.costs[0].amount)
    largest = sorted(sums, key=lambda name: -sums[name])
    names: dict[str | None, str] = {}
    for place, name in enumerate(largest):
        alone = place < _MOST or len(largest) == _MOST + 1
        label = NOBODY if name is None else _short(name, _LONGEST)
        while alone and label in names.values():
            label += "\u200b"  # has no width; it keeps apart two names that look the same once cut
        names[name] = label if alone else OTHERS
    return names


def _times(entries: Sequence[Entry]) -> tuple[datetime, datetime, list[datetime]]:
    """When the picture begins and ends, and when each charge was made.

    The journal's order is what counts, so where the clock was set back, time stands still here.
    """
    times = list(accumulate((entry.time for entry in entries), max))
    margin = (times[-1] - times[0]) * _MARGIN
    before, after = (margin, margin) if margin else (_BEFORE, _AFTER)
    return times[0] - before, times[-1] + after, times


def _areas(
    rows: list[dict[str, Any]], names: list[str], top: float, symbol: str, time: tuple[str, str]
) -> Any:
    alt = altair()

    several = len(names) > 1
    title, form = time
    ticks = 3 if "%L" in form else 6  # by the space that their labels need
    colours = [*_COLOURS[: len(names)]] if several else [_BLUE]
    legend = alt.Legend(
        title=None, orient="right", symbolType="square", labelLimit=180, values=names[::-1]
    )
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(interpolate="step-after", line={"color": _DARK, "strokeWidth": 0.8})
        .encode(
            x=alt.X(
                "time:T",
                title=title,
                scale=alt.Scale(type="utc", nice=False),
                axis=alt.Axis(format=form, tickCount=ticks, labelOverlap=True, grid=False),
            ),
            y=_height("spent:Q", top, symbol).stack("zero"),
            color=alt.Color(
                "analyst:N",
                scale=alt.Scale(domain=names, range=colours),
                sort=names,
                legend=legend if several else None,
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("utcyearmonthdatehoursminutesseconds(time):T", title="until"),
                alt.Tooltip("analyst:N"),
                alt.Tooltip("spent:Q", title=f"{symbol} spent", format=".6g"),
            ],
        )
    )


def _height(field: str, top: float, symbol: str) -> Any:
    alt = altair()

    return alt.Y(
        field,
        title=f"{symbol} spent, in total",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(format="~g", tickCount=6),
    )


# -- words -----------------------------------------------------------------------------------------


def _words(account: Filter, total: Fraction, slack: Fraction) -> str:
    """An amount to six digits."""
    words = f"{account.limit.sum_symbol} = {number(float(total))}"
    return f"{words} with δ₀ = {number(float(slack))}" if slack else words


def _time_axis(entries: Sequence[Entry]) -> tuple[str, str]:
    """The title of the time axis, and the format of its ticks."""
    start, end, times = _times(entries)
    first, last = times[0], times[-1]
    days = f"{first:%Y-%m-%d}" + f" to {last:%Y-%m-%d}" * (first.date() != last.date())
    form = next((form for longest, form in _TICKS if end - start < longest), "%b %Y")
    return f"time (UTC), {days}", form


def _subtitle(entries: Sequence[Entry], account: Filter, *, with_cap: bool) -> list[str]:
    cap, failing = account.limit.amount, sum((e.costs[0].slack for e in entries), Fraction(0))
    spent, limit = _words(account, _sum(entries), failing), _words(account, cap, account.slack)
    share = number(round(100 * float(_sum(entries) / cap), 1))
    people = len({entry.analyst for entry in entries} - {None})
    by = f" by {people:,} analyst{'s' * (people > 1)}" if people else ""
    releases = f"{len(entries):,} release{'s' * (len(entries) != 1)}{by}"
    lines = textwrap.wrap(f"{spent} of {limit} ({share} %), {releases}", _LINE)
    return lines if with_cap else [*lines, "the cap is too far above to be drawn"]


def _sum(entries: Sequence[Entry]) -> Fraction:
    return sum((entry.costs[0].amount for entry in entries), Fraction(0))


def _short(name: str, longest: int) -> str:
    """A name cut in the middle, since names that begin alike often end differently."""
    name = text(name)
    end = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - end]}…{name[-end:]}"
