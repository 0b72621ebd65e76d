"""Everything that is printed goes through here: no markup from names, colour on terminals only.

With ``--json`` a command prints one document on standard output, ``{"command": ..., "result":
...}``, and an error is one document on standard error, ``{"error": {...}}``. Amounts have six
digits on a screen, and are exact in a document. Where an answer goes is checked before anything
is charged.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from discreet.cli.options import Text, flag, option
from discreet.cli.paths import check_outputs
from discreet.errors import InvalidArgument, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.ledger import Account
    from discreet.release import Result


# -- lines and documents ---------------------------------------------------------------------------


@dataclass(frozen=True)
class AsJson:
    """The option --json, which every command has."""

    json: bool = flag("--json", "Print one JSON document instead of text.")

    def tell(self, command: str, result: Mapping[str, Any], *lines: str) -> None:
        """Print a result as one document, or else these lines."""
        if self.json:
            show_document(command, result)
        else:
            say(*lines)


def console(file: TextIO | None = None) -> Console:
    """The console that text goes to: as wide as the terminal, never wrapped when piped."""
    from rich.console import Console

    return Console(file=file or sys.stdout, markup=False, emoji=False, highlight=False)


def say(*lines: str, style: str | None = None) -> None:
    """Print plain lines on standard output; control characters are replaced."""
    out = console()
    for line in lines:
        out.print(one_line(line), style=style, soft_wrap=True)


def note(*lines: str) -> None:
    """Print lines on standard error, apart from the answer."""
    for line in lines:
        console(sys.stderr).print(one_line(line), style="dim", soft_wrap=True)


def show_document(command: str, result: Mapping[str, Any]) -> None:
    """Print a result in the JSON shape that all commands share."""
    print(document(command, result))


def document(command: str, result: Mapping[str, Any]) -> str:
    """A result in the JSON shape that all commands share, as text.

    >>> print(document("key create", {"file": "a.pem", "size": Fraction(1, 3)}))
    {
      "command": "key create",
      "result": {
        "file": "a.pem",
        "size": "1/3"
      }
    }
    """
    whole = {"command": command, "result": plain(result)}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value for JSON: exact numbers as text, dates in ISO form, unknown values as null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Fraction():
            return str(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else str(value)
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {str(name): plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
    return str(value)


# -- amounts of privacy ----------------------------------------------------------------------------


_NUMBER: Final = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


def short(words: str) -> str:
    """Words with numbers of at most six digits.

    >>> short("ε = 2 at δ = 1e-06, kept as ρ = 0.0834417210567")
    'ε = 2 at δ = 1e-06, kept as ρ = 0.0834417'
    """
    return _NUMBER.sub(lambda found: f"{float(found[0]):.6g}", words)


def in_words(notion: Any, amount: Fraction, slack: Fraction) -> str:
    """ε, ρ or μ², and δ₀ if there is any."""
    from discreet.guarantees import filters

    return short(filters.in_words(notion, amount, slack))


def cap_in_words(account: Account) -> str:
    """The cap as it was stated, and as it is accounted for."""
    from discreet.ledger import Cap

    assert account.budget is not None and account.filter is not None
    return short(str(Cap.read(account.budget, account.filter.slack)))


# -- where an answer goes --------------------------------------------------------------------------


_ANSWER = "The answer"
_answer = partial(option, panel=_ANSWER)
_FORMATS = ("table", "csv", "json")
_SUFFIXES = (".csv", ".parquet", ".json")


@dataclass(frozen=True)
class AnswerOptions:
    """How an answer is printed and where it is written."""

    output: Path | None = _answer("Write the answer to this file: .csv, .parquet or .json.", "FILE")
    format: Text = _answer(
        "How to print it: as a table unless given; --json is the same as --format json.",
        "table|csv|json",
    )
    certificate: Path | None = _answer("Write the certificate of the release to this file.", "FILE")
    force: bool = flag(
        "--force", "Let --output and --certificate overwrite existing files.", _ANSWER
    )

    def check_format(self, *, as_json: bool) -> None:
        """Refuse an unknown format, and --format together with --json."""
        if self.format is not None and self.format not in _FORMATS:
            raise InvalidArgument.of("--format", "table, csv or json", self.format)
        if as_json and self.format not in (None, "json"):
            raise InvalidArgument.of(
                "--format",
                "left out with --json, which prints one document",
                self.format,
                hint="--output FILE writes the table as well, as .csv or .parquet",
            )

    def check(self, *, kept: Iterable[str], as_json: bool) -> None:
        """Refuse outputs that cannot be written or are ``kept``, before anything is charged."""
        self.check_format(as_json=as_json)
        if self.output is not None and self.output.suffix.lower() not in _SUFFIXES:
            raise InvalidArgument.of(
                "--output", "a name that ends in .csv, .parquet or .json", self.output.suffix
            )
        places = {"--output": self.output, "--certificate": self.certificate}
        check_outputs(places, kept=kept, new=not self.force)

    def deliver(
        self,
        result: Result,
        *,
        command: str = "release",
        facts: Mapping[str, Any],
        beside: Iterable[str] = (),
        as_json: bool,
    ) -> None:
        """Write the files, then print the answer, with lines ``beside`` the table."""
        text = document(command, {**result_document(result), **facts})
        if self.certificate is not None:
            result.certificate.save(self.certificate)
        as_json = as_json or self.format == "json"
        if self.output is not None:
            match self.output.suffix.lower():
                case ".csv":
                    result.to_csv(self.output)
                case ".parquet":
                    result.to_parquet(self.output)
                case _:
                    self.output.write_text(text + "\n", encoding="utf-8")
            if not as_json:
                note(f"written to {self.output}")
        if as_json:
            print(text)
        elif self.format == "csv":
            sys.stdout.write(str(result.to_csv()).replace("\r\n", "\n"))
            note(*beside)
        else:
            show_result(result)
            say(*beside)


def show_result(result: Result) -> None:
    """Print a table: in colour and fitted to a terminal, plain and in full width when piped."""
    result = replace(result, cost=short(result.cost))
    if sys.stdout.isatty():
        console().print(result)
    else:
        print(result)
    if len(result) > 20 or len(result.columns) > 24:  # where tables are cut
        note("the table is cut: --format csv prints all of it, --output FILE writes it")


def result_document(result: Result) -> dict[str, Any]:
    columns = [
        {"name": c.name, "role": c.role, "kind": c.kind or None, "of": c.of} for c in result.columns
    ]
    return {
        "columns": columns,
        "rows": result.to_dicts(),
        "cost": result.cost,
        "protects": result.protects,
        "guarantee": json.loads(result.guarantee.to_json()),
        "notes": list(result.notes),
        "suppressed": result.suppressed,
    }
