"""The files of a survey: a questionnaire whose mistakes are told in its own words, and reports
that are added whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.app.cli.dialect import in_toml
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.survey import Questionnaire

_TOML: Final = (".toml",)
_LINES: Final = (".jsonl", ".ndjson")
_PAGES: Final = (".html", ".htm")
_OTHERS: Final = {
    **dict.fromkeys((*_LINES, ".json", ".csv", ".parquet"), "reports"),
    **dict.fromkeys(_PAGES, "the page of a questionnaire"),
}


def read_questionnaire(path: Path) -> Questionnaire:
    """Read a file; a mistake in it is told with the file's name and the question."""
    from discreet.survey import Questionnaire

    if not path.is_file():
        raise InvalidArgument(
            name="QUESTIONNAIRE.toml",
            expected="a file that is there",
            given=InvalidArgument.describe_parameter(str(path)),
            hint="" if path.exists() else "discreet survey new FILE.toml writes one",
        )
    looks = _OTHERS.get(path.suffix.lower())
    if looks is not None:
        raise InvalidArgument(
            name="QUESTIONNAIRE.toml",
            expected="a TOML file that asks the questions",
            given=f"{InvalidArgument.describe_parameter(str(path))}, which looks like {looks}",
            hint="the questionnaire is named first",
        )
    with told_of(path):
        return Questionnaire.from_toml(path)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """What is wrong in here is wrong in this file, not with an option."""
    try:
        yield
        return
    except InvalidArgument as mistake:
        found = in_toml(mistake, path.name)
    raise found


def check_questionnaire_name(path: Path) -> None:
    """A new questionnaire is a TOML file, by its name as well."""
    _check_ending("QUESTIONNAIRE.toml", path, _TOML)


def check_reports_name(path: Path | None) -> None:
    """A file of JSON lines, which collect reads as such by its name."""
    if path is not None:
        _check_ending("--out", path, _LINES)


def check_page_name(path: Path) -> None:
    """What browsers open."""
    _check_ending("--out", path, _PAGES)


def _check_ending(option: str, path: Path, endings: tuple[str, ...]) -> None:
    if path.suffix.lower() not in endings:
        raise InvalidArgument(
            name=option,
            expected=f"a name that ends in {' or '.join(endings)}",
            given=InvalidArgument.describe_parameter(str(path)),
        )


def add_line(path: Path, line: str) -> None:
    """Add one line to a file that others may be adding to at this moment.

    Each line goes to the end in one piece, under a lock where the system has them; after a last
    line that somebody left unfinished, on a line of its own.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    with open(descriptor, "r+b", buffering=0) as file:
        _lock(descriptor)
        text = f"{line}\n".encode()
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else b"\n" + text
        while text:
            text = text[file.write(text) :]


def _lock(descriptor: int) -> None:
    """Until the file is closed; without locks one write at the end is all that can be done."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):
        return
