"""Where an answer goes: the terminal, a pipe, a file. Checked before anything is charged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from discreet.app.cli.amounts import short
from discreet.app.cli.outputs import check_places
from discreet.app.cli.printing import console, document, note, say
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
        str | None,
        Option(
            help="How to print it: as a table unless given; --json is the same as --format json.",
            metavar="table|csv|json",
            rich_help_panel=_ANSWER,
        ),
    ] = None
    certificate: Annotated[
        Path | None,
        Option(
            help="Write the certificate of the release to this file.",
            metavar="FILE",
            rich_help_panel=_ANSWER,
        ),
    ] = None
    force: Annotated[
        bool,
        Option(
            "--force",
            help="Let --output and --certificate write over files that are there.",
            rich_help_panel=_ANSWER,
        ),
    ] = False

    def check_format(self, *, as_json: bool) -> None:
        """Refuse a format that is none, and two of them."""
        if self.format is not None and self.format not in _FORMATS:
            raise InvalidArgument(
                name="--format",
                expected="table, csv or json",
                given=InvalidArgument.describe_parameter(self.format),
            )
        if as_json and self.format not in (None, "json"):
            raise InvalidArgument(
                name="--format",
                expected="left out with --json, which prints one document",
                given=InvalidArgument.describe_parameter(self.format),
                hint="--output FILE writes the table as well, as .csv or .parquet",
            )

    def check(self, *, kept: Iterable[str], as_json: bool) -> None:
        """Refuse what could not be written, before anything is charged, and what is ``kept``."""
        self.check_format(as_json=as_json)
        if self.output is not None and self.output.suffix.lower() not in _SUFFIXES:
            raise InvalidArgument(
                name="--output",
                expected="a name that ends in .csv, .parquet or .json",
                given=InvalidArgument.describe_parameter(self.output.suffix),
            )
        places = {"--output": self.output, "--certificate": self.certificate}
        check_places(places, kept=kept, new=not self.force)

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
        beside: Iterable[str] = (),
        as_json: bool,
    ) -> None:
        """Write the files, then print, with lines ``beside`` the table."""
        text = document(command, {**document_of(result), **facts})
        if self.certificate is not None:
            result.certificate.save(self.certificate)
        if self.output is not None:
            write(result, self.output, text)
            if not as_json and self.format != "json":
                note(f"written to {self.output}")
        if as_json or self.format == "json":
            print(text)
        elif self.format == "csv":
            sys.stdout.write(str(result.to_csv()).replace("\r\n", "\n"))
            for line in beside:
                note(line)
        else:
            show(result)
            say(*beside)


def show(result: Result) -> None:
    """A table: in colour and fitted to a terminal, plain and in full width when piped."""
    result = replace(result, cost=short(result.cost))
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
