"""Answers in, randomized answers out, on the respondent's own machine.

All answers are checked before the first coin is thrown, so that a mistake costs nothing. No
message, no report and no file contains a true answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument, Refused
from discreet.exact import integer
from discreet.survey.questions import Question
from discreet.survey.reports import Report, Reports, numbers_for_reports

if TYPE_CHECKING:
    from discreet.survey.memory import Memory
    from discreet.survey.questionnaire import Questionnaire


def respond(
    form: Questionnaire, answers: Mapping[str, Any], *, memory: Memory | None, wave: int
) -> Report:
    """One person's answers, randomized."""
    wave = _read_wave(form, wave)
    _check_names(form, answers, what="answers")
    truths = {q.name: np.array([_read(q, q.read, answers[q.name])]) for q in form.questions}
    if memory is None:
        _check_that_none_is_needed(form)
        return _draw(form, truths, wave, {})
    with memory.opened(form) as kept:
        report = kept.report(wave)
        if report is None:
            report = _draw(form, truths, wave, kept.permanent)
            kept.keep(report)
    return report


def _check_that_none_is_needed(form: Questionnaire) -> None:
    """Without a memory every call draws anew, which is right once and for nothing permanent."""
    if not form.needs_memory:
        return
    permanent = [q.name for q in form.questions if q.permanent]
    why = (
        f"{permanent[0]} is permanent"
        if form.waves == 1
        else f"this questionnaire is asked {form.waves} times"
    )
    raise Refused(
        f"{why}, so respond needs memory=: a file on the respondent's machine that keeps "
        "randomized answers, so that asking again draws nothing anew, as in "
        'memory=Memory("answers.json")'
    )


def _draw(
    form: Questionnaire,
    truths: Mapping[str, NDArray[Any]],
    wave: int,
    permanent: Mapping[str, int | str],
) -> Report:
    """Throw the coins for what is not permanent already."""
    asked = [q for q in form.questions if q.name not in permanent]
    drawn = {q.name: q.randomizer.randomize(truths[q.name]) for q in asked}
    (report,) = Reports(form.digest, wave, drawn, numbers_for_reports(1))
    answers = {**permanent, **report.answers}
    return Report(report.survey, report.id, wave, {q.name: answers[q.name] for q in form.questions})


def respond_many(
    form: Questionnaire, columns: Mapping[str, ArrayLike], *, wave: int, before: Reports | None
) -> Reports:
    """Many people's answers, a column for each question, randomized."""
    wave = _read_wave(form, wave)
    columns = _by_name(columns)
    _check_names(form, columns, what="columns")
    truths = {q.name: _read(q, q.truths, columns[q.name]) for q in form.questions}
    lengths = {len(column) for column in truths.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise InvalidArgument(
            name="columns",
            expected="of the same length, with an entry for each person",
            given=" and ".join(f"{length:,}" for length in sorted(lengths)) + " entries",
        )
    (people,) = lengths
    kept = _permanent_columns(form, wave, before, people)
    answers = {
        q.name: kept[q.name] if q.name in kept else q.randomizer.randomize(truths[q.name])
        for q in form.questions
    }
    return Reports(form.digest, wave, answers, numbers_for_reports(people))


def _permanent_columns(
    form: Questionnaire, wave: int, before: Reports | None, people: int
) -> dict[str, NDArray[Any]]:
    """The columns that are sent again."""
    permanent = [q.name for q in form.questions if q.permanent]
    if before is None:
        if permanent and wave > 1:
            raise Refused(
                f"{permanent[0]} is permanent, so wave {wave} sends again what an earlier wave "
                "drew: give its reports with before="
            )
        return {}
    if not isinstance(before, Reports) or (before.survey, len(before)) != (form.digest, people):
        raise InvalidArgument(
            name="before",
            expected="the reports of the same people to this questionnaire, in the same order",
            given=InvalidArgument.describe_data(before),
        )
    if before.wave >= wave:
        raise InvalidArgument(
            name="before", expected=f"of a wave before {wave}", given=f"wave {before.wave}"
        )
    return {name: before.answers[name] for name in permanent}


# -- what comes in -----------------------------------------------------------------------------


def _read_wave(form: Questionnaire, value: int) -> int:
    wave = integer(value, name="wave", minimum=1)
    if wave > form.waves:
        raise InvalidArgument(
            name="wave",
            expected=f"at most {form.waves}, for which the promise was made",
            given=InvalidArgument.describe_parameter(value),
            hint="more waves tell more: say waves= in the questionnaire before anybody answers",
        )
    return wave


def _by_name(columns: Any) -> Any:
    """A data frame or an Arrow table as a dict of its columns; a dict as it is."""
    names = getattr(columns, "column_names", getattr(columns, "columns", None))
    if isinstance(columns, Mapping) or names is None:
        return columns
    return {str(name): columns[name] for name in names}


def _check_names(form: Questionnaire, answers: object, *, what: str) -> None:
    """Every question is answered, and nothing else."""
    if not isinstance(answers, Mapping):
        raise InvalidArgument(
            name=what,
            expected="a dict with an entry for each question",
            given=InvalidArgument.describe_data(answers),
        )
    names = [q.name for q in form.questions]
    missing = [name for name in names if name not in answers or answers[name] is None]
    if missing:
        raise InvalidArgument(
            name=what,
            expected="complete: to leave a question out would be an answer that nothing hides",
            given=f"none for {', '.join(missing[:10])}",
            hint=_meant(answers, missing)
            or 'where people may decline, give the question an option "prefer not to say"',
        )
    if len(answers) > len(names):
        raise InvalidArgument(
            name=what,
            expected=f"about {', '.join(names[:20])}",
            given=f"{len(answers) - len(names)} more",
            hint=_meant(answers, names),
        )


def _meant(answers: Mapping[Any, Any], names: list[str]) -> str:
    """A word about a misspelt name. Others may be anything, and are not repeated."""
    for given in answers:
        near = get_close_matches(given, names, n=1) if isinstance(given, str) else []
        if near and given not in names:
            return f"did you mean {near[0]} by {given!r}?"
    return ""


def _read(question: Question, read: Callable[[Any], Any], answer: object) -> Any:
    """The answer as a code; a refusal names the question."""
    try:
        return read(answer)
    except InvalidArgument as refusal:
        found = refusal
    raise InvalidArgument(
        name=question.name, expected=found.expected, given=found.given, hint=found.hint
    )
