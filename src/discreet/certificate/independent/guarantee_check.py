"""Is a guarantee what the mechanisms amount to, and a charge at least what they take?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, Any, Final

from discreet.certificate.independent.law_pairs import (
    BinaryResponse,
    Counted,
    LossRange,
    Normal,
    Pair,
    Shift,
)
from discreet.certificate.independent.reals import above, below, read, read_count, real, total
from discreet.errors import InvalidArgument, Refused
from discreet.numeric.balls import certainly_at_most, precision

if TYPE_CHECKING:
    from flint import arb


# -- discovered keys -------------------------------------------------------------------------------
# How likely a key of n people is to be shown, and what that reveals about one of them. The rule
# shows a key of n + 1 people with the largest probability that (ε, δ) for one key allows,
#
#     π(n+1) = min(e^ε·π(n) + δ,  1 − e^(−ε)·(1 − π(n) − δ),  1),      π(0) = 0
#
# (Desfontaines, Voss, Gipson and Mandayam 2022), each rounded down to a multiple of 2^(−bits),
# where δ itself keeps 64 digits. It is implemented here a second time, from that sentence.


Coin = tuple[Fraction, Fraction]  # the chances of being shown without and with one more person
MOST_SIZES: Final = 10**6 + 1  # as many as the mechanism itself allows
_MOST_BITS: Final = 2**27  # in all: for any useful δ, no tighter than the limit on sizes


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
    """The least (ε, δ₀) that all coins satisfy, where δ₀ is the chance that a key of one person is
    shown; ε is rounded up, and at least 0."""
    failing = max(q for p, q in table if p == 0)
    # In whole numbers, as tables are long: fractions are compared by cross-multiplication.
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
    """Whether at every ε ≥ 0 some claimed coin reveals as much as each coin of the table, or more.

    With K = e^ε a coin reveals max(q − K·p, (1 − p) − K·(1 − q)). The claimed ones make a convex
    function of K ≥ 1 out of straight pieces; a line lies below it exactly when it does at K = 1
    and where the pieces meet.
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


# -- from a mechanism's printed numbers to pairs of laws -------------------------------------------


@dataclass(frozen=True)
class Derived:
    """What one mechanism amounts to: pairs of laws, and the claim that says exactly that.

    `claim` uses the terms of a guarantee's document: (notion, numbers), and how often each occurs.
    """

    pairs: tuple[Counted, ...]
    claim: dict[tuple[Any, ...], int]
    coins: tuple[Coin, ...] = ()  # of discovered keys, where one person holds one


def derive(mechanism: Mapping[str, Any]) -> Derived:
    """From the printed numbers of any mechanism to its pairs of laws.

    >>> moved = {"l0": "2", "linf": "5", "l1": "10", "l2": "8"}
    >>> derive({"mechanism": "laplace", "sensitivity": moved, "scale": "100", "times": 1}).pairs
    ((Shift(epsilon=Fraction(1, 20), steps=5), 2),)
    """
    kinds = {
        "laplace": _laplace,
        "gaussian": _gaussian,
        "quantiles": _quantiles,
        "top k": _top_k,
        "keys": _keys,
    }
    kind = mechanism.get("mechanism")
    if kind not in kinds:
        raise Refused("a mechanism of a kind that this version cannot compute again")
    derived = kinds[kind](mechanism)
    times = read_count(mechanism.get("times"), "times")
    return Derived(
        tuple((pair, count * times) for pair, count in derived.pairs),
        {key: count * times for key, count in derived.claim.items()},
        derived.coins,
    )


def _laplace(mechanism: Mapping[str, Any]) -> Derived:
    """At most l0 numbers move, each by at most linf, and all together by at most l1. The worst way
    to share out a move is the most uneven one: as many as possible move by the most."""
    scale = _positive(mechanism, "scale")
    moved = mechanism["sensitivity"]
    total = min(_norm(moved, "l1"), _norm(moved, "l0") * _norm(moved, "linf"))
    most = min(total, _norm(moved, "linf"))
    if total.denominator != 1 or most.denominator != 1:
        epsilon = total / scale
        return _one(BinaryResponse(epsilon), 1, ("pure", epsilon))
    full, rest = divmod(total, most)
    shifts = [(most, int(full)), (rest, 1)] if rest else [(most, int(full))]
    return _many([(Shift(move / scale, int(move)), count) for move, count in shifts])


def _gaussian(mechanism: Mapping[str, Any]) -> Derived:
    mu = _norm(mechanism["sensitivity"], "l2") / _positive(mechanism, "sigma")
    return _one(Normal(mu**2), 1, ("gdp", mu))


