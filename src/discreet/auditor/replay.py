"""The replay route: the same pipeline on two neighbours, with the same noise.

What reaches the noise may then differ by the declared sensitivity and no more; the way there,
shapes, types, errors, and the noise itself may not differ at all. One run on each neighbour is
enough to see what no number of noisy samples shows: a wrapped sum, or a clamp that is missing.
"""

from __future__ import annotations

import copy
import inspect
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType
from typing import Any, Literal, TypeVar

import numpy as np

from discreet.auditor.distance import Apart, Move, family, move, numbers, read_norm, unmoved
from discreet.auditor.recorder import Declared, Norm, recording
from discreet.auditor.replay_finding import Difference, Reach, ReplayFinding, many, short
from discreet.errors import InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.numeric.exact import non_negative
from discreet.sensitivity import Sensitivity

# -- what one run reported to the recorder ---------------------------------------------------------


T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """Exact values that were about to get noise."""

    name: str
    values: Any
    declared: Mapping[Norm, Fraction]
    noise: Any
    question: Any
    absent: int | None
    nth: int  # of its name


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Something that was released, as this run computed it, whatever value it went on with."""

    name: str
    output: Any
    nth: int  # of its name
    spare: bool  # is there no exact value that reached its noise?
    drawn: bool


@dataclass(eq=False, repr=False)
class Notes:
    """A recorder that remembers. ``script`` holds what an earlier run released, to be repeated."""

    script: list[Release] | None = None
    points: list[Point] = field(default_factory=list)
    outputs: list[Release] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)  # "reached" or "released", and what
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    misused: InvalidArgument | None = None  # a mistake of the pipeline's author, not an outcome

    def reached(
        self,
        name: str,
        values: Any,
        *,
        sensitivity: Declared,
        norm: Norm = "l1",
        noise: object = None,
        question: object = None,
        absent: int | None = None,
    ) -> None:
        """Remember the values as they are now."""
        try:
            declared = read_declared(sensitivity, norm)
        except InvalidArgument as mistake:
            self.misused = mistake
            raise
        nth = self._step("reached", name)
        told = copied(noise), copied(question)
        self.points.append(Point(name, snapshot(values), declared, *told, absent, nth))

    def released(self, name: str, output: T, *, drawn: bool = False) -> T:
        """Remember it; in a later run, go on with what the earlier one released."""
        place = len(self.outputs)
        nth = self._step("released", name)
        spare = drawn or nth >= self._seen["reached", name]
        self.outputs.append(Release(name, copied(output), nth, spare, drawn))
        if self.script is None or place >= len(self.script) or self.script[place].name != name:
            return output
        earlier: T = copied(self.script[place].output)
        return earlier

    def _step(self, what: str, name: str) -> int:
        """Record a step; the number of times it was taken before."""
        self.steps.append((what, name))
        self._seen[what, name] += 1
        return self._seen[what, name] - 1


def read_declared(sensitivity: Declared, norm: Norm) -> dict[Norm, Fraction]:
    """What was declared, as a bound for each norm."""
    if isinstance(sensitivity, Sensitivity):
        norms: tuple[Norm, ...] = ("l0", "linf", "l1", "l2")
        return {each: Fraction(getattr(sensitivity, each)) for each in norms}
    if isinstance(sensitivity, Mapping):
        if not sensitivity:
            raise InvalidArgument("sensitivity", "given in at least one norm", "an empty dict")
        return {
            read_norm(each): non_negative(bound, name=f"sensitivity in {each}")
            for each, bound in sensitivity.items()
        }
    return {read_norm(norm): non_negative(sensitivity, name="sensitivity")}


def snapshot(values: Any) -> Any:
    """A copy that does not change when the pipeline goes on."""
    if isinstance(values, np.ndarray):
        return values.copy()
    if isinstance(values, Mapping):
        return {key: snapshot(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [snapshot(value) for value in values]
    if hasattr(values, "__array__") and not np.isscalar(values):  # a column of some data frame
        return np.array(values)
    return values


def copied(value: Any) -> Any:
    """A copy of any value that the pipeline could change later, if it can be copied."""
    if isinstance(value, np.ndarray | list | tuple | dict | set):
        with suppress(Exception):  # it holds something that cannot be copied, a connection say
            return copy.deepcopy(value)
    return value


# -- two outputs of any type, part by part ---------------------------------------------------------
# Where they differ, in form or in value. A part is named by the places that lead to it, (1, 0)
# being the first part of the second: keys may be data, and are not shown.


Place = tuple[int, ...]
Unlike = tuple[Place, Literal["form", "value"]]

_FEW = 64  # parts of a list of numbers that are told apart


def plain(value: Any) -> Any:
    """An output as numbers, text, lists and dicts, where it is made of those."""
    if callable(getattr(value, "to_arrow", None)):  # a table of ours, with all that it prints
        return {"table": plain(value.to_arrow()), "words": repr(value)}
    if callable(getattr(value, "to_pydict", None)):  # one of Arrow's
        return {"types": str(getattr(value, "schema", "")), **plain(value.to_pydict())}
    if hasattr(value, "dtypes") and hasattr(value, "index") and hasattr(value, "items"):  # pandas'
        columns = [(str(name), plain(np.asarray(column))) for name, column in value.items()]
        return {"types": str(value.dtypes), "index": plain(list(value.index)), "columns": columns}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(each) for each in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return plain(value.tolist())
    return snapshot(value)


def unlike(x: Any, y: Any, place: Place = ()) -> Iterator[Unlike]:
    """Where two plain outputs differ; below a part that differs in form nothing is compared.

    >>> list(unlike({"n": 1, "at": 5}, {"n": 1, "at": 6}))
    [((1,), 'value')]
    >>> list(unlike({"n": 1, "at": 5}, {"at": 5, "n": 1})), list(unlike([1], (1,)))
    ([((), 'form')], [((), 'form')])
    """
    if type(x) is not type(y):
        yield place, "form"
    elif isinstance(x, Mapping):
        if [(type(key), key) for key in x] == [(type(key), key) for key in y]:
            yield from _parts(x.values(), y.values(), place)
        else:
            yield place, "form"  # another order reveals as much as another key
    elif _divided(x) or _divided(y):
        if len(x) == len(y):
            yield from _parts(x, y, place)
        else:
            yield place, "form"
    elif _form(x) != _form(y):
        yield place, "form"
    elif not opaque(x) and not (unmoved(x, y) and _signs(x) == _signs(y)):
        yield place, "value"  # NaN equals NaN, and 0.0 is not −0.0


def opaques(value: Any) -> Iterator[str]:
    """The types of parts of a plain output that cannot be compared."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple) and numbers(value) is None:
        for part in value:
            yield from opaques(part)
    elif opaque(value):
        yield type(value).__name__


