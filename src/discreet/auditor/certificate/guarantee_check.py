"""Is a guarantee what the mechanisms amount to, and a charge at least what they take?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil, floor
from typing import Any, Final

from discreet.auditor.certificate.law_pairs import (
    BinaryResponse,
    LossRange,
    Normal,
    Pair,
    Pairs,
    Shift,
    chance_to_fail,
    largest_loss,
    square_sum,
)
from discreet.errors import InvalidArgument, Refused
from discreet.numeric import canonical
from discreet.numeric.balls import (
    arb,
    ball,
    certainly_at_most,
    lower_fraction,
    precision,
    upper_fraction,
)

Document = Mapping[str, Any]

# -- discovered keys -------------------------------------------------------------------------------
# How likely a key of n people is to be shown, and what that reveals about one of them. The rule
# shows a key of n + 1 people with the largest probability that (ε, δ) for one key allows,
#
#     π(n+1) = min(e^ε·π(n) + δ,  1 − e^(−ε)·(1 − π(n) − δ),  1),      π(0) = 0
#
# (Desfontaines, Voss, Gipson and Mandayam 2022), each rounded down to a multiple of 2^(−bits),
# where δ itself keeps 64 digits. It is implemented here a second time, from that sentence.


Coin = tuple[int, int]  # the chances of being shown without and with one more person
MOST_SIZES: Final = 10**6 + 1  # as many as the mechanism itself allows
_MOST_BITS: Final = 2**27  # in all: for any useful δ, no tighter than the limit on sizes


def key_chances(epsilon: Fraction, delta: Fraction) -> list[int]:
    """π(0), π(1), ... up to certainty, as integers in units of the last one.

    >>> chances = key_chances(Fraction(1), Fraction(1, 100))
    >>> [round(p / chances[-1], 4) for p in chances[:4]], len(chances)
    ([0.0, 0.01, 0.0372, 0.1111], 10)
    """
    bits = 64 + max(0, delta.denominator.bit_length() - delta.numerator.bit_length() + 1)
    one, chance = 2**bits, floor(delta * 2**bits)
    fine = 2 ** (bits + 64)
    rate = min(epsilon, Fraction(4096))
    with precision(4 * bits + 8192):  # far more than the digits of e^4096 in these units
        grow = floor(lower_fraction(ball(rate).exp() * fine))
        shrink = ceil(upper_fraction((-ball(rate)).exp() * fine))
    table = [0]
    while table[-1] < one:
        p = table[-1]
        rest = max(0, -(-shrink * (one - p - chance) // fine))
        table.append(min(grow * p // fine + chance, one - rest, one))
        if len(table) > MOST_SIZES or len(table) * bits > _MOST_BITS:
            raise Refused("discovered keys with a longer table than this version computes")
    return table


def discovery(chances: list[int]) -> BinaryResponse:
    """The least (ε, δ₀) that all coins satisfy, where δ₀ is the chance that a key of one person is
    shown; ε is rounded up, and at least 0. With the coins that reveal the most at some ε."""
    one, fails = chances[-1], chances[1]
    above_one, below_one = 1, 1
    for p, q in pairwise(chances):  # fractions, compared by cross-multiplication
        for part, whole in ((q - fails, p), (one - p - fails, one - q)):
            if whole > 0 and part * below_one > above_one * whole:
                above_one, below_one = part, whole
    loss = Fraction(0)
    if above_one > below_one:
        with precision(256):
            loss = upper_fraction(ball(Fraction(above_one, below_one)).log())
    coins = list(pairwise(chances))
    hidden = _envelope([(one - q, one - p) for p, q in coins])
    worst = sorted({*_envelope(coins), *((one - q, one - p) for p, q in hidden)})
    told = tuple((Fraction(p, one), Fraction(q, one)) for p, q in worst)
    return BinaryResponse(loss, Fraction(fails, one), told)


def _envelope(coins: list[Coin]) -> list[Coin]:
    """The coins that reveal the most somewhere: with K = e^ε ≥ 1, the lines q − K·p that are
    highest there, from the steepest to the flattest."""
    hull: list[Coin] = []
    for p, q in sorted(set(coins), key=lambda coin: (-coin[0], coin[1])):
        while hull:
            p1, q1 = hull[-1]
            hidden = p == p1 or q - p >= q1 - p1  # from K = 1 on never below the last one
            if not hidden and len(hull) > 1:
                p0, q0 = hull[-2]
                # the last one is hidden if this one passes the one before it no later
                hidden = (q0 - q) * (p0 - p1) <= (q0 - q1) * (p0 - p)
            if not hidden:
                break
            hull.pop()
        hull.append((p, q))
    return hull


# -- from a mechanism's printed numbers to pairs of laws -------------------------------------------


def derive(mechanism: Document) -> Pairs:
    """The pairs of laws that a mechanism amounts to, from its printed numbers.

    >>> moved = {"l0": "2", "linf": "5", "l1": "10", "l2": "8"}
    >>> derive({"mechanism": "laplace", "sensitivity": moved, "scale": "100", "times": 1})
    Counter({Shift(epsilon=Fraction(1, 20), steps=5): 2})
    """
    if mechanism["mechanism"] not in MECHANISMS:
        raise Refused("a mechanism of a kind that this version cannot compute again")
    found: Pairs = Counter()
    for pair, count in MECHANISMS[mechanism["mechanism"]](mechanism):
        found[pair] += count * mechanism["times"]
    return found


def _laplace(mechanism: Document) -> Iterator[tuple[Pair, int]]:
    """At most l0 numbers move, each by at most linf, and all together by at most l1. The worst way
    to share out a move is the most uneven one: as many as possible move by the most."""
    scale, moved = _positive(mechanism["scale"], "scale"), mechanism["sensitivity"]
    l0, linf, l1 = (_positive(moved[norm], norm) for norm in ("l0", "linf", "l1"))
    all_together = min(l1, l0 * linf)
    most = min(all_together, linf)
    if all_together.denominator != 1 or most.denominator != 1:
        yield BinaryResponse(all_together / scale), 1
        return
    full, rest = divmod(all_together, most)
    for move, count in ((most, int(full)), (rest, 1)):
        if move:
            yield Shift(move / scale, int(move)), count


def _gaussian(mechanism: Document) -> Iterator[tuple[Pair, int]]:
    l2, sigma = mechanism["sensitivity"]["l2"], mechanism["sigma"]
    yield Normal((_positive(l2, "l2") / _positive(sigma, "sigma")) ** 2), 1


def _quantiles(mechanism: Document) -> Iterator[tuple[Pair, int]]:
    """m probabilities are asked on ⌊log₂ m⌋ + 1 levels, and a row is in one question per level.

    P(i) ∝ e^(−d/scale), where d rows are between candidate i and the rank p·n: a row moves d by p
    or by 1 − p, up or down, and so the log of all probabilities within an interval of
    2·max(p, 1 − p)·rows/scale."""
    asked = [Fraction(p) for p in mechanism["probabilities"]]
    scales = [_positive(scale, "scales") for scale in mechanism["scales"]]
    rows, levels = _positive(mechanism["sensitivity"]["rows"], "rows"), len(asked).bit_length()
    each = {2 * max(p, 1 - p) * rows / scale for p, scale in zip(asked, scales, strict=True)}
    if each != {_positive(mechanism["epsilon"], "epsilon") / levels}:
        raise InvalidArgument(
            "epsilon",
            "twice what the rows move a rank by, over the scale, once for each level",
            "another number",
        )
    yield LossRange(*each), levels


def _top_k(mechanism: Document) -> Iterator[tuple[Pair, int]]:
    """P(i) ∝ e^(count/scale): counts that move by at most `rows`, all in one direction if monotone,
    move the log of all probabilities within an interval of rows/scale, or twice that."""
    k, ways = mechanism["k"], 1 if mechanism["monotone"] else 2
    rows, scale = mechanism["sensitivity"]["rows"], mechanism["scale"]
    each = ways * _positive(rows, "rows") / _positive(scale, "scale")
    if each * k != _positive(mechanism["epsilon"], "epsilon"):
        raise InvalidArgument(
            "epsilon", "k times rows over scale (twice that unless monotone)", "another number"
        )
    yield LossRange(each), k


def _keys(mechanism: Document) -> Iterator[tuple[Pair, int]]:
    """One person holds at most m keys, each shown by a rule for (ε/m, δ/m)."""
    m = _positive(mechanism["sensitivity"]["groups"], "groups")
    if m.denominator != 1:
        raise InvalidArgument("groups", "a whole number", "a fraction")
    epsilon, delta = (_positive(mechanism[name], name) / m for name in ("epsilon", "delta"))
    if m == 1:
        yield discovery(key_chances(epsilon, delta)), 1
    else:
        yield BinaryResponse(epsilon, delta), int(m)


#: What each kind of mechanism amounts to: pairs of laws, and how often each.
MECHANISMS: Final[dict[str, Callable[[Document], Iterator[tuple[Pair, int]]]]] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "quantiles": _quantiles,
    "top k": _top_k,
    "keys": _keys,
}


def _positive(text: str, name: str) -> Fraction:
    exact = Fraction(text)
    if exact > 0:
        return exact
    raise InvalidArgument(name, "above 0", "0 (str)")


# -- charges ---------------------------------------------------------------------------------------
# Is one at least the sum of what the mechanisms take, in the notion of the account?


MOST_KINDS: Final = 1000  # of mechanisms that differ in their numbers


def charged_enough(notion: str, amount: Fraction, slack: Fraction, pairs: Pairs) -> bool:
    """Whether ε, ρ or μ² add up to at most `amount` and the chances to fail to at most `slack`.

    Where all terms are rational it is decided in fractions, else in balls: for certain, or not.

    >>> pairs = Counter({Shift(Fraction(1, 4), 5): 2})
    >>> charged_enough("pure", Fraction(1, 2), Fraction(0), pairs)
    True
    >>> charged_enough("zcdp", Fraction(1, 20), Fraction(0), pairs)
    False
    """
    if slack < min(chance_to_fail(pairs), Fraction(1)):
        return False
    if notion == "pure":
        loss = largest_loss(pairs)
        return loss is not None and loss <= amount
    exact = square_sum(pairs) / {"zcdp": 2, "gdp": 1}[notion]  # D_α = α·μ²/2 of normal laws
    others = [(p, n) for p, n in pairs.items() if not isinstance(p, Normal) and p.epsilon > 0]
    if not others or exact > amount:
        return exact <= amount
    if len(others) > MOST_KINDS:
        raise Refused("too many kinds of mechanisms to add up what they take")

    def taken() -> arb:
        terms = [n * (p.rho() if notion == "zcdp" else p.mu() ** 2) for p, n in others]
        return reduce(lambda a, b: a + b, terms)

    return certainly_at_most(taken, amount - exact)


# -- guarantees, compared part by part -------------------------------------------------------------


_TIGHT: Final = Fraction(1, 2**40)  # how far the root of a sum of squares may be rounded up


def is_just(document: Document, pairs: Pairs) -> bool:
    """Whether the document has these pairs, each as often, and no others.

    There is one way to write each, so that the texts are compared; but Gaussian pairs by the sum of
    their μ², which is what they compose to.
    """
    told, squares = Counter[str](), Counter[Pair]()
    for part, count in _parts(document):
        mu = Fraction(part.get("mu", 0))
        if part == {"notion": "gdp", "mu": str(mu)}:
            squares[Normal(mu**2)] += count
        else:
            told[canonical.text(part)] += count
    needed = Counter[str]()
    for pair, count in pairs.items():
        if not isinstance(pair, Normal):
            needed[canonical.text(_written(pair))] += count
    least = square_sum(pairs)
    return told == needed and least <= square_sum(squares) <= least * (1 + _TIGHT)


def _parts(document: Document) -> list[list[Any]]:
    """The parts of a guarantee, and how often each occurs."""
    whole = {k: each for k, each in document.items() if k != "version" or repr(each) != "1"}
    if whole.keys() == {"notion", "parts"} and whole["notion"] == "composition":
        return list(whole["parts"])
    return [[whole, 1]]


def _written(pair: Shift | LossRange | BinaryResponse) -> dict[str, Any]:
    """The part of a guarantee's document that says exactly this pair."""
    epsilon = str(pair.epsilon)
    match pair:
        case Shift():
            return {"notion": "laplace", "epsilon": epsilon, "steps": pair.steps}
        case LossRange():
            return {"notion": "bounded range", "epsilon": epsilon}
        case BinaryResponse(failing=0):
            return {"notion": "pure", "epsilon": epsilon}
        case BinaryResponse(coins=()):
            return {"notion": "approx", "epsilon": epsilon, "delta": str(pair.failing)}
    coins = [[str(p), str(q)] for p, q in pair.coins]
    nothing = {"base": {"notion": "pure", "epsilon": "0"}, "failing": "0", "stepwise": False}
    return {"notion": "keys", "coins": coins, **nothing}
