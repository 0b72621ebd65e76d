"""What a survey found, as text for a plain terminal."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.release.text import text
from discreet.survey.estimates.confidence import normal_quantile

if TYPE_CHECKING:
    from discreet.survey.estimates.cross_table import CrossTable
    from discreet.survey.estimates.means import MeanEstimate
    from discreet.survey.estimates.shares import Shares
    from discreet.survey.estimates.survey_result import SurveyResult

_MOST_ANSWERS: Final = 20  # of one question; beyond, the largest of them
_MOST_COLUMNS: Final = 8
_LONGEST: Final = 40

Row = tuple[str, ...]


def result_text(result: SurveyResult) -> str:
    """All questions in one table, then how many answered and what was not counted."""
    from discreet.survey.estimates.shares import Shares

    rows: list[Row] = []
    for name, estimate in result.estimates.items():
        some = _share_rows(estimate) if isinstance(estimate, Shares) else [_mean_row(estimate)]
        rows += [(_short(name) if not at else "", *row) for at, row in enumerate(some)]
    table = _table(
        ("question", "answer", "estimate", _interval_title(result.confidence)), rows, right=(2,)
    )
    return "\n".join([text(result.title), "", *table, "", *_footer(result)])


def shares_text(shares: Shares) -> str:
    """The shares of one question as a table."""
    head = (_short(shares.name), "estimate", _interval_title(shares.confidence))
    return "\n".join([*_table(head, list(_share_rows(shares)), right=(1,)), "", _meaning(shares)])


def mean_text(mean: MeanEstimate) -> str:
    """The mean of one question as a table."""
    head = (_short(mean.name), "estimate", _interval_title(mean.confidence))
    return "\n".join([*_table(head, [_mean_row(mean)], right=(1,)), "", _meaning(mean)])


def cross_text(table: CrossTable) -> str:
    """One row for each answer to the first question, one column for each to the second."""
    z = normal_quantile(Fraction(table.confidence))
    some = slice(_MOST_ANSWERS), slice(_MOST_COLUMNS)
    rows = [
        (_short(label), *(_percent(v, z * e, z * e) for v, e in zip(values, errors, strict=True)))
        for label, values, errors in zip(
            table.rows[some[0]],
            table.values[some].tolist(),
            table.standard_errors[some].tolist(),
            strict=True,
        )
    ]
    first, second = table.names
    head = (f"{_short(first)} \\ {_short(second)}", *map(_short, table.columns[some[1]]))
    lines = _table(head, rows, right=range(1, len(head)))
    more = [
        f"… and {count:,} more {what}"
        for count, what in (
            (len(table.rows) - _MOST_ANSWERS, "rows"),
            (len(table.columns) - _MOST_COLUMNS, "columns"),
        )
        if count > 0
    ]
    note = f"± is the {100 * table.confidence:g} % error of each share"
    return "\n".join([*lines, *more, "", f"{note}; {_meaning(table)}"])


# -- rows ------------------------------------------------------------------------------------------


def _share_rows(shares: Shares) -> Iterator[Row]:
    many = len(shares) > _MOST_ANSWERS
    found = shares.found() if many else shares
    shown = found.top(_MOST_ANSWERS) if many else shares
    for label, value, (low, high) in zip(
        shown.labels, shown.values.tolist(), shown.intervals.tolist(), strict=True
    ):
        half = (high - low) / 2
        ends = f"{_percent(low, half)} … {_percent(high, half)}"
        yield _short(label), _percent(value, half), ends
    if len(found) > len(shown):
        left = len(found) - len(shown)
        yield f"… and {left:,} smaller one{'s' * (left > 1)}", "", ""
    if len(shares) > len(found):
        hidden = len(shares) - len(found)
        yield f"{hidden:,} that may be noise alone", f"≤ {_noise(shares)}", ""


def _noise(shares: Shares) -> str:
    least = min(float(shares.noise.max()), 1.0)
    return _percent(least, least)


def _mean_row(mean: MeanEstimate) -> Row:
    low, high = mean.interval
    decimals = _decimals((high - low) / 2)
    unit = f" {text(mean.unit)}" if mean.unit else ""
    written = [f"{end:,.{decimals}f}" for end in (mean.value, low, high)]
    return "mean", f"{written[0]}{unit}", f"{written[1]} … {written[2]}{unit}"


def _percent(share: float, half: float, error: float | None = None) -> str:
    if not math.isfinite(share):
        return "unknown"
    decimals = _decimals(100 * half)
    written = f"{100 * share:.{decimals}f}"
    return f"{written} %" if error is None else f"{written} ± {100 * error:.{decimals}f} %"


def _decimals(half: float) -> int:
    """How many decimals show the leading digit of half the interval's width."""
    if not math.isfinite(half) or half <= 0:
        return 1
    return min(max(-math.floor(math.log10(half)), 1), 9)


# -- heads, notes and layout -----------------------------------------------------------------------


def _interval_title(confidence: float) -> str:
    return f"{100 * confidence:g} % interval"


def _meaning(estimate: Shares | MeanEstimate | CrossTable) -> str:
    words = f"{people(estimate.respondents)}; intervals about the {estimate.about}"
    many = _many(estimate)
    return f"{words}, for all {many:,} answers at once" if many else words


def people(count: int) -> str:
    """
    >>> people(1), people(2000)
    ('1 respondent', '2,000 respondents')
    """
    return f"{count:,} respondent{'' if count == 1 else 's'}"


def _many(estimate: object) -> int:
    """How many answers the intervals hold for at once; 0 if they are for each by itself."""
    from discreet.survey.estimates.shares import Shares

    if not isinstance(estimate, Shares):
        return 0
    return estimate.answers if estimate.together or len(estimate) > _MOST_ANSWERS else 0


def _footer(result: SurveyResult) -> list[str]:
    large = [_short(name) for name, some in result.estimates.items() if _many(some)]
    lines = [
        f"{people(result.respondents)}; intervals about the {result.about}, each by itself"
        + (f", those of {', '.join(large)} for all answers at once" if large else ""),
        f"each respondent was promised {result.cost}",
    ]
    if result.set_aside:
        parts = ", ".join(f"{count:,} {reason}" for reason, count in result.set_aside.items())
        lines.append(f"set aside: {parts}")
    return [*lines, *(f"note: {text(note)}" for note in result.notes)]


def _table(head: Row, rows: Sequence[Row], *, right: Container[int] = ()) -> list[str]:
    """The lines of a table; the columns at these places are flush right."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    ruled = [head, tuple("-" * width for width in widths), *rows]
    return ["  ".join(_padded(row, widths, right)).rstrip() for row in ruled]


def _padded(row: Row, widths: list[int], right: Container[int]) -> Iterator[str]:
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if at in right else cell.ljust(width)


def _short(label: str) -> str:
    clean = text(label)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def counted(count: float, what: str) -> str:
    """
    >>> counted(1, "respondent"), counted(2000, "respondent"), counted(0.5, "point")
    ('1 respondent', '2,000 respondents', '0.5 points')
    """
    shown = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{shown} {what}{'' if shown == '1' else 's'}"
