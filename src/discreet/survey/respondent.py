"""What happens on a respondent's own machine: answers are randomized and reports remembered.

All answers are checked before the first coin is thrown, so that a mistake costs nothing. No
message, no report and no file contains a true answer.

A memory is a file of JSON:

    {"format": "discreet survey memory 2",
     "permanent": {digest of a question: its randomized answer},
     "surveys": {digest of a questionnaire:
                     {wave: {"id": ..., "answers": {name: randomized answer}}}}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Idiom, InvalidArgument, Phrase, Refused
from discreet.hints import spelled
from discreet.survey.questionnaire import question_digest, read_wave
from discreet.survey.questions import Question
from discreet.survey.reports import Report, Reports, numbers_for_reports

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire


def respond(
    form: Questionnaire, answers: Mapping[str, Any], *, memory: Memory | None, wave: int
) -> Report:
    """Randomize one person's answers."""
    wave = read_wave(form, wave)
    _check_names(form, answers, what="answers")
    truths = {q.name: np.array([_read(q, q.read, answers[q.name])]) for q in form.questions}
    if memory is None and form.needs_memory:  # else a second call would draw an answer again
        permanent = [q.name for q in form.questions if q.permanent]
        several = f"this questionnaire is asked {form.waves} times"
        raise Refused(
            Phrase(
                "{}, so respond needs {memory=}: a file on the respondent's machine that keeps "
                "randomized answers, so that asking again draws nothing anew, as in {}",
                f"{permanent[0]} is permanent" if form.waves == 1 else several,
                Idiom.MEMORY,
            )
        )
    if memory is None:
        return _draw(form, truths, wave, {})
    with memory.opened(form) as kept:
        report = kept.report(wave)
        if report is None:
            report = _draw(form, truths, wave, kept.permanent)
            kept.keep(report)
    return report


def _draw(
    form: Questionnaire,
    truths: Mapping[str, NDArray[Any]],
    wave: int,
    permanent: Mapping[str, int | str],
) -> Report:
    """Randomize the answers that are not in memory as permanent."""
    asked = [q for q in form.questions if q.name not in permanent]
    drawn = {q.name: q.randomizer.randomize(truths[q.name]) for q in asked}
    (report,) = Reports(form.digest, wave, drawn, numbers_for_reports(1))
    answers = {**permanent, **report.answers}
    return Report(report.survey, report.id, wave, {q.name: answers[q.name] for q in form.questions})


