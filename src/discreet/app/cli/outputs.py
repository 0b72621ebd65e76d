"""Where a file may be written: never over what is read, what keeps the budget, or each other.

All of it is checked before anything is charged: an answer that cannot be written is paid for and
lost, and a ledger or a table that was written over is gone.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from discreet.errors import InvalidArgument

_LEDGER = ("", ".head", "-wal", "-shm", "-journal")  # beside the file of a ledger


def check_places(
    outputs: Mapping[str, Path | None], *, kept: Iterable[str] = (), new: bool = False
) -> None:
    """Every output by its option; ``kept`` are paths and patterns that none of them may hit, and
    where they must be ``new``, no file is written over."""
    places = {option: path for option, path in outputs.items() if path is not None}
    read = list(kept)
    for option, path in places.items():
        _check_folder(option, path)
        if any(_is_same(path, one) or _matches(path, one) for one in read):
            raise InvalidArgument(
                name=option,
                expected="another file than those that are read or hold the budget",
                given=InvalidArgument.describe_parameter(str(path)),
            )
        if new and path.is_file():
            raise InvalidArgument(
                name=option,
                expected="a file that is not there yet",
                given=InvalidArgument.describe_parameter(str(path)),
                hint="choose another name, or say --force to write over it",
            )
    for option, path in places.items():
        if any(other != option and _is_same(path, str(places[other])) for other in places):
            raise InvalidArgument(
                name=" and ".join(sorted(places)),
                expected="files of their own",
                given=f"{InvalidArgument.describe_parameter(str(path))} for both",
            )


def ledger_files(ledger: str | None) -> list[str]:
    """The files of a ledger; none for one in a database."""
    if ledger is None or "://" in ledger:
        return []
    return [f"{ledger}{ending}" for ending in _LEDGER]


def key_files(key: str | None) -> list[str]:
    """Both halves of a key, from either."""
    if key is None:
        return []
    return [key, f"{key}.pub", *([key.removesuffix(".pub")] if key.endswith(".pub") else [])]


def _check_folder(option: str, path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir() or path.is_dir():
        raise InvalidArgument(
            name=option,
            expected="a file in a folder that exists",
            given=InvalidArgument.describe_parameter(str(path)),
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidArgument(
            name=option,
            expected="a file that may be written",
            given=InvalidArgument.describe_parameter(str(path)),
        )


def _is_same(path: Path, other: str) -> bool:
    """One file, there already or not yet, by whatever name."""
    there = Path(other)
    if path.resolve() == there.resolve():
        return True
    return path.exists() and there.exists() and path.samefile(there)


def _matches(path: Path, pattern: str) -> bool:
    """Would a pattern take this file for data, now or the next time it is read?"""
    if not glob.has_magic(pattern) or Path(pattern).exists():
        return False
    if any(_is_same(path, match) for match in glob.iglob(pattern)):
        return True
    wanted = Path(pattern).absolute().parts
    for form in (path.absolute(), path.resolve()):
        if len(form.parts) == len(wanted) and all(map(fnmatchcase, form.parts, wanted)):
            return True
    return False
