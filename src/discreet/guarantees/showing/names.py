"""Guarantees in a line, for people."""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.exact import round_up
from discreet.guarantees.composition import Composition
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.showing.printing import decimal_up

_LONGEST = 72  # characters of a title


def short_name(guarantee: Guarantee) -> str:
    """The guarantee in a line, with decimals rounded up, or its class if that is too long.

    >>> from discreet.guarantees import Pure
    >>> short_name(Pure(epsilon="1/10")), short_name(Pure(epsilon=1).repeat(1000))
    ('Pure(epsilon=0.1)', '1,000 runs of Pure(epsilon=1)')
    """
    if isinstance(guarantee, Composition):
        runs, kinds = sum(count for _, count in guarantee.parts), len(guarantee.parts)
        return f"{runs:,} runs of " + (
            short_name(guarantee.parts[0][0]) if kinds == 1 else f"{kinds} mechanisms"
        )
    name = _decimals(repr(guarantee))
    return name if len(name) <= _LONGEST else type(guarantee).__name__


def _decimals(words: str) -> str:
    def short(found: re.Match[str]) -> str:
        return f"{round_up(decimal_up(Fraction(int(found[1]), int(found[2])))):g}"

    return re.sub(r"Fraction\((\d+), (\d+)\)", short, words).replace(", steps=None", "")
