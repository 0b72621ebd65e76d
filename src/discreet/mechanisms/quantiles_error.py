"""How many rows off several quantiles may be: errors of one choice shift the next."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from discreet.balls import ball, upper
from discreet.laws.sharp import sharp
from discreet.mechanisms.quantiles_tree import Piece, spots


def rank_errors(
    root: Piece,
    scale: Callable[[Fraction], Fraction],
    *,
    odds: Fraction,
    candidates: int,
    heaviest: int,
) -> list[Fraction]:
    """Return for each probability asked, rising, how many rows it may be off.

    ``scale`` is the scale in rows of a choice for a probability, ``odds`` one over the chance
    that any one choice is worse, ``heaviest`` the most rows at one candidate.
    """
    many = spots(candidates, asked=len(root.asked))
    # A split is made in the middle of a place, so up to half of the place's rows off.
    half_place = ceil(Fraction(ceil(Fraction(heaviest, many)), 2))

    def missed(p: Fraction, among: int) -> Fraction:
        # as `Exponential.error`: those further off weigh at most 1/odds together
        return Fraction(upper(sharp(lambda: ball(scale(p)) * ball(among * odds).log())))

    def widths(piece: Piece, low: Fraction, high: Fraction) -> list[Fraction]:
        # Let the rows of a piece begin `low` off the quantile where they should, and end `high`
        # off. Then the place that is looked for in it, its inner p-quantile, is off by
        # (1 − p)·low + p·high, and what is chosen instead by `missed` more.
        inner = [piece.within(p) for p in piece.asked]
        off = [(1 - p) * low + p * high for p in inner]
        if not piece.splits:
            both = [o + missed(p, candidates) for o, p in zip(off, inner, strict=True)]
            return [max(both) for _ in both]  # they may change places
        width = off[piece.middle] + missed(inner[piece.middle], candidates * many)
        edge = width + half_place
        below, above = piece.sides
        return [*widths(below, low, edge), width, *widths(above, edge, high)]

    return widths(root, Fraction(0), Fraction(0))
