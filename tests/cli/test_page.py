"""docs/command-line.md is complete and up to date; tests/docs runs every command on it."""

from pathlib import Path

from typer.main import get_command

from discreet.cli.main import app
from discreet.cli.reference import commands_of, examples_of, options_of, reference

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = dict(commands_of(get_command(app)))


def test_the_reference_is_that_of_the_commands() -> None:
    """Catches a command or an option that is undocumented, or documented and gone.

    Write it anew with: python -m discreet.cli.reference docs/command-line.md
    """
    assert PAGE.read_text(encoding="utf-8").endswith(reference())


def test_every_option_says_what_it_does_and_every_command_has_an_example() -> None:
    """Catches an option without help, and a command without an example or --json."""
    for path, command in COMMANDS.items():
        for option, words in options_of(command):
            assert words.endswith("."), f"{path} {option}"
        if not getattr(command, "commands", None):
            assert [line for line in examples_of(command) if line.startswith(path)], path
            assert "--json" in dict(options_of(command)), path
        for line in examples_of(command):
            assert len(line) <= 74, f"{path}: does not fit a terminal of 80 columns: {line}"