def opaque(value: Any) -> bool:
    """Has it no equality of its own?"""
    kinds = type(value).__mro__[:-1]
    return value is not None and not any("__eq__" in vars(kind) for kind in kinds)


def _parts(xs: Any, ys: Any, place: Place) -> Iterator[Unlike]:
    for i, (x, y) in enumerate(zip(xs, ys, strict=False)):
        yield from unlike(x, y, (*place, i))


def _divided(value: Any) -> bool:
    """Is it compared part by part? Long lists of numbers are one part."""
    if not isinstance(value, list | tuple):
        return False
    return len(value) <= _FEW or numbers(value) is None


def _form(value: Any) -> Any:
    """What a part looks like, whatever its numbers are."""
    array = numbers(value)
    if array is None:
        return type(value)
    kind = family(array)
    odd = (~np.isfinite(array.astype(np.float64))).tobytes() if kind == "floats" else None
    return array.shape, kind, dtype(value), odd


def dtype(value: Any) -> str | None:
    """The type of numbers that a caller sees; None for lists, which hold Python's own."""
    kind = getattr(value, "dtype", None)
    return None if kind is None else str(kind)


def _signs(value: Any) -> bytes:
    """The signs of floats, zeros included: 0.0 and −0.0 are equal, but print differently."""
    array = numbers(value)
    if array is None or array.dtype.kind not in "fO" or family(array) != "floats":
        return b""
    return np.signbit(array.astype(np.float64)).tobytes()


