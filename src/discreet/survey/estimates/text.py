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
    from discreet.survey.estimates.estimate import QuestionEstimate
    from discreet.survey.estimates.survey_result import SurveyResult

MOST_ANSWERS: Final = 20  # of one question; beyond, the largest of them
_MOST_COLUMNS: Final = 8
_LONGEST: Final = 40

Row = tuple[str, ...]


def result_text(result: SurveyResult) -> str:
    """All questions in one table, then how many answered and what was not counted."""
    rows: list[Row] = []
    for name, estimate in result.estimates.items():
        rows += [(short(name) if not at else "", *row) for at, row in enumerate(estimate.rows())]
    table = _table(
        ("question", "answer", "estimate", _interval_title(result.confidence)), rows, right=(2,)
    )
    return "\n".join([text(result.title), "", *table, "", *_footer(result)])


def estimate_text(estimate: QuestionEstimate) -> str:
    """The estimates for one question as a table."""
    head = (short(estimate.name), "estimate", _interval_title(estimate.confidence))
    return "\n".join(
        [*_table(head, list(estimate.rows()), right=(1,)), "", _meaning(estimate, estimate.at_once)]
    )


def cross_text(table: CrossTable) -> str:
    """One row for each answer to the first question, one column for each to the second."""
    z = normal_quantile(Fraction(table.confidence))
    some = slice(MOST_ANSWERS), slice(_MOST_COLUMNS)
    rows = [
        (short(label), *(percent(v, z * e, z * e) for v, e in zip(values, errors, strict=True)))
        for label, values, errors in zip(
            table.rows[some[0]],
            table.values[some].tolist(),
            table.standard_errors[some].tolist(),
            strict=True,
        )
    ]
    first, second = table.names
    head = (f"{short(first)} \\ {short(second)}", *map(short, table.columns[some[1]]))
    lines = _table(head, rows, right=range(1, len(head)))
    more = [
        f"… and {count:,} more {what}"
        for count, what in (
            (len(table.rows) - MOST_ANSWERS, "rows"),
            (len(table.columns) - _MOST_COLUMNS, "columns"),
        )
        if count > 0
    ]
    note = f"± is the {100 * table.confidence:g} % error of each share"
    return "\n".join([*lines, *more, "", f"{note}; {_meaning(table)}"])


# -- numbers, heads, notes and layout --------------------------------------------------------------


def percent(share: float, half: float, error: float | None = None) -> str:
    """A share with as many decimals as half the width of its interval needs."""
    if not math.isfinite(share):
        return "unknown"
    digits = decimals(100 * half)
    written = f"{100 * share:.{digits}f}"
    return f"{written} %" if error is None else f"{written} ± {100 * error:.{digits}f} %"


def decimals(half: float) -> int:
    """How many decimals show the leading digit of half the interval's width."""
    if not math.isfinite(half) or half <= 0:
        return 1
    return min(max(-math.floor(math.log10(half)), 1), 9)


def _interval_title(confidence: float) -> str:
    return f"{100 * confidence:g} % interval"


def _meaning(estimate: QuestionEstimate | CrossTable, many: int = 0) -> str:
    words = f"{counted(estimate.respondents, 'respondent')}; intervals about the {estimate.about}"
    return f"{words}, for all {many:,} answers at once" if many else words


def _footer(result: SurveyResult) -> list[str]:
    large = [short(name) for name, some in result.estimates.items() if some.at_once]
    lines = [
        f"{counted(result.respondents, 'respondent')}; intervals about the {result.about}, each by "
        + "itself"
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


def short(label: str) -> str:
    """A label for a column of a table."""
    clean = text(label)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def counted(count: float, what: str) -> str:
    """
    >>> counted(1, "respondent"), counted(2000, "respondent"), counted(0.5, "point")
    ('1 respondent', '2,000 respondents', '0.5 points')
    """
    shown = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{shown} {what}{'' if shown == '1' else 's'}"
