"""A search for neighbours that break a declared sensitivity."""

from __future__ import annotations

import copy
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import groupby, islice, pairwise
from typing import Any, Literal

import numpy as np

from discreet.auditor.distance import TOLERANCE, Apart, move, numeric, read_norm, unmoved
from discreet.auditor.domains import (
    ABSENT,
    KEPT,
    Changes,
    NeighbourPair,
    SearchStream,
    Sizes,
    read_domain,
    starts,
)
from discreet.auditor.recorder import Norm
from discreet.auditor.replay_finding import short
from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.neighbors import Relation
from discreet.numeric.exact import Number, integer, non_negative, positive_float

# -- the finding -----------------------------------------------------------------------------------


_SHOWN = 8  # different records in a row


@dataclass(frozen=True, eq=False)
class SensitivityFinding:
    """The farthest that a function moved between neighbours, among those that were tried.

    ``found`` is exact; it is infinite where one answer is NaN, an error, or of another shape or
    type, and rounded down for l2. ``worst`` is the pair of datasets, made as small as it can be
    without moving any less.
    """

    violated: bool
    found: Fraction | float
    claimed: Fraction
    norm: str
    relation: str
    worst: tuple[Any, Any]
    why: str  #: for an infinite distance: what differs
    tried: int
    seconds: float
    shown: str = ""  #: the pair in words, where its records were made up
    apart: str = ""  #: which record differs
    tolerance: Fraction = Fraction(0)  #: how much more than claimed answers in floats may move

    def __str__(self) -> str:
        tried = f"in {self.tried:,} {'try' if self.tried == 1 else 'tries'}"
        if not self.violated:
            return (
                f"no violation found: the largest change {tried} was {short(self.found)} in "
                f"{self.norm}, and {short(self.claimed)} is claimed under {self.relation}"
                f"{self._within()}. That is not a proof"
            )
        sizes = " and ".join(f"{len(one):,}" for one in self.worst)
        lines = [
            f"violated: neighbours under {self.relation} were found {tried} whose answers are "
            f"{short(self.found)} apart in {self.norm}, and {short(self.claimed)} is claimed"
        ]
        if math.isinf(self.found):
            lines.append(f"- {self.why}")
        lines.append(f"- worst[0] and worst[1] have {sizes} records; {self.apart}")
        return "\n".join([*lines, f"- {self.shown}"] if self.shown else lines)

    def _within(self) -> str:
        if self.found <= self.claimed:
            return ""
        kind = "roots" if self.norm == "l2" else "floats"
        return f", which is within the tolerance of {float(self.tolerance):.2g} for {kind}"

    def to_json(self) -> str:
        """The finding as JSON; it holds records only where they were made up."""
        return json.dumps(
            {
                "route": "sensitivity search",
                "violated": self.violated,
                "found": "infinite" if math.isinf(self.found) else str(self.found),
                "claimed": str(self.claimed),
                "norm": self.norm,
                "relation": self.relation,
                "why": self.why,
                "sizes": [len(one) for one in self.worst],
                "worst": self.shown or None,
                "apart": self.apart,
                "tolerance": str(self.tolerance),
                "tried": self.tried,
                "seconds": self.seconds,
                "words": str(self),
            },
            ensure_ascii=False,
        )


def in_words(lists: tuple[Sequence[Any], Sequence[Any]]) -> str:
    """Two lists of records; equal ones in a row are counted.

    >>> in_words(([1, 1, 1, 2], []))
    '[1 × 3, 2] and []'
    """
    return " and ".join(f"[{_records(one)}]" for one in lists)


def _records(records: Sequence[Any]) -> str:
    runs = [(repr(_plain(same[0])), len(same)) for same in (list(g) for _, g in groupby(records))]
    told = [text if many == 1 else f"{text} × {many}" for text, many in runs[:_SHOWN]]
    return ", ".join([*told, "..."] if len(runs) > _SHOWN else told)


def _plain(record: Any) -> Any:
    return record.item() if hasattr(record, "item") else record


# -- chains of neighbours, and where the answer leaps ----------------------------------------------
# Each dataset on a chain is a neighbour of the next. If the answers at two places are further apart
# than the number of steps between them allows, some step between is too large, and halving finds
# it. Halving also finds a step that stands out, at a size or a sum where something overflows or
# switches.


LONGEST = 1024  # steps
_HALVINGS = 24

Distance = Fraction | float  # infinity is a float
Between = Callable[[Any, Any], Distance]