def in_words(place: Sequence[int]) -> str:
    """Which part of what is returned.

    >>> in_words(()), in_words((1, 0))
    ('what is returned', 'part 2.1 of what is returned')
    """
    part = ".".join(str(i + 1) for i in place)
    return f"part {part} of what is returned" if part else "what is returned"


# -- is it the same noise? -------------------------------------------------------------------------
# Whatever decides it is compared by value: no digit may be cut off.


_ADDRESS = re.compile(r"0x[0-9a-f]+")


def alike(x: Any, y: Any) -> bool:
    """Do both say the same about the noise: scales, names, arrays, objects with either?

    >>> alike(np.full(3000, 0.1), np.full(3000, 0.1 + 1e-15)), alike(object(), object())
    (False, True)
    """
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, Mapping):
        return x.keys() == y.keys() and all(alike(x[key], y[key]) for key in x)
    if numbers(x) is not None:
        return unmoved(x, y)
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(alike, x, y))
    if isinstance(x, np.ndarray):
        return alike(x.tolist(), y.tolist())
    if isinstance(x, FunctionType):
        return x.__code__ == y.__code__ and alike(_held(x), _held(y))
    return _alike_objects(x, y)


def _alike_objects(x: Any, y: Any) -> bool:
    if not opaque(x):
        with suppress(Exception):  # an array in it, say, has no one answer
            return bool(x == y)
    held = getattr(x, "__dict__", None)
    if held:
        return alike(dict(held), dict(y.__dict__))
    return _ADDRESS.sub("", repr(x)) == _ADDRESS.sub("", repr(y))


def _held(function: FunctionType) -> list[Any]:
    """The values that a function holds: its closure and its defaults."""
    return [*(cell.cell_contents for cell in function.__closure__ or ()), function.__defaults__]


# -- two runs, and what differs by more than was declared ------------------------------------------


Key = tuple[Any, ...]
"""What differs: ("values", name, nth), ("noise", name, nth), ("declared", name, nth),
("question", name, nth), ("path",), ("error",), ("message",), ("released", name, nth),
("bare", name, nth), ("output", *place)."""

_FORMS = ("shape", "keys", "type", "path")


@dataclass(frozen=True, eq=False, repr=False)
class RecordedRun:
    """One run: what was recorded, and what came out."""

    notes: Notes
    output: Any  # as `plain` returns it; None after an error
    error: BaseException | None

    @property
    def whole(self) -> bool:
        """Was everything that reached the noise released through the recorder?"""
        names = {release.name for release in self.notes.outputs}
        return bool(names) and all(point.name in names for point in self.notes.points)


def differences(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
    """Everything that tells two runs on neighbours apart."""
    found = list(_paths(a, b))
    for one, other in _aligned(a, b):
        found += _terms(one, other)
        found += ((("values", one.name, one.nth), each) for each in _moved(one, other))
    yield from found
    yield from _spare(a, b)
    yield from _bare(a, b)
    if not (any(each.kind in _FORMS for _, each in found) and _misfit(a, b)):
        yield from _ends(a, b)


def unsteady(a: RecordedRun, again: RecordedRun) -> Iterator[Key]:
    """Everything that differs between two runs on the same input: it is random by itself."""
    if a.notes.steps != again.notes.steps:
        yield ("path",)
    for one, other in _aligned(a, again):
        same = unmoved(one.values, other.values, absent=one.absent)
        if not same or _kind(one) != _kind(other):
            yield "values", one.name, one.nth
        yield from (key for key, _ in _terms(one, other))
    yield from (key for key, _ in _spare(a, again))
    bare = {key for key, _ in _unnoised(again)}
    yield from (key for key, _ in _unnoised(a) if key not in bare)
    yield from (key for key, _ in _ends(a, again))


def reaches(a: RecordedRun, b: RecordedRun) -> Iterator[Reach]:
    """How much of what was declared was used."""
    for one, other in _aligned(a, b):
        moved = move(one.values, other.values, absent=one.absent)
        if isinstance(moved, Move):
            for norm, bound in one.declared.items():
                yield Reach(one.name, norm, moved.size(norm), bound)


def _aligned(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Point, Point]]:
    """Pairs of points, up to where the two runs diverge."""
    for one, other in zip(a.notes.points, b.notes.points, strict=False):
        if one.name != other.name:
            return
        yield one, other


