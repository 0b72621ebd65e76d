"""Is a charge at least the sum of what the mechanisms take, in the notion of the account?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Final

from discreet.certificate.independent.pairs import Counted, Normal, Range, Response, Shift
from discreet.certificate.independent.reals import total
from discreet.errors import InvalidArgument, Refused
from discreet.laws.sharp import certainly_at_most

if TYPE_CHECKING:
    from flint import arb

MOST_KINDS: Final = 1000  # of mechanisms that differ in their numbers


def charged_enough(
    notion: str, amount: Fraction, slack: Fraction, pairs: Sequence[Counted]
) -> bool:
    """Whether ε, ρ or μ² add up to at most `amount` and the chances to fail to at most `slack`.

    Where all terms are rational it is decided in fractions, else in balls: for certain, or not.

    >>> from discreet.certificate.independent.pairs import Shift
    >>> pairs = [(Shift(Fraction(1, 4), 5), 2)]
    >>> charged_enough("pure", Fraction(1, 2), Fraction(0), pairs)
    True
    >>> charged_enough("zcdp", Fraction(1, 20), Fraction(0), pairs)
    False
    """
    failing = total(p.failing * n for p, n in pairs if isinstance(p, Response))
    if slack < min(failing, Fraction(1)):
        return False
    match notion:
        case "pure":
            return all(not isinstance(p, Normal) for p, _ in pairs) and amount >= total_loss(pairs)
        case "zcdp":
            exact = total(p.rho() * n for p, n in pairs if isinstance(p, Normal))
        case "gdp":
            exact = total(p.square * n for p, n in pairs if isinstance(p, Normal))
        case _:
            raise InvalidArgument(
                name="the notion of a charge",
                expected="pure, zcdp or gdp",
                given=InvalidArgument.describe_parameter(notion),
            )
    others: Counter[Shift | Range | Response] = Counter()
    for p, n in pairs:
        if not isinstance(p, Normal) and p.epsilon > 0:
            others[p] += n
    if not others or exact > amount:
        return exact <= amount
    if len(others) > MOST_KINDS:
        raise Refused("too many kinds of mechanisms to add up what they take")

    def taken() -> arb:
        terms = [n * (p.rho() if notion == "zcdp" else p.mu() ** 2) for p, n in others.items()]
        return reduce(lambda a, b: a + b, terms)

    return certainly_at_most(taken, amount - exact)


def total_loss(pairs: Sequence[Counted]) -> Fraction:
    """The sum of the largest losses of bounded pairs."""
    return total(p.epsilon * n for p, n in pairs if not isinstance(p, Normal))
