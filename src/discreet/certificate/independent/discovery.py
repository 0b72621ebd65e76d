"""Discovered keys: how likely a key of n people is shown, and what that tells of one of them.

The rule shows a key of n + 1 people with the largest probability that (ε, δ) for one key allows,

    π(n+1) = min(e^ε·π(n) + δ,  1 − e^(−ε)·(1 − π(n) − δ),  1),      π(0) = 0

(Desfontaines, Voss, Gipson and Mandayam 2022), each rounded down to a multiple of 2^(−bits), where
δ itself keeps 64 digits. It is written down here again, from that sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm
from typing import Final

from discreet.balls import precision
from discreet.certificate.independent.reals import above, below, real
from discreet.errors import Refused

Coin = tuple[Fraction, Fraction]  # shown without and with one person more
MOST_SIZES: Final = 10**6 + 1  # as many as the mechanism itself allows
_MOST_BITS: Final = 2**27  # of them all: for a δ of any use, as many as the sizes allow


def coins(epsilon: Fraction, delta: Fraction) -> list[Coin]:
    """(π(n), π(n+1)) for n = 0, 1, ... up to certainty.

    >>> table = coins(Fraction(1), Fraction(1, 100))
    >>> [round(float(p), 4) for p, _ in table][:4], len(table)
    ([0.0, 0.01, 0.0372, 0.1111], 9)
    """
    bits = 64 + max(0, delta.denominator.bit_length() - delta.numerator.bit_length() + 1)
    one, chance = 2**bits, floor(delta * 2**bits)
    fine = 2 ** (bits + 64)
    rate = min(epsilon, Fraction(4096))
    with precision(4 * bits + 8192):  # far more than the digits of e^4096 in these units
        grow = floor(below(real(rate).exp() * fine))
        shrink = ceil(above((-real(rate)).exp() * fine))
    table = [0]
    while table[-1] < one:
        p = table[-1]
        rest = max(0, -(-shrink * (one - p - chance) // fine))
        table.append(min(grow * p // fine + chance, one - rest, one))
        if len(table) > MOST_SIZES or len(table) * bits > _MOST_BITS:
            raise Refused("discovered keys with a longer table than this version computes")
    return list(pairwise(Fraction(p, one) for p in table))


def largest_loss(table: list[Coin]) -> tuple[Fraction, Fraction]:
    """The least (ε, δ₀) that all coins keep, where δ₀ is the chance of a key of one person: ε is
    rounded up, and 0 at least."""
    failing = max(q for p, q in table if p == 0)
    # In whole numbers, as tables are long: a fraction is above another if its product is.
    one = lcm(failing.denominator, *(x.denominator for coin in table for x in coin))
    fails = failing.numerator * (one // failing.denominator)
    above_one, below_one = 1, 1
    for coin in table:
        p, q = (x.numerator * (one // x.denominator) for x in coin)
        for part, whole in ((q - fails, p), (one - p - fails, one - q)):
            if whole > 0 and part * below_one > above_one * whole:
                above_one, below_one = part, whole
    if above_one <= below_one:
        return Fraction(0), failing
    with precision(256):
        return above(real(Fraction(above_one, below_one)).log()), failing


def dominated(table: list[Coin], claimed: list[Coin]) -> bool:
    """Whether at every ε ≥ 0 some claimed coin tells at least as much as each coin of the table.

    With K = e^ε a coin tells max(q − K·p, (1 − p) − K·(1 − q)). The claimed ones make a convex
    function of K ≥ 1 out of straight pieces; a line lies below it just when it does at K = 1 and
    where the pieces meet.
    """
    sides = (lambda c: c), (lambda c: (1 - c[1], 1 - c[0]))
    return all(
        _below([side(coin) for coin in table], [side(coin) for coin in claimed]) for side in sides
    )


def _below(lines: list[Coin], claimed: list[Coin]) -> bool:
    hull = _envelope([*claimed, (Fraction(0), Fraction(0))])
    meets = [(q - high) / (p - less) for (p, q), (less, high) in pairwise(hull)]
    places = [Fraction(1), *meets]  # one for each piece: where it begins
    heights = [q - k * p for k, (p, q) in zip(places, hull, strict=True)]
    far = hull[-1][1]  # the height from the last place on
    slopes = [-p for p, _ in hull]

    def held(p: Fraction, q: Fraction) -> bool:
        # The line comes nearest where the pieces become flatter than it: the hull is convex.
        piece = min(bisect_left(slopes, -p), len(hull) - 1)
        return (p > 0 or q <= far) and q - places[piece] * p <= heights[piece]

    return all(held(p, q) for p, q in lines)


def _envelope(claimed: list[Coin]) -> list[Coin]:
    """The lines q − K·p that are highest somewhere on K ≥ 1, from the steepest to the flattest."""
    hull: list[Coin] = []
    for p, q in sorted(set(claimed), key=lambda c: (-c[0], c[1])):
        while hull:
            p1, q1 = hull[-1]
            if p == p1 or q - p >= q1 - p1:  # from K = 1 on never below the last one
                hull.pop()
                continue
            if len(hull) > 1:
                p0, q0 = hull[-2]
                # the last one is hidden if this one passes the one before it no later
                if (q0 - q) * (p0 - p1) <= (q0 - q1) * (p0 - p):
                    hull.pop()
                    continue
            break
        hull.append((p, q))
    return hull