@dataclass(frozen=True, eq=False)
class Chain:
    """Records that come one by one, or take the place of the same record one by one."""

    records: tuple[Any, ...]
    base: Any  # ABSENT under add-remove
    first: int = 0  # records before any step

    @property
    def steps(self) -> int:
        return len(self.records) - self.first

    def at(self, step: int) -> list[Any]:
        """The dataset after this many steps."""
        done = self.first + step
        rest = [] if self.base is ABSENT else [self.base] * (len(self.records) - done)
        return [*self.records[:done], *rest]

    def pair(self, step: int) -> NeighbourPair:
        """The two datasets before and after a step."""
        data = self.at(step)
        place = self.first + step
        both = tuple(data if self.base is ABSENT else [*data[:place], *data[place + 1 :]])
        return NeighbourPair(both, self.base, self.records[place], place=place)


def chains(changes: Changes, stream: SearchStream) -> Iterator[Chain]:
    """Copies of each end, copies of every edge, then different records, again and again."""
    edges = changes.domain.edges
    for edge, base in ((edges[1], edges[0]), (edges[0], edges[1])):
        yield _chain(changes, [edge] * LONGEST, base)
    yield _chain(changes, _rising(edges), edges[0])
    while True:
        yield _chain(changes, changes.domain.spread(stream, LONGEST), edges[0])


def _rising(edges: tuple[Any, ...]) -> list[Any]:
    """The same number of copies of each, the smallest first; NaN comes last."""
    with suppress(TypeError, ValueError):  # records without an order
        edges = tuple(sorted(edges, key=lambda edge: (edge != edge, edge)))
    copies = LONGEST // len(edges)
    return [edge for edge in edges for _ in range(max(1, copies))]


def _chain(changes: Changes, records: list[Any], base: Any) -> Chain:
    """A chain as long as datasets may be."""
    sizes = changes.sizes
    if changes.relation is Relation.ADD_REMOVE:
        many = min(sizes.usual, sizes.least + LONGEST)
        enough = [records[i % len(records)] for i in range(many)]
        return Chain(tuple(enough), ABSENT, sizes.least)
    many = max(sizes.least, min(sizes.usual, LONGEST))
    enough = [records[i % len(records)] for i in range(min(many, LONGEST))]
    return Chain((*[base] * (many - len(enough)), *enough), base, many - len(enough))


def jumps(
    chain: Chain, answer: Callable[[list[Any]], Any], between: Between
) -> Iterator[NeighbourPair]:
    """Steps that stand out. Answers at 0, 1, 2, 4, 8, ... steps and half-way between; where the
    half-way answer is not half-way, what is left is halved again, the steepest part first."""
    known: dict[int, Any] = {}

    def steep(low: int, high: int) -> Distance:
        for step in (low, high):
            if step not in known:
                known[step] = answer(chain.at(step))
        return between(known[low], known[high]) / (high - low)

    ends = sorted({0, chain.steps, *(2**i for i in range(chain.steps.bit_length()))})
    parts = [(-steep(low, high), low, high) for low, high in pairwise(ends)]
    heapify(parts)
    for turn in range(len(parts) + _HALVINGS):
        while parts and parts[0][2] - parts[0][1] == 1:
            _, low, _ = heappop(parts)
            if turn:  # single steps at the start of a chain are tried anyway
                yield chain.pair(low)
        if not parts:
            return
        _, low, high = heappop(parts)
        middle = (low + high) // 2
        halves = [steep(low, middle), steep(middle, high)]
        if _level(halves[0], halves[1]):
            continue  # a straight line, as far as this shows
        heappush(parts, (-halves[0], low, middle))
        heappush(parts, (-halves[1], middle, high))


def _level(one: Distance, other: Distance) -> bool:
    """Whether both are equal, up to the rounding of floats."""
    if math.isinf(one) or math.isinf(other):
        return False
    x, y = Fraction(one), Fraction(other)
    return abs(x - y) <= TOLERANCE * max(x, y)


# -- the search ------------------------------------------------------------------------------------
# Known shapes, then climbing from the best. Nothing is drawn at random: the same search tries the
# same pairs in the same order.


_KEPT = 6  # pairs to climb from
_SHRINKS = 400
_SIMPLE = (0, 0.0, 1, 1.0)
_CHAINED = 250  # tries between two chains
_SEARCHING = 0.8  # of the seconds; the rest is for making the worst pair small


