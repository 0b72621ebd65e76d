"""docs/command-line.md: complete, up to date, and every command on it runs."""

import re
import shlex
from pathlib import Path

from typer.main import get_command

from discreet.app.cli.main import app
from discreet.app.cli.reference import commands_of, examples_of, options_of, reference
from tests.app.conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"# exits with (\d+)$")
COMMANDS = dict(commands_of(get_command(app)))


def lines() -> list[str]:
    """Every command of the page, in order."""
    text = "".join(BLOCK.findall(PAGE.read_text(encoding="utf-8"))).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip()]


def test_the_reference_is_that_of_the_commands() -> None:
    """Catches a command or an option that is undocumented, or documented and gone.

    Write it anew with: python -m discreet.app.cli.reference docs/command-line.md
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


def test_every_line_of_the_page_runs(run: Run, folder: Path) -> None:
    """Catches an example that went stale, in the page or in the help of a command (the reference
    on the page holds all of those). They run in order, in one folder, and end as they say."""
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        (folder / name).write_text(text)
    found = lines()
    assert len(found) >= 30
    for line in found:
        program, *arguments = shlex.split(line, comments=True)
        assert program == "discreet", line
        ended = run(*arguments)
        stated = CODE.search(line)
        assert ended.code == (int(stated[1]) if stated else 0), f"{line}\n{ended.err}"
