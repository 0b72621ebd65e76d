"""Value plus noise, rounded to a grid: exactly, and fast.

For each value a law first computes its rounded noise in float64 and says where its proven
error bound leaves no doubt (``fast``). The doubtful few are looked at again with a bound of
their own (``closer``), and what is still in doubt is settled in ball arithmetic (``slow``),
from the same random bits. So the result is always the exact one.

The work does not depend on the values, and but for the doubtful few not on the draw.
"""

from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.noise import entropy
from discreet.noise.accuracy import trusted
from discreet.noise.entropy import Source, Words
from discreet.noise.grid import Floats, Grid, IntegerGrid
from discreet.noise.narrow import MANY, Narrow, add_narrow
from discreet.noise.tape import Draw, Tape
from discreet.noise.workspace import Workspace, chunks, in_blocks, room

Flags = NDArray[np.bool_]

FEW: Final = 16  # up to here one by one is quicker
SMALL: Final = 1 << 10  # up to here every draw is looked at closely


class Law(Protocol):
    """Noise in units of a grid step; ``offset`` is added to it before rounding."""

    def one(self, draw: Draw, offset: float) -> int | None:
        """Return ⌊offset + noise + ½⌋ for one word, or None if that is not certain."""
        ...

    def fast(self, words: Words, offset: Floats | None, room: Workspace) -> tuple[Floats, Flags]:
        """The same for many words: the results, and where they are certain."""
        ...

    def closer(self, tape: Tape, offset: Floats | None) -> tuple[Floats, Flags]:
        """The same for the words of ``tape``, with an error bound for each of them."""
        ...

    def slow(self, tape: Tape, index: int, offset: Fraction) -> int:
        """The same for one word, whatever it takes."""
        ...

    def table(self) -> Narrow | None:
        """Return tables for many draws without offset, if the law is narrow."""
        ...


def round_within(
    y: Floats, error: float | Floats, room: Workspace, common: Flags | None = None
) -> tuple[Floats, Flags]:
    """Return rint(y), and where every real within ``error`` of y rounds to the same.

    Where ``common`` is given, only there. Uses up ``y``. What it returns lives in ``room``.
    """
    whole = np.rint(y, out=room.floats("whole", y.size))
    y -= whole  # exact
    np.abs(y, out=y)
    sure = np.less(y, 0.5 - error, out=room.flags("sure", y.size))
    if common is not None:
        sure &= common
    return whole, sure


def certain(y: float, error: float) -> int | None:
    """The same for one number: the integer, or None."""
    if not abs(y) < 2.0**52:  # NaN too: the guide says that it does not know
        return None
    whole = round(y)
    return whole if abs(y - whole) < 0.5 - error else None


def add_one(value: Any, law: Law, grid: Grid) -> Any:
    """Return one number plus noise of ``law``, rounded to ``grid``."""
    draw = Draw(entropy.source())
    offset = grid.offset_float(value)
    whole = law.one(draw, offset) if trusted() else None
    if whole is not None:
        return grid.join_float(value, offset, whole)
    return grid.join_one(value, law.slow(draw.tape(), 0, grid.offset_one(value)))


def add(values: NDArray[Any], law: Law, grid: Grid) -> NDArray[Any]:
    """Return ``values`` plus independent noise of ``law``, rounded to ``grid``.

    ``values`` is flat, contiguous and of the grid's dtype.
    """
    if values.size <= FEW:
        return np.array([add_one(value, law, grid) for value in values.tolist()], grid.dtype)
    source = entropy.source()
    out = np.empty(values.size, grid.dtype)

    table = law.table() if values.size >= MANY and isinstance(grid, IntegerGrid) else None

    def work(start: int, end: int) -> None:
        if table is None:
            _add_block(values[start:end], out[start:end], law, grid, source)
        else:
            add_narrow(values[start:end], out[start:end], table, source)

    in_blocks(work, values.size, source)
    return out


def _add_block(
    values: NDArray[Any], out: NDArray[Any], law: Law, grid: Grid, source: Source
) -> None:
    # In a small block it would show in the time whether any draw was doubtful; so all are.
    fast = _add_fast if trusted() and values.size > SMALL else _leave_all
    doubtful, words = [], []
    for chunk in chunks(values.size):
        where, which = fast(values[chunk], out[chunk], law, grid, source)
        doubtful.append(where + chunk.start)
        words.append(which)
    where = np.concatenate(doubtful)
    if where.size:
        out[where] = _add_closer(values[where], np.concatenate(words), law, grid, source)


Doubts = tuple[NDArray[np.intp], Words]


def _add_fast(
    values: NDArray[Any], out: NDArray[Any], law: Law, grid: Grid, source: Source
) -> Doubts:
    """Fill ``out`` but for the doubtful places; return those with their words."""
    with room() as space:
        words = space.words("words", values.size)
        source.fill(words)
        offset = grid.offset(values, space)
        whole, sure = law.fast(words, offset, space)
        doubtful = np.flatnonzero(np.logical_not(sure, out=sure))
        whole[doubtful] = 0.0  # a place holder
        grid.join(values, offset, whole, out, space)
        return doubtful, words[doubtful]


def _leave_all(
    values: NDArray[Any], out: NDArray[Any], law: Law, grid: Grid, source: Source
) -> Doubts:
    """Call every draw doubtful."""
    return np.arange(values.size), source.words(values.size)


def _add_closer(
    values: NDArray[Any], words: Words, law: Law, grid: Grid, source: Source
) -> NDArray[Any]:
    out = np.empty(values.size, grid.dtype)
    tape = Tape(source, words)
    settled = np.zeros(values.size, np.bool_)
    if trusted():
        space = Workspace()
        offset = grid.offset(values, space)
        whole, settled = law.closer(tape, offset)
        whole[~settled] = 0.0
        grid.join(values, offset, whole, out, space)
    for i in np.flatnonzero(~settled):
        exact = law.slow(tape, int(i), grid.offset_one(values[i]))
        out[i] = grid.join_one(values[i], exact)
    return out
