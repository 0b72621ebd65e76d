"""What stands in a memory, and whether it can be trusted.

{"format": "discreet survey memory 2",
 "permanent": {digest of a question: its randomized answer},
 "surveys": {digest of a questionnaire: {wave: {"id": ..., "answers": {name: randomized answer}}}}}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import Refused
from discreet.survey.questionnaire import question_digest
from discreet.survey.questions import Question
from discreet.survey.reports import Report

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire

_ANY_FORMAT: Final = "discreet survey memory "
_FORMAT: Final = f"{_ANY_FORMAT}2"
_LENGTH_OF_ID: Final = 32


def read(content: bytes | None, path: Path) -> dict[str, Any]:
    """The document in a file, or that of a file that is not there yet."""
    if content is None:
        return {"format": _FORMAT, "permanent": {}, "surveys": {}}
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    match document:
        case {"format": str(form), "permanent": dict(), "surveys": dict()} if form == _FORMAT:
            return dict(document)
        case {"format": str(form)} if form.startswith(_ANY_FORMAT) and form != _FORMAT:
            raise Refused(
                f"{path.name} was written by another version of discreet, in a format that this "
                "one does not read: answer with that version. To begin anew would randomize "
                "permanent answers a second time"
            )
        case _:
            raise damaged(path)


def written(document: dict[str, Any]) -> str:
    """The document as it is kept."""
    return json.dumps(document, separators=(",", ":"))


class Kept:
    """What is kept for one questionnaire, beside what is kept for others."""

    def __init__(self, form: Questionnaire, document: dict[str, Any], path: Path) -> None:
        self._form, self._path = form, path
        self._document = document
        self._digests = {q.name: question_digest(q) for q in form.questions if q.permanent}
        self.changed = False
        self.permanent = self._read_permanent()
        self._waves = self._read_waves()

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as it is written."""
        kept = {self._digests[name]: answer for name, answer in self.permanent.items()}
        return {
            **self._document,
            "permanent": {**self._document["permanent"], **kept},
            "surveys": {**self._document["surveys"], self._form.digest: self._waves},
        }

    def report(self, wave: int) -> Report | None:
        """The report of this wave, if it was answered."""
        fields = self._waves.get(str(wave))
        if fields is None:
            return None
        return Report(self._form.digest, fields["id"], wave, fields["answers"])

    def keep(self, report: Report) -> None:
        """Remember a report, and its permanent answers from now on."""
        self._waves[str(report.wave)] = {"id": report.id, "answers": dict(report.answers)}
        self.permanent = {name: report.answers[name] for name in self._digests}
        self.changed = True

    def _read_permanent(self) -> dict[str, int | str]:
        """The permanent answers that are there, by the names of their questions."""
        there = self._document["permanent"]
        found = {name: there[digest] for name, digest in self._digests.items() if digest in there}
        for name, answer in found.items():
            self._check(could_be(self._form[name], answer))
        return found

    def _read_waves(self) -> dict[str, Any]:
        waves = self._document["surveys"].get(self._form.digest, {})
        self._check(isinstance(waves, dict))
        for fields in waves.values():
            match fields:
                case {"id": str(number), "answers": dict(answers)}:
                    self._check(len(number) == _LENGTH_OF_ID and self._fit(answers))
                case _:
                    raise damaged(self._path)
        return dict(waves)

    def _fit(self, answers: dict[str, Any]) -> bool:
        """Whether these answers could have been sent, with the permanent ones that are kept."""
        return (
            answers.keys() == {q.name for q in self._form.questions}
            and all(could_be(q, answers[q.name]) for q in self._form.questions)
            # both are written at once, so the one is there where the other is
            and self.permanent == {name: answers[name] for name in self._digests}
        )

    def _check(self, sound: bool) -> None:
        if not sound:
            raise damaged(self._path)


def could_be(question: Question, answer: object) -> bool:
    """Whether a randomized answer has the form that reports to this question have."""
    outcomes = question.randomizer.outcomes
    if question.randomizer.report == "integer":
        return type(answer) is int and 0 <= answer < outcomes
    return isinstance(answer, str) and len(answer) == outcomes and set(answer) <= set("01-")


def damaged(path: Path) -> Refused:
    """The file cannot be trusted, and to begin anew would draw answers again."""
    return Refused(
        f"{path.name} is damaged or was not written by discreet. Restore it from a backup: to "
        "begin anew would randomize permanent answers a second time, and tell more than promised"
    )
