"""Pictures of a result: bars for counts and sums, points for other values, with error bars.

Drawn by Altair, which is imported on first use.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.plot import Plot, dressed
from discreet.release.columns import ADDITIVE, OTHER_ERROR
from discreet.release.marks import Marks, marks
from discreet.release.numbers import number, with_error

if TYPE_CHECKING:
    from discreet.release.result import Result

_MANY, _LONG = 12, 10  # bars, or letters of a label, that do not fit side by side
_LONGEST = 36  # letters of a label
_BLUE, _DARK = "#8fb3dd", "#22303f"
_TICKS: Any = {"size": 9, "color": _DARK, "opacity": 1}  # at the ends of an error bar
_WIDTH, _HEIGHT, _BAR = 520, 280, 22
_WIDEST = 0.12  # share of the width that one upright bar takes
_NO_WIDTH = "\u200b"  # takes no space: equal labels with it are different


def draw(result: Result, value: str | None) -> Plot:
    """One value column, or all bins of a histogram."""
    import altair as alt

    shown = marks(result, value)
    sideways = len(shown.labels) > _MANY or max(map(len, shown.labels), default=0) > _LONG
    points = _points(shown)
    base = alt.Chart(alt.InlineData(values=points))
    known = alt.Chart(alt.InlineData(values=[point for point in points if "low" in point]))
    bodies, errors = _encodings(shown, sideways)
    bars = known.mark_errorbar(color=_DARK, thickness=1.5, ticks=_TICKS).encode(**errors)
    if shown.kind in ADDITIVE:
        layers = alt.layer(base.mark_bar(color=_BLUE).encode(**bodies), bars)
    else:
        layers = alt.layer(bars, base.mark_circle(color=_DARK, size=45, opacity=1).encode(**bodies))
    height: Any = alt.Step(_BAR) if sideways else _HEIGHT
    chart = layers.properties(width=_WIDTH, height=height)
    return Plot(dressed(chart, shown.title, shown.subtitle))


def _points(shown: Marks) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    of_value = shown.kind not in OTHER_ERROR
    for axis, label, value, error in zip(
        _different(shown.labels),
        shown.labels,
        shown.values.tolist(),
        shown.errors.tolist(),
        strict=True,
    ):
        words = with_error(value, error) if of_value else number(value)
        points.append({"axis": axis, "label": label, "value": value, "words": words})
        if of_value and math.isfinite(error):
            points[-1] |= {"low": value - error, "high": value + error}
    return points


def _different(labels: list[str]) -> Iterator[str]:
    """Labels cut to fit; those that are equal then, such as a null and "none", stay apart."""
    seen: Counter[str] = Counter()
    for label in labels:
        short = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
        seen[short] += 1
        yield short + _NO_WIDTH * (seen[short] - 1)


def _encodings(shown: Marks, sideways: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where values and error bars go: upwards, or to the right with labels on the left."""
    import altair as alt

    keys, values = (alt.Y, alt.X) if sideways else (alt.X, alt.Y)
    up, end, along = ("x", "x2", "y") if sideways else ("y", "y2", "x")
    largest = max(map(abs, shown.values.tolist()), default=0.0)
    counted = shown.kind in ADDITIVE
    numbers: dict[str, Any] = {
        "title": shown.value_title,
        "scale": alt.Scale(zero=True) if counted else alt.Scale(zero=False, padding=12),
        "axis": alt.Axis(format=",~f" if 1 <= largest < 1e9 else "~g", tickCount=6),
    }
    key = keys(
        "axis:N",
        title=shown.key_title or None,
        sort=None,
        scale=alt.Scale(padding=0.15 if sideways else max(0.15, 1 - _WIDEST * len(shown.labels))),
        axis=alt.Axis(labelLimit=300, labelAngle=0, labelOverlap=False, ticks=False),
    )
    tips = [
        alt.Tooltip("label:N", title=shown.key_title or "value"),
        alt.Tooltip("words:N", title=shown.value_title),
    ]
    bodies = {along: key, up: values("value:Q", **numbers), "tooltip": tips}
    return bodies, {along: key, up: values("low:Q", **numbers), end: "high:Q"}
