"""Pairs to start a search from: small ones at the edges, then the shapes that known bugs have.

Names in comments are those of the catalogue of attacks: B1 wraps, B2 rounds, B3 minds the order,
B7 minds a size, B8 minds neighbours in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from discreet.auditor.searching.neighbouring import ABSENT, FALLING, REVERSED, RISING, Changes, Pair
from discreet.auditor.searching.numbers import Numbers
from discreet.neighbors import Relation

_FEW = 24  # edges that are paired with each other
_TYPES = (8, 16, 32, 7, 15, 31)  # bits of integers, with and without a sign
_MANY = (15, 63, 255, 1023, 4095)  # records that share a value


def starts(changes: Changes) -> Iterator[Pair]:
    """Pairs in a fixed order, single records first; some may be too large or too small."""
    least = max(0, changes.sizes.least - (changes.relation is Relation.REPLACE))
    edges = changes.domain.edges
    base = (edges[0],) * least
    yield from _alone(changes, base)
    shapes = [_listed(changes), _spread(changes), _beside(changes, least)]
    if isinstance(changes.domain, Numbers):
        shapes += [
            _wrapping(changes, changes.domain),
            _rounding(changes, changes.domain),
            _heavy_last(changes, changes.domain),
        ]
    yield from _in_turn(shapes)


def _in_turn(shapes: list[Iterator[Pair]]) -> Iterator[Pair]:
    """One of each kind, again and again: no kind has to wait for another to end."""
    while shapes:
        turns = [(shape, next(shape, None)) for shape in shapes]
        yield from (pair for _, pair in turns if pair is not None)
        shapes = [shape for shape, pair in turns if pair is not None]


def _sides(changes: Changes, edges: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """What differs: a record that comes, or one in place of another."""
    if changes.relation is Relation.ADD_REMOVE:
        yield from ((ABSENT, edge) for edge in edges)
        return
    pairs = sorted(product(range(len(edges)), repeat=2), key=sum)
    yield from ((edges[i], edges[j]) for i, j in pairs if i < j)


def _alone(changes: Changes, base: tuple[Any, ...]) -> Iterator[Pair]:
    for left, right in _sides(changes, changes.domain.edges[:_FEW]):
        yield Pair(base, left, right, place=len(base))


def _listed(changes: Changes) -> Iterator[Pair]:
    """From each dataset that was given, one record goes, or becomes another."""
    for records in changes.domain.starts:
        for i, record in islice(enumerate(records), 50):
            rest = (*records[:i], *records[i + 1 :])
            if changes.relation is Relation.ADD_REMOVE:
                yield Pair(rest, ABSENT, record, place=i)
            else:
                yield from (Pair(rest, record, other, i) for other in changes.domain.edges[:8])


def _beside(changes: Changes, least: int) -> Iterator[Pair]:
    """B1: next to one or more copies of an edge."""
    edges = changes.domain.edges
    for many in (1, 2, 3):
        sides = list(_sides(changes, edges[:8]))
        for edge, (left, right) in product(edges[:10], sides[:12]):
            both = (edge,) * max(least, many)
            yield Pair(both, left, right, place=len(both))


def _spread(changes: Changes) -> Iterator[Pair]:
    """B7, B8: all sizes up to 20, with different records, in several orders."""
    edges = changes.domain.edges
    for many in range(20):
        both = tuple(edges[i % len(edges)] for i in range(2, many + 2))
        for order in (0, REVERSED, RISING, FALLING) if changes.shuffled else (0,):
            left = ABSENT if changes.relation is Relation.ADD_REMOVE else edges[0]
            yield Pair(both, left, edges[1 % len(edges)], place=many // 2, order=order)
        if isinstance(changes.domain, Numbers):
            yield from _ladder(changes, changes.domain, many)


def _ladder(changes: Changes, domain: Numbers, many: int) -> Iterator[Pair]:
    """B8: rising values, of which the first becomes the last."""
    step = 1 if domain.whole else domain.upper / (many + 2) - domain.lower / (many + 2)
    rungs = [domain.lower + step * i for i in range(many + 2)]
    rungs = [min(rung, domain.upper) for rung in rungs]
    left = ABSENT if changes.relation is Relation.ADD_REMOVE else rungs[0]
    yield Pair(tuple(rungs[1:-1]), left, rungs[-1], place=0)
    yield Pair(tuple(rungs[1:-1]), left, rungs[-1], place=0, order=RISING)


def _wrapping(changes: Changes, domain: Numbers) -> Iterator[Pair]:
    """B1: as many copies of an end as a type holds, and one that it does not."""
    if not domain.whole:
        return
    ends = ((domain.upper, domain.lower), (domain.lower, domain.upper))
    for bits, (end, other) in product(_TYPES, ends):
        many = -(-(2**bits) // abs(end)) if end else 0
        for copies in (many - 1, many):  # the first sum at the limit, and the first above it
            if 0 < copies < changes.sizes.most:
                left = ABSENT if changes.relation is Relation.ADD_REMOVE else other
                yield Pair((end,) * copies, left, end, place=copies)


def _rounding(changes: Changes, domain: Numbers) -> Iterator[Pair]:
    """B2 (Casacuberta et al. 2022): many equal values whose sum is rounded each time, and one
    value that decides in which direction."""
    if domain.whole:
        return
    sizes = [many for many in _MANY if many < changes.sizes.usual] or [changes.sizes.usual - 1]
    for bits, many in product((50, 51, 49, 52, 40, 30, 20, 0, -20), sizes):
        m = 2.0**bits if bits > 0 else domain.upper * 2.0 ** (bits - 1)
        unit = 1.0 if bits > 0 else m
        for part in (0.25, 0.5, 0.75):
            repeated, heavier = m + part * unit, m + unit
            if domain.lower <= m and heavier <= domain.upper:
                left = ABSENT if changes.relation is Relation.ADD_REMOVE else m
                right = unit if left is ABSENT and domain.lower <= unit else heavier
                yield Pair((repeated,) * many, left, right, place=0)
                if changes.shuffled:
                    yield Pair((repeated,) * many, left, right, place=0, order=REVERSED)


def _heavy_last(changes: Changes, domain: Numbers) -> Iterator[Pair]:
    """B3: one large value before, or after, many small ones."""
    if not changes.shuffled:
        return
    sizes = [many for many in _MANY if many < changes.sizes.usual]
    for heavy, many in product((2.0**53, 2.0**54, 2.0**60, domain.upper), sizes):
        for light in (1, 0.5, heavy * 2.0**-54, heavy * 2.0**-53):
            record = int(light) if domain.whole else float(light)
            if domain.lower <= record and heavy <= domain.upper and record > 0:
                left = ABSENT if changes.relation is Relation.ADD_REMOVE else record
                weight = int(heavy) if domain.whole else float(heavy)
                both = (weight, *[record] * (many - 1))
                yield Pair(both, left, record, place=len(both), order=REVERSED)
