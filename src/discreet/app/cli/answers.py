"""Where an answer goes: the terminal, a pipe, a file. Checked before anything is charged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from discreet.app.cli.outputs import check_places
from discreet.app.cli.printing import console, document, note
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.release import Result

_ANSWER = "The answer"
_FORMATS = ("table", "csv", "json")
_SUFFIXES = (".csv", ".parquet", ".json")


@dataclass(frozen=True)
class Answer:
    """How an answer is printed and where it is written."""

    output: Annotated[
        Path | None,
        Option(
            help="Write the answer to this file: .csv, .parquet or .json.",
            metavar="FILE",
            rich_help_panel=_ANSWER,
        ),
    ] = None
    format: Annotated[
        str,
        Option(
            help="How to print it; --json is the same as --format json.",
            metavar="table|csv|json",
            rich_help_panel=_ANSWER,
        ),
    ] = "table"
    certificate: Annotated[
        Path | None,
        Option(
            help="Write the certificate of the release to this file.",
            metavar="FILE",
            rich_help_panel=_ANSWER,
        ),
    ] = None

    def check(self, *, kept: Iterable[str]) -> None:
        """Refuse what could not be written, before anything is charged, and what is ``kept``."""
        if self.format not in _FORMATS:
            raise InvalidArgument(
                name="--format",
                expected="table, csv or json",
                given=InvalidArgument.describe_parameter(self.format),
            )
        if self.output is not None and self.output.suffix.lower() not in _SUFFIXES:
            raise InvalidArgument(
                name="--output",
                expected="a name that ends in .csv, .parquet or .json",
                given=InvalidArgument.describe_parameter(self.output.suffix),
            )
        check_places({"--output": self.output, "--certificate": self.certificate}, kept=kept)

    @property
    def is_asked(self) -> bool:
        """Was any of these options given?"""
        return self != Answer()

    def deliver(
        self,
        result: Result,
        *,
        command: str = "release",
        facts: Mapping[str, Any] = MappingProxyType({}),
        as_json: bool,
    ) -> None:
        """Write the files, then print."""
        text = document(command, {**facts, **document_of(result)})
        if self.certificate is not None:
            result.certificate.save(self.certificate)
        if self.output is not None:
            write(result, self.output, text)
            if not as_json:
                note(f"written to {self.output}")
        if as_json or self.format == "json":
            print(text)
        elif self.format == "csv":
            sys.stdout.write(str(result.to_csv()).replace("\r\n", "\n"))
        else:
            show(result)


def show(result: Result) -> None:
    """A table: in colour and fitted to a terminal, plain and in full width when piped."""
    if sys.stdout.isatty():
        console().print(result)
    else:
        print(result)
    if len(result) > 20 or len(result.columns) > 24:  # where tables are cut
        note("the table is cut: --format csv prints all of it, --output FILE writes it")


def write(result: Result, path: Path, text: str) -> None:
    """The answer as a file, by the ending of its name."""
    match path.suffix.lower():
        case ".csv":
            result.to_csv(path)
        case ".parquet":
            result.to_parquet(path)
        case _:
            path.write_text(text + "\n", encoding="utf-8")


def document_of(result: Result) -> dict[str, Any]:
    """A released table as a document."""
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