def respond_many(
    form: Questionnaire, columns: Mapping[str, ArrayLike], *, wave: int, before: Reports | None
) -> Reports:
    """Randomize many people's answers, one column for each question."""
    wave = read_wave(form, wave)
    columns = _by_name(columns)
    _check_names(form, columns, what="columns")
    truths = {q.name: _read(q, q.truths, columns[q.name]) for q in form.questions}
    lengths = {len(column) for column in truths.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise InvalidArgument(
            "columns",
            "of the same length, with an entry for each person",
            " and ".join(f"{length:,}" for length in sorted(lengths)) + " entries",
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
    """The columns of permanent answers, which are sent again."""
    permanent = [q.name for q in form.questions if q.permanent]
    if before is None:
        if permanent and wave > 1:
            raise Refused(
                f"{permanent[0]} is permanent, so wave {wave} sends again what an earlier wave "
                "drew",
                remedy=Phrase("give its reports with {before=}"),
            )
        return {}
    if not isinstance(before, Reports) or (before.survey, len(before)) != (form.digest, people):
        raise InvalidArgument.of_data(
            "before",
            "the reports of the same people to this questionnaire, in the same order",
            before,
        )
    if before.wave >= wave:
        raise InvalidArgument("before", f"of a wave before {wave}", f"wave {before.wave}")
    return {name: before.answers[name] for name in permanent}


# -- checks of what is passed in ---------------------------------------------------------------


def _by_name(columns: Any) -> Any:
    """A data frame or an Arrow table as a dict of its columns; a dict as it is."""
    names = getattr(columns, "column_names", getattr(columns, "columns", None))
    if isinstance(columns, Mapping) or names is None:
        return columns
    return {str(name): columns[name] for name in names}


def _check_names(form: Questionnaire, answers: object, *, what: str) -> None:
    """Check that every question is answered, and nothing else."""
    if not isinstance(answers, Mapping):
        raise InvalidArgument.of_data(what, "a dict with an entry for each question", answers)
    names = [q.name for q in form.questions]
    missing = [name for name in names if name not in answers or answers[name] is None]
    if missing:
        raise InvalidArgument(
            what,
            "complete: to leave a question out would be an answer that nothing hides",
            f"none for {', '.join(missing[:10])}",
            hint=_meant(answers, missing)
            or 'where people may decline, give the question an option "prefer not to say"',
        )
    if len(answers) > len(names):
        raise InvalidArgument(
            what,
            f"about {', '.join(names[:20])}",
            f"{len(answers) - len(names)} more",
            hint=_meant(answers, names),
        )


def _meant(answers: Mapping[Any, Any], names: list[str]) -> str:
    """A hint about a misspelt name. Other names may be anything, and are not repeated."""
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
    raise found.about(question.name)


# -- what a respondent's machine remembers between waves: randomized answers, never a true one -----
# The report of a wave that was answered is sent again when it is asked for again. The first
# randomized answer to a permanent question is sent whenever that question comes back (Erlingsson,
# Pihur and Korolova 2014, "RAPPOR"), in another wave or in another questionnaire, so averaging over
# repetitions shows nothing that one report does not. A permanent answer is kept under a digest of
# the question and its law alone: a corrected title or one more question draws nothing anew. Other
# words, other options or another ε make another question, whose answer is drawn and sent as well.


class Memory:
    """A file that keeps what was sent, for its owner alone.

    ``path`` is where the file is or will be: in an existing folder on the respondent's own machine.
    It is made at the first answer. One file serves all questionnaires of one person.

    >>> import tempfile
    >>> from discreet.survey import Memory, Questionnaire, YesNo
    >>> smoker = YesNo("smoker", "Do you smoke?", truth=0.5, permanent=True)
    >>> form = Questionnaire("Health", [smoker], waves=12)
    >>> again = Questionnaire("Health, once more", [smoker])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = Memory(f"{folder}/answers.json")
    ...     reports = [form.respond({"smoker": True}, memory=memory, wave=w) for w in (1, 2, 2)]
    ...     other = again.respond({"smoker": True}, memory=memory)
    >>> reports[1] == reports[2], len({report.answers["smoker"] for report in [*reports, other]})
    (True, 1)
    """

    @spelled
    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path) or not str(path):
            raise InvalidArgument.of("path", "where the file is, or shall be", path)
        # Through a link, or after a change of folder, it is still the same memory.
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError):  # circular links, or a zero byte
            pass
        else:
            return
        raise InvalidArgument.of("path", "a path that leads to a file", str(path))

    def __repr__(self) -> str:
        return f"Memory({str(self.path)!r})"

    @contextmanager
    def opened(self, form: Questionnaire) -> Iterator[RememberedAnswers]:
        """The answers kept for this questionnaire, while no other process reads or writes them.

        What is added is on disk before the block ends, and so before a report leaves.
        """
        with self._locked():
            kept = RememberedAnswers(form, read_memory(self._content(), self.path), self.path)
            yield kept
            if kept.changed:
                with self._told("free some space, or choose another folder; nothing was sent"):
                    self._write(json.dumps(kept.document, separators=(",", ":")))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:
            raise Refused(
                "a memory needs a system with file locks (Linux, macOS or another Unix), as two "
                "programs at once could draw an answer twice. Answer in a browser instead: the "
                "page of the questionnaire remembers on every system",
                code="unsupported",
            ) from None
        # The file itself is replaced when it is written, so the lock is on one beside it.
        beside = self.path.with_name(self.path.name + ".lock")
        hint = "choose a file in a folder that is there, may be written to, and has locks"
        with self._told(hint):
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | _flags(), 0o600)
        try:
            with self._told(hint):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _content(self) -> bytes | None:
        with self._told("choose a file that only its owner has, or that is not there yet"):
            try:
                return self.path.read_bytes()
            except FileNotFoundError:
                return None

    def _write(self, content: str) -> None:
        """Write everything or nothing: a new file replaces the old one once it is on disk."""
        unfinished = self.path.with_name(f".{self.path.name}.part")
        unfinished.unlink(missing_ok=True)  # left by a process that was stopped: the lock is ours
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flags()
        try:
            with open(os.open(unfinished, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(content)
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

    @contextmanager
    def _told(self, hint: str) -> Iterator[None]:
        """Turn what the system refuses into one of our errors."""
        try:
            yield
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
        else:
            return
        raise InvalidArgument(
            "memory",
            "a file that can be read and written",
            f"{self.path.name}, which cannot be ({reason})",
            hint=hint,
        )


def _flags() -> int:
    """Flags that only Unix has, looked up when needed: a planted link is not followed."""
    return os.O_CLOEXEC | os.O_NOFOLLOW


# -- what a memory contains, and whether it can be trusted -----------------------------------------


_ANY_FORMAT: Final = "discreet survey memory "
_FORMAT: Final = f"{_ANY_FORMAT}2"
_LENGTH_OF_ID: Final = 32


def read_memory(content: bytes | None, path: Path) -> dict[str, Any]:
    """The document in a file, or an empty one if there is no file yet."""
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
                "permanent answers a second time",
                code="unsupported",
            )
        case _:
            raise damaged_memory(path)


class RememberedAnswers:
    """The answers kept for one questionnaire; those kept for others are left as they are."""

    def __init__(self, form: Questionnaire, document: dict[str, Any], path: Path) -> None:
        self._form, self._document = form, document
        self._digests = {q.name: question_digest(q) for q in form.questions if q.permanent}
        self.changed = False
        there = document["permanent"]
        self.permanent: dict[str, int | str] = {
            name: there[digest] for name, digest in self._digests.items() if digest in there
        }
        self._waves = document["surveys"].get(form.digest, {})
        if not self._is_sound():
            raise damaged_memory(path)

    @property
    def document(self) -> dict[str, Any]:
        """The document of the whole memory."""
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
        """Remember a report and its permanent answers."""
        self._waves[str(report.wave)] = {"id": report.id, "answers": dict(report.answers)}
        self.permanent = {name: report.answers[name] for name in self._digests}
        self.changed = True

    def _is_sound(self) -> bool:
        could_be = {q.name: q.randomizer.could_be for q in self._form.questions}
        return (
            all(could_be[name](answer) for name, answer in self.permanent.items())
            and isinstance(self._waves, dict)
            and all(self._could_be_sent(fields, could_be) for fields in self._waves.values())
        )

    def _could_be_sent(self, fields: object, could_be: Mapping[str, Callable[[Any], bool]]) -> bool:
        match fields:
            case {"id": str(number), "answers": dict(answers)}:
                return (
                    len(number) == _LENGTH_OF_ID
                    and answers.keys() == could_be.keys()
                    and all(could_be[name](answer) for name, answer in answers.items())
                    # both are written at once, so there is never one without the other
                    and self.permanent == {name: answers[name] for name in self._digests}
                )
        return False


def damaged_memory(path: Path) -> Refused:
    """The error for a file that cannot be trusted; starting anew would draw answers again."""
    return Refused(
        f"{path.name} is damaged or was not written by discreet. Restore it from a backup: to "
        "begin anew would randomize permanent answers a second time, and reveal more than promised"
    )
