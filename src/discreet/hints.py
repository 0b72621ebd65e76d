"""Helpful sentences for calls and names that Python itself refuses.

``Laplace(1, 0.5)`` never reaches our code: Python says how many positional arguments were
given, and counts ``self``. These sentences say how to write the call, and what may have been
meant. They are a TypeError and an AttributeError, as Python's own are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import update_wrapper
from types import FunctionType
from typing import Any, Final, TypeVar

_Called = TypeVar("_Called", bound=Callable[..., Any])


def spelled(function: _Called) -> _Called:
    """The same function, but a call that does not fit it raises an error that shows how to call it.

    What may be left out is in brackets.

    >>> @spelled
    ... def noise(value, *, epsilon, step=1): ...
    >>> noise(3, eps=1)
    Traceback (most recent call last):
    TypeError: noise() has no argument eps=, did you mean epsilon=? Write noise(value, epsilon=, \
[step=])
    >>> noise(3, 0.5)
    Traceback (most recent call last):
    TypeError: noise() got 2 positional arguments, but takes 1: write noise(value, epsilon=, \
[step=])
    >>> noise(3)
    Traceback (most recent call last):
    TypeError: noise() needs epsilon: write noise(value, epsilon=, [step=])
    """
    refusal = _refusal  # in a cell, since the globals below are those of the function

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except TypeError as error:  # ours only if raised in this frame: the call did not fit
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise refusal(function, arguments, named) or error from None

    # Doctest decides by a function's globals where it belongs: give this one the original's.
    home: dict[str, Any] = function.__globals__
    same = FunctionType(call.__code__, home, call.__name__, None, call.__closure__)
    return update_wrapper(same, function)  # type: ignore[return-value]


def unknown(owner: str, name: str, known: Iterable[str], hint: str = "") -> AttributeError:
    """The error for a name that does not exist.

    >>> print(unknown("discreet", "laplace", ["Gaussian", "Laplace"]))
    discreet has no 'laplace'; did you mean Laplace?
    """
    names = sorted(known)
    listed = f"there are {', '.join(names)}"
    few = listed if len(names) <= 12 else "dir() lists its names"
    return AttributeError(f"{owner} has no {name!r}; {hint or meant(name, names) or few}")


def meant(name: str, known: Iterable[str], form: str = "{}") -> str:
    """A question that suggests the nearest of some names; empty if none is near.

    >>> meant("smokr", ["smoker", "age"], form='"{}"')
    'did you mean "smoker"?'
    """
    folded = {word.lower(): word for word in known}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return f"did you mean {form.format(folded[near[0]])}?" if near else ""


def _refusal(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> TypeError | None:
    """The error for the first thing that does not fit."""
    from inspect import Parameter, signature

    *classes, own = function.__qualname__.split("<locals>.")[-1].split(".")
    called = classes[-1] if own == "__init__" else own
    parameters = list(signature(function).parameters.values())
    if classes:  # self is not written in a call
        parameters, arguments = parameters[1:], arguments[1:]
    by_place = [p for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [p for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    named_alone = [p.name for p in (*by_place, *by_name)]
    any_place = any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
    any_name = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    written = [(p.name, p.default) for p in by_place]
    written += [(f"{p.name}=", p.default) for p in by_name]
    parts = ["..."] * any_place + [w for w, default in written if default is Parameter.empty]
    parts += ["name=..."] * any_name
    optional = ", ".join(w for w, default in written if default is not Parameter.empty)
    form = f"{called}({', '.join([*parts, *([f'[{optional}]'] if optional else [])])})"
    for name in () if any_name else named:
        if name not in named_alone:
            near = meant(name, named_alone, form="{}=")
            asked = f", {near} Write {form}" if near else f": write {form}"
            return TypeError(f"{called}() has no argument {name}={asked}")
    if len(arguments) > len(by_place) and not any_place:
        few = "none" if not by_place else str(len(by_place))
        many = f"{len(arguments)} positional argument{'s' * (len(arguments) > 1)}"
        return TypeError(f"{called}() got {many}, but takes {few}: write {form}")
    missing = [p.name for p in by_place[len(arguments) :] if p.name not in named]
    missing += [p.name for p in by_name if p.name not in named]
    required = {p.name for p in parameters if p.default is Parameter.empty}
    missing = [name for name in missing if name in required]
    if missing:
        return TypeError(f"{called}() needs {' and '.join(missing)}: write {form}")
    return None  # such as one argument given twice: Python's own message will do


# -- names of other libraries ----------------------------------------------------------------------


_READ: Final = 'say dp.table("visits.csv"), or give it a data frame'
_ENDS: Final = (
    "one row decides the least and the largest value, so ask for a quantile near the end: "
    'dp.quantile("days", 0.99, bounds=(0, 30))'
)
_BUDGET: Final = "say dp.Pure(1) for ε, dp.Approx(1, 1e-6) for ε and δ"
INSTEAD: Final = {
    **dict.fromkeys(("avg", "average"), 'say dp.mean("days", bounds=(0, 30))'),
    **dict.fromkeys(("max", "min", "maximum", "minimum"), _ENDS),
    **dict.fromkeys(("nunique", "n_unique", "count_distinct"), "say dp.count_units() for people"),
    **dict.fromkeys(("var", "stddev"), "say dp.variance or dp.std, with bounds="),
    **dict.fromkeys(("read_csv", "read_parquet", "read_table", "scan_parquet", "load"), _READ),
    **dict.fromkeys(("Epsilon", "epsilon", "Budget", "budget"), _BUDGET),
}