def _quantiles(mechanism: Mapping[str, Any]) -> Derived:
    """m probabilities are asked on ⌊log₂ m⌋ + 1 levels, and a row is in one question per level.

    P(i) ∝ e^(−d/scale), where d rows are between candidate i and the rank p·n: a row moves d by p
    or by 1 − p, up or down, and so the log of all probabilities within an interval of
    2·max(p, 1 − p)·rows/scale."""
    asked, scales = mechanism.get("probabilities"), mechanism.get("scales")
    if not isinstance(asked, list) or not isinstance(scales, list) or not asked:
        raise _missing("probabilities and scales")
    rows, levels = _norm(mechanism["sensitivity"], "rows"), len(asked).bit_length()
    each = {
        2 * max(p, 1 - p) * rows / _above_zero(read(scale, "scales"), "scales")
        for p, scale in zip((read(p, "probabilities") for p in asked), scales, strict=True)
    }
    if each != {_positive(mechanism, "epsilon") / levels}:
        raise InvalidArgument(
            name="epsilon",
            expected="twice what the rows move a rank by, over the scale, once for each level",
            given="another number",
        )
    return _many([(LossRange(*each), levels)])


def _top_k(mechanism: Mapping[str, Any]) -> Derived:
    """P(i) ∝ e^(count/scale): counts that move by at most `rows`, all in one direction if monotone,
    move the log of all probabilities within an interval of rows/scale, or twice that."""
    k = read_count(mechanism.get("k"), "k")
    ways = 1 if mechanism.get("monotone") is True else 2
    each = ways * _norm(mechanism["sensitivity"], "rows") / _positive(mechanism, "scale")
    if each * k != _positive(mechanism, "epsilon"):
        raise InvalidArgument(
            name="epsilon",
            expected="k times rows over scale (twice that unless monotone)",
            given="another number",
        )
    return _many([(LossRange(each), k)])


def _keys(mechanism: Mapping[str, Any]) -> Derived:
    """One person holds at most m keys, each shown by a rule for (ε/m, δ/m)."""
    if mechanism.get("rule") != "optimal":
        raise Refused("keys discovered by a rule that this version cannot compute again")
    m = _norm(mechanism["sensitivity"], "groups")
    if m.denominator != 1:
        raise _missing("groups")
    epsilon, delta = _positive(mechanism, "epsilon") / m, _positive(mechanism, "delta") / m
    if m == 1:
        table = coins(epsilon, delta)
        loss, failing = largest_loss(table)
        pair = BinaryResponse(loss, failing)
        return Derived(((pair, 1),), {("keys",): 1}, tuple(table))
    return _one(BinaryResponse(epsilon, delta), int(m), ("approx", epsilon, delta))


def _one(pair: Pair, count: int, claim: tuple[Any, ...]) -> Derived:
    return Derived(((pair, count),), {claim: count})


def _many(pairs: list[Counted]) -> Derived:
    claim: dict[tuple[Any, ...], int] = {}
    for pair, count in pairs:
        key: tuple[Any, ...] = (
            ("laplace", pair.epsilon, pair.steps)
            if isinstance(pair, Shift)
            else ("bounded range", pair.epsilon)  # type: ignore[union-attr]
        )
        claim[key] = claim.get(key, 0) + count
    return Derived(tuple(pairs), claim)


def _norm(moved: object, norm: str) -> Fraction:
    if not isinstance(moved, Mapping) or norm not in moved:
        raise _missing(norm)
    return _above_zero(read(moved[norm], norm), norm)


def _positive(mechanism: Mapping[str, Any], name: str) -> Fraction:
    return _above_zero(read(mechanism.get(name), name), name)


def _above_zero(value: Fraction, name: str) -> Fraction:
    if value > 0:
        return value
    raise InvalidArgument(name=name, expected="above 0", given="0 (str)")


def _missing(name: str) -> InvalidArgument:
    return InvalidArgument(name=name, expected="given for this mechanism", given="nothing")


# -- charges ---------------------------------------------------------------------------------------
# Is one at least the sum of what the mechanisms take, in the notion of the account?


MOST_KINDS: Final = 1000  # of mechanisms that differ in their numbers


def charged_enough(
    notion: str, amount: Fraction, slack: Fraction, pairs: Sequence[Counted]
) -> bool:
    """Whether ε, ρ or μ² add up to at most `amount` and the chances to fail to at most `slack`.

    Where all terms are rational it is decided in fractions, else in balls: for certain, or not.

    >>> from discreet.certificate.independent.law_pairs import Shift
    >>> pairs = [(Shift(Fraction(1, 4), 5), 2)]
    >>> charged_enough("pure", Fraction(1, 2), Fraction(0), pairs)
    True
    >>> charged_enough("zcdp", Fraction(1, 20), Fraction(0), pairs)
    False
    """
    failing = total(p.failing * n for p, n in pairs if isinstance(p, BinaryResponse))
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
    others: Counter[Shift | LossRange | BinaryResponse] = Counter()
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


# -- guarantees, compared part by part -------------------------------------------------------------


Key = tuple[Any, ...]

_TIGHT: Final = Fraction(1, 2**40)  # how far the root of a sum of squares may be rounded up


def is_just(document: Mapping[str, Any], derived: Sequence[Derived]) -> bool:
    """Whether the document has the pairs of the mechanisms, each as often, and no others.

    Gaussian pairs are compared by the sum of their μ², which is what they compose to, and
    discovered keys by what their coins reveal.
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
    """The parts of a guarantee and how often each occurs, and the coins of discovered keys."""
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
    """The coins; where keys are discovered by the best rule, there may be nothing besides."""
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
