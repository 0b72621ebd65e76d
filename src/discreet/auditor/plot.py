"""A picture of a finding: the two output laws along the witness's feature, its event shaded.

Drawn by Altair, which is imported on first use.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from discreet.auditor.accusation import accused
from discreet.auditor.finding import SYMBOLS, Bar, Finding, factor
from discreet.plot import Plot, altair, dressed

_WIDTH, _HEIGHT, _BAR = 560, 280, 34
_LINE = 92  # letters below the title
_LONGEST = 40  # letters of a label
_HEAD, _CONTEXT = 10, 6  # of a cut label: letters from its start, and before it differs from others
_EVENT_LETTERS = 260  # of an event below the title

_NOTHING = 1e-6  # a share that is not worth mentioning
_LONG = 64  # letters of all labels together that fit side by side
_COLOURS: Final = ("#3f7fbf", "#e08a3c")  # of pair[0] and of pair[1]
_GROUND: Final = "#f4d9d6"
_NAMES: Final = ("outputs of pair[0]", "outputs of pair[1]")
_EVENT: Final = "shaded: the event"
_HEADROOM: Final = 1.12  # the shade ends above the highest bar, so as not to look like one


def plot(finding: Finding) -> Plot:
    """Two histograms; what belongs to the witness's event has a shaded background."""
    bars = finding.bars
    feature = "" if finding.witness is None else finding.witness.event.feature.name
    if not bars:
        chart = _empty()
    elif all(bar.start != bar.end for bar in bars):
        chart = _of_numbers(bars, feature)
    else:
        chart = _of_labels(bars, feature)
    return Plot(dressed(chart, *_words(finding)))


def _words(finding: Finding) -> tuple[str, list[str]]:
    """Title and subtitle: what was found, for which event, and what that does not prove."""
    found = f"{SYMBOLS[finding.parameter]} ≥ {finding.lower_bound:.4g}"
    drawn = f"{finding.samples:,} outputs of each input; confidence 1 − {finding.risk:.2g}"
    if finding.violated:
        title, lines = f"Violated: {accused(finding.claim)}", [f"shown: {found}; {drawn}"]
    else:
        title = f"No violation found: {finding.claim}"
        lines = [f"shown: {found}, which is no proof that it is not more; {drawn}"]
    if finding.witness is not None:
        lines.append(f"shaded: {_cut(str(finding.witness.event), _EVENT_LETTERS)}")
        if finding.violated and finding.parameter == "epsilon":
            lines.append(factor(finding.witness))
    rest = [1 - sum(bar.shares[side] for bar in finding.bars) for side in (0, 1)]
    if finding.bars and max(rest) > _NOTHING:
        parts = " and ".join(f"{100 * r:.2g} % of pair[{i}]" for i, r in enumerate(rest))
        lines.append(f"not drawn: other outputs, {parts}")
    return title, [part for line in lines for part in textwrap.wrap(line, _LINE)]


def _of_numbers(bars: Sequence[Bar], feature: str) -> Any:
    """Outlines over faint areas, so that both can be seen where they overlap."""
    alt = altair()

    spans = [{"start": start, "end": end, "input": _EVENT} for start, end in _spans(bars)]
    colour = _colour(bool(spans))
    axis = alt.X("start:Q", title=feature, scale=alt.Scale(nice=False, zero=False))
    ground = alt.Chart(alt.InlineData(values=spans)).mark_rect()
    ground = ground.encode(x=axis, x2="end:Q", y=alt.value(0), y2=alt.value(_HEIGHT), color=colour)
    share = alt.Y("share:Q", **_shares(bars)).stack(None)
    body = alt.Chart(alt.InlineData(values=_steps(bars))).encode(x=axis, y=share, color=colour)
    areas = body.mark_area(opacity=0.25, interpolate="step-after")
    lines = body.mark_line(strokeWidth=1.8, interpolate="step-after")
    return alt.layer(ground, areas, lines).properties(width=_WIDTH, height=_HEIGHT)


