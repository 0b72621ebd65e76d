"""YAML for documents of maps, lists, texts and numbers: every scalar is also JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def yaml_text(document: dict[str, Any]) -> str:
    """Blocks, two spaces deeper each; texts in double quotes, so that none is taken for a date,
    a number or a flag; long ones of several lines as literal blocks.

    >>> print(yaml_text({"name": "no", "parts": [{"epsilon": 0.5}, {"epsilon": 1e-06}]}), end="")
    name: "no"
    parts:
      - epsilon: 0.5
      - epsilon: 1.0e-06
    """
    return "".join(f"{line}\n" for line in _block(document))


def _block(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _entry(f"{name}:", each)
        return
    for each in value:
        if isinstance(each, dict) and each:
            first, *rest = _block(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        else:
            yield from _entry("-", each)


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield head
        yield from (f"  {line}" for line in _block(value))
    elif isinstance(value, str) and _is_literal(value):
        yield f"{head} |-"
        yield from (f"  {line}" for line in value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _is_literal(text: str) -> bool:
    """Several lines, each of plain characters, none of which is blank or begins with a space."""
    lines = text.split("\n")
    return len(lines) > 1 and all(
        line.isprintable() and line.strip() and not line[0].isspace() for line in lines
    )


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        # YAML 1.1 wants a point in a number with an exponent, or takes it for text.
        digits, e, exponent = repr(value).partition("e")
        return f"{digits if '.' in digits or not e else f'{digits}.0'}{e}{exponent}"
    return json.dumps(value, ensure_ascii=False)
