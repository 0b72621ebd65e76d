"""How a command ends: messages in the words of the command line, exit codes, error documents.

``create=True`` of the Python API is ``--create`` here. No traceback and no value of the data is
ever printed: a message is one that discreet wrote or, for an unforeseen error, a sentence that
names nothing but its class.
"""

from __future__ import annotations

import errno
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from discreet import errors
from discreet.errors import Argument, Cast, Code, Idiom, InvalidArgument, Shown, Words

# -- messages in the words of the command line -----------------------------------------------------


_NEW: Final = "discreet ledger create LEDGER --dataset NAME"
_NEVER_CHANGED: Final = f"A cap is never changed, so that is a new one: {_NEW}"
_OPTIONS: Final = (
    *("epsilon", "delta", "rho", "mu", "error", "group_size", "dataset", "analyst", "unit"),
    *("relation", "schema", "delimiter", "key", "slack", "max_groups", "max_rows_per_group"),
    *("max_rows", "idempotency_key", "keys", "public_key", "result", "group_by", "where"),
    *("create", "batched", "seconds", "samples", "confidence", "pair", "neighbors", "claim"),
    *("wave", "half_width", "share", "about", "cross", "memory", "answers", "region"),
    *("curator_type", "ledger"),
)
_COLUMN: Final = "column of "


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class _Shell(Words):
    """Options in place of arguments; what was typed is text.

    >>> SHELL(errors.Phrase("pass {create=True} and {epsilon=0.5}"))
    'pass --create and --epsilon 0.5'
    >>> SHELL(Cast("age", "real")), SHELL(Argument("delimiter", "\\t"))
    ('--schema age=real', '--delimiter tab')
    >>> SHELL.parameter("max_rows"), SHELL.parameter("column of top_k")
    ('--max-rows', 'the column of --top-k')
    """

    idioms: Mapping[Idiom, str] = {
        Idiom.ADD_ANALYST: "add them: discreet ledger analysts LEDGER --dataset NAME --add NAME",
        Idiom.ADD_DATASET: f"add it: {_NEW} --epsilon 3",
        Idiom.ADD_GROUP: "add it: discreet ledger create LEDGER --group NAME --group-epsilon 5",
        Idiom.BOUND_BY_GROUP: "--max-groups 3 --max-rows-per-group 5",
        Idiom.BOUND_BY_ROWS: "--max-rows 10",
        Idiom.BOUNDS: "COLUMN:LOWER:UPPER",
        Idiom.BOUGHT_BOUNDS: "",
        Idiom.BUDGET: "--budget-epsilon 3",
        Idiom.CAP_GIVEN: "Leave it out to go on with it",
        Idiom.CAP_OF_APPROX: "for an (ε, δ) cap add a δ",
        Idiom.CAP_WITH_DELTA: f"ask of a dataset whose cap has a δ. {_NEVER_CHANGED} --epsilon 3 "
        "--delta 1e-6",
        Idiom.CAP_NOT_PURE: "ask of a dataset whose cap is in ρ, μ or (ε, δ). "
        f"{_NEVER_CHANGED} --rho 0.5",
        Idiom.CAP_WITH_SLACK: "list the keys, or ask of a dataset with slack, which is a new one: "
        f"{_NEW} --rho 0.5 --slack 1e-6",
        Idiom.CAST_TO_TEXT: "write text in quotes, and numbers without",
        Idiom.CERTIFICATE: "name the file that release wrote with --certificate",
        Idiom.CLAIM: "--claim epsilon=1",
        Idiom.COUNT: "--count",
        Idiom.DATABASE: "use the Python API",
        Idiom.DAY: "2026-01-31",
        Idiom.EDGES: "--histogram age:0,18,65,120",
        Idiom.GROUPS: "--group-by ward --keys A,B",
        Idiom.KEY_FILE: "discreet key create FILE",
        Idiom.MEMORY: "--memory answers.json",
        Idiom.NEW_DATASET: "--create and a cap such as --budget-epsilon 3",
        Idiom.NONE: "nothing",
        Idiom.NULL: "x is null or x is not null",
        Idiom.NUMBERS: "3, 0.1, 1e-6 or 1/3",
        Idiom.SAME_TABLE: "say the same --unit and --relation; if these are other people, or a "
        "person has several rows, keep --unit and ask of another dataset: "
        f"{_NEW} --unit COLUMN --epsilon 3",
        Idiom.UNIT: "--unit COLUMN",
        Idiom.WAVES: "say waves = N in the questionnaire",
        Idiom.YEAR: "write a date, as in 2026-01-31",
        Idiom.YES_OR_NO: "yes or no",
    }
    names: Mapping[str, str] = {
        **{name: _option(name) for name in _OPTIONS},
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
    }

    def parameter(self, name: str) -> str:
        """The option or the place on the command line, if it has one."""
        if name.startswith(_COLUMN):  # of an aggregate, whose option has its name
            return f"the {_COLUMN}{_option(name.removeprefix(_COLUMN))}"
        return self.names.get(name, name)

    def argument(self, one: Argument) -> str:
        """An option, with its value where that is not simply True."""
        if one.name not in _OPTIONS:
            return errors.PYTHON.argument(one)
        option = _option(one.name)
        if one.value is None or one.value is True:
            return option
        if isinstance(one.value, dict):
            return " ".join(f"{option} {key}={value}" for key, value in one.value.items())
        return f"{option} {self.literal(one.value)}"

    def literal(self, value: errors.Value) -> str:
        if isinstance(value, list | tuple):
            return ",".join(map(str, value))
        if isinstance(value, str):
            return "tab" if value == "\t" else shlex.quote(value)
        return super().literal(value)

    def cast(self, one: Cast) -> str:
        """What the column is read as from the start."""
        return f"--schema {one.column or 'COLUMN'}={one.type}"

    def shown(self, one: Shown) -> str:
        """Without its type: whatever is typed is text."""
        return one.text


