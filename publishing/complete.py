"""What is public and not documented: ``python -m publishing.complete`` lists it, and then fails.

Public is what `import discreet as dp` gives, what its modules give, and what pages import besides.
Commands and options are compared with their page by tests/cli/test_page.py.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from types import ModuleType

from publishing.blocks import PAGES, ROOT, blocks_of

MODULES = ("", ".survey", ".adaptive", ".sensitivity", ".bounds", ".testing")
# Values that are handed out, not made by readers: what they hold is on them, by name.
HANDED_OUT = {"Answer", "Chosen", "Estimate", "Finding", "Query", "Released", "Result", "Table"}
# What docs/engines.md and docs/certificates.md look at from behind, and say so.
PEEPHOLES = ("discreet.engines.", "discreet.certificate.issue.")

_REFERENCE = [page for page in PAGES if page.parent.name == "reference"]
_GUIDES = [page for page in PAGES if page not in _REFERENCE]


def gaps() -> Iterator[str]:
    """A sentence for everything that is public and not documented."""
    names = dict(public())
    yield from _without_a_place(names)
    yield from _in_no_guide(names)
    for name, found in names.items():
        yield from _without_words(name, found)
    yield from _errors_and_settings()


def public() -> Iterator[tuple[str, object]]:
    """Every public name with what it stands for."""
    for suffix in MODULES:
        module = import_module(f"discreet{suffix}")
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, str | ModuleType):
                yield f"{module.__name__}.{name}", found


def imported() -> Iterator[str]:
    """What pages import from modules of ours."""
    for page in _GUIDES:
        for block in blocks_of(page.read_text()):
            if block.language != "python" or block.library:
                continue
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet."):
                    yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _without_a_place(names: dict[str, object]) -> Iterator[str]:
    lines = [line for page in _REFERENCE for line in page.read_text().splitlines()]
    listed = [line.removeprefix("::: ") for line in lines if line.startswith("::: ")]
    yield from (
        f"{name} is in docs/reference twice" for name in set(listed) if listed.count(name) > 1
    )
    for name in sorted({*names, *imported()} - {*listed}):
        if not name.startswith(PEEPHOLES):
            yield f"{name} has no place in docs/reference"


def _in_no_guide(names: dict[str, object]) -> Iterator[str]:
    text = "\n".join(page.read_text() for page in _GUIDES)
    for name in names:
        if not re.search(rf"\b{name.rsplit('.')[-1]}\b", text):
            yield f"{name} is in no guide: nobody would learn what it is good for"


def _without_words(name: str, found: object) -> Iterator[str]:
    own = (vars(found) if inspect.isclass(found) else {"__doc__": found.__doc__}).get(
        "__doc__"
    ) or ""
    if not own or own.startswith(f"{name.rsplit('.')[-1]}("):  # a dataclass writes its signature
        yield f"{name} has no docstring"
    for each, value, text in _callables(name, found, own):
        if not text.strip():
            yield f"{each} has no docstring"
        for parameter in inspect.signature(value).parameters.values():  # type: ignore[arg-type]
            silent = parameter.name in ("self", "cls") or parameter.name.startswith("_")
            if not silent and not re.search(rf"\b{parameter.name}\b", f"{text}\n{own}"):
                yield f"{each} says nothing of {parameter.name}"


def _callables(name: str, found: object, own: str) -> Iterator[tuple[str, object, str]]:
    """What can be called of a public name, each with the text that explains it."""
    if not inspect.isclass(found):
        yield name, found, own
        return
    for each, value in inspect.getmembers_static(found):
        if each.startswith("_"):
            continue
        if isinstance(value, property) and not inspect.getdoc(value):
            yield f"{name}.{each}", lambda: None, ""
        value = getattr(found, each, None)  # an Enum's own name and value have none
        if inspect.isfunction(value) or inspect.ismethod(value):
            yield f"{name}.{each}", value, inspect.getdoc(value) or ""
    if not issubclass(found, BaseException | Enum) and found.__name__ not in HANDED_OUT:
        yield name, found, own


def _errors_and_settings() -> Iterator[str]:
    page = (ROOT / "docs" / "errors.md").read_text()
    errors = import_module("discreet.errors")
    for name, found in vars(errors).items():
        ours = inspect.isclass(found) and found.__module__ == errors.__name__
        if ours and not re.search(rf"\b{name}\b", page):
            yield f"docs/errors.md says nothing of {name}"
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    guides = "\n".join(page.read_text() for page in _GUIDES)
    for setting in sorted(set(re.findall(r"\bDISCREET_[A-Z_]+\b", sources))):
        if setting not in guides:
            yield f"no page says what {setting} does"


if __name__ == "__main__":
    found = list(gaps())
    print(*found, sep="\n")
    sys.exit(bool(found))
