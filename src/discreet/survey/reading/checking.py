"""Which reports of a batch count, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.survey.randomizers import Items, Randomizer
from discreet.survey.reading import cells
from discreet.survey.reading.batches import Batch
from discreet.survey.reading.cells import Cells
from discreet.survey.reading.duplicates import Seen
from discreet.survey.reading.texts import Flags

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire

#: Why a report is set aside; the first that applies is the one that counts.
REASONS: Final = (
    "malformed",
    "other survey",
    "other wave",
    "incomplete",
    "out of range",
    "duplicated",
)

_MOST_NOTES: Final = 20
_LOST_ZEROS: Final = (
    "the column {name!r} came as numbers, but its answers are texts of 0 and 1 whose leading zeros "
    "count: read it as text, in pandas by dtype={{{name!r}: str}}, or pass the path of the file"
)
_CELLS: Final = 1 << 24  # bits of reports looked at together


@dataclass(frozen=True, eq=False)
class Accepted:
    """The reports of a batch that count: a column for each question."""

    answers: Mapping[str, NDArray[Any]]
    rows: int


@dataclass(eq=False)
class Checker:
    """Checks batches against a questionnaire and a wave, and remembers the ids."""

    questionnaire: Questionnaire
    wave: int
    seen: Seen = field(default_factory=Seen)
    set_aside: Counter[str] = field(default_factory=Counter)
    unchecked: set[str] = field(default_factory=set)  #: survey, id, wave: columns tables left out
    notes: dict[str, None] = field(default_factory=dict)  #: what is odd about sources, in order

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are looked at."""
        return ("survey", "id", "wave", *(q.name for q in self.questionnaire.questions))

    @property
    def most_rows(self) -> int:
        """How many reports are looked at together: fewer where each is long."""
        randomizers = [q.randomizer for q in self.questionnaire.questions]
        bits = sum(r.outcomes for r in randomizers if r.report == "bits")
        return max(_CELLS // max(bits, 1), 1)

    def check(self, batch: Batch) -> Accepted:
        """The reports that count; the others are counted by their reason."""
        self.set_aside["malformed"] += batch.broken
        self._note(*batch.notes)
        rows = _Rows(batch.rows)
        if not batch.rows:
            return Accepted({}, 0)
        survey = self._read(batch, "survey", lambda c: cells.equal(c, self.questionnaire.digest))
        wave = self._read(batch, "wave", cells.integers)
        ids = self._read(batch, "id", cells.ids)
        for read, expected, reason in (
            (survey, True, "other survey"),
            (wave, self.wave, "other wave"),
        ):
            if read is not None:
                rows.aside(read.wrong, "malformed")
                rows.aside((read.values != expected) & _present(read), reason)
                rows.aside(read.missing, "incomplete")
        answers = {}
        for question in self.questionnaire.questions:
            read = _answers(batch.columns.get(question.name), question.randomizer, batch.rows)
            if question.randomizer.report == "bits" and _are_numbers(batch.columns, question.name):
                self._note(_LOST_ZEROS.format(name=question.name))
            rows.aside(read.missing, "incomplete")
            rows.aside(read.wrong, "malformed")
            rows.aside(_out_of_range(read.values, question.randomizer), "out of range")
            answers[question.name] = read.values
        if ids is not None:
            rows.aside(ids.missing, "incomplete")
            rows.aside(ids.wrong, "malformed")
            if rows.fine.any():
                fresh = np.ones(batch.rows, np.bool_)
                fresh[rows.fine] = self.seen.add(ids.values[rows.fine])
                rows.aside(~fresh, "duplicated")
        self.set_aside.update(rows.reasons())
        if rows.fine.all():
            return Accepted(answers, batch.rows)
        kept = {name: values[rows.fine] for name, values in answers.items()}
        return Accepted(kept, int(np.count_nonzero(rows.fine)))

    def merge(self, other: Checker) -> None:
        """Remember what another one has seen, which has no id in common with this one."""
        self.seen.update(other.seen)
        self.set_aside.update(other.set_aside)
        self.unchecked |= other.unchecked
        self._note(*other.notes)

    def _note(self, *notes: str) -> None:
        for note in notes:
            if note in self.notes or len(self.notes) < _MOST_NOTES:
                self.notes[note] = None

    def _read(self, batch: Batch, name: str, how: Callable[[Any], Cells]) -> Cells | None:
        """A column that says where a report belongs; None where a table left it out."""
        if name in batch.columns:
            return how(batch.columns[name])
        if batch.loose:
            self.unchecked.add(name)
            return None
        return Cells(np.zeros(batch.rows, np.int64), np.ones(batch.rows, np.bool_))


class _Rows:
    """For each row of a batch the first reason why it does not count."""

    def __init__(self, rows: int) -> None:
        self.fine: Flags = np.ones(rows, np.bool_)
        self._counts: Counter[str] = Counter()

    def aside(self, flags: Flags | None, reason: str) -> None:
        if flags is None or not flags.any():
            return
        flags = flags & self.fine
        self._counts[reason] += int(np.count_nonzero(flags))
        self.fine &= ~flags

    def reasons(self) -> Counter[str]:
        return self._counts


def _are_numbers(columns: Mapping[str, Any], name: str) -> bool:
    """Whether a program has taken a column of bits for numbers."""
    column = columns.get(name)
    if isinstance(column, list):
        return bool(column) and all(type(cell) in (int, float) for cell in column[:100])
    if isinstance(column, np.ndarray):
        return column.ndim == 1 and column.dtype.kind in "iuf"
    kind = str(getattr(column, "type", ""))
    return kind.startswith(("int", "uint", "float", "double"))


def _present(read: Cells) -> Flags | bool:
    return True if read.missing is None else ~read.missing


def _answers(column: Any, randomizer: Randomizer, rows: int) -> Cells:
    bits = randomizer.report == "bits"
    if column is None:
        shape = (rows, randomizer.outcomes) if bits else (rows,)
        return Cells(np.zeros(shape, np.int8 if bits else np.int64), np.ones(rows, np.bool_))
    return cells.bits(column, randomizer.outcomes) if bits else cells.integers(column)


def _out_of_range(values: NDArray[Any], randomizer: Randomizer) -> Flags | None:
    """Reports that this randomizer never gives."""
    if isinstance(randomizer, Items):  # so many items are answered, no more and no fewer
        return np.asarray(np.count_nonzero(values >= 0, axis=1) != randomizer.drawn)
    if randomizer.report == "bits":
        return np.any(values < 0, axis=1) if values.min(initial=0) < 0 else None
    if values.min(initial=0) >= 0 and values.max(initial=0) < randomizer.outcomes:
        return None
    return np.asarray((values < 0) | (values >= randomizer.outcomes))
