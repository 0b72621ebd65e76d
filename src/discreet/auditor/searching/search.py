"""Looking for the neighbours that move a function most: known shapes, then climbing from the best.

Nothing is drawn at random: the same search tries the same pairs in the same order.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from discreet.auditor.moving import TOLERANCE, Apart, move, numeric
from discreet.auditor.recorder import Norm
from discreet.auditor.searching.chains import chains, jumps
from discreet.auditor.searching.neighbouring import KEPT, Changes, Pair
from discreet.auditor.searching.starts import starts
from discreet.auditor.searching.stream import Stream

_KEPT = 6  # pairs to climb from
_SHRINKS = 400
_SIMPLE = (0, 0.0, 1, 1.0)
_CHAINED = 250  # tries between two chains
_SEARCHING = 0.8  # of the seconds; the rest is for making the worst pair small


@dataclass(frozen=True)
class Raised:
    """A function's answer when it has none."""

    kind: str


@dataclass(frozen=True, eq=False)
class Seen:
    """A pair and how far apart its answers are."""

    pair: Pair
    distance: Fraction | float
    exceeds: bool
    answers: tuple[Any, Any]
    why: str = ""


class Search:
    """Tries pairs, and remembers the worst."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        changes: Changes,
        *,
        norm: Norm,
        claimed: Fraction,
        tolerance: Fraction,
        tries: int | None,
        seconds: float | None,
    ) -> None:
        self.f, self.changes, self.norm, self.claimed = f, changes, norm, claimed
        self.tolerance, self.tries, self.seconds = tolerance, tries, seconds
        self.tried, self.answered, self.numeric = 0, 0, False
        self.best: list[Seen] = []  # to climb from
        self.worst: Seen | None = None  # the smallest pair that moved most
        self._begun = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._begun

    @property
    def late(self) -> bool:
        """Is the time up?"""
        return self.seconds is not None and self.spent >= self.seconds

    def run(self) -> None:
        """Until tries or seconds are used up, or nothing worse can come."""
        for pair in self._pairs():
            if self._over(_SEARCHING) or self._hopeless():
                return
            self._keep(self.look(pair))

    def look(self, pair: Pair) -> Seen:
        """How far apart the answers are."""
        self.tried += 1
        x, y = (self.answer(data) for data in pair.datasets(self.changes.domain))
        if isinstance(x, Raised) or isinstance(y, Raised):
            if x == y:
                return Seen(pair, Fraction(0), False, (x, y))
            told = [a.kind if isinstance(a, Raised) else "an answer" for a in (x, y)]
            why = f"f gives {told[0]} on one, {told[1]} on the other"
            return Seen(pair, math.inf, True, (x, y), why)
        self.answered += 1
        self.numeric = self.numeric or numeric(x) or numeric(y)
        moved = move(x, y)
        if isinstance(moved, Apart):
            return Seen(pair, math.inf, True, (x, y), f"of the answers, {moved.words}")
        exceeds = moved.exceeds(self.claimed, self.norm, tolerance=self.tolerance)
        return Seen(pair, moved.size(self.norm), exceeds, (x, y))

    def answer(self, data: Any) -> Any:
        """What f says; an error is an answer too. The data is a copy: f may change it."""
        try:
            with np.errstate(all="ignore"):
                return self.f(copy.copy(data))
        except Exception as error:
            return Raised(type(error).__name__)

    def shrink(self) -> Seen:
        """The worst pair with as few and as simple records as show the same distance, but for
        what floats round off."""
        assert self.worst is not None
        seen, left = self.worst, _SHRINKS
        least = seen.distance if math.isinf(seen.distance) else seen.distance / (1 + TOLERANCE)
        progress = True
        while progress and left > 0:
            progress = False
            for pair in self._smaller(seen.pair):
                left -= 1
                if left <= 0 or self.late:
                    return seen
                new = self.look(pair) if self.changes.fits(pair) else None
                if new is not None and new.exceeds and new.distance >= least:
                    seen, progress = new, True
                    break
        return seen

    # -- inside ------------------------------------------------------------------------------------

    def _pairs(self) -> Iterator[Pair]:
        begun = (pair for pair in starts(self.changes) if self.changes.fits(pair))
        stream, ways = Stream("search"), chains(self.changes, Stream("chains"))
        for turn in range(1 << 62):
            start = next(begun, None) if turn < 200 or turn % 3 == 0 else None
            if turn % _CHAINED == _CHAINED // 2:
                for chain in islice(ways, 4 if turn < _CHAINED else 1):
                    yield from jumps(chain, self._on_the_way, self._between)
            if start is not None:
                yield start
            elif turn % 3 == 1 or not self.best:
                yield self.changes.fresh(stream, turn)
            else:
                yield self.changes.changed(stream.choose(self.best).pair, stream)

    def _on_the_way(self, records: list[Any]) -> Any:
        """The answer for a dataset on a chain; none if time is up."""
        if self._over(_SEARCHING):
            return None
        self.tried += 1
        return self.answer(self.changes.domain.dataset(records))

    def _between(self, x: Any, y: Any) -> Fraction | float:
        if isinstance(x, Raised) or isinstance(y, Raised):
            return Fraction(0) if x == y else math.inf
        moved = move(x, y)
        return math.inf if isinstance(moved, Apart) else moved.size(self.norm)

    def _hopeless(self) -> bool:
        return self.worst is not None and math.isinf(self.worst.distance)

    def _keep(self, seen: Seen) -> None:
        """Among the best; of two equally far apart, the later one, so that climbing moves on."""
        if self.worst is None or _rank(seen) > _rank(self.worst):
            self.worst = seen
        others = [one for one in self.best if one.distance != seen.distance]
        self.best = sorted([seen, *others], key=lambda one: one.distance, reverse=True)[:_KEPT]

    def _over(self, share: float) -> bool:
        if self.tries is not None and self.tried >= self.tries:
            return True
        return self.seconds is not None and self.spent >= share * self.seconds

    def _smaller(self, pair: Pair) -> Iterator[Pair]:
        both = pair.both
        if pair.order != KEPT:
            yield replace(pair, order=KEPT)
        piece = len(both)
        while piece:
            for start in range(0, len(both), piece):
                yield replace(pair, both=(*both[:start], *both[start + piece :]))
            piece //= 2
        simple = [edge for edge in self.changes.domain.edges if _is_simple(edge)]
        for value in simple:
            for i in range(min(len(both), 8)):
                if not _is_simple(both[i]):
                    yield replace(pair, both=(*both[:i], value, *both[i + 1 :]))
            if not _is_simple(pair.left) and self.changes.relation.add_remove_steps == 2:
                yield replace(pair, left=value)
            if not _is_simple(pair.right):
                yield replace(pair, right=value)


def _rank(seen: Seen) -> tuple[Fraction | float, int]:
    return seen.distance, -len(seen.pair.both)


def _is_simple(record: Any) -> bool:
    return isinstance(record, int | float) and record in _SIMPLE
