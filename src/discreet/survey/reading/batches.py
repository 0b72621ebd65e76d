"""Some reports at a time, as columns, whatever they came from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from discreet.survey.reading.cells import Column

ROWS: Final = 1 << 17  # in one batch at most, where we choose: its arrays stay small


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of equal length, and how many other lines were no reports at all.

    A table in memory may leave out whole columns that say where a report belongs (``loose``):
    survey, id, wave. Nothing is checked then by them. Files are from elsewhere and must have them.
    ``notes`` say what is odd about the source as a whole.
    """

    columns: Mapping[str, Column]
    rows: int
    broken: int = 0
    loose: bool = False
    notes: tuple[str, ...] = ()

    def parts(self, rows: int) -> Iterator[Batch]:
        """The same in batches of at most so many rows."""
        if self.rows <= rows:
            yield self
            return
        for start in range(0, self.rows, rows):
            some = {name: column[start : start + rows] for name, column in self.columns.items()}
            broken, notes = (self.broken, self.notes) if start == 0 else (0, ())
            yield Batch(some, min(rows, self.rows - start), broken, self.loose, notes)


def lacking(names: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """A note on the columns that a file does not have.

    >>> lacking(("survey", "id", "wave"), ["id", "colour"])
    ("it has no column 'survey', 'wave'",)
    """
    absent = [repr(name) for name in names if name not in known]
    more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
    return (f"it has no column {', '.join(absent[:3])}{more}",) if absent else ()


def of_dicts(reports: list[Any], names: tuple[str, ...], *, broken: int = 0) -> Batch:
    """Columns of reports as JSON has them; what is not there is None."""
    columns = {name: _pick(reports, name) for name in names}
    return Batch(columns, len(reports), broken)


def _pick(reports: list[Any], name: str) -> list[Any]:
    try:
        return list(map(itemgetter(name), reports))  # nearly all have everything
    except KeyError:
        return [report.get(name) for report in reports]
