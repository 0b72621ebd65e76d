"""Two runs of one pipeline, side by side: whatever differs by more than was declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.auditor.moving import Apart, Move, family, move, numbers
from discreet.auditor.replaying.finding import Difference, Reach, short
from discreet.auditor.replaying.notes import Notes, Point, kept

_ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run: what was recorded, and what came out."""

    notes: Notes
    output: Any
    error: Exception | None

    @property
    def whole(self) -> bool:
        """Was everything released that reached the noise?"""
        names = {name for name, _ in self.notes.outputs}
        return bool(names) and all(point.name in names for point in self.notes.points)


def differences(a: Run, b: Run) -> Iterator[Difference]:
    """Everything that tells the two apart."""
    yield from _paths(a, b)
    for one, other in zip(a.notes.points, b.notes.points, strict=False):
        if one.name != other.name:
            return  # from here on they are not the same points
        yield from _points(one, other)
    yield from _ends(a, b)


def reaches(a: Run, b: Run) -> Iterator[Reach]:
    """How much of what was declared was used."""
    for one, other in zip(a.notes.points, b.notes.points, strict=False):
        moved = move(one.values, other.values, absent=one.absent)
        if one.name == other.name and isinstance(moved, Move):
            for norm, bound in one.declared.items():
                yield Reach(one.name, norm, moved.size(norm), bound)


def _paths(a: Run, b: Run) -> Iterator[Difference]:
    """Which points were reached, in which order, how often; and what was released there."""
    ways = [[point.name for point in run.notes.points] for run in (a, b)]
    outs = [[name for name, _ in run.notes.outputs] for run in (a, b)]
    if a.error is None and b.error is None and (ways[0] != ways[1] or outs[0] != outs[1]):
        steps = zip(ways[0], ways[1], strict=False)
        place = next((i for i, (one, other) in enumerate(steps) if one != other), None)
        place = min(map(len, ways)) if place is None else place
        yield Difference(
            "path",
            "",
            f"control flow depends on the data: {len(ways[0]):,} recording points were reached "
            f"from pair[0] and {len(ways[1]):,} from pair[1], the first {place:,} the same",
        )


def _points(one: Point, other: Point) -> Iterator[Difference]:
    name = one.name
    if one.declared != other.declared:
        yield Difference("noise", name, "the declared sensitivity depends on the data")
    if one.noise != other.noise:
        yield Difference("noise", name, "the noise itself depends on the data")
    if _kind(one.values) != _kind(other.values):
        yield Difference("type", name, "values differ in type before noise is added")
    moved = move(one.values, other.values, absent=one.absent)
    if isinstance(moved, Apart):
        yield Difference(moved.kind, name, f"before noise is added, {moved.words}")
        return
    for norm, bound in one.declared.items():
        if moved.exceeds(bound, norm):
            size = moved.size(norm)
            yield Difference(
                "distance",
                name,
                f"pair[0] and pair[1] are {short(size)} apart in {norm}, and {short(bound)} was "
                "declared",
                measured=size,
                declared=bound,
                norm=norm,
            )


def _ends(a: Run, b: Run) -> Iterator[Difference]:
    """How the runs ended: with an error, or with outputs that look, or are, the same."""
    if a.error is not None or b.error is not None:
        yield from _errors(a, b)
        return
    x, y = plain(a.output), plain(b.output)
    if _form(x) != _form(y):
        yield Difference("output", "", "what is returned differs in type, shape, keys or NaN")
    elif a.whole and b.whole and not same(x, y):
        yield Difference(
            "output",
            "",
            "what is returned differs though all released values are the same: something of the "
            "data came out beside the noise",
        )


def _errors(a: Run, b: Run) -> Iterator[Difference]:
    kinds = [None if run.error is None else type(run.error).__name__ for run in (a, b)]
    if kinds[0] != kinds[1]:
        told = [kind or "no error" for kind in kinds]
        yield Difference("error", "", f"{told[0]} from pair[0] and {told[1]} from pair[1]")
    elif a.whole and b.whole and _message(a) != _message(b):
        yield Difference("error", "", f"both raise {kinds[0]}, with different messages")


def _message(run: Run) -> str:
    return _ADDRESS.sub("", str(run.error))


# -- outputs of any type ---------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """An output as numbers, text, lists and dicts, where it is made of those."""
    if callable(getattr(value, "to_arrow", None)):  # a table of ours, with all that it prints
        return {"table": plain(value.to_arrow()), "words": repr(value)}
    if callable(getattr(value, "to_pydict", None)):  # one of Arrow's
        return {"types": str(getattr(value, "schema", "")), **plain(value.to_pydict())}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return kept(value)


def _form(value: Any) -> Any:
    """What an answer looks like, whatever its numbers are."""
    if isinstance(value, Mapping):
        return {key: _form(each) for key, each in value.items()}
    array = numbers(value)
    if array is not None:
        floats = array.astype(np.float64) if family(array) == "floats" else None
        odd = None if floats is None else (~np.isfinite(floats)).tobytes()
        return array.shape, family(array), _dtype(value), odd
    if isinstance(value, list):
        return [_form(each) for each in value]
    return type(value)


def _kind(values: Any) -> Any:
    """The type of the numbers that reach noise: it is often that of the answer."""
    if isinstance(values, Mapping):
        return None
    array = numbers(values)
    if array is None or not array.size:
        return None
    return family(array), _dtype(values)


def _dtype(value: Any) -> str | None:
    """The type that a caller gets to see; lists hold what Python has."""
    kind = getattr(value, "dtype", None)
    return None if kind is None else str(kind)


def same(x: Any, y: Any) -> bool:
    """Are two outputs equal? NaN equals NaN; what cannot be compared counts as equal."""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return x.keys() == y.keys() and all(same(x[key], y[key]) for key in x)
    moved = move(x, y)
    if isinstance(moved, Move):
        return moved.size("l0") == 0 and _signs(x) == _signs(y)
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    return type(x) is type(y) and _opaque(type(x))


def _signs(value: Any) -> bytes:
    """Of zeros, too: 0.0 and −0.0 are equal, and print differently."""
    array = numbers(value)
    if array is None or array.dtype.kind not in "fO" or family(array) != "floats":
        return b""
    return np.signbit(array.astype(np.float64)).tobytes()


def _opaque(kind: type) -> bool:
    """Has it no equality of its own?"""
    return not any("__eq__" in vars(one) for one in kind.__mro__[:-1])
