"""A released table to look at: plain text, HTML for notebooks, rich for terminals."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.release.cells import error_column
from discreet.release.columns import OTHER_ERROR, ColumnInfo
from discreet.release.numbers import text, value_and_error

if TYPE_CHECKING:
    from discreet.release.result import Result

_MOST_ROWS = 20
_MOST_COLUMNS = 12
_LONGEST = 40  # characters of a key
_MEANING = "± is the 95 % error of each value"


@dataclass(frozen=True)
class _Column:
    """A heading and its cells, all padded to the same width."""

    heading: str
    cells: list[str]
    number: bool


def as_text(result: Result) -> str:
    """The table for a plain terminal."""
    columns = _columns(result)
    ruled = ([c.heading, "-" * _width(c.heading), *c.cells] for c in columns)
    lines = ["  ".join(row).rstrip() for row in zip(*ruled, strict=True)]
    return "\n".join([*lines, *_more(result), "", *_footer(result)])


def as_html(result: Result) -> str:
    """The table for a notebook; everything that was not written here is escaped."""
    columns = _columns(result)
    align = [f'style="text-align: {"right" if c.number else "left"}"' for c in columns]

    def row(tag: str, cells: Iterable[str]) -> str:
        inside = (
            f"<{tag} {a}>{escape(c.strip())}</{tag}>" for a, c in zip(align, cells, strict=True)
        )
        return f"<tr>{''.join(inside)}</tr>"

    head = row("th", (c.heading for c in columns))
    body = "\n".join(row("td", cells) for cells in zip(*(c.cells for c in columns), strict=True))
    below = "<br>".join(escape(line) for line in [*_more(result), *_footer(result)])
    return (
        f'<table class="discreet">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n'
        f'<p style="font-size: 90%">{below}</p>'
    )


def as_rich(result: Result) -> Any:
    """The table for rich, without markup from the data."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    columns = _columns(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column.heading), no_wrap=column.number)
    for row in zip(*(c.cells for c in columns), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    below = "\n".join([*_more(result), "", *_footer(result)])
    return Group(table, Text(below, style="dim"))


# -- what is shown ---------------------------------------------------------------------------------


def _columns(result: Result) -> list[_Column]:
    shown = [column for column in result.columns if column.role != "error"]
    if len(result) == 1 and not result.keys:  # one answer a line
        answers = [_cells(result, column)[0] for column in shown]
        names = [text(column.name) for column in shown]
        return [_padded("", names, number=False), _padded("answer", answers, number=True)]
    return [
        _padded(
            _short(text(column.name)), _cells(result, column), number=_is_number(result, column)
        )
        for column in shown[:_MOST_COLUMNS]
    ]


def _cells(result: Result, column: ColumnInfo) -> list[str]:
    frame = result.frame.slice(0, _MOST_ROWS)
    values = frame[column.name].to_pylist()
    if column.role != "value":
        return [_short(text(value)) for value in values]
    name = error_column(result, column)
    errors = [None] * len(values) if name is None else frame[name].to_pylist()
    pairs = [_pair(column, *cell) for cell in zip(values, errors, strict=True)]
    # Numbers end, and errors begin, at the ±.
    left, right = (max((_width(pair[side]) for pair in pairs), default=0) for side in (0, 1))
    to_right = column.kind != "choice"
    return [_pad(v, left, right=to_right) + _pad(e, right, right=False) for v, e in pairs]


def _is_number(result: Result, column: ColumnInfo) -> bool:
    import pyarrow as pa

    kind = result.frame.schema.field(column.name).type
    return column.kind != "choice" and bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _padded(heading: str, cells: list[str], *, number: bool) -> _Column:
    width = max(map(_width, (heading, *cells)))
    heading, *cells = (_pad(cell, width, right=number) for cell in (heading, *cells))
    return _Column(heading, cells, number)


def _pair(column: ColumnInfo, value: object, error: float | None) -> tuple[str, str]:
    error = math.inf if error is None else float(error)
    if column.kind in OTHER_ERROR:
        _, right = value_and_error(0, math.ceil(error) if math.isfinite(error) else error)
        return _short(text(value)), f" ({OTHER_ERROR[column.kind]} ± {right})"
    value = math.nan if value is None else value
    left, right = value_and_error(value, error)
    return left, f" ± {right}"


def _more(result: Result) -> list[str]:
    rows = len(result) - _MOST_ROWS
    columns = sum(column.role != "error" for column in result.columns) - _MOST_COLUMNS
    if len(result) == 1 and not result.keys:
        columns = 0
    return [
        f"… and {more:,} more {what}{'s' if more > 1 else ''}"
        for more, what in ((rows, "row"), (columns, "column"))
        if more > 0
    ]


def _footer(result: Result) -> list[str]:
    promise = f"cost {result.cost}; protects {result.protects}"
    lines = [_MEANING, promise]
    lines += [f"suppressed: {result.suppressed}"] if result.suppressed else []
    lines += [f"note: {note}" for note in result.notes]
    lines += [f"post-processed: {step}" for step in result.steps]
    return [text(line) for line in lines]


# -- widths ----------------------------------------------------------------------------------------


def _pad(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _width(cell: str) -> int:
    """How many columns of a terminal it takes: wide letters take two, accents none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in cell)
    return len(cell) + wide - sum(unicodedata.combining(c) != 0 for c in cell)


def _short(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else cell[: _LONGEST - 1] + "…"
