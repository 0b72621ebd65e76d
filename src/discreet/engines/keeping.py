"""Which rows are kept of each person, on arrays: people, groups and hashes packed into 64 bits.

A row is a key, whose bits are (person, hash of person and group, group), and its contents. Sorted
keys have each person's groups together, in the order of their hashes, so that the last key that
is kept of a person is read off at a distance. Rows are chosen one by one only in the groups that
have too many of them. The laws are those of `bounding`: above all, what is kept of one person is a
function of the salt and that person's rows, whoever else is there. Every step is taken whether or
not somebody has too much, so that time does not tell if one person has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from discreet.query.contribution import Bound

Words: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

# Bits of a hash. As many for every table: with fewer of them for a larger one, somebody who joins
# could change what is kept of others. One in ten million pairs of groups is told apart by place.
HASH: Final = 24


@dataclass(frozen=True, slots=True)
class Layout:
    """How many bits of a key the group takes; the hash has 24, and the person the rest."""

    group: int

    @classmethod
    def of(cls, groups: int) -> Layout:
        """The layout for so many groups.

        >>> Layout.of(200).most_people
        4294967296
        """
        return cls(max(groups - 1, 1).bit_length())

    @property
    def most_people(self) -> int:
        """How many people can be told apart."""
        return int(2 ** (64 - HASH - self.group))

    def person(self, keys: Words) -> Words:
        """The person."""
        return keys >> np.uint64(self.group + HASH)

    def hashes(self, keys: Words) -> Words:
        """The hash of person and group."""
        return (keys >> np.uint64(self.group)) & np.uint64(2**HASH - 1)

    def places(self, keys: Words) -> Numbers:
        """The group."""
        return (keys & np.uint64(2**self.group - 1)).astype(np.int64)


def kept(
    keys: Words, contents: Sequence[Numbers], bound: Bound, layout: Layout, *, salt: int
) -> Mask:
    """True for the rows that are kept."""
    cells, counts = _cells(keys)
    person, owner = layout.person(keys), layout.person(cells)
    everybody = int(owner[-1]) + 1 if len(owner) else 0
    keep = np.ones(len(keys), np.bool_)
    if bound.max_groups is not None:
        starts = np.flatnonzero(_new(owner))
        sizes = np.diff(starts, append=len(owner))
        ends = starts + np.minimum(sizes, bound.max_groups) - 1
        last = np.zeros(everybody, np.uint64)
        last[owner[starts]] = cells[ends]
        keep = keys <= last[person]
    if bound.max_rows_per_group is not None:
        full = counts > bound.max_rows_per_group
        crowded = np.zeros(everybody, np.bool_)
        crowded[owner[full]] = True
        rows = np.flatnonzero(crowded[person] & keep)
        bags = np.append(cells[full], np.uint64(2**64 - 1))  # so that there is one
        rows = rows[bags[np.searchsorted(bags, keys[rows])] == keys[rows]]
        _choose(keep, rows, keys, keys, contents, bound.max_rows_per_group, layout, salt)
    if bound.max_rows is not None:
        sums = np.bincount(owner.astype(np.int64), weights=counts, minlength=everybody)
        rows = np.flatnonzero((sums > bound.max_rows)[person] & keep)
        _choose(keep, rows, person, keys, contents, bound.max_rows, layout, salt)
    return keep


def units(keys: Words, layout: Layout, groups: int) -> Numbers:
    """How many people each group has."""
    cells, _ = _cells(keys)
    return np.bincount(layout.places(cells), minlength=groups)


def _cells(keys: Words) -> tuple[Words, Numbers]:
    """The distinct keys in order, and how often each occurs."""
    ordered = np.sort(keys)
    starts = np.flatnonzero(_new(ordered))
    return ordered[starts], np.diff(starts, append=len(ordered))


def _new(ordered: np.ndarray[Any, Any]) -> Mask:
    """Where another value begins."""
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


def _choose(
    keep: Mask,
    rows: Numbers,
    bags: Words,
    keys: Words,
    contents: Sequence[Numbers],
    most: int,
    layout: Layout,
    salt: int,
) -> None:
    """Keep `most` of the rows of each bag, by their hashes."""
    bag, key = bags[rows], keys[rows]
    columns = [key, *(column[rows].astype(np.int64).view(np.uint64) for column in contents)]
    # The number of a row among its equals, which it has whatever the order is that they came in.
    order = np.lexsort((*columns, bag))
    new = _new(bag[order])
    for column in columns:
        new |= _new(column[order])
    starts = np.flatnonzero(new)
    copy = np.empty(len(rows), np.uint64)
    copy[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    # The numbers of the person and the group are accidents; their hash stands for both.
    seen = [layout.hashes(key), *columns[1:], copy]
    order = np.lexsort((copy, *columns, _hashed(seen, salt), bag))
    starts = np.flatnonzero(_new(bag[order]))
    rank = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    keep[rows[order[rank >= most]]] = False


def _hashed(columns: Sequence[Words], salt: int) -> Words:
    """A hash of a row and the salt: SplitMix64's last steps after each column (Steele 2014)."""
    state = np.full(len(columns[0]), np.uint64(salt), np.uint64)
    for column in columns:
        state ^= column
        state += np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(30)
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(27)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state
