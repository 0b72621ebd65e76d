"""Pairs of neighbours, and how to change them a little.

A dataset is a multiset, so that neighbours are two lists with all but one record in common, in any
order: a function that minds the order is one that a person moves by moving to another place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from discreet.auditor.searching.records import Domain
from discreet.auditor.searching.stream import Stream
from discreet.errors import InvalidArgument
from discreet.exact import integer
from discreet.neighbors import Relation

ABSENT: Final = object()
# Unless sizes are given: in all shapes, and where integers wrap. Sums of floats are left to right
# within 10⁻⁹ of their claim up to about 2,000 records, and so are not accused by default.
LARGEST: Final = 1024
WIDEST: Final = 4096
_VALUES: Final = 8
KEPT, REVERSED, RISING, FALLING = range(4)  # orders; later ones are shuffles


@dataclass(frozen=True)
class Sizes:
    """How many records a dataset may have."""

    least: int
    most: int
    usual: int  # most, but where integers wrap

    @classmethod
    def read(cls, size: int | tuple[int, int] | None, relation: Relation) -> Sizes:
        """A number is the public size under replace, and the largest one under add-remove."""
        replaced = relation is Relation.REPLACE
        if size is None:
            return cls(int(replaced), WIDEST, LARGEST)
        if isinstance(size, tuple | list):
            least, most = (integer(end, name="size", minimum=0) for end in size)
        else:
            most = integer(size, name="size", minimum=1)
            least = most if replaced else 0
        if most < max(1, least + (not replaced)):
            raise InvalidArgument(
                name="size",
                expected="room for two neighbours",
                given=f"from {least:,} to {most:,} records",
                hint="under add-remove one of them has a record more",
            )
        return cls(max(least, int(replaced)), most, most)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbours: what both have, and the record that differs, at a place of its own."""

    both: tuple[Any, ...]
    left: Any  # ABSENT under add-remove
    right: Any
    place: int = 0
    order: int = KEPT  # of the second one

    def lists(self) -> tuple[list[Any], list[Any]]:
        """The records of each."""
        place = min(self.place, len(self.both))
        first, second = list(self.both), list(self.both)
        if self.left is not ABSENT:
            first.insert(place, self.left)
        second.insert(place, self.right)
        return first, _ordered(second, self.order)

    def in_words(self, *, shown: bool) -> str:
        """What the second one has that the first one has not.

        >>> Pair((1, 1), 3, 4, order=REVERSED).in_words(shown=True)
        'worst[1] has 4 where worst[0] has 3, and another order'
        """
        left, right = (repr(one) for one in (self.left, self.right))
        if self.left is ABSENT:
            told = f"worst[1] has one record more{f': {right}' if shown else ''}"
        else:
            told = "worst[1] has another record in place of one of worst[0]"
            told = f"worst[1] has {right} where worst[0] has {left}" if shown else told
        return told + (", and another order" if self.order != KEPT else "")

    def datasets(self, domain: Domain) -> tuple[Any, Any]:
        """As a function of data gets to see them."""
        first, second = self.lists()
        return domain.dataset(first), domain.dataset(second)


def _ordered(records: list[Any], order: int) -> list[Any]:
    match order:
        case 0:
            return records
        case 1:
            return records[::-1]
        case 2 | 3:
            try:
                return sorted(records, reverse=order == FALLING)
            except (TypeError, ValueError):  # records without an order
                return records[::-1]
    return Stream(f"order {order}").order(records)


@dataclass(frozen=True)
class Changes:
    """Small changes of a pair that keep it one of neighbours."""

    domain: Domain
    relation: Relation
    sizes: Sizes
    shuffled: bool

    def fits(self, pair: Pair) -> bool:
        """Are both of an allowed size?"""
        smaller = len(pair.both) + (self.relation is Relation.REPLACE)
        return self.sizes.least <= smaller and len(pair.both) + 1 <= self.sizes.most

    def fresh(self, stream: Stream, turn: int) -> Pair:
        """A new pair: small ones at first."""
        least = self.sizes.least - (self.relation is Relation.REPLACE)
        room = 2 ** stream.below(2 + min(turn // 50, self.sizes.usual.bit_length()))
        many = min(max(least, 0) + stream.below(room), self.sizes.usual - 1)
        if stream.below(3) == 0:  # all different: some are where nobody looks
            both = tuple(self.domain.spread(stream, many))
        else:
            # Of few different values, so that some are equal: these round in the same direction.
            values = [self.domain.draw(stream) for _ in range(1 + stream.below(_VALUES))]
            both = tuple(stream.picks(values, many))
        return self._with_order(Pair(both, self._left(stream), self.domain.draw(stream)), stream)

    def changed(self, pair: Pair, stream: Stream) -> Pair:
        """One thing about it is another."""
        ways: list[Callable[[Pair, Stream], Pair]] = [
            self._other_right,
            self._other_left,
            self._other_record,
            self._all_alike,
            self._more,
            self._fewer,
            self._elsewhere,
        ]
        new = stream.choose(ways)(pair, stream)
        return new if self.fits(new) else pair

    def _left(self, stream: Stream) -> Any:
        return ABSENT if self.relation is Relation.ADD_REMOVE else self.domain.draw(stream)

    def _value(self, old: Any, stream: Stream) -> Any:
        match stream.below(3):
            case 0:
                return stream.choose(self.domain.edges)
            case 1:
                return self.domain.near(old, stream)
        return self.domain.draw(stream)

    def _other_right(self, pair: Pair, stream: Stream) -> Pair:
        return replace(pair, right=self._value(pair.right, stream))

    def _other_left(self, pair: Pair, stream: Stream) -> Pair:
        if pair.left is ABSENT:
            return self._other_right(pair, stream)
        return replace(pair, left=self._value(pair.left, stream))

    def _other_record(self, pair: Pair, stream: Stream) -> Pair:
        if not pair.both:
            return pair
        i = stream.below(len(pair.both))
        record = self._value(pair.both[i], stream)
        return replace(pair, both=(*pair.both[:i], record, *pair.both[i + 1 :]))

    def _all_alike(self, pair: Pair, stream: Stream) -> Pair:
        if not pair.both:
            return pair
        record = self._value(stream.choose(pair.both), stream)
        return replace(pair, both=(record,) * len(pair.both))

    def _more(self, pair: Pair, stream: Stream) -> Pair:
        more = pair.both if stream.below(2) else (self.domain.draw(stream),)
        room = max(0, self.sizes.usual - 1 - len(pair.both))
        return replace(pair, both=(*pair.both, *more[:room]))

    def _fewer(self, pair: Pair, stream: Stream) -> Pair:
        many = len(pair.both)
        keep = many // 2 if stream.below(2) else many - 1
        return replace(pair, both=pair.both[: max(keep, 0)])

    def _elsewhere(self, pair: Pair, stream: Stream) -> Pair:
        moved = replace(pair, place=stream.below(len(pair.both) + 1))
        return self._with_order(moved, stream)

    def _with_order(self, pair: Pair, stream: Stream) -> Pair:
        if not self.shuffled or stream.below(2):
            return pair
        return replace(pair, order=stream.below(12))
