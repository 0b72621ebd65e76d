"""Files that are named on a command line: what may be written, ledgers, public keys.

No output may overwrite an input, a file that keeps the budget, or another output. All of it is
checked before anything is charged: an answer that cannot be written is paid for and lost, and a
ledger or a table that was overwritten is gone. A missing ledger is never made unless asked for, and
the remains of a ledger are never mistaken for a missing one.
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, Phrase
from discreet.signing import is_hexadecimal

if TYPE_CHECKING:
    from discreet.ledger.stores.store import Store

# -- files that are written ------------------------------------------------------------------------


def check_outputs(
    outputs: Mapping[str, Path | None], *, kept: Iterable[str] = (), new: bool = False
) -> None:
    """Refuse outputs, given by option, that cannot be written. ``kept`` are paths and patterns that
    none of them may match; if they must be ``new``, no existing file is overwritten."""
    places = {option: path for option, path in outputs.items() if path is not None}
    read = list(kept)
    for option, path in places.items():
        _check_folder(option, path)
        if any(_is_same(path, one) or _matches(path, one) for one in read):
            raise InvalidArgument.of(
                option, "a file other than those that are read or hold the budget", str(path)
            )
        if new and path.is_file():
            raise InvalidArgument.of(
                option,
                "a file that is not there yet",
                str(path),
                hint="choose another name, or say --force to overwrite it",
            )
    for path, other in combinations(places.values(), 2):
        if _is_same(path, str(other)):
            raise InvalidArgument(
                " and ".join(sorted(places)),
                "files of their own",
                Phrase("{} for both", InvalidArgument.describe_parameter(str(path))),
            )


def ledger_files(ledger: str | None) -> tuple[str, ...]:
    """The files of a ledger; none for one in a database."""
    return () if ledger is None else _store(ledger).files(ledger)


def key_files(key: str | None) -> list[str]:
    """The files of both halves of a key, given either."""
    if key is None:
        return []
    return [key, f"{key}.pub", *([key.removesuffix(".pub")] if key.endswith(".pub") else [])]


def _check_folder(option: str, path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir() or path.is_dir():
        raise InvalidArgument.of(option, "a file in a folder that exists", str(path))
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidArgument.of(option, "a file that may be written", str(path))


def _is_same(path: Path, other: str) -> bool:
    """Are these two names for one file, whether it exists yet or not?"""
    there = Path(other)
    same = path.exists() and there.exists() and path.samefile(there)
    return same or path.resolve() == there.resolve()


def _matches(path: Path, pattern: str) -> bool:
    """Does a pattern match this file, or would it once the file is written?"""
    if not glob.has_magic(pattern) or Path(pattern).exists():
        return False
    if any(_is_same(path, match) for match in glob.iglob(pattern)):
        return True
    wanted = Path(pattern).absolute().parts
    forms = (path.absolute().parts, path.resolve().parts)
    return any(len(form) == len(wanted) and all(map(fnmatchcase, form, wanted)) for form in forms)


# -- is there a ledger? ----------------------------------------------------------------------------


def ledger_exists(ledger: str) -> bool:
    """Is there such a ledger? One on a server counts as existing until it is opened."""
    return _store(ledger).is_there(ledger)


def check_ledger_exists(ledger: str) -> None:
    """Refuse a ledger that is missing, or a file that is not a ledger."""
    if not ledger_exists(ledger):
        raise InvalidArgument.of(
            "the ledger",
            "a file that is there",
            ledger,
            code="not-found",
            hint="if there was one, restore it, since a new one would forget what was spent; for "
            f"a first one: discreet ledger create {shlex.quote(ledger)} --dataset NAME --epsilon 3",
        )
    _check_is_ledger(ledger)


def check_ledger_place(ledger: str) -> None:
    """Refuse a place where no ledger can be made."""
    if any(not Path(file).absolute().parent.is_dir() for file in ledger_files(ledger)):
        raise InvalidArgument.of(
            "the ledger", "in a folder that is there", ledger, hint="make the folder first"
        )
    _check_is_ledger(ledger)


def ledger_in_a_command(ledger: str | None) -> str:
    """How a ledger is written in a suggested command; an address may hold a password."""
    return shlex.quote(ledger) if ledger and ledger_files(ledger) else "LEDGER"


def _store(ledger: str) -> type[Store]:
    from discreet.ledger.stores import store_of

    return store_of(ledger)


def _check_is_ledger(ledger: str) -> None:
    if _store(ledger).is_another_file(ledger):
        raise InvalidArgument(
            "the ledger",
            "the file of a ledger",
            Phrase("{}, which is not one", InvalidArgument.describe_parameter(ledger)),
            hint="discreet ledger create makes one under a new name",
        )


# -- public keys -----------------------------------------------------------------------------------


def check_public_key(key: str | None) -> None:
    """Refuse a missing file, and a private key, which those who check should not have."""
    if key is None or is_hexadecimal(key):
        return
    path = Path(key)
    if not path.is_file():
        raise InvalidArgument(
            "--public-key",
            "a file, or 64 hexadecimal digits",
            f"a name that is neither: there is no file {key}",
        )
    with open(path, "rb") as file:
        content = file.read(4096)
    if b"PRIVATE KEY" in content:
        raise InvalidArgument(
            "--public-key",
            "the public half of a key",
            "the private one, which signs and stays with its owner",
            hint=f"the public one is in {path.name}.pub, or in what its owner handed out",
        )
