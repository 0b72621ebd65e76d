"""The form of a certificate: the published JSON schema, and the little of JSON Schema it uses.

Our own reader and not the library jsonschema, which looks at all of a list that is too long, quotes
the document in its messages, lets a line end follow ``$``, and takes eight times as long.

What is published is what is checked: ``certificate.schema.json`` beside this file is the one in the
docs. Anything it does not name is refused, so that nothing unread can hide in a certificate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

_TYPES: Final[dict[str, type]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "null": type(None),
}


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The schema as it is published."""
    text = files(__package__).joinpath("certificate.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def misfits(document: object) -> list[str]:
    """Where a document differs from the schema, in sentences; none if it does not.

    >>> [one for one in misfits({"format": "discreet certificate", "version": 0}) if "must" in one]
    ['version: must be 1']
    >>> misfits({"format": "discreet certificate", "version": 2})
    ['a later version of discreet wrote it: update discreet to read it']
    """
    if not isinstance(document, dict):
        return ["no object"]
    version = document.get("version")
    if type(version) is int and version > schema()["properties"]["version"]["const"]:
        return ["a later version of discreet wrote it: update discreet to read it"]
    try:
        return list(_misfits(document, schema(), ""))
    except RecursionError:
        return ["something in it is nested too deeply"]


def _misfits(value: Any, rule: dict[str, Any], place: str) -> Iterator[str]:
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if "anyOf" in rule:
        if all(any(_misfits(value, option, place)) for option in rule["anyOf"]):
            yield f"{place}: is of none of the forms it may have"
        return
    at = place or "the certificate"
    if "const" in rule and (value != rule["const"] or type(value) is not type(rule["const"])):
        yield f"{at}: must be {rule['const']}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{at}: must be one of {', '.join(rule['enum'])}"
    if "type" in rule and not _is(value, rule["type"]):
        yield f"{at}: must be of type {rule['type']}"
        return
    if isinstance(value, str) and len(value) > rule.get("maxLength", len(value)):
        yield f"{at}: is too long a text"
        return
    if "pattern" in rule and not re.fullmatch(rule["pattern"], value):
        yield f"{at}: is not written as it must be"
    sizes = list(_sizes(value, rule, at))
    if sizes:  # nothing inside too long a list is looked at
        yield from sizes
        return
    if isinstance(value, dict):
        yield from _members(value, rule, place)
    if isinstance(value, list) and "items" in rule:
        for index, each in enumerate(value):
            yield from _misfits(each, rule["items"], f"{place}[{index}]")


def _sizes(value: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    if "minimum" in rule and value < rule["minimum"]:
        yield f"{at}: must be {rule['minimum']} or above"
    elif "maximum" in rule and value > rule["maximum"]:
        yield f"{at}: must be {rule['maximum']} or below"
    if "minItems" in rule and len(value) < rule["minItems"]:
        yield f"{at}: is too short a list"
    if "maxItems" in rule and len(value) > rule["maxItems"]:
        yield f"{at}: is too long a list"


def _members(value: dict[str, Any], rule: dict[str, Any], place: str) -> Iterator[str]:
    names = rule.get("properties", {})
    path = f"{place}." if place else ""
    for name in sorted({*rule.get("required", ())} - set(value)):
        yield f"{path}{name}: is missing"
    for name, each in value.items():
        if name in names:
            yield from _misfits(each, names[name], f"{path}{name}")
        elif rule.get("additionalProperties") is False:
            yield f"{place or 'the certificate'}: holds something that this version does not know"


def _is(value: Any, kinds: str | list[str]) -> bool:
    names = kinds if isinstance(kinds, list) else [kinds]
    return any(type(value) is _TYPES[name] for name in names)
