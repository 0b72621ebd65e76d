"""Modules that fork run in a process of their own: that of the tests has threads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_alone(module: str, *arguments: str) -> tuple[int, str]:
    """The exit code of ``python -m module arguments`` and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    return done.returncode, done.stdout
