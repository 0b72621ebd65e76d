"""Options in groups: a frozen class of options is written once and used by several commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes classes of options, as one that takes each of their options.

    Typer reads signatures, so the classes are unfolded into one and folded again on a call.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> def area(size: Size) -> None:
    ...     print(size.width * size.height)
    >>> inspect.signature(flat(area))
    <Signature (*, width: int, height: int = 1) -> None>
    >>> flat(area)(width=2, height=3)
    6
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: kind for name, kind in hints.items() if name != "return" and is_dataclass(kind)
    }
    parameters: list[inspect.Parameter] = []
    for name, given in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _unfolded(groups[name])
        else:
            parameters.append(
                given.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            )

    def unfolded(**values: Any) -> None:
        folded = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**folded, **values)

    unfolded.__name__, unfolded.__doc__ = command.__name__, command.__doc__
    unfolded.__annotations__ = {p.name: p.annotation for p in parameters}
    unfolded.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=None
    )
    return unfolded


def _unfolded(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
