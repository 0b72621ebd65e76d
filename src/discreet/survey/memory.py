"""What a respondent's machine remembers between waves: randomized answers, never a true one.

The report of a wave that was answered is sent again when it is asked for again, and the first
randomized answer to a permanent question is sent in every wave (Erlingsson, Pihur and Korolova
2014, "RAPPOR"), so averaging over repetitions shows nothing that one report does not.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import InvalidArgument, Refused
from discreet.survey.questions import Question
from discreet.survey.reports import Report

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire

_FORMAT: Final = "discreet survey memory 1"
_LONGEST_ID: Final = 32


class Memory:
    """A file that keeps what was sent, for its owner alone.

    >>> import tempfile
    >>> from discreet.survey import Memory, Questionnaire, YesNo
    >>> smoker = YesNo("smoker", "Do you smoke?", truth=0.5, permanent=True)
    >>> form = Questionnaire("Health", [smoker], waves=12)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = Memory(f"{folder}/answers.json")
    ...     reports = [form.respond({"smoker": True}, memory=memory, wave=w) for w in (1, 2, 2)]
    >>> len({report.answers["smoker"] for report in reports}), reports[1] == reports[2]
    (1, True)
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path) or not str(path):
            raise InvalidArgument(
                name="path",
                expected="where the file is, or shall be",
                given=InvalidArgument.describe_parameter(path),
            )
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Memory({str(self.path)!r})"

    @contextmanager
    def opened(self, form: Questionnaire) -> Iterator[Kept]:
        """What is kept for this questionnaire, while no other process reads or writes it.

        What was added is on disk before the block ends, and so before a report leaves.
        """
        with self._locked():
            surveys = self._read()
            kept = Kept(form, surveys.get(form.digest, {"permanent": {}, "waves": {}}), self.path)
            yield kept
            if kept.changed:
                self._write({**surveys, form.digest: kept.fields})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # The file itself is replaced when it is written, so the lock is on one beside it.
        beside = self.path.with_name(self.path.name + ".lock")
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidArgument(
                name="memory",
                expected="a file in a folder that is there",
                given=InvalidArgument.describe_parameter(str(self.path)),
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> dict[str, Any]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        try:
            document = json.loads(content)
            surveys = document["surveys"] if document["format"] == _FORMAT else None
        except (ValueError, TypeError, KeyError, RecursionError):
            surveys = None
        if not isinstance(surveys, dict):
            raise damaged(self.path)
        return surveys

    def _write(self, surveys: Mapping[str, Any]) -> None:
        """All of it or nothing: a new file takes the place of the old one when it is on disk."""
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        document = {"format": _FORMAT, "surveys": surveys}
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            with open(os.open(unfinished, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(document, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, self.path)
        finally:
            unfinished.unlink(missing_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Kept:
    """What is kept for one questionnaire."""

    def __init__(self, form: Questionnaire, fields: Any, path: Path) -> None:
        self._form = form
        self._path = path
        self.changed = False
        match fields:
            case {"permanent": dict(permanent), "waves": dict(waves)}:
                self.permanent: dict[str, int | str] = permanent
                self._waves: dict[str, Any] = waves
            case _:
                raise damaged(path)
        # both are written at once, so the one is there where the other is
        if permanent.keys() != {q.name for q in form.questions if q.permanent and waves}:
            raise damaged(path)
        for name, answer in permanent.items():
            self._check(form[name], answer)

    @property
    def fields(self) -> dict[str, Any]:
        """As it is written."""
        return {"permanent": self.permanent, "waves": self._waves}

    def report(self, wave: int) -> Report | None:
        """The report of this wave, if it was answered."""
        match self._waves.get(str(wave)):
            case None:
                return None
            case {"id": str(number), "answers": dict(answers)} if len(number) == _LONGEST_ID:
                if answers.keys() != {q.name for q in self._form.questions}:
                    raise damaged(self._path)
                for question in self._form.questions:
                    self._check(question, answers[question.name])
                return Report(self._form.digest, number, wave, answers)
            case _:
                raise damaged(self._path)

    def keep(self, report: Report) -> None:
        """Remember a report, and its permanent answers from now on."""
        self._waves[str(report.wave)] = {"id": report.id, "answers": dict(report.answers)}
        permanent = (q.name for q in self._form.questions if q.permanent)
        self.permanent = {name: report.answers[name] for name in permanent}
        self.changed = True

    def _check(self, question: Question, answer: object) -> None:
        """Could this report have been sent?"""
        if not could_be(question, answer):
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
