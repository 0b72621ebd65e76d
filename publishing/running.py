"""Run a page: its blocks in order, in one folder, with what they print caught."""

from __future__ import annotations

import contextlib
import io
import math
import os
import random
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final
from unittest import mock

from publishing.blocks import ROOT, Block, blocks_of

SEED: Final = 8  # of the first block: readers draw new noise, and here it must be the same always
# Installing is not repeated for each page: tests/docs/test_quickstart.py does it, and `make demo`.
_SETTING_UP = re.compile(r"^\s*(make |pip install|python3? -m venv|git clone)", re.MULTILINE)
_COMMENTED = re.compile(r"^(?!\w+ = )(?P<code>\w[^#\n]*?)[ ]+# (?P<shown>-?\d.*)$", re.MULTILINE)
_SHOWN = re.compile(r"(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?:/\d+)?)(?:$|: )")
_NUMBER = re.compile(r"[-−+]?(?:\b[0-9a-f]{8,}\b|[\d⁰¹²³⁴-⁹][\d.,⁰¹²³⁴-⁹]*(?:e[-+]?\d+)?)")
_FILE = re.compile(r"# (?P<name>\w+\.py)\n")  # the first line of a block that is also a file
_STATED = re.compile(r"# exits with (?P<code>\d+)$")
PLAIN: Final = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
# Dates, times, what took how long, and digests of what holds them.
_PASSING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+]*| +\d[\d.]* (?:ms|s)\b|\b(?=[a-f]*\d)[0-9a-f]{16,}\b"
)
_DRAWN = re.compile(r"[\s─━▁-▏░▒▓-]+")  # spacing, rules and bars
_SPACING = re.compile(r"[\s─━-]+")  # which follows from how long the numbers are
_FLOAT = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-−+]?\d+)?")


@dataclass(frozen=True)
class Ran:
    """A block, and what it printed."""

    block: Block
    output: str


def runs_here(block: Block) -> bool:
    """Whether the block is code for our own environment."""
    if block.library is not None or block.language not in ("python", "sh"):
        return False
    return not (block.language == "sh" and _SETTING_UP.search(block.text))


