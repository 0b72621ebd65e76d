"""The entry point: ``discreet``, its commands, and their exit codes."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import discreet
from discreet.cli import audit, demo, failures, key, ledger, survey, verify
from discreet.cli import release as asking
from discreet.cli.options import flat
from discreet.cli.output import console, show_document
from discreet.errors import InvalidArgument, one_line

# The class of typer's own usage errors; where it is defined depends on the version of typer.
_UsageError: Any = typer.BadParameter.__mro__[1]

_LOOKS: Any = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "rich",
}
#: Commands whose options are loaded when they run: the names of aggregates are in heavy modules.
_LATE: Any = {"release": asking.release, "explain": asking.explain}


class Commands(TyperGroup):
    """The commands; those that run have all of their options."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.whole(name, command), rest

    def whole(self, name: Any, command: Any) -> Any:
        """The command with all of its options."""
        if name not in _LATE:
            return command
        alone = typer.Typer(**_LOOKS)
        alone.command(name)(asking.complete(_LATE[name]))
        return get_command(alone)


app = typer.Typer(name="discreet", cls=Commands, **_LOOKS)


@app.callback(invoke_without_command=True)
def front(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --version: print one JSON document.")
    ] = False,
) -> None:
    """Statistics about people with differential privacy that you can check.

    A first release, from a table and a budget to an answer with error bars:

    \b
    Example:
      discreet ledger create people.ledger --dataset people --unit person \\
        --epsilon 3
      discreet explain people.csv --unit person --count --epsilon 0.5
      discreet release people.csv --unit person --count --epsilon 0.5 \\
        --ledger people.ledger
      discreet ledger show people.ledger
    """
    if version and as_json:
        show_document("version", {"version": discreet.__version__})
    elif version:
        print(f"discreet {discreet.__version__}")
    elif context.invoked_subcommand is None and as_json:
        raise InvalidArgument.conflict(
            "--json",
            "given with --version or after a command",
            "alone",
            hint="discreet --help lists the commands",
        )
    elif context.invoked_subcommand is None:
        print(context.get_help())


for _command in (*_LATE.values(), verify.verify, audit.audit, demo.demo):
    app.command(_command.__name__)(flat(_command))
app.add_typer(ledger.ledger_app)
app.add_typer(key.key_app)
app.add_typer(survey.survey_app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    # An interrupt may leave a cursor open; the pool's log messages about it help nobody.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # do not fail on a terminal that cannot show δ
            stream.reconfigure(errors="backslashreplace")
    try:
        ended = app(given, prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
        if ended == failures.INTERRUPTED:  # some versions of typer return it
            raise KeyboardInterrupt
        return ended if isinstance(ended, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        words, code = "interrupted before its end", failures.INTERRUPTED
        told = failures.document("Interrupted", "interrupted", words, code)
    except SystemExit:
        return failures.CLOSED  # only rich raises it, when the reader of a pipe has left
    except BrokenPipeError:
        # The reader has left. What Python would still flush on exit is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return failures.CLOSED
    except _UsageError as error:
        told = failures.document("Usage", "usage", _usage(error), failures.USAGE)
    except Exception as error:
        told = failures.document_of(error)
    return _complain(told["error"], as_json=as_json)


def _usage(error: Any) -> str:
    message = str(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "discreet"
    return f"{message}; see {path} --help"


def _complain(error: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": error}, indent=2, ensure_ascii=False), file=sys.stderr)
    else:
        out = console(sys.stderr)
        out.print("error: ", style="bold red", end="")
        out.print(one_line(error["message"]), soft_wrap=True)
    return int(error["exit_code"])


if __name__ == "__main__":
    sys.exit(main())
