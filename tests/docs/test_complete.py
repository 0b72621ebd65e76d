"""Nothing public without documentation: names, parameters, errors, settings.

Commands and options are checked by tests/app/test_page.py.
"""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import discreet as dp
import discreet.testing
from discreet import errors
from publishing.blocks import PAGES, ROOT

REFERENCE = {page: page.read_text() for page in PAGES if page.parent.name == "reference"}
GUIDES = "\n".join(page.read_text() for page in PAGES if page not in REFERENCE)
MODULES: list[ModuleType] = [
    *(dp, dp.survey, dp.adaptive, dp.sensitivity, dp.bounds, discreet.testing),
]
# Values that are handed out, not made by readers: what they hold is on them, by name.
HANDED_OUT = {"Answer", "Chosen", "Estimate", "Finding", "Query", "Released", "Result", "Table"}


def public() -> Iterator[tuple[str, object]]:
    """Every public name with what it stands for."""
    for module in MODULES:
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, str | ModuleType):
                yield f"{module.__name__}.{name}", found


def callables(name: str, found: object) -> Iterator[tuple[str, object, str]]:
    """What can be called of a public name, each with the text that explains it."""
    own = inspect.getdoc(found) or ""
    if inspect.isclass(found):
        for each, value in inspect.getmembers(found):
            if not each.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
                yield f"{name}.{each}", value, f"{inspect.getdoc(value)}\n{own}"
        handed = name.rsplit(".", 1)[-1] in HANDED_OUT
        if not issubclass(found, BaseException | Enum) and not handed:
            yield name, found, own
    elif callable(found):
        yield name, found, own


def test_every_public_name_is_in_the_reference_once() -> None:
    """Catches a new name that the site would not show."""
    listed = [line for text in REFERENCE.values() for line in text.splitlines()]
    named = [line.removeprefix("::: ") for line in listed if line.startswith("::: ")]
    assert len(named) == len(set(named)), "twice"
    missing = {name for name, _ in public()} - set(named)
    assert not missing, f"without a place in docs/reference: {sorted(missing)}"


def test_every_public_name_is_used_in_a_guide() -> None:
    """Catches a name that only the reference knows: nobody would learn what it is good for."""
    missing = [
        name for name, _ in public() if not re.search(rf"\b{name.rsplit('.')[-1]}\b", GUIDES)
    ]
    assert not missing, f"in no guide: {missing}"


def test_every_public_name_and_member_has_a_docstring() -> None:
    """Catches a method or a property that the reference could only name."""
    missing = []
    for name, found in public():
        if not inspect.getdoc(found):
            missing.append(name)
        for each in dir(found) if inspect.isclass(found) else ():
            value = inspect.getattr_static(found, each)
            described = isinstance(value, property | classmethod | staticmethod)
            if each.startswith("_") or not (described or inspect.isfunction(value)):
                continue
            if not inspect.getdoc(getattr(found, each)):
                missing.append(f"{name}.{each}")
    assert not missing, f"without a docstring: {missing}"


def test_every_parameter_is_explained() -> None:
    """Catches an argument that readers must guess the meaning of: its docstring has to name it."""
    missing = []
    for name, found in public():
        for each, value, text in callables(name, found):
            for parameter in inspect.signature(value).parameters.values():
                if parameter.name in ("self", "cls") or parameter.name.startswith("_"):
                    continue
                if not re.search(rf"\b{parameter.name}\b", text):
                    missing.append(f"{each}({parameter.name})")
    assert not missing, f"{len(missing)} without a word: {missing}"


def test_every_error_is_explained_and_shown() -> None:
    """Catches an error that a reader meets for the first time in production."""
    page = (ROOT / "docs" / "errors.md").read_text()
    for name, found in vars(errors).items():
        if inspect.isclass(found) and found.__module__ == errors.__name__:
            assert re.search(rf"\b{name}\b", page), f"docs/errors.md says nothing of {name}"


def test_every_setting_is_explained() -> None:
    """Catches an environment variable that only the source knows."""
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for setting in sorted(set(re.findall(r"\bDISCREET_[A-Z_]+\b", sources))):
        assert setting in GUIDES, f"no page says what {setting} does"
