"""Kinds of fields in a JSON document: how each is written, and read with suspicion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidArgument
from discreet.exact import integer, number
from discreet.guarantees.outcomes import Outcomes

_ABOVE_ONE = Fraction(1, 1000)  # densities are integrated numerically


@dataclass(frozen=True)
class Kind:
    """How a field becomes JSON, and comes back: from a value, under a name, at a depth."""

    write: Callable[[Any], object]
    read: Callable[[object, str, int], Any]


def unexpected(name: str, expected: str, value: object) -> InvalidArgument:
    """What to raise for a value that is something else."""
    given = InvalidArgument.describe_parameter(value)
    return InvalidArgument(name=name, expected=expected, given=given)


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
            name=name,
            expected="probabilities under two laws, 0 or above, each law's adding up to 1",
            given=f"{len(pairs)} pairs that do not",
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
