"""From a mechanism's printed numbers to the pairs of laws that it amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.certificate.independent.discovery import Coin, coins, largest_loss
from discreet.certificate.independent.pairs import Counted, Normal, Pair, Range, Response, Shift
from discreet.certificate.independent.reals import read, read_count
from discreet.errors import InvalidArgument, Refused


@dataclass(frozen=True)
class Derived:
    """What one mechanism amounts to: pairs of laws, and the claim that would say just that.

    `claim` is in the words of a guarantee's document: (notion, numbers), each with how often.
    """

    pairs: tuple[Counted, ...]
    claim: dict[tuple[Any, ...], int]
    coins: tuple[Coin, ...] = ()  # of discovered keys, where one person holds one


def derive(mechanism: Mapping[str, Any]) -> Derived:
    """The same for all mechanisms: numbers in, pairs out.

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
    """All numbers together move by l1, one of them by linf at most, and at most l0 of them. The
    worst way to share a move out is the most uneven one: as many as possible move by the most."""
    scale = _positive(mechanism, "scale")
    moved = mechanism["sensitivity"]
    total = min(_norm(moved, "l1"), _norm(moved, "l0") * _norm(moved, "linf"))
    most = min(total, _norm(moved, "linf"))
    if total.denominator != 1 or most.denominator != 1:
        epsilon = total / scale
        return _one(Response(epsilon), 1, ("pure", epsilon))
    full, rest = divmod(total, most)
    shifts = [(most, int(full)), (rest, 1)] if rest else [(most, int(full))]
    return _many([(Shift(move / scale, int(move)), count) for move, count in shifts])


def _gaussian(mechanism: Mapping[str, Any]) -> Derived:
    mu = _norm(mechanism["sensitivity"], "l2") / _positive(mechanism, "sigma")
    return _one(Normal(mu**2), 1, ("gdp", mu))


def _quantiles(mechanism: Mapping[str, Any]) -> Derived:
    """m probabilities are asked on ⌊log₂ m⌋ + 1 levels, and a row is in one question a level.

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
    return _many([(Range(*each), levels)])


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
    return _many([(Range(each), k)])


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
        pair = Response(loss, failing)
        return Derived(((pair, 1),), {("keys",): 1}, tuple(table))
    return _one(Response(epsilon, delta), int(m), ("approx", epsilon, delta))


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
