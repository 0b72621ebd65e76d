"""Before anything is called a violation: does it also differ between runs on the same input?

A time stamp, a name that is drawn, noise that was not handed to the recorder: what is random by
itself differs between neighbours, and between a dataset and itself. It is not compared, and named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.auditor.replaying.comparing import Key, Run, differences, unsteady
from discreet.auditor.replaying.finding import Difference
from discreet.auditor.replaying.outputs import in_words, opaques

Again = Callable[[Run, bool], Run]
"""Runs on the same input and with the same script once more; with the same noise, or without."""

_INSIDE = 6  # more runs on either input, if something differs that reached the noise
_BESIDE = 20  # if something differs that came out beside it
# If noise was nowhere to be seen. Noise that is zero 98 times in 100 shows with probability
# 1 − 0.98¹⁰⁰⁰ > 1 − 2·10⁻⁹; in fewer runs it may be noise on a grid that is seldom anything else.
_BARE = 1000
_BARE_SECONDS = 10.0
_KNOWN = 50  # where a law says how often it is
_ROUNDS = 2  # at least, however slow
_SECONDS = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Turn:
    """A run on each of the two inputs, with the same answers."""

    a: Run
    b: Run


def settled(
    turn: Turn, loose: set[Key], sure: set[Key], again: Again, *, repeats: bool
) -> Iterator[tuple[Key, Difference]]:
    """What is left of the differences after more runs, and put in `sure`; what is random by itself
    is put in `loose`.

    ``repeats`` says that the noise does, so that one more run says as much as many.
    """
    left = [one for one in differences(turn.a, turn.b) if not covered(one[0], loose)]
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
    turn: Turn, keys: list[Key], loose: set[Key], again: Callable[[Run], Run], times: int
) -> None:
    begun = time.monotonic()
    for turns in range(times):
        late = turns >= _ROUNDS and time.monotonic() - begun > _SECONDS
        if late or all(covered(key, loose) for key in keys):
            return
        for run in (turn.a, turn.b):
            changed = set(unsteady(run, again(run)))
            loose |= {key for key in keys if covered(key, changed)}


def _without_noise(
    turn: Turn,
    found: list[tuple[Key, Difference]],
    loose: set[Key],
    sure: set[Key],
    again: Again,
) -> Iterator[tuple[Key, Difference]]:
    """Where no run has shown noise. Where a law is known that is no violation, and looks odd."""
    known = {("bare", one.name, one.nth) for one in turn.a.notes.points if _has_law(one.noise)}
    bare = [one for one in found if one[0][0] == "bare"]
    keys, most = {key for key, _ in bare}, _BARE if {key for key, _ in bare} - known else _KNOWN
    begun, runs = time.monotonic(), 0
    while runs < most and keys - loose and time.monotonic() - begun < _BARE_SECONDS:
        loose |= keys & set(unsteady(turn.a, again(turn.a, False)))
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


def not_compared(first: Run, loose: set[Key]) -> Iterator[str]:
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


def not_comparable(run: Run) -> Iterator[str]:
    """Parts of the output that cannot be looked into."""
    return opaques(run.output) if run.error is None else iter(())
