"""How a command ends: messages in the words of the command line, exit codes, error documents.

``create=True`` of the Python API is ``--create`` here. No traceback and no value of the data is
ever printed: a message is one that discreet wrote or, for an unforeseen error, a sentence that
names nothing but its class.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from discreet import errors
from discreet.errors import InvalidArgument

# -- messages in the words of the command line -----------------------------------------------------


_NEW: Final = "discreet ledger create LEDGER --dataset NAME"
_PHRASES: Final = {
    ".bound(max_groups=3, max_rows_per_group=5)": "--max-groups 3 --max-rows-per-group 5",
    ".bound(max_rows=10)": "--max-rows 10",
    "bound(max_groups=3, max_rows_per_group=5)": "--max-groups 3 --max-rows-per-group 5",
    'dp.table(..., unit="column")': "--unit COLUMN",
    "claim=dp.Pure(1)": "--claim epsilon=1",
    "batched=True": "--batched",
    'memory=Memory("answers.json")': "--memory answers.json",
    "create=True and a budget": "--create and a cap such as --budget-epsilon 3",
    "create=True": "--create",
    "budget=dp.Pure(3)": "--budget-epsilon 3",
    'as in group_by("ward", keys=["A", "B"])': "name each column once",
    'keys=["A", "B"]': "--keys A,B",
    "pair=(0, 1)": "--pair 0,1",
    "edges=[0, 18, 65, 120]": "--histogram age:0,18,65,120",
    'count() needs none; text that holds numbers is read by .cast("real")': "--count needs none",
    "say dp.table(ibis.connect(address).table(name))": "use the Python API",
    'keys="discover"': "--keys discover",
    "dataset=...": "--dataset NAME",
    "bounds=(lower, upper)": "COLUMN:LOWER:UPPER",
    "; session.release_bounds buys them privately": "",
    '3, 0.1, "1/3", Fraction(1, 3) or Decimal("0.1")': "3, 0.1, 1e-6 or 1/3",
    "discreet.signing.create_key(path)": "discreet key create FILE",
    "to check a signature, give it as public_key": "to check a signature, give it as --public-key",
    "read the file that certificate.save(path) wrote": "name the file that release wrote with "
    "--certificate",
    "say row.x.is_null() or row.x.is_not_null()": "say x is null or x is not null",
    'say it with .cast("real")': "say it with --schema COLUMN=real",
    'cast one of them, as in .cast("text")': "write text in quotes, and numbers without",
    "write a day, as in datetime.date(2026, 1, 31)": "write a day, as in 2026-01-31",
    "take a number from the date first, as in .year()": "write a date, as in 2026-01-31",
    'delimiter="\\t"': "--delimiter tab",
    'delimiter=";"': "--delimiter ';'",
    'delimiter="|"': "--delimiter '|'",
    "open a session with a budget such as dp.Approx(epsilon, delta)": "ask of a dataset whose cap "
    f"has a δ. A cap is never changed, so that is a new one: {_NEW} --epsilon 3 --delta 1e-6",
    "open a session with a budget in ρ, μ or (ε, δ)": "ask of a dataset whose cap is in ρ, μ or "
    f"(ε, δ). A cap is never changed, so that is a new one: {_NEW} --rho 0.5",
    "another budget was given": "another one was given",
    "Leave the budget out to go on with it": "Leave it out to go on with it",
    "open the table with the same unit=": "say the same unit=",
    "keep unit= and use another ledger= or dataset=": "keep unit= and ask of another dataset: "
    f"{_NEW} --unit COLUMN --epsilon 3",
    "open one with slack, or use what needs no delta": "list the keys, or ask of a dataset with "
    f"slack, which is a new one: {_NEW} --rho 0.5 --slack 1e-6",
    "yes or no (True or False)": "yes or no",
    "say waves= in the questionnaire": "say waves = N in the questionnaire",
    "people would be needed for this half_width": "people would be needed for this --half-width",
    "for an (ε, δ) cap use Filter.from_epsilon_delta": "for an (ε, δ) cap add a δ",
    "ledger.add_analyst(...), or discreet ledger, adds one": "add them: discreet ledger analysts "
    "LEDGER --dataset NAME --add NAME",
    "ledger.add_dataset(...), or discreet ledger, adds one": f"add it: {_NEW} --epsilon 3",
    "ledger.add_group(...), or discreet ledger, adds one": "add it: discreet ledger create LEDGER "
    "--group NAME --group-epsilon 5",
}
_OPTIONS: Final = (
    *("epsilon", "delta", "rho", "mu", "error", "group_size", "dataset", "analyst", "unit"),
    *("relation", "schema", "delimiter", "key", "slack", "max_groups", "max_rows_per_group"),
    *("max_rows", "idempotency_key", "keys", "public_key", "result", "group_by", "where"),
    *("create", "ledger", "batched", "seconds", "samples", "confidence", "pair", "neighbors"),
    *("claim", "wave", "half_width", "share", "about", "cross", "memory", "answers"),
)
_OF_COLUMNS: Final = ("sum", "mean", "median", "quantile", "variance", "std", "histogram")
_NAMES: Final = {
    "run": "TARGET",
    "source": "DATA",
    "certificate": "CERTIFICATE",
    "column": "the column",
    "bound": "--max-rows",
    "budget": "the cap",
    "limit": "the cap",
    "groups": "--group",
    "path": "FILE",
    "ledger": "the ledger",
    "region": "--region",
    "curator_type": "--curator-type",
    **{f"column of {name}": f"the column of --{name}" for name in _OF_COLUMNS},
    "column of top_k": "the column of --top-k",
    "column of most_common": "the column of --most-common",
}
# What the user typed stays as it is, and so does a claim, which is written as in Python.
_TYPED: Final = r"(?:^|got )'[^']*'|--claim \S+"
_KEYWORD: Final = re.compile(rf"{_TYPED}|\b({'|'.join(_OPTIONS)})=(\"[^\"]*\"|\w*)")
_CAST: Final = re.compile(r'row(?:\.|\[")(\w[^"()]*?)(?:"\])?\.cast\("(\w+)"\)')
_TYPE: Final = re.compile(r" \((str|int|float|Fraction|Decimal)\)")


def translated(message: str) -> str:
    """A sentence with options in place of Python's arguments.

    >>> translated("say delimiter= for another, or pass create=True and epsilon=0.5")
    'say --delimiter for another, or pass --create and --epsilon 0.5'
    >>> translated('say which, as in dataset="visits"')
    'say which, as in --dataset visits'
    >>> translated('read the text as numbers, as in row.age.cast("real")')
    'read the text as numbers, as in --schema age=real'
    >>> translated("say --claim epsilon=1,delta=1e-5")
    'say --claim epsilon=1,delta=1e-5'
    """
    for python, shell in _PHRASES.items():
        message = message.replace(python, shell)
    return _KEYWORD.sub(_option, _CAST.sub(r"--schema \1=\2", message))


def in_the_shell(error: InvalidArgument) -> InvalidArgument:
    """The same error about an option instead of an argument; what was typed is text.

    >>> error = InvalidArgument(name="max_rows", expected="1 or above", given="0 (int)")
    >>> str(in_the_shell(error))
    '--max-rows must be 1 or above, got 0'

    Its notes are kept.
    """
    option = f"--{error.name.replace('_', '-')}" if error.name in _OPTIONS else error.name
    told = InvalidArgument(
        name=_NAMES.get(error.name, option),
        expected=translated(error.expected),
        given=_TYPE.sub("", translated(error.given)),
        hint=translated(error.hint),
    )
    for note in getattr(error, "__notes__", ()):
        told.add_note(note)
    return told


_IN_TOML: Final = {
    '3, 0.1, "1/3", Fraction(1, 3) or Decimal("0.1")': '3, 0.1 or "1/3"',
    "True or False": "true or false",
    "a pair (lower, upper)": "a pair [lower, upper]",
}
_KEY: Final = re.compile(r"\b([a-z_]+)=(\"[^\"]*\")?")


def in_toml(error: InvalidArgument, file: str) -> InvalidArgument:
    """The same error about a key in this file, and in the question that its note names.

    >>> error = InvalidArgument(
    ...     name="truth", expected="left out", given="2 (int)", hint="say epsilon= instead"
    ... )
    >>> error.add_note("in question 1 (smoker)")
    >>> str(in_toml(error, "health.toml"))
    'health.toml, question 1 (smoker): truth must be left out, got 2; say epsilon instead'
    """
    where = ", ".join([file, *(n.removeprefix("in ") for n in getattr(error, "__notes__", ()))])
    return InvalidArgument(
        name=where if error.name == "the questionnaire" else f"{where}: {error.name}",
        expected=_of_keys(error.expected),
        given=_TYPE.sub("", "nothing" if error.given == "None" else error.given),
        hint=_of_keys(error.hint),
    )


def _of_keys(words: str) -> str:
    for python, toml in _IN_TOML.items():
        words = words.replace(python, toml)
    return _KEY.sub(lambda found: f"{found[1]} = {found[2]}" if found[2] else found[1], words)


@contextmanager
def called(option: str, *arguments: str, hint: str = "") -> Iterator[None]:
    """Report an error about one of these Python arguments, or about any if none is named, as one
    about this option."""
    try:
        yield
    except InvalidArgument as error:
        if arguments and error.name not in arguments:
            raise
        raise InvalidArgument(
            name=option,
            expected=error.expected,
            given=error.given,
            hint=hint or error.hint,
        ) from None


def _option(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    option, value = found[1].replace("_", "-"), found[2].strip('"')
    return f"--{option} {value}" if value else f"--{option}"


# -- exit codes and error documents ----------------------------------------------------------------


FAILED_CHECK: Final = 1
INTERRUPTED: Final = 130
CLOSED: Final = 141  # what shells return for SIGPIPE
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
    errors.InternalError: (_BUG, "a bug in discreet: please report it"),
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
            CLOSED: "the reader of the output left before its end, as in a pipe to head",
        }.items()
    )
)


class Unwritten(OSError):
    """A file that could not be written, and what became of the answer meant for it."""

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
    """The error document for a command line that could not be parsed at all."""
    return {"error": {"kind": "Usage", "message": message, "exit_code": _USAGE}}


def interrupted_document() -> dict[str, Any]:
    """The error document for a command that the user interrupted."""
    told = "interrupted before its end"
    return {"error": {"kind": "Interrupted", "message": told, "exit_code": INTERRUPTED}}


def message_of(error: BaseException) -> str:
    """The message: one sentence, either ours or one that quotes nothing."""
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
    """What the operating system said about which file, never what the file holds."""
    reason = (error.strerror or "it cannot be used").lower()
    name = f'"{Path(str(error.filename)).name}"' if error.filename else "a file"
    hints = {
        errno.ENOENT: "; check the path",
        errno.EACCES: "; check who may read and write it",
        errno.ENOSPC: "; make room on the disk",
    }
    kept = f"; {error.kept}" if isinstance(error, Unwritten) else ""
    return f"{name} could not be read or written: {reason}{hints.get(error.errno or 0, '')}{kept}"