def _steps(bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Where each bar begins, and the end of the last."""
    return [
        {"start": start, "share": share, "input": name}
        for side, name in enumerate(_NAMES)
        for start, share in (
            *((bar.start, bar.shares[side]) for bar in bars),
            (bars[-1].end, bars[-1].shares[side]),
        )
    ]


def _of_labels(bars: Sequence[Bar], feature: str) -> Any:
    """Two bars per label, upright if the labels are short."""
    alt = altair()

    names = _short([bar.words for bar in bars])
    sideways = sum(map(len, names)) > _LONG
    along, across = ("y", "x") if sideways else ("x", "y")
    length = _WIDTH if sideways else _HEIGHT
    drawn = [
        {"label": label, "share": bar.shares[side], "input": name}
        for side, name in enumerate(_NAMES)
        for label, bar in zip(names, bars, strict=True)
    ]
    shaded = [
        {"label": label, "input": _EVENT}
        for label, is_in in zip(names, _held(bars), strict=True)
        if is_in
    ]
    colour = _colour(bool(shaded))
    channel: Any = {"x": alt.X, "y": alt.Y, "xOffset": alt.XOffset, "yOffset": alt.YOffset}
    place = channel[along](
        "label:N",
        title=None if sideways else feature,  # long labels would run into it
        axis=alt.Axis(labelLimit=300) if sideways else alt.Axis(labelAngle=0),
        scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0.05),
    )
    ground = alt.Chart(alt.InlineData(values=shaded)).mark_bar()
    ground = ground.encode(
        **{along: place, across: alt.value(0), f"{across}2": alt.value(length)}, color=colour
    )
    # Both bars together are narrower than their slot, so the shade is seen on either side.
    beside = alt.Scale(domain=list(_NAMES), paddingOuter=0.5)
    places = {
        along: place,
        across: channel[across]("share:Q", **_shares(bars)),
        f"{along}Offset": channel[f"{along}Offset"]("input:N", scale=beside),
    }
    body = alt.Chart(alt.InlineData(values=drawn)).mark_bar(opacity=0.9)
    body = body.encode(**places, color=colour)
    height = _BAR * len(names) if sideways else _HEIGHT
    return alt.layer(ground, body).properties(width=_WIDTH, height=height)


def _colour(shaded: bool) -> Any:
    """One legend for the laws and, if there is one, the event."""
    alt = altair()

    names, colours = [*_NAMES, _EVENT], [*_COLOURS, _GROUND]
    size = len(names) if shaded else len(_NAMES)
    return alt.Color(
        "input:N",
        scale=alt.Scale(domain=names[:size], range=colours[:size]),
        legend=alt.Legend(title=None, symbolOpacity=1, symbolType="square"),
    )


def _shares(bars: Sequence[Bar]) -> dict[str, Any]:
    alt = altair()

    top = _HEADROOM * max(share for bar in bars for share in bar.shares)
    scale = alt.Scale(domain=[0, top], nice=False) if top > 0 else alt.Undefined
    # So few ticks that none is at 110 %.
    axis = alt.Axis(format="~%", tickCount=6)
    return {"title": "share of the outputs", "axis": axis, "scale": scale}


def _held(bars: Sequence[Bar]) -> list[bool]:
    """The bars that mostly belong to the event or, if there are none, those that do in part."""
    mostly = [bar.inside >= 0.5 for bar in bars]
    return mostly if any(mostly) else [bar.inside > 0 for bar in bars]


def _spans(bars: Sequence[Bar]) -> list[tuple[float | None, float | None]]:
    """The ranges that belong to the event, with neighbouring ones joined."""
    spans: list[tuple[float | None, float | None]] = []
    for bar, is_in in zip(bars, _held(bars), strict=True):
        if is_in and spans and spans[-1][1] == bar.start:
            spans[-1] = (spans[-1][0], bar.end)
        elif is_in:
            spans.append((bar.start, bar.end))
    return spans


def _short(labels: list[str]) -> list[str]:
    """Labels that fit and stay distinct: cut around where they differ; equal ones get a number."""
    cut = [_around(one, _apart(one, labels)) for one in labels]
    return [f"{one} ({i + 1})" if cut.count(one) > 1 else one for i, one in enumerate(cut)]


def _apart(label: str, labels: list[str]) -> int:
    """The position of the first letter by which it differs from all others."""
    return max((_alike(label, one) for one in labels if one != label), default=0)


def _alike(one: str, other: str) -> int:
    """How many letters both begin with."""
    letters = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], letters))


def _around(text: str, place: int) -> str:
    """The beginning, and what is around a letter that the beginning leaves out."""
    if len(text) <= _LONGEST or place < _LONGEST - _CONTEXT:
        return _cut(text, _LONGEST)
    room = _LONGEST - _HEAD - 1
    start = min(place - _CONTEXT, len(text) - room)
    return f"{text[:_HEAD]}…{_cut(text[start:], room)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _empty() -> Any:
    alt = altair()

    words = alt.Chart(alt.InlineData(values=[{"words": "nothing to draw"}])).mark_text(size=13)
    return words.encode(text="words:N").properties(width=_WIDTH, height=_HEIGHT)
