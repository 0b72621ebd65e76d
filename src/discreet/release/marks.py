"""What a picture of a result shows: which rows, under which labels, in which words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument
from discreet.release.cells import errors_of, numbers_of
from discreet.release.columns import CLAMPED, COUNTS, OTHER_ERROR, ColumnInfo, named
from discreet.release.numbers import text

if TYPE_CHECKING:
    from discreet.release.combining import FloatArray
    from discreet.release.result import Result

_MOST = 60  # bars
_LINE = 84  # letters below the title


@dataclass(frozen=True)
class Marks:
    """A label, a value and its error for each bar or point, and the words around them."""

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

    Rows stay in their order, and in each row the bins; if there are too many, the largest ones.
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
        raise InvalidArgument(name="a plot", expected=expected, given="a result of choices alone")
    first = drawable[0]
    if first.kind != "bin":
        return [first]
    return [column for column in drawable if (column.kind, column.of) == ("bin", first.of)]


# -- words -----------------------------------------------------------------------------------------


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
    """What the bins belong to: as stated, or the words at the start of all names."""
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
