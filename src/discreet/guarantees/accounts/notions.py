"""The notions an account can be kept in: those with one number that adds up."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact import round_up, sqrt_up
from discreet.guarantees.gdp import GDP
from discreet.guarantees.pure import Pure
from discreet.guarantees.zcdp import ZCDP

Notion: TypeAlias = Pure | ZCDP | GDP

_SYMBOLS: dict[type[Notion], str] = {Pure: "ε", ZCDP: "ρ", GDP: "μ²"}


def sum_of(notion: Notion) -> Fraction:
    """The number that adds up: ε, ρ or μ².

    >>> sum_of(GDP(mu="1/2"))
    Fraction(1, 4)
    """
    match notion:
        case Pure(epsilon0=e):
            return e
        case ZCDP(rho=rho):
            return rho
        case GDP(mu=mu):
            return mu * mu


def of_sum(kind: type[Notion], total: Fraction) -> Notion:
    """The notion of this sum, rounded up where a square root is not rational.

    >>> of_sum(GDP, Fraction(1, 4))
    GDP(mu=Fraction(1, 2))
    """
    return GDP(sqrt_up(total)) if kind is GDP else kind(total)


def read_cap(limit: Notion) -> Fraction:
    """The cap on the sum, of a limit that an account can have."""
    if isinstance(limit, Pure | ZCDP | GDP) and sum_of(limit) > 0:
        return sum_of(limit)
    raise InvalidArgument(
        name="limit",
        expected="Pure, ZCDP or GDP, above 0",
        given=f"a value of type {type(limit).__name__}",
        hint="for an (ε, δ) cap use Filter.from_epsilon_delta",
    )


def in_words(kind: type[Notion], total: Fraction, slack: Fraction) -> str:
    """For messages.

    >>> in_words(ZCDP, Fraction(1, 2), Fraction(0)), in_words(Pure, Fraction(3), Fraction(1, 1000))
    ('ρ = 0.5', 'ε = 3 with δ₀ = 0.001')
    """
    words = f"{_SYMBOLS[kind]} = {plain(total)}"
    return f"{words} with δ₀ = {plain(slack)}" if slack else words


def plain(x: Fraction) -> str:
    """A number for reading, to 12 digits."""
    return f"{round_up(x):.12g}"