def _paths(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
    """Which points were reached, in which order, how often; and what was released there."""
    ways = [run.notes.steps for run in (a, b)]
    shorter = min(map(len, ways))
    steps = zip(ways[0], ways[1], strict=False)
    place = next((i for i, (one, other) in enumerate(steps) if one != other), shorter)
    if place == shorter and (len(ways[0]) == len(ways[1]) or _error(a) != _error(b)):
        return  # an error on one side cuts a run short, and is reported as an error
    counts = [len(run.notes.points) for run in (a, b)]
    same = sum(what == "reached" for what, _ in ways[0][:place])
    words = (
        f"control flow depends on the data: {many(counts[0], 'recording point')} reached from "
        f"pair[0] and {counts[1]:,} from pair[1], the first {same:,} in the same way"
    )
    yield ("path",), Difference("path", "", words)


def _terms(one: Point, other: Point) -> Iterator[tuple[Key, Difference]]:
    """On which terms values get noise: none of these may depend on the data."""
    for what, kind, words in (
        ("declared", "noise", "the declared sensitivity depends on the data"),
        ("noise", "noise", "the noise itself depends on the data"),
        ("question", "question", "what is asked depends on the data"),
    ):
        if not alike(getattr(one, what), getattr(other, what)):
            yield (what, one.name, one.nth), Difference(kind, one.name, words)


def _moved(one: Point, other: Point) -> Iterator[Difference]:
    if _kind(one) != _kind(other):
        yield Difference("type", one.name, "values differ in type before noise is added")
    moved = move(one.values, other.values, absent=one.absent)
    if isinstance(moved, Apart):
        yield Difference(moved.kind, one.name, f"before noise is added, {moved.words}")
        return
    for norm, bound in one.declared.items():
        if moved.exceeds(bound, norm):
            size = moved.size(norm)
            far = f"{short(size)} apart in {norm}, and {short(bound)} was declared"
            words = f"pair[0] and pair[1] are {far}"
            yield Difference("distance", one.name, words, size, bound, norm)


def _spare(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
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


def _bare(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
    """What was released without noise, from both, and is not the same."""
    others = dict(_unnoised(b))
    for key, point in _unnoised(a):
        other = others.get(key)
        if other and not unmoved(point.values, other.values, absent=point.absent):
            words = "what was released is what had reached the noise: there is none"
            yield key, Difference("bare", point.name, words)


def _unnoised(run: RecordedRun) -> Iterator[tuple[Key, Point]]:
    """Points whose release is exactly what had reached the noise."""
    reached = {(point.name, point.nth): point for point in run.notes.points}
    for one in run.notes.outputs:
        point = reached.get((one.name, one.nth))
        if point and unmoved(point.values, one.output):
            yield ("bare", one.name, one.nth), point


def _ends(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
    """How the runs ended: with an error, or with outputs that look, or are, the same."""
    kinds = [_error(run) for run in (a, b)]
    if kinds[0] != kinds[1]:
        told = [kind or "no error" for kind in kinds]
        words = f"{told[0]} from pair[0] and {told[1]} from pair[1]"
        yield ("error",), Difference("error", "", words)
    elif a.error is not None:
        # Memory addresses in messages are never the same.
        if len({_ADDRESS.sub("", str(run.error)) for run in (a, b)}) > 1:
            words = f"both raise {kinds[0]}, with different messages"
            yield ("message",), Difference("error", "", words)
    else:
        yield from _outputs(a, b)


def _outputs(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Difference]]:
    words = {
        "form": "what is returned differs in type, shape, keys, order or NaN",
        "value": "what is returned differs though all released values are the same, and is the "
        "same in each run on the same data: something came out beside the noise",
    }
    for place, what in unlike(a.output, b.output):
        if what == "form" or (a.whole and b.whole):
            yield ("output", *place), Difference("output", "", words[what])


def _misfit(a: RecordedRun, b: RecordedRun) -> bool:
    """Did one run fail, and only it, after an answer that does not fit its own data?

    The answer was repeated from the other run, and this one could never have released it.
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


def _error(run: RecordedRun) -> str | None:
    return None if run.error is None else type(run.error).__name__


def _kind(point: Point) -> tuple[str, str | None] | None:
    """The type of the numbers that reach noise, which is often that of the answer."""
    array = None if isinstance(point.values, Mapping) else numbers(point.values)
    return None if array is None or not array.size else (family(array), dtype(point.values))


# -- what is random by itself ----------------------------------------------------------------------
# A time stamp, a name that is drawn, noise that was not handed to the recorder: it differs between
# neighbours, and between two runs on one dataset. It is named, and not called a violation.


Again = Callable[[RecordedRun, bool], RecordedRun]
"""Runs on the same input and with the same script once more; with the same noise, or without."""

_INSIDE = 6  # more runs on either input, if something differs that reached the noise
_BESIDE = 20  # if something differs that came out beside it
# If no noise was seen. Noise that is zero 98 times in 100 shows with probability
# 1 − 0.98¹⁰⁰⁰ > 1 − 2·10⁻⁹; in fewer runs it may be noise on a grid that is seldom anything else.
_BARE = 1000
_BARE_SECONDS = 10.0
_KNOWN = 50  # where a law says how often it is
_ROUNDS = 2  # at least, however slow
_SECONDS = 2.0


RunPair = tuple[RecordedRun, RecordedRun]
"""A run on each of the two inputs, with the same answers."""


def settled(
    turn: RunPair, loose: set[Key], sure: set[Key], again: Again, *, repeats: bool
) -> Iterator[tuple[Key, Difference]]:
    """The differences that remain after more runs, which are added to `sure`; what is random by
    itself is added to `loose`.

    ``repeats`` says that the noise repeats, so that one more run says as much as many.
    """
    left = [one for one in differences(*turn) if not covered(one[0], loose)]
    new = [key for key, _ in left if key not in sure]
    inside = [key for key in new if key[0] not in ("output", "message", "released", "bare")]
    _look(turn, inside, loose, lambda run: again(run, True), 1 if repeats else _INSIDE)
    beside = [key for key in new if key[0] in ("output", "message", "released")]
    _look(turn, beside, loose, lambda run: again(run, False), _BESIDE)
    kept = [one for one in left if one[0][0] != "bare" and not covered(one[0], loose)]
    sure |= {key for key, _ in kept}
    yield from kept
    yield from _without_noise(turn, [one for one in left if one[0] in new], loose, sure, again)


def _look(
    turn: RunPair,
    keys: list[Key],
    loose: set[Key],
    again: Callable[[RecordedRun], RecordedRun],
    times: int,
) -> None:
    begun = time.monotonic()
    for turns in range(times):
        late = turns >= _ROUNDS and time.monotonic() - begun > _SECONDS
        if late or all(covered(key, loose) for key in keys):
            return
        for run in turn:
            changed = set(unsteady(run, again(run)))
            loose |= {key for key in keys if covered(key, changed)}


def _without_noise(
    turn: RunPair,
    found: list[tuple[Key, Difference]],
    loose: set[Key],
    sure: set[Key],
    again: Again,
) -> Iterator[tuple[Key, Difference]]:
    """Where no run has shown noise. With a known law that is no violation, only suspicious."""
    known = {("bare", one.name, one.nth) for one in turn[0].notes.points if _has_law(one.noise)}
    bare = [one for one in found if one[0][0] == "bare"]
    keys, most = {key for key, _ in bare}, _BARE if {key for key, _ in bare} - known else _KNOWN
    begun, runs = time.monotonic(), 0
    while runs < most and keys - loose and time.monotonic() - begun < _BARE_SECONDS:
        loose |= keys & set(unsteady(turn[0], again(turn[0], False)))
        runs += 1
    for key, one in bare:
        if key not in loose:
            sure.add(key)
            certain = runs >= _BARE and key not in known
            yield key, one if certain else replace(one, kind="unsure")


def _has_law(noise: object) -> bool:
    """Is it a mechanism rather than a name or a scale? Its law says how often its noise is 0."""
    return not isinstance(noise, str | int | float | Fraction | tuple | list | dict | None)


def covered(key: Key, loose: set[Key]) -> bool:
    """Is it, or what it is a part of, random by itself?"""
    return any(key[:i] in loose for i in range(1, len(key) + 1))


def not_compared(first: RecordedRun, loose: set[Key]) -> Iterator[str]:
    """What is random by itself, and what has no equality, by name."""
    drawn = {(one.name, one.nth) for one in first.notes.outputs if one.drawn}
    reached = {point.name for point in first.notes.points}
    for key in sorted(loose, key=repr):
        match key:
            case ("path",):
                yield "which points are reached"
            case ("values", name, _):
                yield f"what reaches {name}"
            case ("noise" | "declared", name, _):
                yield f"the noise of {name}"
            case ("question", name, _):
                yield f"what is asked for {name}"
            case ("released", name, nth) if (name, nth) not in drawn and name not in reached:
                yield f"{name}, which was released without anything having reached its noise"
            case ("error",):
                yield "whether there is an error"
            case ("message",):
                yield "the message of an error"
            case ("output", *place):
                yield in_words(place)


# -- the replay ------------------------------------------------------------------------------------


SameNoise = Callable[[], AbstractContextManager[Any]]


@spelled
def replay(
    run: Callable[..., Any],
    pair: tuple[Any, Any] | None = None,
    *,
    same_noise: SameNoise | None = None,
) -> ReplayFinding:
    """Run a pipeline on two neighbours and compare what reached the noise.

    ``run(value, recorder)`` is a pipeline that tells the `Recorder` where exact values meet
    noise; ``run(value)`` one that releases from a Session, which does so by itself. ``same_noise``
    is a function that returns a context manager in which the noise repeats, for instance one that
    seeds a generator anew; it is not needed where each noisy value goes through
    ``recorder.released``, as in a Session. Meant for test data: the second run repeats what the
    first one released.

    Either input is run more than once. What differs between two runs on the same input is random
    by itself, a time stamp for instance: it is not compared, and the finding's notes name it.

    >>> def clamped_sum(rows, recorder):
    ...     total = sum(min(row, 10) for row in rows)              # not clamped from below
    ...     recorder.reached("total", total, sensitivity=10)       # and then gets noise
    >>> print(replay(clamped_sum, pair=([3, 4], [3, 4, -50])))
    violated: 1 difference between pair[0] and pair[1] that the noise does not hide
    - total: pair[0] and pair[1] are 50 apart in l1, and 10 was declared (or the two inputs are \
not neighbours)
    >>> replay(clamped_sum, pair=([3, 4], [3, 4, 99])).violated
    False
    """
    inputs, call, runs = _pair(pair), _calls(run), 0
    noise = nullcontext if same_noise is None else same_noise

    def once(place: int, script: list[Release] | None, *, same: bool = True) -> RecordedRun:
        nonlocal runs
        runs += 1
        return _run(call, inputs[place], noise if same else nullcontext, script)

    first = once(0, None)
    second = once(1, first.notes.outputs)
    _check(first, second)
    turns: list[RunPair] = [(first, second)]
    loose = set(unsteady(first, once(0, first.notes.outputs)))
    if first.notes.outputs or second.notes.outputs:
        # What pair[1] would have released leads elsewhere, so that counts as well.
        back = once(1, None)
        turns.append((once(0, back.notes.outputs), back))
    found: dict[Difference, None] = {}
    sure: set[Key] = set()
    for turn in turns:

        def again(run: RecordedRun, same: bool, turn: RunPair = turn) -> RecordedRun:
            own = turn[0] if turn[0].notes.script is None else turn[1]
            return once(int(run is not turn[0]), own.notes.outputs, same=same)

        left = settled(turn, loose, sure, again, repeats=same_noise is not None)
        found |= dict.fromkeys(one for _, one in left)
    every = [run for turn in turns for run in turn]
    return ReplayFinding(
        differences=tuple(one for one in found if one.kind != "unsure"),
        reaches=tuple(dict.fromkeys(one for turn in turns for one in reaches(*turn))),
        points=max(len(run.notes.points) for run in every),
        runs=runs,
        whole=all(run.whole for run in every)
        and not any(key[0] == "output" for key in loose)
        and not any(True for _ in opaques(first.output)),
        notes=tuple(_notes(first, loose, found)),
    )


def _notes(first: RecordedRun, loose: set[Key], found: Iterable[Difference]) -> Iterator[str]:
    """What else a reader should know."""
    if random := "; ".join(dict.fromkeys(not_compared(first, loose))):
        yield (
            "not compared, since two runs on the same input differ there: "
            f"{random}. Hand random values through recorder.released, with drawn=True "
            "if they have nothing to do with the data, or give same_noise="
        )
    if not first.whole and first.output is not None:
        yield (
            "what is returned was compared by its shape alone, since not all that reached noise "
            "went through recorder.released"
        )
    if kinds := ", ".join(dict.fromkeys(opaques(first.output))):
        yield f"not compared, since it has no equality: what is returned of type {kinds}"
    for one in found:
        if one.kind == "unsure":
            yield (
                f"{one.point}: what was released is what had reached the noise, in each of many "
                "runs: the noise is almost always zero, or there is none"
            )


def _run(
    call: Callable[[Any, Notes], Any], value: Any, noise: SameNoise, script: list[Release] | None
) -> RecordedRun:
    notes = Notes(script=script)
    try:
        with noise(), recording(notes):
            return RecordedRun(notes, plain(call(copied(value), notes)), None)
    except (Exception, SystemExit) as error:  # an outcome like any other, which reveals something
        if notes.misused is not None:
            raise notes.misused from None
        return RecordedRun(notes, None, error.with_traceback(None))


def _pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidArgument(
            "pair",
            "two neighbouring inputs",
            "nothing" if pair is None else InvalidArgument.describe_data(pair),
            hint="as in dp.replay(run, pair=(with_ada, without_ada))",
        )
    x, y = plain(pair[0]), plain(pair[1])
    opaque = any(True for _ in (*opaques(x), *opaques(y)))
    if pair[0] is pair[1] or not (opaque or any(True for _ in unlike(x, y))):
        raise InvalidArgument(
            "pair",
            "two different neighbouring inputs",
            "two equal ones",
            hint=Phrase("let them differ in one person, as in {pair=(0, 1)} for a count"),
        )
    return pair[0], pair[1]


def _calls(run: Callable[..., Any]) -> Callable[[Any, Notes], Any]:
    """The pipeline as a function that passes on the recorder, if it takes one."""
    if not callable(run):
        raise InvalidArgument.of("run", "a function of one input", run)
    try:
        parameters = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    if any(one.name == "recorder" and one.kind is one.KEYWORD_ONLY for one in parameters):
        return lambda value, notes: run(value, recorder=notes)
    places = [one for one in parameters if one.kind in (0, 1)]
    if len(places) > 1 and (places[1].default is places[1].empty or places[1].name == "recorder"):
        return lambda value, notes: run(value, notes)
    return lambda value, notes: run(value)


def _check(first: RecordedRun, second: RecordedRun) -> None:
    """Refuse a pipeline that recorded nothing: that does not mean that nothing was found."""
    if any(one.notes.steps for one in (first, second)):
        return
    kind = _error(first)
    if kind == _error(second):
        raise InvalidArgument(
            "run",
            "a pipeline that tells the recorder where exact values meet noise",
            "one that told it nothing" + (f" and raised {kind}" if kind else ""),
            hint="call recorder.reached(name, values, sensitivity=...) in run(value, recorder), or "
            "release from a Session in the thread that replays",
        )
