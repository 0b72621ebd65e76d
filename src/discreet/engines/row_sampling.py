"""Which rows of each person are kept on DuckDB, which reads, joins and hashes; arrays sort and add.

A window in SQL over people costs five times as much as grouping by person and group; sorting
packed integers costs less than that grouping itself.

A row is a key, whose bits are (person, hash of person and group, group), and its contents. Sorted
keys have each person's groups together, in the order of their hashes, so that the last key to be
kept of a person is found at a fixed distance from their first. Rows are chosen one by one only in
groups where a person has too many. The rules are those of `aggregation`: above all, what is kept of
one person is a function of the salt and that person's rows, whoever else is there. Every step is
taken whether or not somebody has too many rows, so that time does not reveal if one person has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import ibis
import ibis.expr.datatypes as dt
import numpy as np
import pyarrow as pa

from discreet.engines.aggregation import (
    PLACE,
    check_square,
    in_groups,
    keyed,
    numbered,
    too_many,
    with_places,
)
from discreet.engines.cell_table import CellTable
from discreet.engines.engine import ARROW, call
from discreet.errors import EngineError, InternalError
from discreet.query.contribution import ContributionBound
from discreet.query.keys import DiscoveredKeys, ListedKeys
from discreet.query.measures import AllRows, Bins, Measure, Present, Total, Units
from discreet.query.request import Exact, Request

if TYPE_CHECKING:
    from discreet.engines.duckdb import DuckDbPass

# -- queries whose rows are bounded by sorting -----------------------------------------------------


KEY_HASH: Final = "g"


@dataclass(frozen=True, eq=False)
class BySorting:
    """Rows as packed keys, for one part of the people at a time where there are too many rows."""

    salted: ClassVar[bool] = False  # the salt is used only when it runs
    request: Request
    unplaced: CellTable  # with the keys themselves
    cells: CellTable  # with places of keys, where they are listed
    groups: int
    rows: str  # SQL for (u, i, v0, v1, ...), or for the keys where they are to be discovered

    @classmethod
    def build(cls, request: Request, run: DuckDbPass, cells: CellTable) -> BySorting:
        """Compile what can be compiled before the keys are known."""
        match request.keys:
            case ListedKeys() as keys:
                placed = in_groups(request, run, cells)
                return cls(request, cells, placed, len(keys), run.compile(placed.table))
            case DiscoveredKeys():
                found = keyed(cells).table.select(*cells.keys).distinct()
                return cls(request, cells, cells, 0, run.compile(found))
        placed = cells.on(cells.table.mutate(**{PLACE: ibis.literal(0, type="int64")}))
        return cls(request, cells, placed, 1, run.compile(placed.table))

    def answer(self, run: DuckDbPass) -> Exact:
        """Number the people, fetch and sort their rows, add up what is kept."""
        measures = self.request.measures
        if not isinstance(self.request.keys, DiscoveredKeys):
            return Exact(None, self._columns(run, measures, group=PLACE))
        keys = _sorted_keys(run, self.rows, self.request)
        if any(too_many(len(keys), getattr(measure, "size", 1)) for measure in measures):
            raise EngineError("the answer has too many cells; make the bins wider")
        # The place of a key depends on who else is there, so its value is hashed instead.
        values = [self.unplaced.table[name] for name in self.unplaced.keys]
        hashed = self.unplaced.table.mutate(**{KEY_HASH: call("hash", dt.uint64, *values)})
        # Rows without a key are dropped first: joined with an empty list of keys, the reading of
        # rows would end early.
        rows = keyed(self.unplaced.on(hashed))
        placed = with_places(rows, run.public(numbered(keys)))
        run.bring()
        known = replace(self, cells=placed, groups=len(keys), rows=run.compile(placed.table))
        columns = known._columns(run, tuple(dict.fromkeys((AllRows(), *measures))), group=KEY_HASH)
        held = np.flatnonzero(columns[AllRows()])
        return Exact(keys.take(held), {measure: columns[measure][held] for measure in measures})

    def _columns(
        self, run: DuckDbPass, measures: tuple[Measure, ...], *, group: str
    ) -> dict[Measure, Array]:
        bound, salt, groups = self.request.bound, self.request.salt, self.groups
        if bound is None:
            raise InternalError("there is nothing to sort without a bound")
        people = Numbered.of(run, self.rows, groups=groups, salt=salt)
        columns: dict[Measure, Array] = {}
        for turn in range(people.passes):
            keys, table = people.fetch(run, self.cells.contents, group=group, turn=turn)
            contents = [array for cell in table.values() for array in cell]
            keep = kept(keys, contents, bound, people.layout, salt=salt)
            places = people.layout.places(keys)
            for measure in measures:
                if isinstance(measure, Units):
                    made = units(keys[keep], people.layout, groups)
                else:
                    cell = table.get(self.cells.cells.get(measure, ""))
                    made = _measured(measure, cell, keep, places, groups)
                columns[measure] = columns[measure] + made if measure in columns else made
        return columns


def _sorted_keys(run: DuckDbPass, query: str, request: Request) -> pa.Table:
    names = [name for name, _ in request.group]
    kinds = [(f"k{i}", ARROW[value.type]) for i, (_, value) in enumerate(request.group)]
    keys = pa.Table.from_batches(run.batches(query), pa.schema(kinds)).rename_columns(names)
    return keys.sort_by([(name, "ascending") for name in names])


def _measured(
    measure: Measure, cell: Column | None, keep: Array, places: Array, groups: int
) -> Array:
    if cell is None:
        return np.bincount(places[keep], minlength=groups)
    values, there = cell
    keep = keep & there
    places, values = places[keep], values[keep]
    match measure:
        case Total():
            if measure.squared:
                check_square(measure)
                half = np.int64(1 << measure.shift >> 1)
                values = ((values * values + half) >> np.int64(measure.shift)) - measure.offset
            return added(places, values, groups, largest=measure.largest, wide=measure.wide)
        case Present():
            return np.bincount(places, minlength=groups)
    assert isinstance(measure, Bins)
    flat = np.bincount(places * measure.size + values, minlength=groups * measure.size)
    return flat.reshape(groups, measure.size)


# -- numbering people ------------------------------------------------------------------------------


MOST_ROWS: Final = 2**25  # rows in memory at a time

Array: TypeAlias = np.ndarray[Any, Any]
Column: TypeAlias = tuple[Array, Array]  # values, and where they are present


@dataclass(frozen=True)
class Numbered:
    """Rows as SQL, with a column `c` for the number of a person."""

    rows: str
    layout: Layout
    passes: int  # how many parts the people are cut into
    salt: int

    @classmethod
    def of(cls, run: DuckDbPass, rows: str, *, groups: int, salt: int) -> Numbered:
        """Number the people of rows (u, i, ...), with a table of them.

        Small integers could serve as numbers themselves, which would be faster. But a single person
        could decide whether all of them are small.
        """
        run.run(
            "CREATE OR REPLACE TEMP TABLE people AS SELECT u, n, row_number() OVER () - 1 AS c "
            f"FROM (SELECT u, count(*) AS n FROM ({rows}) GROUP BY u)"
        )
        ((people, count),) = run.run("SELECT count(*), coalesce(sum(n), 0) FROM people")
        joined = f"SELECT p.c, r.* FROM ({rows}) AS r JOIN people AS p ON r.u = p.u"
        layout = Layout.of(groups)
        parts = (_parts(count, MOST_ROWS, salt), _parts(people, layout.most_people, salt))
        return cls(joined, layout, max(parts), salt)

    def fetch(
        self, run: DuckDbPass, columns: Sequence[str], *, group: str, turn: int
    ) -> tuple[Array, dict[str, Column]]:
        """The keys and some columns of one part of the people; `group` is what stands for the group
        in its hash."""
        bits = self.layout.group
        key = (
            f"((c // {self.passes})::UBIGINT << {bits + HASH}) | "
            f"((hash(hash({self.salt}::UBIGINT, u, {group})) >> {64 - HASH}) << {bits}) | "
            "i::UBIGINT"
        )
        # A missing value is a 0 that is marked as not present. Every column gets such marks, even
        # if nothing is missing: what is kept of one person, and how long it takes, must not depend
        # on somebody else's values.
        pairs = [f"coalesce({v}, 0) AS {v}, {v} IS NOT NULL AS {v}_there" for v in columns]
        query = f"SELECT {', '.join([f'{key} AS key', *pairs])} FROM ({self.rows})"
        if self.passes > 1:
            query += f" WHERE c % {self.passes} = {turn}"
        kinds = {"key": pa.uint64()}
        for name in columns:
            kinds |= {name: pa.int64(), f"{name}_there": pa.bool_()}
        found = pa.Table.from_batches(run.batches(query), pa.schema(list(kinds.items())))
        values = {name: found[name].to_numpy() for name in kinds}
        return values["key"], {name: (values[name], values[f"{name}_there"]) for name in columns}


def _parts(count: int, most: int, salt: int) -> int:
    """Into how many parts to divide them, so that none has more than `most`.

    If one more person always led to another pass over the table, everybody could see it. So the
    salt moves the limit of a part, and one more exceeds it in only one of `most/32` releases.

    >>> [_parts(count, 100, salt=0) for count in (0, 100, 101)]
    [1, 1, 2]
    >>> [_parts(99, 100, salt=salt) for salt in range(6)]
    [1, 1, 2, 1, 1, 2]
    """
    return max(-(-(count + salt % max(most // 32, 1)) // most), 1)


# -- which rows are kept, on arrays ----------------------------------------------------------------


Words: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

# Bits of a hash, the same for every table: if a larger table had fewer, somebody who joins it could
# change what is kept of others. One in ten million pairs of groups is told apart by place.
HASH: Final = 24


@dataclass(frozen=True, slots=True)
class Layout:
    """How many bits of a key the group takes; the hash has 24, and the person the rest."""

    group: int

    @classmethod
    def of(cls, groups: int) -> Layout:
        """The layout for this many groups.

        >>> Layout.of(200).most_people
        4294967296
        """
        return cls(max(groups - 1, 1).bit_length())

    @property
    def most_people(self) -> int:
        """How many people the keys can tell apart."""
        return int(2 ** (64 - HASH - self.group))

    def person(self, keys: Words) -> Words:
        return keys >> np.uint64(self.group + HASH)

    def hashes(self, keys: Words) -> Words:
        return (keys >> np.uint64(self.group)) & np.uint64(2**HASH - 1)

    def places(self, keys: Words) -> Numbers:
        return (keys & np.uint64(2**self.group - 1)).astype(np.int64)


def kept(
    keys: Words, contents: Sequence[Numbers], bound: ContributionBound, layout: Layout, *, salt: int
) -> Mask:
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
        bags = np.append(cells[full], np.uint64(2**64 - 1))  # never empty
        rows = rows[bags[np.searchsorted(bags, keys[rows])] == keys[rows]]
        _choose(keep, rows, keys, keys, contents, bound.max_rows_per_group, layout, salt)
    if bound.max_rows is not None:
        sums = np.bincount(owner.astype(np.int64), weights=counts, minlength=everybody)
        rows = np.flatnonzero((sums > bound.max_rows)[person] & keep)
        _choose(keep, rows, person, keys, contents, bound.max_rows, layout, salt)
    return keep


def units(keys: Words, layout: Layout, groups: int) -> Numbers:
    cells, _ = _cells(keys)
    return np.bincount(layout.places(cells), minlength=groups)


def _cells(keys: Words) -> tuple[Words, Numbers]:
    """The distinct keys in order, and how often each occurs."""
    ordered = np.sort(keys)
    starts = np.flatnonzero(_new(ordered))
    return ordered[starts], np.diff(starts, append=len(ordered))


def _new(ordered: np.ndarray[Any, Any]) -> Mask:
    """Where a new value begins."""
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
    """Keep only `most` rows of each bag, chosen by their hashes."""
    bag, key = bags[rows], keys[rows]
    columns = [key, *(column[rows].astype(np.int64).view(np.uint64) for column in contents)]
    # Number equal rows; the numbers do not depend on the order in which rows came in.
    order = np.lexsort((*columns, bag))
    new = _new(bag[order])
    for column in columns:
        new |= _new(column[order])
    starts = np.flatnonzero(new)
    copy = np.empty(len(rows), np.uint64)
    copy[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    # The numbers of the person and of the group are arbitrary; their hash stands for both.
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


# -- exact sums by group, on arrays ----------------------------------------------------------------


LIMB: Final = 26


def added(places: Array, values: Array, groups: int, *, largest: int, wide: bool) -> Array:
    """The sum of the values (at most `largest` in size) of each group; if `wide`, as objects.

    Doubles are exact up to 2^53, so up to 2^27 values are added in limbs of 26 bits:
    v = Σ 2^(26j)·v_j.

    >>> added(np.array([0, 0, 1]), np.array([2**62, 2**62, -5]), 2, largest=2**62, wide=True)
    array([9223372036854775808, -5], dtype=object)
    """
    total = np.zeros(groups, object if wide else np.int64)
    for shift in range(0, 64, LIMB):
        last = largest >> shift < 2**LIMB
        limb = values >> shift if last else (values >> shift) & (2**LIMB - 1)  # the last is signed
        sums = np.bincount(places, weights=limb, minlength=groups).astype(np.int64)
        total += sums.astype(total.dtype) << shift
        if last:
            break
    return total
