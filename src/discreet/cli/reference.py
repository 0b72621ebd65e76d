"""The reference of the command line, generated from the commands themselves.

``python -m discreet.cli.reference docs/command-line.md`` updates the page; a test fails if it is
stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from typer.main import get_command

from discreet.cli.failures import MEANINGS

START: Final = "<!-- from here on written by python -m discreet.cli.reference -->"
_EXAMPLE: Final = "Example:"
_BAR: Final = "\\|"  # a bare bar would end a cell of the table


def reference() -> str:
    """All exit codes, commands and options, as Markdown."""
    from discreet.cli.main import app

    codes = [f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]
    commands: list[str] = []
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for path, command in commands_of(get_command(app)):
        same = seen.setdefault(tuple(options_of(command)), path)
        commands += _section(path, command, same)
    head = ["## Exit codes", "", "| code | meaning |", "|---|---|", *codes]
    return "\n".join([START, "", *head, "", "## Every command", *commands]) + "\n"


def commands_of(command: Any, path: str = "discreet") -> Iterator[tuple[str, Any]]:
    """Each command, with the words that are typed to call it."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        whole = command.whole(name, inner) if hasattr(command, "whole") else inner
        yield from commands_of(whole, f"{path} {name}")


def examples_of(command: Any) -> list[str]:
    """The example lines of a command's help, continued lines as they are."""
    _, _, after = (command.help or "").partition(_EXAMPLE)
    return [line[2:] if line.startswith("  ") else line for line in after.strip("\n").splitlines()]


def options_of(command: Any) -> Iterator[tuple[str, str]]:
    """How each argument and option is written, and what it does."""
    for parameter in command.params:
        help_text = " ".join((parameter.help or "").split())
        help_text += f" Environment: {parameter.envvar}." if parameter.envvar else ""
        if parameter.param_type_name == "argument":
            yield f"{parameter.metavar}", help_text
        elif parameter.is_flag:
            yield parameter.opts[0], help_text
        else:
            yield f"{parameter.opts[0]} {parameter.metavar}", help_text


def _section(path: str, command: Any, same: str) -> list[str]:
    words, _, _ = (command.help or "").partition(_EXAMPLE)
    paragraphs = [" ".join(part.split()) for part in words.replace("\b", "").split("\n\n")]
    lines = ["", f"### {path}", "", "\n\n".join(filter(None, paragraphs))]
    if found := examples_of(command):
        lines += ["", "```sh", *found, "```"]
    rows = [f"| `{how.replace('|', _BAR)}` | {what} |" for how, what in options_of(command)]
    if rows and same != path:
        lines += ["", f"Options: those of `{same}`."]
    elif rows:
        lines += ["", "| | |", "|---|---|", *rows]
    return lines


def write(page: Path) -> None:
    """Write the reference at the end of a page, in place of the old one."""
    head, _, _ = page.read_text(encoding="utf-8").partition(START)
    page.write_text(head + reference(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
