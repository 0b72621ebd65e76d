"""What a guarantee means for one person, in sentences.

Every number is an upper bound and is rounded up in print too, so no sentence promises more than
the guarantee does. Nothing is assumed of the reader but that a smaller ε protects better.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from discreet.guarantees.composition import Composition
from discreet.guarantees.guarantee import Guarantee, best_hit_rate, largest_posterior
from discreet.guarantees.sampled import OneWay
from discreet.guarantees.tabulated import Tabulated, failing
from discreet.numeric.balls import ball, sharp, upper_fraction
from discreet.numeric.decimals import chance, decimal_down, decimal_up, percent, text, times
from discreet.numeric.exact import round_up

_RARE = Fraction(1, 10**6)  # the chance set aside where no ε holds for every output
_LIKELY = Fraction(1, 20)  # there, beliefs are stated for findings at least this likely
_FALSE_ALARMS = Fraction(1, 100)
_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
_MILLION = 10**6
_MUCH = 7  # e^7 is about 1,000: above, an ε that leaves out rare results may say more

_DENY = ", so you can always say that it came about without you"
_NO_LOSS = (
    "ε = 0: the result does not depend on your data at all. Whatever somebody believes about you, "
    "it stays as it was, and a test for your data finds it no more often than it gives false "
    "alarms."
)
_NO_PROMISE = (
    "No ε is promised: the result may show your data as it is. Somebody who is 1 % sure that your "
    "data was used may be 100 % sure after seeing the result, and a test for your data may always "
    "find it, without a false alarm."
)


def describe(guarantee: Guarantee) -> str:
    """What a guarantee means for one person, one line each: ε, belief, an attacker, failure.

    >>> from discreet.guarantees import Pure
    >>> print(describe(Pure(epsilon=0)))                      # doctest: +NORMALIZE_WHITESPACE
    ε = 0: the result does not depend on your data at all. Whatever somebody believes about you,
    it stays as it was, and a test for your data finds it no more often than it gives false alarms.
    >>> print(describe(Pure(epsilon="1/2")).splitlines()[0])  # doctest: +NORMALIZE_WHITESPACE
    ε = 0.5: whatever comes out is at most 1.65 times as likely with your data as without it, so
    you can always say that it came about without you.
    """
    if guarantee.epsilon(0) == 0:
        return _NO_LOSS
    fails = failing(guarantee)
    aside, epsilon = _headline(guarantee, fails)
    if aside >= 1 or epsilon is None:
        return _NO_PROMISE
    near = Tabulated(guarantee, tail=decimal_up(fails + _RARE))
    sides = _sides(guarantee)
    lines = [
        _first(epsilon, aside, sides),
        _belief(guarantee if aside == 0 else near, aside, sides),
        _attack(near, guarantee.epsilon(0), sides),
    ]
    if fails:
        lines.append(
            f"With a chance of at most {chance(fails)} the method may fail outright and show "
            "your data as it is."
        )
    if sides.one:
        lines.append("Nothing is said here about the other way round.")
    return "\n".join(lines)


@dataclass(frozen=True)
class _Sides:
    """What is told apart: your data from its absence, or the other way round."""

    likely: str = "with your data as without it"
    fact: str = "your data was used"
    test: str = "test for your data"
    found: str = "finds it"
    one: bool = False


_ABSENT = _Sides(
    likely="without your data as with it",
    fact="your data was not used",
    test="test for the absence of your data",
    found="notices it",
    one=True,
)


def _sides(guarantee: Guarantee) -> _Sides:
    parts = [g for g, _ in guarantee.parts] if isinstance(guarantee, Composition) else [guarantee]
    orders = {g.swapped for g in parts if isinstance(g, OneWay)}
    return _ABSENT if True in orders else _Sides(one=bool(orders))


# -- the sentences ---------------------------------------------------------------------------------


def _first(epsilon: Fraction, aside: Fraction, sides: _Sides) -> str:
    but = f" but for a chance of {chance(aside)}" if aside else ""
    who = "apart from that chance, whatever comes out" if aside else "whatever comes out"
    factor = sharp(lambda: ball(epsilon).exp()) if epsilon < 20 else ball(_MILLION + 1)
    if factor > _MILLION:
        return (
            f"ε = {text(epsilon)}{but}: {who} may be more than a million times as likely "
            f"{sides.likely}, which is practically no limit."
        )
    much = times(upper_fraction(factor))
    deny = "" if aside or sides.one or not factor < 10 else _DENY
    return f"ε = {text(epsilon)}{but}: {who} is {much} {sides.likely}{deny}."


def _belief(guarantee: Guarantee | Tabulated, aside: Fraction, sides: _Sides) -> str:
    likely = _LIKELY if aside else Fraction(0)
    # An attacker's belief needs δ and ε only, which a table has as well.
    seen = cast(Guarantee, guarantee)
    first, second, third = (
        percent(Fraction(largest_posterior(seen, prior, likely))) for prior in _PRIORS
    )
    after = "seeing anything that at least 1 in 20 results show" if aside else "seeing the result"
    rest = "; rarer results may tell more" if aside else ""
    return (
        f"Somebody who is 1 % sure that {sides.fact} is at most {first} sure after {after}; "
        f"10 % becomes at most {second}, and 50 % at most {third}{rest}."
    )


def _attack(near: Tabulated, most: float, sides: _Sides) -> str:
    hits = Fraction(best_hit_rate(near.delta, _FALSE_ALARMS, largest=most))
    # At x = 0 the bound is tight where the method fails outright, and needs no search.
    hits = min(hits, _FALSE_ALARMS + Fraction(near.delta(0)))
    return (
        f"An attacker whose {sides.test} gives 1 % false alarms {sides.found} at most "
        f"{percent(hits)} of the time."
    )


# -- the numbers -----------------------------------------------------------------------------------


def _headline(guarantee: Guarantee, fails: Fraction) -> tuple[Fraction, Fraction | None]:
    """A chance to set aside, and an ε that holds but for that; none where nothing is promised."""
    if guarantee._point is not None and guarantee._point[1]:
        epsilon, delta = guarantee._point
        return delta, epsilon
    most = _most(guarantee)
    if most is not None and most <= _MUCH:
        return Fraction(0), most
    aside = decimal_up(fails + _RARE)
    if aside >= 1:
        return aside, None
    found = guarantee.epsilon(aside)
    if most is not None and not found < most * 0.9:
        return Fraction(0), most
    return aside, Fraction(found) if math.isfinite(found) else None


def _most(guarantee: Guarantee) -> Fraction | None:
    """The ε that holds for every output, without the last float's rounding where that is sure."""
    if isinstance(guarantee, Composition):
        parts = [(_most(part), count) for part, count in guarantee.parts]
        if any(one is None for one, _ in parts):
            return None
        return sum((one * count for one, count in parts if one is not None), Fraction(0))
    most = guarantee.epsilon(0)
    if math.isinf(most):
        return None
    short = decimal_down(Fraction(most))
    return short if guarantee.delta(short) == 0 else Fraction(most)


# -- a guarantee in one line -----------------------------------------------------------------------


_LONGEST = 72  # characters of a title


def short_name(guarantee: Guarantee) -> str:
    """The guarantee in one line, with decimals rounded up, or its class if that is too long.

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