@dataclass(frozen=True)
class RaisedAnswer:
    """What stands for the answer of a function that raised an error."""

    kind: str


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A pair and how far apart its answers are."""

    pair: NeighbourPair
    distance: Distance
    exceeds: bool
    answers: tuple[Any, Any]
    why: str = ""

    @property
    def rank(self) -> tuple[Distance, int]:
        return self.distance, -len(self.pair.both)


@dataclass(eq=False, repr=False)
class Search:
    """Tries pairs, and remembers the worst."""

    f: Callable[[Any], Any]
    changes: Changes
    norm: Norm
    claimed: Fraction
    tolerance: Fraction
    tries: int | None
    seconds: float | None
    tried: int = 0
    answered: int = 0
    numeric: bool = False
    best: list[MeasuredPair] = field(default_factory=list)  # to climb from
    worst: MeasuredPair | None = None  # the smallest pair that moved most
    begun: float = field(default_factory=lambda: time.monotonic())

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun

    def has_used(self, share: float) -> bool:
        """Is this share of the seconds over?"""
        return self.seconds is not None and self.spent >= share * self.seconds

    def run(self) -> None:
        """Search until tries or seconds are used up, or nothing worse can be found."""
        for pair in self._pairs():
            if self._over() or (self.worst and math.isinf(self.worst.distance)):
                return
            self._keep(self.look(pair))

    def look(self, pair: NeighbourPair) -> MeasuredPair:
        """How far apart the answers are."""
        self.tried += 1
        x, y = (self.answer(data) for data in pair.datasets(self.changes.domain))
        raised = isinstance(x, RaisedAnswer) or isinstance(y, RaisedAnswer)
        if not raised:
            self.answered += 1
            self.numeric = self.numeric or numeric(x) or numeric(y)
        moved = move(x, y)
        if not isinstance(moved, Apart):
            exceeds = moved.exceeds(self.claimed, self.norm, tolerance=self.tolerance)
            return MeasuredPair(pair, moved.size(self.norm), exceeds, (x, y))
        why = f"of the answers, {moved.words}"
        if raised:
            told = [a.kind if isinstance(a, RaisedAnswer) else "an answer" for a in (x, y)]
            why = f"f gives {told[0]} on one, {told[1]} on the other"
        return MeasuredPair(pair, math.inf, True, (x, y), why)

    def answer(self, data: Any) -> Any:
        """What f returns; an error is an answer too. f gets a copy, as it may change the data."""
        try:
            with np.errstate(all="ignore"):
                return self.f(copy.copy(data))
        except Exception as error:
            return RaisedAnswer(type(error).__name__)

    def shrink(self) -> MeasuredPair:
        """The worst pair, with the fewest and simplest records found that show the same distance,
        up to the rounding of floats."""
        assert self.worst is not None
        seen, left = self.worst, _SHRINKS
        least = seen.distance if math.isinf(seen.distance) else seen.distance / (1 + TOLERANCE)
        while True:
            for pair in self._smaller(seen.pair):
                left -= 1
                if left <= 0 or self.has_used(1):
                    return seen
                new = self.look(pair) if self.changes.fits(pair) else None
                if new is not None and new.exceeds and new.distance >= least:
                    seen = new
                    break
            else:
                return seen

    def _pairs(self) -> Iterator[NeighbourPair]:
        begun = (pair for pair in starts(self.changes) if self.changes.fits(pair))
        stream, ways = SearchStream("search"), chains(self.changes, SearchStream("chains"))
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
        if self._over():
            return None
        self.tried += 1
        return self.answer(self.changes.domain.dataset(records))

    def _between(self, x: Any, y: Any) -> Distance:
        moved = move(x, y)
        return math.inf if isinstance(moved, Apart) else moved.size(self.norm)

    def _keep(self, seen: MeasuredPair) -> None:
        """Keep it if it is among the best; a later one replaces one just as far apart, so that
        climbing moves on."""
        if self.worst is None or seen.rank > self.worst.rank:
            self.worst = seen
        others = [one for one in self.best if one.distance != seen.distance]
        self.best = sorted([seen, *others], key=lambda one: one.distance, reverse=True)[:_KEPT]

    def _over(self) -> bool:
        used_up = self.tries is not None and self.tried >= self.tries
        return used_up or self.has_used(_SEARCHING)

    def _smaller(self, pair: NeighbourPair) -> Iterator[NeighbourPair]:
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


def _is_simple(record: Any) -> bool:
    return isinstance(record, int | float) and record in _SIMPLE


# -- the check -------------------------------------------------------------------------------------


_TRIES = 2000
_SECONDS = 5.0


@spelled
def check_sensitivity(
    f: Callable[[Any], Any],
    domain: Any,
    claimed: Number,
    relation: Relation | str,
    *,
    norm: Literal["l1", "l2", "linf", "l0"] = "l1",
    size: int | tuple[int, int] | None = None,
    tries: int | None = None,
    seconds: Number | None = None,
    shuffled: bool = True,
    tolerance: Number = TOLERANCE,
) -> SensitivityFinding:
    """Search for two neighbouring datasets whose answers are further apart than ``claimed``.

    ``f`` takes a dataset and returns a number, an array, or a dict of numbers: exactly, without
    noise. ``domain`` says what a record can be: an interval ``(0, 1)``, a type ``np.int64``, a list
    of values or of datasets, a function of numbers in [0, 1), or a tuple of these for rows
    (`discreet.auditor.domains`). Edges of types, values that round, wrap or are no numbers come
    first, small datasets before large ones; the search then climbs from the worst it has seen.

    ``relation`` says which datasets are neighbours: "add-remove" or "replace". ``norm`` says how
    far apart answers are: "l1" (the sum of all changes, if left out, as Laplace noise needs it),
    "l2" (as Gaussian noise does), "linf" (the largest) or "l0" (how many numbers change).
    ``size`` is the largest number of records, or (least, most); under replace, where the size is
    public, a single number is the size itself. A dataset is a multiset, so neighbours also come in
    different orders unless ``shuffled`` is False. The search ends after ``tries`` pairs or
    ``seconds``, or, given neither, after 2,000 pairs or 5 seconds; with ``tries`` alone it is the
    same in each run. Answers in floats may be off by a factor of 1 + ``tolerance``, which moves ε
    by as little; integers are compared exactly, but for the root in l2.

    >>> import numpy as np
    >>> bounded = {"claimed": 1, "relation": "add-remove", "tries": 500}
    >>> print(check_sensitivity(lambda x: x.clip(0, 1).sum(), np.int64, **bounded))
    no violation found: the largest change in 500 tries was 1 in l1, and 1 is claimed under \
