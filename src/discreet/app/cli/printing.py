"""Everything that is printed goes through here: no markup from names, colour on terminals only.

With ``--json`` a command prints one document on standard output, ``{"command": ..., "result":
...}``, and an error is one document on standard error, ``{"error": {...}}``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from typer import Option

from discreet.printable import one_line

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class AsJson:
    """Every command has it."""

    json: Annotated[bool, Option("--json", help="Print one JSON document instead of text.")] = False


def console(file: TextIO | None = None) -> Console:
    """Where text goes: as wide as the terminal, never wrapped by us when it is piped."""
    from rich.console import Console

    return Console(file=file or sys.stdout, markup=False, emoji=False, highlight=False)


def say(*lines: str, style: str | None = None) -> None:
    """Plain lines on standard output; what a terminal would obey is replaced."""
    out = console()
    for line in lines:
        out.print(one_line(line), style=style, soft_wrap=True)


def note(line: str) -> None:
    """A line beside the answer, on standard error."""
    console(sys.stderr).print(one_line(line), style="dim", soft_wrap=True)


def show_document(command: str, result: Mapping[str, Any]) -> None:
    """The one JSON shape of results."""
    print(document(command, result))


def document(command: str, result: Mapping[str, Any]) -> str:
    """The same as text.

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
    """A value of JSON: exact numbers as text, dates in ISO form, what is unknown as null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Fraction():
            return str(value)
        case Decimal():
            whole = value == value.to_integral_value()
            return int(value) if whole else str(value)
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {str(name): plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
    return str(value)
