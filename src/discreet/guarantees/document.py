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
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition, Least, compose
from discreet.guarantees.failure import Failing
from discreet.guarantees.gdp import GDP
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.key_discovery import KeyPair
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.loss_distribution import LossDistribution, Outcomes
from discreet.guarantees.pure import Pure
from discreet.guarantees.randomized_response import ResponsePair
from discreet.guarantees.sampled import OneWay, SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.numeric.exact import integer, number

# -- JSON from anywhere ----------------------------------------------------------------------------
# Parsed, or refused in a sentence.


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
# How each is written, and how it is read and checked.


_ABOVE_ONE = Fraction(1, 1000)  # densities are integrated numerically


@dataclass(frozen=True)
class Kind:
    """How a field becomes JSON, and comes back: from a value, under a name, at a depth."""

    write: Callable[[Any], object]
    read: Callable[[object, str, int], Any]


def unexpected(name: str, expected: str, value: object) -> InvalidArgument:
    """The error to raise for a value that is not what was expected."""
    return InvalidArgument.of(name, expected, value)


def read_number(value: object, name: str, depth: int = 0) -> Fraction:
    """An exact number, from text: a JSON number may have passed through a float."""
    if not isinstance(value, str):
        raise unexpected(name, 'a number as text, such as "1/10"', value)
    return number(value, name=name)


def read_whole(value: object, name: str, depth: int = 0) -> int:
    """A whole number, 1 or above."""
    if type(value) is not int:
        raise unexpected(name, "a whole number", value)
    return integer(value, name=name, minimum=1)


def _read_flag(value: object, name: str, depth: int) -> bool:
    if not isinstance(value, bool):
        raise unexpected(name, "true or false", value)
    return value


def _read_pairs(value: object, name: str, depth: int) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    ):
        raise unexpected(name, "a list of pairs of numbers", value)
    return tuple((read_number(p, name), read_number(q, name)) for p, q in value)


def _read_outcomes(value: object, name: str, depth: int) -> Outcomes:
    pairs = _read_pairs(value, name, depth)
    sums = [sum(column, Fraction(0)) for column in zip(*pairs, strict=True)]
    if not pairs or min(map(min, pairs)) < 0 or max(sums) > 1 + _ABOVE_ONE:
        raise InvalidArgument(
            name,
            "probabilities under two laws, 0 or above, each law's adding up to 1",
            f"{len(pairs)} pairs that do not",
        )
    return Outcomes(pairs)


def _write_pairs(pairs: Any) -> list[list[str]]:
    return [[str(p), str(q)] for p, q in pairs]


NUMBER = Kind(str, read_number)
WHOLE = Kind(int, read_whole)
WHOLE_OR_NULL = Kind(
    lambda value: value,
    lambda value, name, depth: None if value is None else read_whole(value, name),
)
FLAG = Kind(bool, _read_flag)
PAIRS = Kind(_write_pairs, _read_pairs)
OUTCOMES = Kind(lambda outcomes: _write_pairs(outcomes.pairs), _read_outcomes)


# -- guarantees ------------------------------------------------------------------------------------


VERSION = 1
_DEEPEST = 32  # guarantees inside guarantees; those we make are three deep


