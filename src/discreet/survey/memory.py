"""What a respondent's machine remembers between waves: randomized answers, never a true one.

The report of a wave that was answered is sent again when it is asked for again. The first
randomized answer to a permanent question is sent whenever that question comes back (Erlingsson,
Pihur and Korolova 2014, "RAPPOR"), in another wave or in another questionnaire, so averaging over
repetitions shows nothing that one report does not. A permanent answer is kept under a digest of
the question and its law alone: a corrected title or one more question draws nothing anew. Other
words, other options or another ε make another question, whose answer is drawn, and told, as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, Refused
from discreet.spelling import spelled
from discreet.survey.remembered import Kept, read, written

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire


class Memory:
    """A file that keeps what was sent, for its owner alone.

    ``path`` is where the file is, or shall be: in a folder that is there, on the respondent's own
    machine. It is made at the first answer. One file serves all questionnaires of one person.

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
            raise InvalidArgument(
                name="path",
                expected="where the file is, or shall be",
                given=InvalidArgument.describe_parameter(path),
            )
        # Behind a link, or after a change of folder, it is still the same memory.
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError):  # links in a circle, or a zero byte
            pass
        else:
            return
        raise InvalidArgument(
            name="path",
            expected="a path that leads to a file",
            given=InvalidArgument.describe_parameter(str(path)),
        )

    def __repr__(self) -> str:
        return f"Memory({str(self.path)!r})"

    @contextmanager
    def opened(self, form: Questionnaire) -> Iterator[Kept]:
        """What is kept for this questionnaire, while no other process reads or writes it.

        What was added is on disk before the block ends, and so before a report leaves.
        """
        with self._locked():
            kept = Kept(form, read(self._content(), self.path), self.path)
            yield kept
            if kept.changed:
                with self._told("free some space, or choose another folder; nothing was sent"):
                    self._write(written(kept.document))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:
            raise Refused(
                "a memory needs a system with file locks (Linux, macOS or another Unix), as two "
                "programs at once could draw an answer twice. Answer in a browser instead: the "
                "page of the questionnaire remembers on every system"
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
        """All of it or nothing: a new file takes the place of the old one when it is on disk."""
        unfinished = self.path.with_name(f".{self.path.name}.part")
        unfinished.unlink(missing_ok=True)  # of somebody who was stopped: the lock is ours
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
        """What the system refuses, in a sentence."""
        try:
            yield
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
        else:
            return
        raise InvalidArgument(
            name="memory",
            expected="a file that can be read and written",
            given=f"{self.path.name}, which cannot be ({reason})",
            hint=hint,
        )


def _flags() -> int:
    """Names that only Unix has, where they are needed: a planted link is not followed."""
    return os.O_CLOEXEC | os.O_NOFOLLOW
