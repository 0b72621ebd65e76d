"""From reports to estimates: reports are counted as they stream by; only the ids are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument, Refused
from discreet.hints import spelled
from discreet.numeric.exact import Number, integer
from discreet.survey import cells
from discreet.survey.cells import Cells, Flags
from discreet.survey.estimates.confidence import About, read_about, read_confidence
from discreet.survey.estimates.cross_table import estimate_cross
from discreet.survey.estimates.survey_result import SurveyResult
from discreet.survey.estimates.tally import PairTally, Tally
from discreet.survey.questions.question import check_form
from discreet.survey.readers import Batch, Source, read_batches

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire


#: Why a report is set aside; the first reason that applies is the one counted.
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
_CELLS: Final = 1 << 24  # bits of reports checked at a time
_CONFIDENCE = Fraction(95, 100)
_UNCHECKED: Final = {
    "survey": "of another survey",
    "id": "that came twice",
    "wave": "of another wave",
}


class Collector:
    """Counts the reports to a ``questionnaire`` in one wave.

    ``add`` takes a file (JSON lines, CSV, Parquet), an iterable of reports, a table or a dict of
    columns, any number of times. A report that is malformed, incomplete, out of range, sent twice,
    or from another survey or wave is counted in ``set_aside`` and otherwise ignored. Memory holds
    the counts, and eight bytes for each id.

    ``cross`` names the pairs of questions to make cross tables of, as in ``[("age", "smoker")]``:
    pairs cannot be counted afterwards. ``wave`` is the number of the wave that is counted, from 1;
    it may be left out if there is only one.

    >>> from discreet.survey import Collector, Questionnaire, YesNo
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
    >>> collector = Collector(form)
    >>> collector.add(form.respond_many({"smoker": [True] * 3000 + [False] * 7000}))
    >>> collector.add([{"survey": form.digest, "smoker": "perhaps"}, "not a report at all"])
    >>> collector.respondents, collector.set_aside
    (10000, {'malformed': 1, 'incomplete': 1})
    >>> abs(collector.result()["smoker"]["yes"].value - 0.3) < 0.1
    True
    """

    @spelled
    def __init__(
        self,
        questionnaire: Questionnaire,
        *,
        cross: Iterable[tuple[str, str]] = (),
        wave: int | None = None,
    ) -> None:
        self.questionnaire = check_form(questionnaire)
        self.wave = _read_wave(wave, questionnaire.waves)
        self._seen = SeenIds()
        self._aside: Counter[str] = Counter()
        self._unchecked: set[str] = set()  # of survey, id, wave: what tables left out
        self._notes: dict[str, None] = {}  # what is odd about sources, in order
        self._tallies = {q.name: Tally(q.randomizer) for q in questionnaire.questions}
        self._pairs = {
            (a, b): PairTally(questionnaire[a].randomizer, questionnaire[b].randomizer)
            for a, b in _read_cross(cross)
        }
        self._respondents = 0

    def add(self, source: Source) -> None:
        """Count all reports of a ``source``.

        A file that cannot be opened is refused, and what was counted before stays.
        """
        randomizers = {q.name: q.randomizer for q in self.questionnaire.questions}
        bits = sum(r.outcomes for r in randomizers.values() if r.report == "bits")
        rows = max(_CELLS // max(bits, 1), 1)
        for whole in read_batches(source, ("survey", "id", "wave", *randomizers)):
            self._aside["malformed"] += whole.broken
            self._note(*whole.notes)
            for batch in whole.parts(rows):
                answers, count = self._check(batch)
                if count:
                    for name, tally in self._tallies.items():
                        tally.add(answers[name])
                    for (first, second), pairs in self._pairs.items():
                        pairs.add(answers[first], answers[second])
                    self._respondents += count

    @property
    def respondents(self) -> int:
        """How many reports count."""
        return self._respondents

    @property
    def set_aside(self) -> dict[str, int]:
        """How many reports do not count, by reason."""
        return {reason: self._aside[reason] for reason in REASONS if self._aside[reason]}

    def merge(self, other: Collector) -> None:
        """Add the counts of ``other``, a collector of the same questionnaire, wave and cross tables
        on another machine.

        Counts do not remember who is in them. So if both have a report with the same id, this is
        refused and nothing is changed.
        """
        same = (
            self.questionnaire.digest == other.questionnaire.digest
            and self.wave == other.wave
            and self._pairs.keys() == other._pairs.keys()
        )
        if not same:
            raise InvalidArgument(
                "other",
                "a collector of the same questionnaire, wave and cross tables",
                "one that differs",
            )
        common = self._seen.common(other._seen)
        if common or other is self:
            raise Refused(
                f"both collectors have counted {common:,} of the reports, and counts cannot be "
                "taken apart",
                remedy="add the files of both to one collector, which sees what came twice",
            )
        self._seen.update(other._seen)
        self._aside.update(other._aside)
        self._unchecked |= other._unchecked
        self._note(*other._notes)
        for name, tally in self._tallies.items():
            tally.merge(other._tallies[name])
        for key, pairs in self._pairs.items():
            pairs.merge(other._pairs[key])
        self._respondents += other._respondents

    def result(self, confidence: Number = _CONFIDENCE, about: About = "population") -> SurveyResult:
        """Estimates with standard errors and intervals, so far; more reports may follow.

        ``about`` says what the intervals are about: the "population" that the respondents are
        a random sample of, if left out, or these "respondents" themselves. ``confidence`` is for
        each number by itself, between 0 and 1; 0.95 if left out. ``result[name].simultaneous()``
        has intervals for all answers to a question.
        """
        form, sure, whom = self.questionnaire, read_confidence(confidence), read_about(about)
        counted: Any = {"confidence": sure, "about": whom}
        crossed = {
            (a, b): estimate_cross(pairs, (form[a], form[b]), self._respondents, **counted)
            for (a, b), pairs in self._pairs.items()
        }
        notes, first = list(self._notes), ", ".join(q.name for q in form.questions if q.permanent)
        if self.wave > 1 and first:
            shown = f"wave {self.wave} shows the first answers, not what changed since"
            notes.append(f"{first}: permanent, so {shown}")
        notes += [
            f"a table had no column {name!r}, so its reports {words} were not looked for"
            for name, words in _UNCHECKED.items()
            if name in self._unchecked
        ]
        return SurveyResult(
            form.title,
            {q.name: q.estimate(self._tallies[q.name], **counted) for q in form.questions},
            crossed,
            self._respondents,
            self.set_aside,
            float(sure),
            whom,
            guarantee=form.guarantee,
            cost=f"ε = {float(form.epsilon):.4g}",
            notes=tuple(notes),
        )

    # -- which reports of a batch count, and why the others do not ---------------------------------

    def _check(self, batch: Batch) -> tuple[dict[str, NDArray[Any]], int]:
        """The reports that count, a column for each question, and how many they are; the others
        are counted by reason."""
        fine: Flags = np.ones(batch.rows, np.bool_)  # until the first reason why it does not count

        def aside(flags: Flags, reason: str) -> None:
            nonlocal fine
            self._aside[reason] += int(np.count_nonzero(flags & fine))
            fine = fine & ~flags

        survey = self._read(batch, "survey", lambda c: cells.equal(c, self.questionnaire.digest))
        wave = self._read(batch, "wave", cells.integers)
        ids = self._read(batch, "id", cells.ids)
        for read, expected, reason in (
            (survey, True, "other survey"),
            (wave, self.wave, "other wave"),
        ):
            if read is not None:
                aside(read.wrong, "malformed")
                aside((read.values != expected) & ~read.missing, reason)
                aside(read.missing, "incomplete")
        answers = {}
        for question in self.questionnaire.questions:
            randomizer = question.randomizer
            column = batch.columns.get(question.name, [None] * batch.rows)
            read = randomizer.read(column)
            if randomizer.report == "bits" and _are_numbers(column):
                self._note(_LOST_ZEROS.format(name=question.name))
            aside(read.missing, "incomplete")
            aside(read.wrong, "malformed")
            aside(randomizer.impossible(read.values), "out of range")
            answers[question.name] = read.values
        if ids is not None:
            aside(ids.missing, "incomplete")
            aside(ids.wrong, "malformed")
            if fine.any():
                fresh = np.ones(batch.rows, np.bool_)
                fresh[fine] = self._seen.add(ids.values[fine])
                aside(~fresh, "duplicated")
        if not fine.all():
            answers = {name: values[fine] for name, values in answers.items()}
        return answers, int(np.count_nonzero(fine))

    def _note(self, *notes: str) -> None:
        for note in notes:
            if note in self._notes or len(self._notes) < _MOST_NOTES:
                self._notes[note] = None

    def _read(self, batch: Batch, name: str, how: Callable[[Any], Cells]) -> Cells | None:
        """A column that says where a report belongs; None if a table left it out."""
        if batch.loose and name not in batch.columns:
            self._unchecked.add(name)
            return None
        return how(batch.columns.get(name, [None] * batch.rows))


@spelled
def collect(
    questionnaire: Questionnaire,
    *sources: Source,
    cross: Iterable[tuple[str, str]] = (),
    wave: int | None = None,
    confidence: Number = _CONFIDENCE,
    about: About = "population",
) -> SurveyResult:
    """Collect reports and estimate, in one call.

    ``sources`` are any number of what ``Collector.add`` takes: files, reports, tables. ``cross``
    and ``wave`` are as in ``Collector(questionnaire)``.
    ``about`` says what the intervals are about: the "population" that the respondents are
    a random sample of, if left out, or these "respondents" themselves. ``confidence`` is for
    each number by itself, between 0 and 1; 0.95 if left out.

    If one of the files cannot be opened, nothing is returned; a `Collector` would keep what it has.

    >>> from discreet.survey import Questionnaire, YesNo, collect
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", epsilon=1)])
    >>> collect(form, form.respond({"smoker": True})).respondents
    1
    """
    collector = Collector(questionnaire, cross=cross, wave=wave)
    for source in sources:
        collector.add(source)
    return collector.result(confidence, about)


def _read_wave(wave: int | None, waves: int) -> int:
    if wave is None:
        if waves == 1:
            return 1
        raise InvalidArgument.of(
            "wave",
            f"given, from 1 to {waves}",
            None,
            hint="reports of one person in several waves are not independent, so each wave has "
            "a collector of its own",
        )
    number = integer(wave, name="wave", minimum=1)
    if number > waves:
        raise InvalidArgument.of("wave", f"from 1 to {waves}, the waves of the questionnaire", wave)
    return number


def _read_cross(cross: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = [tuple(pair) if isinstance(pair, tuple | list) else () for pair in cross]
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise InvalidArgument(
                "cross",
                'pairs of two different questions, such as [("age", "smoker")]',
                "something else",
            )
    return [(str(first), str(second)) for first, second in pairs]


# -- which reports came twice: ids seen so far, in eight bytes each --------------------------------
# Of an id of 128 bits, 64 mixed bits are kept. Two different ids among n have the same 64 bits with
# probability below n²/2⁶⁵, three in a million for n = 10⁷, and then one report is set aside that
# need not be. Nobody gains by provoking it: whoever knows an id can send that id itself.


Keys = NDArray[np.uint64]


class SeenIds:
    """A growing set of keys in sorted runs, each at least twice as long as the next."""

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def __len__(self) -> int:
        return sum(run.size for run in self._runs)

    def add(self, ids: NDArray[np.uint64]) -> Flags:
        """Keep these ids (two words per row), and return which rows are the first with their id.

        >>> seen = SeenIds()
        >>> seen.add(np.array([[0, 1], [0, 2], [0, 1]], np.uint64)).tolist()
        [True, True, False]
        >>> seen.add(np.array([[0, 2], [3, 1]], np.uint64)).tolist()
        [False, True]
        """
        # 64 bits that depend on all 128; ids that simply count 0, 1, 2, … work too
        keys = _mixed(ids[:, 0] ^ _mixed(ids[:, 1]))
        order = np.argsort(keys, kind="stable")  # of equal keys the earliest stays first
        keys = keys[order]
        first = np.ones(keys.size, np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        first &= ~self._has(keys)
        self._keep(keys[first])
        fresh = np.zeros(keys.size, np.bool_)
        fresh[order[first]] = True
        return fresh

    def common(self, other: SeenIds) -> int:
        """How many keys both have."""
        return sum(int(np.count_nonzero(self._has(run))) for run in other._runs)

    def update(self, other: SeenIds) -> None:
        """Keep all keys of another set that has none in common with this one."""
        for run in other._runs:
            self._keep(run)

    def _has(self, keys: Keys) -> Flags:
        found = np.zeros(keys.size, np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, keys), run.size - 1)
            found |= run[place] == keys
        return found

    def _keep(self, keys: Keys) -> None:
        if not keys.size:
            return
        self._runs.append(keys)
        self._runs.sort(key=len, reverse=True)
        while len(self._runs) > 1 and self._runs[-2].size < 2 * self._runs[-1].size:
            shorter, longer = self._runs.pop(), self._runs.pop()
            # sorting by merging is linear for two sorted halves
            self._runs.append(np.sort(np.concatenate([longer, shorter]), kind="stable"))


def _mixed(x: Keys) -> Keys:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), a permutation of 64-bit words."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _are_numbers(column: Any) -> bool:
    """Whether a program has read a column of bits as numbers."""
    if isinstance(column, list):
        return bool(column) and all(type(cell) in (int, float) for cell in column[:100])
    if isinstance(column, np.ndarray):
        return column.ndim == 1 and column.dtype.kind in "iuf"
    kind = str(getattr(column, "type", ""))
    return kind.startswith(("int", "uint", "float", "double"))