def run_page(page: Path, folder: Path) -> Iterator[Ran]:
    """Run all blocks of a page in a folder; the process must be in that folder already.

    Later blocks may use what earlier ones defined. A result in a comment behind an expression is
    compared with the result.
    """
    from discreet.testing import seeded

    furnish(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = filter(runs_here, blocks_of(page.read_text()))
    for number, block in enumerate(blocks):
        random.seed(SEED + number)  # for code of a reader's that draws by itself
        with seeded(SEED + number):
            if block.language == "sh":
                text = block.text
                ours = _only_ours(text)
                output = run_programs(text) if ours else run_shell(text, folder)
                yield Ran(block, without(folder, output))
                continue
            if saved := _FILE.match(block.text):
                (folder / saved["name"]).write_text(block.text)
            # As many lines above as in the page: an error then names the line of the page.
            code = compile("\n" * (block.start + 1) + block.text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(code, names)
            for check in checks_of(block):
                exec(compile(check, f"{page}, a result in a comment", "exec"), names)
            yield Ran(block, without(folder, printed.getvalue()))


def furnish(folder: Path) -> None:
    """What a reader has: sources and examples of a clone, and the rows that the demo leaves."""
    for name in ("src", "examples"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "src" / "discreet" / "data" / "visits.csv", folder / "visits.csv")


def _only_ours(text: str) -> bool:
    """Whether all lines are programs of ours, and nothing that only a shell understands."""
    quoted = r"'[^']*'|\"[^\"]*\""
    ours = r"(discreet|python examples/\w+\.py)\b[^|&;<>$`*]*$"
    return all(re.match(ours, re.sub(quoted, "", line)) for line in _lines(text))


def _lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def run_programs(text: str) -> str:
    """What programs of ours print, in this process: a new one would take seconds for each.

    They end with 0, or with the code that is stated behind them: ``# exits with 9``.
    """
    said = io.StringIO()
    with (
        mock.patch.dict(os.environ, PLAIN),
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(said),
    ):
        for line in _lines(text):
            ended = _ended(shlex.split(line, comments=True))
            stated = _STATED.search(line)
            if ended != (int(stated["code"]) if stated else 0):
                raise AssertionError(f"exit {ended} of\n{line}\n{said.getvalue()}")
    return printed.getvalue()


def _ended(words: list[str]) -> int:
    """The exit code of one of our programs."""
    if words[0] == "discreet":
        from discreet.cli.main import main

        return main(words[1:])
    with mock.patch("sys.argv", words[1:]):
        runpy.run_path(words[1], run_name="__main__")
    return 0


def run_shell(text: str, folder: Path) -> str:
    """What these lines print in a shell that stops at the first failure."""
    path = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env={**os.environ, **PLAIN, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    if done.returncode:
        raise AssertionError(f"exit {done.returncode} of\n{text}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def checks_of(block: Block) -> Iterator[str]:
    """Results in comments, as in ``expression  # 0.684``, as assertions."""
    for line in _COMMENTED.finditer(block.text):
        shown = _SHOWN.match(line["shown"])
        if shown is None:
            raise ValueError(f"{line[0]}: write a number, then nothing or a colon and words")
        number = shown["number"].replace(",", "")
        mantissa, _, exponent = number.partition("e")
        digits = 12 if "/" in number else len(mantissa.partition(".")[2]) - int(exponent or 0)
        value = f"round(float({line['code']}), {digits})"
        wanted = float(Fraction(number))
        yield f"assert {value} == {wanted}, ({value}, {wanted})"


def same(shown: Block, output: str) -> bool:
    """Whether a block shows this output: all of it, or but for its numbers where they vary."""
    return near(read_output(shown.text, shown.varies), read_output(output, shown.varies))


def read_output(output: str, varies: bool) -> str:
    """What is compared of an output."""
    return words_of(output) if varies else "\n".join(without_clocks(output))


def near(kept: str, found: str, *, zero: float = 0.0) -> bool:
    """Whether two texts are the same but for the last digits of floats: processors and libraries
    differ in those. What is no more than ``zero`` away from 0 is 0.

    >>> near("loss: 0.0816421704449", "loss: 0.0816421704451")
    True
    >>> near("loss: 0.0816", "loss: 0.0817"), near("100000001 rows", "100000002 rows")
    (False, False)
    """
    numbers = [_FLOAT.findall(text) for text in (kept, found)]
    words = [_SPACING.sub(" ", _FLOAT.sub("#", text)) for text in (kept, found)]
    return kept == found or (
        words[0] == words[1] and all(_close(a, b, zero) for a, b in zip(*numbers, strict=True))
    )


def _close(a: str, b: str, zero: float) -> bool:
    if a.lstrip("-−").isdecimal() and b.lstrip("-−").isdecimal():
        return a == b
    x, y = (float(text.replace("−", "-").replace(",", "")) for text in (a, b))
    return math.isclose(x, y, rel_tol=1e-9, abs_tol=zero)


def without_clocks(output: str) -> list[str]:
    """The lines of an output without dates, durations and digests."""
    return [_PASSING.sub("#", line) for line in tidy(output)]


def tidy(output: str) -> list[str]:
    """The lines of an output as a page shows them."""
    return [line.rstrip() for line in output.strip("\n").splitlines()]


def without(folder: Path, output: str) -> str:
    """An output that does not say in which folder the page was run."""
    return output.replace(f"{folder.resolve()}{os.sep}", "").replace(f"{folder}{os.sep}", "")


def words_of(output: str) -> str:
    """An output without its numbers, digests, bars and spacing, which noise and clocks may change.

    >>> words_of("surgery   882 ± 9\\n------")
    'surgery # ± #'
    """
    return _DRAWN.sub(" ", _NUMBER.sub("#", output)).strip()
