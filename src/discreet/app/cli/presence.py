"""Is there a ledger where one is meant? Said in the words of the command line, before it is opened.

A missing ledger is never made unasked, and what is left of one is never taken for none.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from discreet.errors import InvalidArgument

_SQLITE = b"SQLite format 3\0"  # the first bytes of every database of SQLite


def is_there(ledger: str) -> bool:
    """Is there such a file, or its head? What is behind an address shows when it is opened."""
    return "://" in ledger or Path(ledger).exists() or Path(f"{ledger}.head").exists()


def check_there(ledger: str) -> None:
    """Refuse a ledger that is missing, or a file that is none."""
    if not is_there(ledger):
        raise InvalidArgument(
            name="the ledger",
            expected="a file that is there",
            given=InvalidArgument.describe_parameter(ledger),
            hint="if there was one, restore it, since a new one would forget what was spent; for "
            f"a first one: discreet ledger create {shlex.quote(ledger)} --dataset NAME --epsilon 3",
        )
    _check_kind(ledger)


def check_place(ledger: str) -> None:
    """Refuse a place where no ledger can be made."""
    if "://" in ledger:
        return
    folder = Path(ledger).absolute().parent
    if not folder.is_dir():
        raise InvalidArgument(
            name="the ledger",
            expected="in a folder that is there",
            given=InvalidArgument.describe_parameter(ledger),
            hint="make the folder first",
        )
    _check_kind(ledger)


def in_a_command(ledger: str) -> str:
    """How a ledger is written in a command that is suggested: an address may hold a password."""
    return "LEDGER" if "://" in ledger else shlex.quote(ledger)


def _check_kind(ledger: str) -> None:
    """A file of another kind is no ledger; one with a head beside it is a damaged one."""
    path = Path(ledger)
    if "://" in ledger or not path.exists() or Path(f"{ledger}.head").exists():
        return
    if path.is_file():
        with open(path, "rb") as file:
            start = file.read(len(_SQLITE))
        if start == _SQLITE:
            return
    raise InvalidArgument(
        name="the ledger",
        expected="the file of a ledger",
        given=f"{InvalidArgument.describe_parameter(ledger)}, which is not one",
        hint="discreet ledger create makes one under a new name",
    )