SHELL: Final = _Shell()


class _Toml(Words):
    """Keys and values of a TOML file.

    >>> TOML(errors.Phrase('say {epsilon=} or {mechanism="response"}'))
    'say epsilon or mechanism = "response"'
    """

    idioms: Mapping[Idiom, str] = {
        Idiom.BOUNDS: "bounds = [lower, upper]",
        Idiom.NONE: "nothing",
        Idiom.NUMBERS: '3, 0.1 or "1/3"',
        Idiom.PAIR: "a pair [lower, upper]",
        Idiom.TRUTH: "true or false",
        Idiom.YES_OR_NO: "yes or no (true or false)",
    }

    def argument(self, one: Argument) -> str:
        return one.name if one.value is None else f"{one.name} = {json.dumps(one.value)}"

    def shown(self, one: Shown) -> str:
        """Without its type, which a file does not have."""
        return one.text


TOML: Final = _Toml()


def in_toml(error: InvalidArgument, file: str) -> InvalidArgument:
    """The same error about a key in this file, and in the question that its note names.

    >>> hint = errors.Phrase("say {epsilon=} instead")
    >>> error = InvalidArgument.of("truth", "left out", 2, hint=hint)
    >>> error.add_note("in question 1 (smoker)")
    >>> str(in_toml(error, "health.toml"))
    'health.toml, question 1 (smoker): truth must be left out, got 2; say epsilon instead'
    """
    where = ", ".join([file, *(n.removeprefix("in ") for n in getattr(error, "__notes__", ()))])
    return InvalidArgument(
        where if error.name == "the questionnaire" else f"{where}: {error.name}",
        TOML(error.expected),
        TOML(error.given),
        hint=TOML(error.hint),
        code=error.code,
    )


@contextmanager
def called(options: Mapping[str, str], *, hint: str = "") -> Iterator[None]:
    """Report an error about one of these Python arguments as one about its option."""
    try:
        yield
    except InvalidArgument as error:
        if error.name not in options:
            raise
        raise error.about(options[error.name], hint=hint) from None


# -- exit codes and error documents ----------------------------------------------------------------


FAILED_CHECK: Final = 1
INTERRUPTED: Final = 130
CLOSED: Final = 141  # what shells return for SIGPIPE
USAGE: Final = 2
_FILE: Final = 8
VIOLATED: Final = 9
_BUG: Final = 70

#: Code and meaning by class: the nearest class in the tree of errors decides.
CODES: Final[dict[type[errors.DiscreetError], tuple[int, str]]] = {
    errors.InvalidArgument: (USAGE, "an option or argument that makes no sense"),
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
    other = _FILE if isinstance(error, OSError) else _BUG
    return next((CODES[kind][0] for kind in type(error).__mro__ if kind in CODES), other)


def document_of(error: BaseException) -> dict[str, Any]:
    """The error as a document: kind, code, message, exit code, and the fields of its class.

    >>> document_of(errors.BudgetExceeded("ε = 2", "ε = 1", "ε = 1"))["error"]["requested"]
    'ε = 2'
    """
    if not isinstance(error, errors.DiscreetError):
        if isinstance(error, OSError):
            return document("FileError", "file-failed", message_of(error), _FILE)
        return document("InternalError", "internal", message_of(error), _BUG)
    name = SHELL.parameter(error.parameter)
    hint = SHELL(error.remedy) or "; ".join(getattr(error, "__notes__", ()))
    facts = {"parameter": name, "expected": SHELL(error.expected), "given": SHELL(error.given)}
    facts |= {"remedy": hint, "name": name, "hint": hint}  # the last two are what scripts know
    for field in ("requested", "spent", "limit", "left", "account"):
        facts[field] = str(getattr(error, field, None) or "")
    told = {field: fact for field, fact in facts.items() if fact}
    kind = type(error).__name__
    return document(kind, error.code, message_of(error), code_of(error), **told)


def document(kind: str, code: Code, message: str, exit_code: int, **fields: str) -> dict[str, Any]:
    """What every error document holds, and the fields of its kind."""
    told = {"kind": kind, "code": code, "message": message, "exit_code": exit_code}
    return {"error": {**told, **fields}}


def message_of(error: BaseException) -> str:
    """The message: one sentence, either ours or one that quotes nothing."""
    if isinstance(error, errors.DiscreetError):
        return "; ".join([error.sentence(SHELL), *getattr(error, "__notes__", ())])
    if isinstance(error, OSError):
        return _file_message(error)
    return (
        f"something unexpected happened inside discreet ({type(error).__name__}); this is a bug, "
        "please report it with the command that you ran"
    )


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