def to_json(guarantee: Guarantee) -> str:
    """The guarantee as JSON with exact numbers; equal guarantees have equal texts.

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
        raise unexpected("text", 'a JSON object with "notion" and "version"', document)
    version = document.pop("version")
    if type(version) is not int or version != VERSION:
        raise unexpected("version", f"{VERSION}, the only one this release reads", version)
    return _read(document, depth=0)


# -- fields that hold guarantees -------------------------------------------------------------------


def _read_list(value: object, name: str, depth: int) -> list[Guarantee]:
    if not isinstance(value, list) or not value:
        raise unexpected(name, "a list of guarantees, one at least", value)
    return [_read(each, depth=depth) for each in value]


def _read_parts(value: object, name: str, depth: int) -> tuple[tuple[Guarantee, int], ...]:
    expected = "a list of pairs [guarantee, how often], one at least"
    if not isinstance(value, list) or not value:
        raise unexpected(name, expected, value)
    parts = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise unexpected(name, expected, pair)
        part = _read(pair[0], depth=depth)
        if isinstance(part, Composition):
            raise InvalidArgument(name, "pairs of a single mechanism", "a composition in one")
        parts.append((part, read_whole(pair[1], name)))
    compose(part for part, _ in parts)  # refuses orders of the neighbours that do not go together
    return tuple(parts)


GUARANTEE = Kind(lambda g: _write(g), lambda value, name, depth: _read(value, depth=depth))
GUARANTEES = Kind(lambda gs: [_write(g) for g in gs], _read_list)
PARTS = Kind(lambda parts: [[_write(g), count] for g, count in parts], _read_parts)


# -- the notions -----------------------------------------------------------------------------------

Fields = dict[str, tuple[str, Kind]]  # name in JSON, which is that of the argument: attribute, kind

_EPSILON: Fields = {"epsilon": ("epsilon0", NUMBER)}

# Name in JSON, class and fields: a new notion is a new line here.
NOTIONS: dict[str, tuple[type[Guarantee], Fields]] = {
    "approx": (Approx, {**_EPSILON, "delta": ("delta0", NUMBER)}),
    "bounded range": (BoundedRange, _EPSILON),
    "composition": (Composition, {"parts": ("parts", PARTS)}),
    "failing": (Failing, {"base": ("base", GUARANTEE), "chance": ("chance", NUMBER)}),
    "gdp": (GDP, {"mu": ("mu", NUMBER)}),
    "grouped": (GroupPrivacy, {"single": ("single", GUARANTEE), "size": ("size", WHOLE)}),
    "keys": (
        KeyPair,
        {
            "base": ("base", GUARANTEE),
            "coins": ("coins", PAIRS),
            "failing": ("failing", NUMBER),
            "stepwise": ("stepwise", FLAG),
        },
    ),
    "laplace": (LaplacePair, {**_EPSILON, "steps": ("steps", WHOLE_OR_NULL)}),
    "laws": (
        LossDistribution,
        {"optimistic": ("optimistic", OUTCOMES), "pessimistic": ("pessimistic", OUTCOMES)},
    ),
    "least": (Least, {"facts": ("facts", GUARANTEES)}),
    "one way": (OneWay, {"pair": ("pair", GUARANTEE), "swapped": ("swapped", FLAG)}),
    "pure": (Pure, _EPSILON),
    "response": (ResponsePair, {**_EPSILON, "categories": ("categories", WHOLE)}),
    "sampled": (SampledPair, {"base": ("base", GUARANTEE), "rate": ("rate", NUMBER)}),
    "total variation": (TotalVariation, {"tv": ("tv0", NUMBER)}),
    "zcdp": (ZCDP, {"rho": ("rho", NUMBER)}),
}


def _build(kind: type[Guarantee], values: dict[str, Any]) -> Guarantee:
    if kind is LossDistribution and values["optimistic"] == values["pessimistic"]:
        values["optimistic"] = values["pessimistic"]  # one table of exact laws, not two bounds
    return kind(**values)


def _write(guarantee: Guarantee) -> dict[str, object]:
    for notion, (kind, fields) in NOTIONS.items():
        if type(guarantee) is kind:
            values = {
                key: form.write(getattr(guarantee, attribute))
                for key, (attribute, form) in fields.items()
            }
            return {"notion": notion, **values}
    raise InvalidArgument.of_data(
        "guarantee", f"of one of the notions {', '.join(NOTIONS)}", guarantee
    )


def _read(document: object, *, depth: int) -> Guarantee:
    if depth > _DEEPEST:
        raise InvalidArgument("text", f"nested at most {_DEEPEST} deep", "deeper")
    if not isinstance(document, dict):
        raise unexpected("guarantee", 'a JSON object such as {"notion": "pure", …}', document)
    notion = document.get("notion")
    if not isinstance(notion, str) or notion not in NOTIONS:
        raise unexpected("notion", f"one of {', '.join(NOTIONS)}", notion)
    kind, fields = NOTIONS[notion]
    if set(document) != {"notion", *fields}:
        given = ", ".join(sorted(document)) or "none"
        raise InvalidArgument(
            f"the keys of {notion}",
            f"notion, {', '.join(fields)}",
            given if len(given) < 80 else f"{len(document)} keys",
        )
    return _build(
        kind,
        {key: form.read(document[key], key, depth + 1) for key, (_, form) in fields.items()},
    )