add-remove. That is not a proof
    >>> wrapped = {"claimed": 2**63 - 1, "relation": "add-remove", "tries": 500}
    >>> print(check_sensitivity(lambda x: x.sum(), (0, 2**63 - 1), **wrapped))
    violated: neighbours under add-remove were found in 500 tries whose answers are \
18446744073709551615 apart in l1, and 9223372036854775807 is claimed
    - worst[0] and worst[1] have 1 and 2 records; worst[1] has one record more: 1
    - [9223372036854775807] and [9223372036854775807, 1]
    """
    told = Relation.parse(relation)
    changes = Changes(read_domain(domain), told, Sizes.read(size, told), shuffled)
    if tries is None and seconds is None:
        tries, seconds = _TRIES, _SECONDS
    if not callable(f):
        raise InvalidArgument.of("f", "a function of a dataset", f)
    if read_norm(norm) == "range":  # which does not measure a whole answer
        expected = '"l1" or "l2" or "linf" or "l0"'
        raise InvalidArgument("norm", expected, '"range"', hint="for scores, see dp.replay")
    search = Search(
        f,
        changes,
        norm=norm,
        claimed=non_negative(claimed, name="claimed"),
        tolerance=non_negative(tolerance, name="tolerance"),
        tries=None if tries is None else integer(tries, name="tries", minimum=1),
        seconds=None if seconds is None else positive_float(seconds, name="seconds"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the mean of nothing, say: what counts is the answer
        search.run()
        if search.worst is None or not (search.answered or search.worst.exceeds):
            raise InvalidArgument(
                "f",
                "a function that answers for datasets of this domain",
                "one that raised an error for each",
                hint="records come as a NumPy array for numbers, else as a list",
            )
        _check_numeric(search)
        _check_exact(search)
        tried = search.tried
        worst = search.shrink() if search.worst.exceeds else search.worst
    return SensitivityFinding(
        violated=worst.exceeds,
        found=worst.distance,
        claimed=search.claimed,
        norm=search.norm,
        relation=str(told),
        worst=worst.pair.datasets(changes.domain),
        why=worst.why,
        tried=tried,
        seconds=search.spent,
        shown=in_words(worst.pair.lists()) if changes.domain.invented else "",
        apart=worst.pair.in_words(shown=changes.domain.invented),
        tolerance=search.tolerance,
    )


def _check_numeric(search: Search) -> None:
    """Refuse a function that returns no numbers: text and None have no sensitivity."""
    assert search.worst is not None
    given = [one for one in search.worst.answers if not isinstance(one, RaisedAnswer)]
    if search.answered and not search.numeric:
        raise InvalidArgument(
            "f",
            "a function that returns numbers: one, an array, or a dict of them",
            f"one that returns a value of type {type(given[0]).__name__}",
            hint="is a return missing?" if given[0] is None else "",
        )


def _check_exact(search: Search) -> None:
    """Refuse a function with noise in it: it moves by itself, so everything would look broken."""
    assert search.worst is not None
    datasets = search.worst.pair.datasets(search.changes.domain)
    for data, x in zip(datasets, search.worst.answers, strict=True):
        if not unmoved(x, search.answer(data)):  # asked once more
            raise InvalidArgument(
                "f",
                "exact: the same answer for the same data",
                "one that gave two answers",
                hint="leave the noise out; dp.audit looks at noisy answers",
            )
        if search.has_used(1):
            return  # one of the two will do
