"""How a command ends: one table of exit codes, one shape for errors.

No traceback and no value of the data is ever printed: a message is one that discreet wrote, or,
for what nobody foresaw, a sentence that names the class of the error alone.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, Final

from discreet import errors
from discreet.app.cli.dialect import in_the_shell, translated

FAILED_CHECK: Final = 1
INTERRUPTED: Final = 130
CLOSED: Final = 141  # what shells say of SIGPIPE
_USAGE: Final = 2
_FILE: Final = 8
VIOLATED: Final = 9
_BUG: Final = 70

#: Code and meaning by class: the nearest class in the tree of errors decides.
CODES: Final[dict[type[errors.DiscreetError], tuple[int, str]]] = {
    errors.InvalidArgument: (_USAGE, "an option or argument that makes no sense"),
    errors.Refused: (3, "well formed, but it would break the promise"),
    errors.BudgetExceeded: (4, "it asks for more than is left of a budget"),
    errors.LedgerDamaged: (5, "the ledger cannot be trusted"),
    errors.EngineError: (6, "the database failed"),
    errors.EntropyFailed: (7, "the operating system gave no randomness"),
    errors.InternalError: (_BUG, "a bug of discreet: please report it"),
}

#: All of them, for the documentation.
MEANINGS: Final[dict[int, str]] = dict(
    sorted(
        {
            0: "done",
            FAILED_CHECK: "a verification found something wrong",
            **dict(CODES.values()),
            _FILE: "a file could not be read or written",
            VIOLATED: "an audit found a violation of the claim",
            INTERRUPTED: "interrupted",
            CLOSED: "whoever read the output left before its end, as in a pipe to head",
        }.items()
    )
)


class Unwritten(OSError):
    """A file that could not be written, and what became of the answer that was to be in it."""

    def __init__(self, error: OSError, kept: str) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.kept = kept


def code_of(error: BaseException) -> int:
    """The exit code for an error.

    >>> code_of(errors.BudgetExceeded(1, 2, 3)), code_of(errors.RelationMismatch("other"))
    (4, 3)
    >>> code_of(FileNotFoundError()), code_of(ZeroDivisionError())
    (8, 70)
    """
    for kind in type(error).__mro__:
        if kind in CODES:
            return CODES[kind][0]
    return _FILE if isinstance(error, OSError) else _BUG


def document_of(error: BaseException) -> dict[str, Any]:
    """The error as a document: kind, message, exit code, and the fields of its class.

    >>> document_of(errors.BudgetExceeded("ε = 2", "ε = 1", "ε = 1"))["error"]["requested"]
    'ε = 2'
    """
    if isinstance(error, errors.InvalidArgument):
        error = in_the_shell(error)
    known = isinstance(error, errors.DiscreetError)
    facts = {"kind": type(error).__name__ if known else _kind(error), "message": message_of(error)}
    names = ("name", "expected", "given", "hint", "requested", "spent", "limit", "left", "account")
    given = {n: getattr(error, n, None) for n in names if known}
    given["hint"] = given.get("hint") or "; ".join(getattr(error, "__notes__", ()))
    fields = {n: translated(str(field)) for n, field in given.items() if field}
    return {"error": {**facts, "exit_code": code_of(error), **fields}}


def usage_document(message: str) -> dict[str, Any]:
    """The same for a command line that could not be read at all."""
    return {"error": {"kind": "Usage", "message": message, "exit_code": _USAGE}}


def interrupted_document() -> dict[str, Any]:
    """The same for a command that somebody stopped."""
    told = "interrupted before its end"
    return {"error": {"kind": "Interrupted", "message": told, "exit_code": INTERRUPTED}}


def message_of(error: BaseException) -> str:
    """One sentence: ours, or one that quotes nothing."""
    if isinstance(error, errors.DiscreetError):
        told = in_the_shell(error) if isinstance(error, errors.InvalidArgument) else error
        return "; ".join([translated(str(told)), *getattr(error, "__notes__", ())])
    if isinstance(error, OSError):
        return _file_message(error)
    return (
        f"something unexpected happened inside discreet ({type(error).__name__}); this is a bug, "
        "please report it with the command that you ran"
    )


def _kind(error: BaseException) -> str:
    return "FileError" if isinstance(error, OSError) else "InternalError"


def _file_message(error: OSError) -> str:
    """What the operating system said, and of which file; never what is in it."""
    reason = (error.strerror or "it cannot be used").lower()
    name = f'"{Path(str(error.filename)).name}"' if error.filename else "a file"
    hints = {
        errno.ENOENT: "; check the path",
        errno.EACCES: "; check who may read and write it",
        errno.ENOSPC: "; make room on the disk",
    }
    kept = f"; {error.kept}" if isinstance(error, Unwritten) else ""
    return f"{name} could not be read or written: {reason}{hints.get(error.errno or 0, '')}{kept}"
