"""Reports in, estimates out: counts as reports stream by, and nothing that grows but the ids."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, Refused
from discreet.exact import Number, integer
from discreet.spelling import spelled
from discreet.survey.estimating.cross import PairTally
from discreet.survey.estimating.intervals import About, read_about, read_confidence
from discreet.survey.estimating.tally import Tally
from discreet.survey.questions.wording import check_form
from discreet.survey.reading.checking import REASONS, Checker
from discreet.survey.reading.readers import Source, read

if TYPE_CHECKING:
    from discreet.survey.estimating.survey_result import SurveyResult
    from discreet.survey.questionnaire import Questionnaire

_CONFIDENCE = Fraction(95, 100)


class Collector:
    """Counts the reports to a ``questionnaire`` in one wave.

    ``add`` takes a file (JSON lines, CSV, Parquet), an iterable of reports, a table or a dict of
    columns, any number of times. A report that is malformed, incomplete, out of range, sent twice,
    or of another survey or wave is counted in ``set_aside`` and otherwise ignored. Memory is
    that of the counts and eight bytes for each id.

    ``cross`` names the pairs of questions that cross tables are wanted of, as in
    ``[("age", "smoker")]``: pairs cannot be counted afterwards. ``wave`` says which one is counted,
    from 1; it may be left out where there is one.

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
        self._checker = Checker(questionnaire, self.wave)
        self._tallies = {q.name: Tally(q.randomizer) for q in questionnaire.questions}
        self._pairs = {
            (first, second): PairTally(
                questionnaire[first].randomizer, questionnaire[second].randomizer
            )
            for first, second in _read_cross(cross)
        }
        self._respondents = 0

    def add(self, source: Source) -> None:
        """Count all reports of a ``source``.

        A file that cannot be opened is refused, and what was counted before stays.
        """
        names, rows = self._checker.names, self._checker.most_rows
        for batch in (part for whole in read(source, names) for part in whole.parts(rows)):
            accepted = self._checker.check(batch)
            if not accepted.rows:
                continue
            for name, tally in self._tallies.items():
                tally.add(accepted.answers[name])
            for (first, second), pairs in self._pairs.items():
                pairs.add(accepted.answers[first], accepted.answers[second])
            self._respondents += accepted.rows

    @property
    def respondents(self) -> int:
        """How many reports count."""
        return self._respondents

    @property
    def set_aside(self) -> dict[str, int]:
        """How many reports do not count, by the reason."""
        counts = self._checker.set_aside
        return {reason: counts[reason] for reason in REASONS if counts[reason]}

    def merge(self, other: Collector) -> None:
        """Add what ``other`` has counted, a collector of the same questionnaire, wave and cross
        tables, on another machine.

        Counts do not remember who is in them. So if both have a report with the same id this is
        refused, and nothing is changed.
        """
        same = (
            self.questionnaire.digest == other.questionnaire.digest
            and self.wave == other.wave
            and self._pairs.keys() == other._pairs.keys()
        )
        if not same:
            raise InvalidArgument(
                name="other",
                expected="a collector of the same questionnaire, wave and cross tables",
                given="one that differs",
            )
        common = self._checker.seen.common(other._checker.seen)
        if common or other is self:
            raise Refused(
                f"both collectors have counted {common:,} of the reports, and counts cannot be "
                "taken apart: add the files of both to one collector, which sees what came twice"
            )
        self._checker.merge(other._checker)
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
        from discreet.survey.estimating.survey_result import make_result

        return make_result(
            self.questionnaire,
            self._tallies,
            self._pairs,
            respondents=self._respondents,
            set_aside=self.set_aside,
            unchecked=self._checker.unchecked,
            notes=(*self._checker.notes, *_first_answers(self.questionnaire, self.wave)),
            confidence=read_confidence(confidence),
            about=read_about(about),
        )


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

    If one of the files cannot be opened nothing is returned: a Collector keeps what it has.

    >>> from discreet.survey import Questionnaire, YesNo, collect
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", epsilon=1)])
    >>> collect(form, form.respond({"smoker": True})).respondents
    1
    """
    collector = Collector(questionnaire, cross=cross, wave=wave)
    for source in sources:
        collector.add(source)
    return collector.result(confidence, about)


def _first_answers(questionnaire: Questionnaire, wave: int) -> list[str]:
    """A permanent answer is never drawn again, so a later wave says nothing new about it."""
    permanent = [q.name for q in questionnaire.questions if q.permanent]
    if wave == 1 or not permanent:
        return []
    names = ", ".join(permanent)
    return [f"{names}: permanent, so wave {wave} shows the first answers, not what changed since"]


def _read_wave(wave: int | None, waves: int) -> int:
    if wave is None:
        if waves == 1:
            return 1
        raise InvalidArgument(
            name="wave",
            expected=f"given, from 1 to {waves}",
            given="None",
            hint="reports of one person in several waves are not independent, so each wave has "
            "a collector of its own",
        )
    number = integer(wave, name="wave", minimum=1)
    if number > waves:
        raise InvalidArgument(
            name="wave",
            expected=f"from 1 to {waves}, the waves of the questionnaire",
            given=InvalidArgument.describe_parameter(wave),
        )
    return number


def _read_cross(cross: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = [tuple(pair) if isinstance(pair, tuple | list) else () for pair in cross]
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise InvalidArgument(
                name="cross",
                expected='pairs of two different questions, such as [("age", "smoker")]',
                given="something else",
            )
    return [(str(first), str(second)) for first, second in pairs]
