"""Is a guarantee's document what the mechanisms amount to? Compared part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from discreet.certificate.independent.derived import Derived
from discreet.certificate.independent.discovery import Coin, dominated
from discreet.certificate.independent.reals import read, read_count, total
from discreet.errors import InvalidArgument

Key = tuple[Any, ...]

_TIGHT: Final = Fraction(1, 2**40)  # how far the root of a sum of squares may be rounded up


def is_just(document: Mapping[str, Any], derived: Sequence[Derived]) -> bool:
    """Whether the document has the pairs of the mechanisms, as often, and no others.

    Gaussian ones are counted by the sum of their μ², which is what they compose to, and discovered
    keys by what their coins tell.
    """
    claimed, coins = _read(document)
    needed: dict[Key, int] = {}
    for one in derived:
        for key, count in one.claim.items():
            needed[key] = needed.get(key, 0) + count
    tables = [list(one.coins) for one in derived if one.coins]
    least, told = _squares(needed), _squares(claimed)
    return (
        least <= told <= least * (1 + _TIGHT)
        and _others(claimed) == _others(needed)
        and len(coins) == len(tables)
        and all(
            dominated(table, told) and dominated(told, table)
            for table, told in zip(tables, coins, strict=True)
        )
    )


def _others(parts: Mapping[Key, int]) -> dict[Key, int]:
    return {key: count for key, count in parts.items() if key[0] not in ("gdp", "keys")}


def _squares(parts: Mapping[Key, int]) -> Fraction:
    """The sum of μ² over Gaussian parts."""
    return total(key[1] ** 2 * n for key, n in parts.items() if key[0] == "gdp")


def _read(document: Mapping[str, Any]) -> tuple[dict[Key, int], list[list[Coin]]]:
    """The parts of a guarantee with how often each, and the coins of discovered keys."""
    notion = document.get("notion")
    parts = document.get("parts") if notion == "composition" else [[document, 1]]
    if not isinstance(parts, list) or not parts:
        raise _unexpected("parts")
    claimed: dict[Key, int] = {}
    coins: list[list[Coin]] = []
    for pair in parts:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], Mapping):
            raise _unexpected("parts")
        part, count = pair[0], read_count(pair[1], "parts")
        if part.get("notion") == "keys":
            if count > 1:  # keys are discovered once
                raise _unexpected("keys")
            coins.append(_coins(part))
            continue
        key = _key(part)
        claimed[key] = claimed.get(key, 0) + count
    return claimed, coins


def _key(part: Mapping[str, Any]) -> Key:
    match part.get("notion"):
        case "pure" | "bounded range" as notion:
            return (notion, read(part.get("epsilon"), "epsilon"))
        case "laplace":
            steps = part.get("steps")
            return ("laplace", read(part.get("epsilon"), "epsilon"), steps)
        case "gdp":
            return ("gdp", read(part.get("mu"), "mu"))
        case "approx":
            delta = read(part.get("delta"), "delta")
            return ("approx", read(part.get("epsilon"), "epsilon"), delta)
    raise _unexpected("notion")


def _coins(part: Mapping[str, Any]) -> list[Coin]:
    """Where keys are discovered by the best rule there is nothing beside the coins."""
    pairs, rest = part.get("coins"), {"base": {"epsilon": "0", "notion": "pure"}, "failing": "0"}
    if {name: part.get(name) for name in rest} != rest or part.get("stepwise") is not False:
        raise _unexpected("keys")
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise _unexpected("coins")
    return [(read(p, "coins"), read(q, "coins")) for p, q in pairs]


def _unexpected(name: str) -> InvalidArgument:
    return InvalidArgument(
        name=f"the guarantee's {name}",
        expected="one that the mechanisms of a table query have",
        given="something else",
    )
