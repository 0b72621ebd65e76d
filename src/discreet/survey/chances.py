"""Chances as people say them, rounded outward: no card promises more than the law keeps."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

_SIMPLE: Final = 12  # denominators that are stated as they are: 3 in 4, 5 in 12
_FINE: Final = Fraction(1, 1000)  # anything rarer is stated as once in N
_DIGITS: Final = 3
_NEARLY: Final = Fraction(99, 100)
_CERTAIN: Final = Decimal("1e-9")  # per cent; a smaller distance from certainty is ignored
_SAYABLE: Final = 10**12


def most_often(p: Fraction) -> str:
    """How often something happens at most, in words.

    >>> most_often(Fraction(3, 4)), most_often(Fraction(2, 13)), most_often(Fraction(1, 2026))
    ('3 times in 4', 'at most 15.4 times in 100', 'at most once in 2,020')
    """
    return _often(p, "at most", ROUND_CEILING)


def least_often(p: Fraction) -> str:
    """How often something happens at least, in words.

    >>> least_often(Fraction(1, 4)), least_often(Fraction(2, 13)), least_often(Fraction(1, 2026))
    ('once in 4', 'at least 15.3 times in 100', 'at least once in 2,030')
    """
    return _often(p, "at least", ROUND_FLOOR)


def _often(p: Fraction, bound: str, rounding: str) -> str:
    if p.denominator <= _SIMPLE:
        return f"{'once' if p.numerator == 1 else f'{p.numerator} times'} in {p.denominator}"
    if p >= _FINE:
        return f"{bound} {_percent(p, rounding)} times in 100"
    opposite = ROUND_FLOOR if rounding == ROUND_CEILING else ROUND_CEILING
    many = 1 / p
    if many >= _SAYABLE:
        return "practically never" if bound == "at most" else "hardly ever"
    return f"{bound} once in {digits(many, opposite)}"


def sure(p: Fraction) -> str:
    """How sure somebody is at most, in words.

    >>> sure(Fraction(1, 4)), sure(Fraction(2, 3)), sure(Fraction(99_999, 100_000))
    ('25 %', '66.7 %', '99.999 %')
    """
    return f"{_percent(p, ROUND_CEILING)} %"


def _percent(p: Fraction, rounding: str) -> str:
    """A number out of a hundred; near 100, the digits are those of the rest."""
    if p <= _NEARLY or rounding == ROUND_FLOOR:
        return digits(100 * p, rounding)
    rest = Context(prec=_DIGITS - 1, rounding=ROUND_FLOOR).divide(
        Decimal(100 * (1 - p).numerator), Decimal(p.denominator)
    )
    return f"{(100 - rest).normalize():f}" if rest > _CERTAIN else "100"


def stated(prior: Fraction) -> tuple[str, Fraction]:
    """A belief in words, and the number these words state, which is not below it.

    >>> stated(Fraction(1, 10)), stated(Fraction(1, 3))
    (('10 %', Fraction(1, 10)), ('33.333334 %', Fraction(16666667, 50000000)))
    """
    shown = Context(prec=8, rounding=ROUND_CEILING).divide(
        Decimal(100 * prior.numerator), Decimal(prior.denominator)
    )
    return f"{shown.normalize():f} %", Fraction(shown) / 100


def factor(odds: Fraction) -> str | None:
    """How many times likelier at most, in words; None if the limit is not worth stating.

    >>> factor(Fraction(3)), factor(Fraction(27, 10)), factor(Fraction(10**9))
    ('3 times', '2.7 times', None)
    """
    return f"{digits(odds, ROUND_CEILING)} times" if odds <= 10**6 else None


def digits(x: Fraction, rounding: str) -> str:
    """A number to three digits, with commas.

    >>> digits(Fraction(200_001, 2), ROUND_CEILING), digits(Fraction(1, 3), ROUND_FLOOR)
    ('101,000', '0.333')
    """
    context = Context(prec=_DIGITS, rounding=rounding)
    short = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    plain = f"{short:,f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def posterior(prior: Fraction, odds: Fraction) -> Fraction:
    """What a belief becomes when its odds are multiplied: r·F/(1 + r·(F − 1)).

    >>> posterior(Fraction(1, 10), Fraction(3))               # 3r/(1 + 2r)
    Fraction(1, 4)
    """
    return prior * odds / (1 + prior * (odds - 1))


def sentence(text: str) -> str:
    """The text with a capital letter, to begin a sentence with."""
    return text[0].upper() + text[1:]
