"""The tests of some folders, or of those that changed: ``python -m tests.changed [name ...]``.

Prints paths for pytest. A name is a folder or file of the package, as in "query" or "sensitivity";
without any, whatever differs from the last tag counts, or from the last commit if there is no tag.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def git(*arguments: str) -> list[str]:
    """The lines that a command of git prints; none if it fails."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.splitlines() if run.returncode == 0 else []


def changed() -> set[str]:
    """The names whose source or tests differ."""
    base = git("describe", "--tags", "--abbrev=0") or ["HEAD"]
    paths = [*git("diff", "--name-only", base[0]), *git("ls-files", "-o", "--exclude-standard")]
    return {name for path in paths if (name := name_of(path))}


def name_of(path: str) -> str:
    """Which part of the package a path is about.

    >>> name_of("src/discreet/query/plan.py"), name_of("tests/test_demo.py"), name_of("README.md")
    ('query', 'demo', '')
    """
    top, *rest = path.removeprefix("src/discreet/").removeprefix("tests/").split("/")
    if not path.startswith(("src/discreet/", "tests/")):
        return ""
    return top if rest else top.removesuffix(".py").removeprefix("test_")


def paths_of(name: str) -> list[str]:
    """The folders and files that hold the examples and tests of a part."""
    at = (
        f"src/discreet/{name}",
        f"src/discreet/{name}.py",
        f"tests/{name}",
        f"tests/test_{name}.py",
    )
    return [path for path in at if (ROOT / path).exists()]


if __name__ == "__main__":
    print(*(path for name in sorted(sys.argv[1:] or changed()) for path in paths_of(name)))
