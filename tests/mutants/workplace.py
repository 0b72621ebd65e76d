"""A copy of the source in which one mutant at a time is put in place and tested."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants.mutant import PACKAGE, ROOT, Mutant

PYTEST = (
    *(sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--no-cov", "--tb=line"),
    *(
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.mutants.first_failure",
        "--hypothesis-profile=mutants",
    ),
    *("-k", "not postgres and not spark"),  # the mutated code is the same on every engine
)
_TIMES = ("-o", "junit_family=xunit1")  # which allows for what our tests record beside them
TESTS_FAILED = 1  # pytest's exit code; others say that tests could not even be collected


@dataclass(frozen=True)
class Outcome:
    """What the named tests said."""

    killed: bool
    by: str  #: the test that failed, or what else happened
    seconds: float
    broken: bool = False  #: nothing was tested: the mutant does not even import


class Workplace:
    """One folder, one mutant at a time; the source tree itself is never written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=_ignored)
        self._check_that_the_copy_is_imported()

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        file = self.folder / PACKAGE / mutant.file
        before = file.read_text()
        try:
            _write(file, mutant.apply(before))
            yield
        finally:
            _write(file, before)

    def test(self, mutant: Mutant, *, limit: float) -> Outcome:
        """Run the tests of a mutant; whoever takes longer than the limit is stuck: killed."""
        start = time.monotonic()
        with self.mutated(mutant):
            code, output = self.run([*PYTEST, *mutant.tests], limit=limit)
        seconds = time.monotonic() - start
        if code is None:
            return Outcome(True, f"no end within {limit:.0f} s", seconds)
        failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
        if code == TESTS_FAILED and failed:
            return Outcome(True, failed[0], seconds)
        if code == 0:
            return Outcome(False, "", seconds)
        return Outcome(False, output[-600:], seconds, broken=True)

    def seconds_unmutated(self, tests: Sequence[str]) -> dict[str, float]:
        """Run tests on the code as it is; seconds by test function. Refuses if one fails."""
        if not tests:
            return {}
        report = self.folder / "unmutated.xml"
        code, output = self.run([*PYTEST, *_TIMES, f"--junit-xml={report}", *tests], limit=1800)
        if code != 0:
            raise SystemExit(f"The tests fail on the code as it is:\n{output[-3000:]}")
        seconds: dict[str, float] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}.{(case.get('name') or '').split('[')[0]}"
            seconds[name] = seconds.get(name, 0.0) + float(case.get("time") or 0)
        return seconds

    def run(self, command: Sequence[str], *, limit: float) -> tuple[int | None, str]:
        """Run a command on the copy; exit code (None: it took too long) and what it printed."""
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # so that what it starts can be stopped with it
        )
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""

    @property
    def _environment(self) -> dict[str, str]:
        # What PYTHONPATH names comes before the environment's own packages, of which the
        # tree is one (installed editable).
        path = f"{self.folder / PACKAGE.parent}{os.pathsep}{ROOT}"
        return {**os.environ, "PYTHONPATH": path}

    def _check_that_the_copy_is_imported(self) -> None:
        """Plant a name in the copy and look whether Python sees it."""
        planted = Mutant(
            id="planted",
            file="numeric/exact.py",
            old="_MAX_BITS = 4096",
            new="_MAX_BITS = 4095",
            kind="off by one",
            harm="none",
            tests=(),
        )
        command = [sys.executable, "-c", "import discreet.numeric.exact as e; print(e._MAX_BITS)"]
        with self.mutated(planted):
            code, output = self.run(command, limit=60)
        if (code, output.strip()) != (0, "4095"):
            raise SystemExit(f"The copy is not what Python imports: {output}")


def _write(file: Path, text: str) -> None:
    """Replace a file and forget what was compiled from it.

    Python tells an old compilation by size and second, and a mutant may differ in neither.
    """
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()
    file.write_text(text)


def _ignored(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__"}
