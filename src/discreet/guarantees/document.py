"""Guarantees as JSON: exact numbers as text, one way to write each, and a version.

    {"epsilon":"1/10","notion":"pure","version":1}

What is read may come from anywhere, so every surprise is an `InvalidArgument` that says what was
expected. Only the promise is written: how finely a composition is computed is not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidArgument
from discreet.guarantees.guarantee import KINDS, Guarantee
from discreet.numeric.exact import integer, number

# -- JSON from anywhere ----------------------------------------------------------------------------


_LONGEST = 2**24  # characters


def parse(text: str, *, deepest: int) -> object:
    """The value that a JSON text stands for; `deepest` is for the message only.

    >>> parse('{"a": [1]}', deepest=2)
    {'a': [1]}
    >>> parse('{"a": 1, "a": 2}', deepest=2)
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: text must be JSON with each key once, got one twice
    """
    if not isinstance(text, str):
        raise InvalidArgument.of("text", "JSON text", text)
    if len(text) > _LONGEST:
        raise InvalidArgument("text", f"at most {_LONGEST:,} characters", f"{len(text):,}")
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except RecursionError:
        raise InvalidArgument("text", f"nested at most {deepest} deep", "far deeper") from None
    except InvalidArgument:
        raise
    except ValueError as error:  # not JSON, or a whole number of thousands of digits
        given = f"text that is not: {str(error)[:60]}"
        raise InvalidArgument("text", "JSON", given) from None


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Readers differ in which of two they take, so a promise could have two meanings.
    document = dict(pairs)
    if len(document) != len(pairs):
        raise InvalidArgument("text", "JSON with each key once", "one twice")
    return document


# -- kinds of fields -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How a field becomes JSON, and comes back: from a value, under a name, at a depth."""

    write: Callable[[Any], object]
    read: Callable[[object, str, int], Any]


def read_number(value: object, name: str, depth: int = 0) -> Fraction:
    """An exact number, from text: a JSON number may have passed through a float."""
    if not isinstance(value, str):
        raise InvalidArgument.of(name, 'a number as text, such as "1/10"', value)
    return number(value, name=name)


def read_whole(value: object, name: str, depth: int = 0) -> int:
    """A whole number, 1 or above."""
    if type(value) is not int:
        raise InvalidArgument.of(name, "a whole number", value)
    return integer(value, name=name, minimum=1)


def _read_flag(value: object, name: str, depth: int) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument.of(name, "true or false", value)
    return value


def _read_pairs(value: object, name: str, depth: int) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    ):
        raise InvalidArgument.of(name, "a list of pairs of numbers", value)
    return tuple((read_number(p, name), read_number(q, name)) for p, q in value)


NUMBER = Kind(str, read_number)
WHOLE = Kind(int, read_whole)
WHOLE_OR_NULL = Kind(
    lambda value: value,
    lambda value, name, depth: None if value is None else read_whole(value, name),
)
FLAG = Kind(bool, _read_flag)
PAIRS = Kind(lambda pairs: [[str(p), str(q)] for p, q in pairs], _read_pairs)


# -- guarantees ------------------------------------------------------------------------------------


VERSION = 1
_DEEPEST = 32  # guarantees inside guarantees; those we make are three deep


def to_json(guarantee: Guarantee) -> str:
    """The guarantee as JSON with exact numbers; equal guarantees have equal texts.

    >>> from discreet.guarantees import Pure
    >>> to_json(Pure(epsilon=0.1))
    '{"epsilon":"1/10","notion":"pure","version":1}'
    >>> to_json(Pure(epsilon=1).repeat(5))
    '{"notion":"composition","parts":[[{"epsilon":"1","notion":"pure"},5]],"version":1}'
    """
    document = {**_write(guarantee), "version": VERSION}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> Guarantee:
    """Read what `to_json` wrote.

    >>> from_json('{"epsilon":"1/10","notion":"pure","version":1}')
    Pure(epsilon=Fraction(1, 10))
    >>> from_json('{"epsilon":"1/10","notion":"purr","version":1}')
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: notion must be one of approx, bounded range, composition, \
failing, gdp, grouped, keys, laplace, laws, least, one way, pure, response, sampled, \
total variation, zcdp, got 'purr' (str)
    """
    document = parse(text, deepest=_DEEPEST)
    if not isinstance(document, dict) or "version" not in document:
        raise InvalidArgument.of("text", 'a JSON object with "notion" and "version"', document)
    version = document.pop("version")
    if type(version) is not int or version != VERSION:
        raise InvalidArgument.of("version", f"{VERSION}, the only one this release reads", version)
    return _read(document, depth=0)


# -- fields that hold guarantees -------------------------------------------------------------------


def _read_list(value: object, name: str, depth: int) -> list[Guarantee]:
    if not isinstance(value, list) or not value:
        raise InvalidArgument.of(name, "a list of guarantees, one at least", value)
    return [_read(each, depth=depth) for each in value]


GUARANTEE = Kind(lambda g: _write(g), lambda value, name, depth: _read(value, depth=depth))
GUARANTEES = Kind(lambda gs: [_write(g) for g in gs], _read_list)


# -- reading and writing ---------------------------------------------------------------------------


Fields = dict[str, tuple[str, Kind]]  # name in JSON, which is that of the argument: attribute, kind


def named(**kinds: Kind) -> Fields:
    """The fields of a class: an attribute ends in 0 where every guarantee has a method of its name.

    >>> [name for name, _ in named(epsilon=NUMBER, rate=NUMBER).values()]
    ['epsilon0', 'rate']
    """
    return {name: (name + "0" * hasattr(Guarantee, name), kind) for name, kind in kinds.items()}


def _write(guarantee: Guarantee) -> dict[str, object]:
    kind = getattr(guarantee, "kind", "")
    if KINDS.get(kind) is type(guarantee):
        values = {
            key: form.write(getattr(guarantee, attribute))
            for key, (attribute, form) in guarantee.fields.items()
        }
        return {"notion": kind, **values}
    raise InvalidArgument.of_data(
        "guarantee", f"of one of the notions {', '.join(sorted(KINDS))}", guarantee
    )


def _read(document: object, *, depth: int) -> Guarantee:
    if depth > _DEEPEST:
        raise InvalidArgument("text", f"nested at most {_DEEPEST} deep", "deeper")
    if not isinstance(document, dict):
        raise InvalidArgument.of(
            "guarantee", 'a JSON object such as {"notion": "pure", …}', document
        )
    notion = document.get("notion")
    if not isinstance(notion, str) or notion not in KINDS:
        raise InvalidArgument.of("notion", f"one of {', '.join(sorted(KINDS))}", notion)
    kind = KINDS[notion]
    fields = kind.fields
    if set(document) != {"notion", *fields}:
        given = ", ".join(sorted(document)) or "none"
        raise InvalidArgument(
            f"the keys of {notion}",
            f"notion, {', '.join(fields)}",
            given if len(given) < 80 else f"{len(document)} keys",
        )
    return kind._of_fields(
        **{key: form.read(document[key], key, depth + 1) for key, (_, form) in fields.items()}
    )
