"""Guarantees as JSON: exact numbers as text, one way to write each, and a version.

    {"epsilon":"1/10","notion":"pure","version":1}

What is read may come from anywhere, so every surprise is an `InvalidArgument` that says what was
expected. Only the promise is written: how finely a composition is computed is not part of it.
"""

from __future__ import annotations

import json
from typing import Any

from discreet.errors import InvalidArgument
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.compose import compose
from discreet.guarantees.composition import Composition
from discreet.guarantees.failing import Failing
from discreet.guarantees.gdp import GDP
from discreet.guarantees.grouped import Grouped
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.interchange.json_kinds import (
    FLAG,
    NUMBER,
    OUTCOMES,
    PAIRS,
    WHOLE,
    WHOLE_OR_NULL,
    Kind,
    read_whole,
    unexpected,
)
from discreet.guarantees.interchange.json_text import parse
from discreet.guarantees.key_pair import KeyPair
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.least import Least
from discreet.guarantees.loss_distribution import LossDistribution
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import OneWay, SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP

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
            raise InvalidArgument(
                name=name, expected="pairs of a single mechanism", given="a composition in one"
            )
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
    "grouped": (Grouped, {"single": ("single", GUARANTEE), "size": ("size", WHOLE)}),
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
    raise InvalidArgument(
        name="guarantee",
        expected=f"of one of the notions {', '.join(NOTIONS)}",
        given=InvalidArgument.describe_data(guarantee),
    )


def _read(document: object, *, depth: int) -> Guarantee:
    if depth > _DEEPEST:
        raise InvalidArgument(
            name="text", expected=f"nested at most {_DEEPEST} deep", given="deeper"
        )
    if not isinstance(document, dict):
        raise unexpected("guarantee", 'a JSON object such as {"notion": "pure", …}', document)
    notion = document.get("notion")
    if not isinstance(notion, str) or notion not in NOTIONS:
        raise unexpected("notion", f"one of {', '.join(NOTIONS)}", notion)
    kind, fields = NOTIONS[notion]
    if set(document) != {"notion", *fields}:
        given = ", ".join(sorted(document)) or "none"
        raise InvalidArgument(
            name=f"the keys of {notion}",
            expected=f"notion, {', '.join(fields)}",
            given=given if len(given) < 80 else f"{len(document)} keys",
        )
    return _build(
        kind,
        {key: form.read(document[key], key, depth + 1) for key, (_, form) in fields.items()},
    )
