"""Pictures of a result: bars for counts and sums, points for other values, with error bars.

Drawn by Altair, which is imported on first use.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.numeric.numerals import CLAMPED
from discreet.plot import Plot, altair, dressed
from discreet.release.column import (
    ADDITIVE,
    COUNTS,
    OTHER_ERROR,
    ColumnInfo,
    errors_of,
    named,
    numbers_of,
)
from discreet.release.text import number, text, with_error

if TYPE_CHECKING:
    from discreet.release.propagation import FloatArray
    from discreet.release.result import Result


_MANY, _LONG = 12, 10  # with more bars, or longer labels, they do not fit side by side
_LONGEST = 36  # letters of a label
_BLUE, _DARK = "#8fb3dd", "#22303f"
_TICKS: Any = {"size": 9, "color": _DARK, "opacity": 1}  # at the ends of an error bar
_WIDTH, _HEIGHT, _BAR = 520, 280, 22
_WIDEST = 0.12  # share of the width that one upright bar takes
_NO_WIDTH = "\u200b"  # takes no space, but makes equal labels different


def draw(result: Result, value: str | None) -> Plot:
    """Draw one value column, or all bins of a histogram."""
    alt = altair()

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
        different(shown.labels),
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


def different(labels: Iterable[str]) -> Iterator[str]:
    """Labels cut to fit; labels that are equal then, such as a null and "none", stay distinct."""
    seen: Counter[str] = Counter()
    for label in labels:
        short = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
        seen[short] += 1
        yield short + _NO_WIDTH * (seen[short] - 1)


def _encodings(shown: Marks, sideways: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where values and error bars go: upwards, or to the right with labels on the left."""
    alt = altair()

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


# -- what is drawn: rows, labels, titles -----------------------------------------------------------


_MOST = 60  # bars
_LINE = 84  # letters below the title


@dataclass(frozen=True)
class Marks:
    """A label, a value and its error for each bar or point, and the titles around them."""

    labels: list[str]
    values: FloatArray
    errors: FloatArray
    kind: str
    title: str
    subtitle: list[str]
    value_title: str
    key_title: str


def marks(result: Result, value: str | None) -> Marks:
    """One value column, or all bins of a histogram.

    Rows stay in their order, and so do the bins of each row; if there are too many, only the
    largest are drawn, in descending order.
    """
    columns = _chosen(result, value)
    values = np.stack([np.asarray(numbers_of(result.frame, c.name), float) for c in columns], 1)
    errors = np.stack([errors_of(result, c) for c in columns], 1)
    flat = np.where(np.isfinite(values), values, -np.inf).reshape(-1)
    places = np.argsort(-flat, kind="stable")[:_MOST]
    places = places[np.isfinite(flat[places])]
    unknown, left_out = int(np.sum(~np.isfinite(flat))), flat.size - len(places)
    if left_out == unknown:
        places = np.sort(places)
    rows, which = np.divmod(places, len(columns))
    shown = errors[rows, which]
    return Marks(
        _labels(result, columns, rows.tolist(), which.tolist()),
        values[rows, which],
        shown,
        columns[0].kind,
        _title(result, columns),
        _subtitle(result, columns, shown, left_out - unknown, unknown),
        _value_title(columns),
        _key_title(result, columns),
    )


def _chosen(result: Result, value: str | None) -> list[ColumnInfo]:
    """The named column, or the first that can be drawn; a bin comes with the rest of its bins."""
    drawable = tuple(column for column in result.values if column.kind != "choice")
    if value is not None:
        return [named(drawable, value, role="value", argument="value")]
    if not drawable:
        expected = "of a result with numbers"
        raise InvalidArgument("a plot", expected, "a result of choices alone")
    first = drawable[0]
    if first.kind != "bin":
        return [first]
    return [column for column in drawable if (column.kind, column.of) == ("bin", first.of)]


# -- labels and titles -----------------------------------------------------------------------------


def _labels(
    result: Result, columns: list[ColumnInfo], rows: list[int], which: list[int]
) -> list[str]:
    import pyarrow as pa

    taken = pa.array(rows, pa.int64())
    parts = [result.frame[key.name].take(taken).to_pylist() for key in result.keys]
    if len(columns) > 1 or not parts:
        start = _histogram(columns) if len(columns) > 1 else ""
        names = [column.name.removeprefix(f"{start}_") for column in columns]
        parts.append([names[i].replace("_to_", " to ") for i in which])
    return [" · ".join(text(part) for part in row) for row in zip(*parts, strict=True)]


def _histogram(columns: list[ColumnInfo]) -> str:
    """The name of the histogram: as stated, or the words that all names of its bins begin with."""
    parts = zip(*(column.name.split("_") for column in columns), strict=False)
    common = takewhile(lambda part: len(set(part)) == 1, parts)
    return columns[0].of or "_".join(part[0] for part in common)


def _title(result: Result, columns: list[ColumnInfo]) -> str:
    name = (_histogram(columns) if len(columns) > 1 else "") or columns[0].name
    by = ", ".join(key.name for key in result.keys)
    return textwrap.shorten(f"{name} by {by}" if by else name, 60, placeholder=" …")


def _value_title(columns: list[ColumnInfo]) -> str:
    kind = "count" if columns[0].kind == "bin" else columns[0].kind
    if len(columns) > 1:
        return kind
    return f"{columns[0].name} ({kind})" if kind else columns[0].name


def _key_title(result: Result, columns: list[ColumnInfo]) -> str:
    names = [key.name for key in result.keys]
    if len(columns) > 1:
        names.append(_histogram(columns))
    return " · ".join(filter(None, names))


def _subtitle(
    result: Result, columns: list[ColumnInfo], errors: FloatArray, left_out: int, unknown: int
) -> list[str]:
    if columns[0].kind in OTHER_ERROR:
        bars = "no error bars: the error of a quantile is one of ranks"
    elif np.isfinite(errors).all():
        bars = "with 95 % error bars"
    else:
        bars = "with 95 % error bars where the error is known"
    missing = [f"{n:,} {which}" for n, which in ((left_out, "smaller"), (unknown, "unknown")) if n]
    bars += f"; not drawn: {', '.join(missing)}" if missing else ""
    steps = [f"post-processed: {step}" for step in result.steps]
    counted = columns[0].kind in COUNTS  # which have no bounds
    notes = [note for note in result.notes if not (counted and note == CLAMPED)]
    lines = [bars, f"cost {result.cost}; protects {result.protects}", *notes, *steps]
    return [part for line in lines for part in textwrap.wrap(line, _LINE)]
