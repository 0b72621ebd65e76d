"""What is audited, as it is typed: ``module:name`` or ``file.py:name``, and two inputs beside it.

Code that is named here is somebody's own, and runs. What it raises on the way is told by class and
line alone: its words may quote data.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.errors import DiscreetError, InvalidArgument

_SHOWN = 12  # names of a module
_HOW = "as in survey.py:answer, or package.module:answer"


@dataclass(frozen=True)
class Named:
    """A thing of a module, and the module, in which names beside it are looked up."""

    module: Any
    thing: Any


def named(text: str, *, option: str) -> Named:
    """Import what is named; the current folder, and that of a file, can be imported from.

    >>> named("math:floor", option="TARGET").thing(1.5)
    1
    """
    place, _, path = text.rpartition(":")
    if not place or not all(part.isidentifier() for part in path.split(".")):
        raise InvalidArgument(
            name=option,
            expected="a module or a file, a colon, and a name in it",
            given=InvalidArgument.describe_parameter(text),
            hint=_HOW,
        )
    module = _module(place, option=option)
    return Named(module, found_in(module, path, option=option))


def found_in(module: Any, path: str, *, option: str) -> Any:
    """What has this name in a module, dots and all."""
    thing = module
    for part in path.split("."):
        if not hasattr(thing, part):
            raise InvalidArgument(
                name=option,
                expected=f"a name in {module.__name__}",
                given=InvalidArgument.describe_parameter(path),
                hint=_names(module, path),
            )
        thing = getattr(thing, part)
    return thing


def _names(module: Any, wanted: str) -> str:
    """The names that a module defines, the nearest first; modules that it imports are not meant."""
    public = sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and not isinstance(thing, ModuleType)
    )
    if not public:
        return "there is none"
    near = get_close_matches(wanted, public, n=1)
    asked = f"did you mean {near[0]}? " if near else ""
    more = len(public) - _SHOWN
    shown = ", ".join(public[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{asked}there are {shown}"


def pair_of(text: str, beside: Any) -> tuple[Any, Any]:
    """Two inputs: written out, in Python or JSON, or the name of a pair.

    >>> pair_of("0,1", None), pair_of("[1, 2], [1, 3]", None), pair_of("true, null", None)
    ((0, 1), ([1, 2], [1, 3]), (True, None))
    """
    value = _written(text)
    if value is None and "," in text:
        raise InvalidArgument(
            name="--pair",
            expected="two inputs, or the name of two",
            given=InvalidArgument.describe_parameter(text),
            hint="text needs quotes of its own, as in --pair \"'yes','no'\"",
        )
    if value is None:
        value = _named_or_beside(text, beside, option="--pair")
    is_list = isinstance(value, tuple | list)
    if not is_list or len(value) != 2:
        raise InvalidArgument(
            name="--pair",
            expected="two inputs",
            given=str(len(value)) if is_list else InvalidArgument.describe_data(value),
            hint="written out, as in --pair 0,1 or --pair '[1, 2], [1, 3]', or the name of two, "
            "as in --pair survey.py:pair",
        )
    return value[0], value[1]


def neighbors_of(text: str, beside: Any) -> Iterator[Any]:
    """Pairs of neighbouring inputs, from a function that yields them or returns one a call."""
    found = _named_or_beside(text, beside, option="--neighbors")
    if not callable(found):
        raise _no_neighbors(InvalidArgument.describe_data(found))
    return _pairs(found)


def _pairs(function: Callable[[], Any]) -> Iterator[Any]:
    try:
        first = function()
        if isinstance(first, Iterator):
            yield from first
            return
        while True:
            yield first
            first = function()
    except (Exception, SystemExit) as error:
        told = _no_neighbors(f"one that {_raised(error)}")
    raise told


def _no_neighbors(given: str) -> InvalidArgument:
    return InvalidArgument(
        name="--neighbors", expected="a function that gives pairs of inputs", given=given
    )


def _named_or_beside(text: str, beside: Any, *, option: str) -> Any:
    """``module:name``, or a name alone, which is one of the audited module."""
    if text.isidentifier():
        return found_in(beside, text, option=option)
    return named(text, option=option).thing


def _written(text: str) -> Any:
    """Literals of Python, or of JSON; None where there are none."""
    for reading, words in ((ast.literal_eval, text), (json.loads, f"[{text}]")):
        try:
            return reading(words)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def _module(place: str, *, option: str) -> Any:
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise InvalidArgument(
            name=option,
            expected="a file that is there",
            given=InvalidArgument.describe_parameter(place),
            hint=_HOW,
        )
    folders = [str(Path.cwd())]
    if is_file:
        folders.insert(0, str(Path(place).resolve().parent))
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    try:
        return _loaded(Path(place)) if is_file else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        unknown = missing is not None and f"{place}.".startswith(f"{missing}.")
        raise InvalidArgument(
            name=option,
            expected="in a module that can be imported",
            given=f"no module {place}" if unknown else f"one that {_raised(error)}",
            hint=_HOW if unknown else "import it in Python to see more",
        ) from None


def _loaded(file: Path) -> Any:
    """A file as a module of its name, once; of another name where that one is taken."""
    name = file.stem
    there = sys.modules.get(name)
    if there is not None and getattr(there, "__file__", None) == str(file.resolve()):
        return there
    name = name if there is None else f"{name}_in_{file.resolve().parent.name}"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a module up by its name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def told_of(found: Named) -> Iterator[None]:
    """What the audited code raises, in its own file, is its mistake and not a bug of ours."""
    files = {getattr(found.module, "__file__", None)}
    kind = sys.modules.get(type(found.thing).__module__)
    if not type(found.thing).__module__.startswith("discreet."):
        files.add(getattr(kind, "__file__", None))
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if frame.filename in files]
        if not theirs:
            raise
        told = InvalidArgument(
            name="TARGET",
            expected="one whose law and guarantee can be asked for",
            given=f"one that {_raised(error, theirs)}",
        )
    else:
        return
    raise told


def _raised(error: BaseException, frames: Sequence[traceback.FrameSummary] | None = None) -> str:
    """Class and line of what code of others raised; never its words."""
    last = (traceback.extract_tb(error.__traceback__) if frames is None else frames)[-1:]
    where = f" in line {last[0].lineno} of {Path(last[0].filename).name}" if last else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" in line {error.lineno} of {Path(error.filename).name}"
    return f"raised {type(error).__name__}{where}"
