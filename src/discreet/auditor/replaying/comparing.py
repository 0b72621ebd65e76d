"""Two runs of one pipeline, side by side: whatever differs by more than was declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.auditor.moving import Apart, Move, family, move, numbers
from discreet.auditor.replaying.finding import Difference, Reach, many, short
from discreet.auditor.replaying.notes import Notes, Point
from discreet.auditor.replaying.outputs import dtype, plain, unlike
from discreet.auditor.replaying.scales import alike

Key = tuple[Any, ...]
"""What differs: ("values", name, nth), ("noise", name, nth), ("declared", name, nth),
("question", name, nth), ("path",), ("error",), ("message",), ("released", name, nth),
("bare", name, nth), ("output", *place)."""

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FORMS = ("shape", "keys", "type", "path")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run: what was recorded, and what came out."""

    notes: Notes
    output: Any  # as `plain` has it
    error: BaseException | None

    @property
    def whole(self) -> bool:
        """Was everything released that reached the noise?"""
        names = {release.name for release in self.notes.outputs}
        return bool(names) and all(point.name in names for point in self.notes.points)


def differences(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    """Everything that tells two runs on neighbours apart."""
    found = [*_paths(a, b), *_points(a, b)]
    yield from found
    yield from _spare(a, b)
    yield from _bare(a, b)
    if not (any(one.kind in _FORMS for _, one in found) and _misfit(a, b)):
        yield from _ends(a, b)


def unsteady(a: Run, again: Run) -> Iterator[Key]:
    """Everything that differs between two runs on the same input: it is random by itself."""
    if a.notes.steps != again.notes.steps:
        yield ("path",)
    for one, other in _aligned(a, again):
        moved = move(one.values, other.values, absent=one.absent)
        if isinstance(moved, Apart) or moved.size("l0") or _kind(one) != _kind(other):
            yield "values", one.name, one.nth
        if one.declared != other.declared:
            yield "declared", one.name, one.nth
        if not alike(one.noise, other.noise):
            yield "noise", one.name, one.nth
        if not alike(one.question, other.question):
            yield "question", one.name, one.nth
    yield from (key for key, _ in _spare(a, again))
    bare = {key for key, _ in _unnoised(again)}
    yield from (key for key, _ in _unnoised(a) if key not in bare)
    yield from (key for key, _ in _ends(a, again))


def reaches(a: Run, b: Run) -> Iterator[Reach]:
    """How much of what was declared was used."""
    for one, other in _aligned(a, b):
        moved = move(one.values, other.values, absent=one.absent)
        if isinstance(moved, Move):
            for norm, bound in one.declared.items():
                yield Reach(one.name, norm, moved.size(norm), bound)


def _aligned(a: Run, b: Run) -> Iterator[tuple[Point, Point]]:
    """Points up to where the ways part."""
    for one, other in zip(a.notes.points, b.notes.points, strict=False):
        if one.name != other.name:
            return
        yield one, other


def _paths(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    """Which points were reached, in which order, how often; and what was released there."""
    ways = [run.notes.steps for run in (a, b)]
    shorter = min(map(len, ways))
    steps = zip(ways[0], ways[1], strict=False)
    place = next((i for i, (one, other) in enumerate(steps) if one != other), shorter)
    if place == shorter and (len(ways[0]) == len(ways[1]) or _error(a) != _error(b)):
        return  # an error on one side cuts a way short, and is told as an error
    counts = [len(run.notes.points) for run in (a, b)]
    same = sum(what == "reached" for what, _ in ways[0][:place])
    yield (
        ("path",),
        Difference(
            "path",
            "",
            f"control flow depends on the data: {many(counts[0], 'recording point')} reached from "
            f"pair[0] and {counts[1]:,} from pair[1], the first {same:,} in the same way",
        ),
    )


def _points(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    for one, other in _aligned(a, b):
        name, place = one.name, (one.name, one.nth)
        if one.declared != other.declared:
            words = "the declared sensitivity depends on the data"
            yield ("declared", *place), Difference("noise", name, words)
        if not alike(one.noise, other.noise):
            words = "the noise itself depends on the data"
            yield ("noise", *place), Difference("noise", name, words)
        if not alike(one.question, other.question):
            words = "what is asked depends on the data"
            yield ("question", *place), Difference("question", name, words)
        if _kind(one) != _kind(other):
            words = "values differ in type before noise is added"
            yield ("values", *place), Difference("type", name, words)
        yield from ((("values", *place), each) for each in _moved(one, other))


def _moved(one: Point, other: Point) -> Iterator[Difference]:
    moved = move(one.values, other.values, absent=one.absent)
    if isinstance(moved, Apart):
        yield Difference(moved.kind, one.name, f"before noise is added, {moved.words}")
        return
    for norm, bound in one.declared.items():
        if moved.exceeds(bound, norm):
            size = moved.size(norm)
            words = f"{short(size)} apart in {norm}, and {short(bound)} was declared"
            yield Difference(
                "distance",
                one.name,
                f"pair[0] and pair[1] are {words}",
                measured=size,
                declared=bound,
                norm=norm,
            )


def _spare(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    """What was released without an exact value of that name having reached noise."""
    others = {(one.name, one.nth): one for one in b.notes.outputs}
    for one in a.notes.outputs:
        other = others.get((one.name, one.nth))
        if other is None or not (one.spare and other.spare):
            continue
        if any(True for _ in unlike(plain(one.output), plain(other.output))):
            words = (
                "released though nothing of that name reached noise before; it has no noise, and "
                "differs between pair[0] and pair[1]"
            )
            yield ("released", one.name, one.nth), Difference("released", one.name, words)


def _bare(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    """What was released without noise, from both, and is not the same."""
    others = dict(_unnoised(b))
    for key, point in _unnoised(a):
        other = others.get(key)
        if other is None:
            continue
        moved = move(point.values, other.values, absent=point.absent)
        if isinstance(moved, Apart) or moved.size("l0"):
            words = "what was released is what had reached the noise: there is none"
            yield key, Difference("bare", point.name, words)


def _unnoised(run: Run) -> Iterator[tuple[Key, Point]]:
    """Where exactly that was released which had reached the noise."""
    reached = {(point.name, point.nth): point for point in run.notes.points}
    for one in run.notes.outputs:
        point = reached.get((one.name, one.nth))
        moved = None if point is None else move(point.values, one.output)
        if point is not None and isinstance(moved, Move) and moved.size("l0") == 0:
            yield ("bare", one.name, one.nth), point


def _ends(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    """How the runs ended: with an error, or with outputs that look, or are, the same."""
    kinds = [_error(run) for run in (a, b)]
    if kinds[0] != kinds[1]:
        told = [kind or "no error" for kind in kinds]
        words = f"{told[0]} from pair[0] and {told[1]} from pair[1]"
        yield ("error",), Difference("error", "", words)
    elif a.error is not None:
        if _message(a) != _message(b):
            words = f"both raise {kinds[0]}, with different messages"
            yield ("message",), Difference("error", "", words)
    else:
        yield from _outputs(a, b)


def _outputs(a: Run, b: Run) -> Iterator[tuple[Key, Difference]]:
    for place, what in unlike(a.output, b.output):
        if what == "form":
            words = "what is returned differs in type, shape, keys, order or NaN"
            yield ("output", *place), Difference("output", "", words)
        elif a.whole and b.whole:
            words = (
                "what is returned differs though all released values are the same, and is the same "
                "in each run on the same data: something came out beside the noise"
            )
            yield ("output", *place), Difference("output", "", words)


def _misfit(a: Run, b: Run) -> bool:
    """Did one run fail, and only it, after an answer that does not fit its own data?

    Repeated from the other one, such an answer is not what it could ever have released.
    """
    for one, other in ((a, b), (b, a)):
        script = one.notes.script
        if script is None or one.error is None or other.error is not None:
            continue
        for mine, earlier in zip(one.notes.outputs, script, strict=False):
            parts = unlike(plain(mine.output), plain(earlier.output))
            if mine.name == earlier.name and any(what == "form" for _, what in parts):
                return True
    return False


def _error(run: Run) -> str | None:
    return None if run.error is None else type(run.error).__name__


def _message(run: Run) -> str:
    """Without addresses in memory, which are never the same."""
    return _ADDRESS.sub("", str(run.error))


def _kind(point: Point) -> tuple[str, str | None] | None:
    """The type of the numbers that reach noise: it is often that of the answer."""
    array = None if isinstance(point.values, Mapping) else numbers(point.values)
    return None if array is None or not array.size else (family(array), dtype(point.values))
