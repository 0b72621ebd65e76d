"""The replay route: the same pipeline on two neighbours, with the same noise.

What reaches the noise may then differ by the declared sensitivity and no more; the way there,
shapes, types, errors, and the noise itself may not differ at all. One run on each neighbour is
enough to see what no number of noisy samples shows: a wrapped sum, or a clamp that is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from discreet.auditor.recorder import recording
from discreet.auditor.replaying.comparing import Key, Run, reaches, unsteady
from discreet.auditor.replaying.finding import Difference, ReplayFinding
from discreet.auditor.replaying.notes import Notes, Release, copied
from discreet.auditor.replaying.outputs import opaques, plain, unlike
from discreet.auditor.replaying.settling import Turn, not_comparable, not_compared, settled
from discreet.errors import InvalidArgument
from discreet.spelling import spelled

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
    - total: pair[0] and pair[1] are 50 apart in l1, and 10 was declared (or the two inputs are no \
neighbours)
    >>> replay(clamped_sum, pair=([3, 4], [3, 4, 99])).violated
    False
    """
    inputs, call = _pair(pair), _Counted(_calls(run))
    noise = nullcontext if same_noise is None else same_noise
    first = _run(call, inputs[0], noise, None)
    second = _run(call, inputs[1], noise, first.notes.outputs)
    _check(first, second)
    turns = [Turn(first, second)]
    loose = set(unsteady(first, _run(call, inputs[0], noise, first.notes.outputs)))
    if first.notes.outputs or second.notes.outputs:
        # What pair[1] would have released leads elsewhere, so that counts as well.
        back = _run(call, inputs[1], noise, None)
        turns.append(Turn(_run(call, inputs[0], noise, back.notes.outputs), back))
    found: dict[Difference, None] = {}
    sure: set[Key] = set()
    for turn in turns:

        def again(run: Run, same: bool, turn: Turn = turn) -> Run:
            own = turn.a if turn.a.notes.script is None else turn.b
            value = inputs[0] if run is turn.a else inputs[1]
            return _run(call, value, noise if same else nullcontext, own.notes.outputs)

        left = settled(turn, loose, sure, again, repeats=same_noise is not None)
        found |= dict.fromkeys(one for _, one in left)
    used = dict.fromkeys(one for turn in turns for one in reaches(turn.a, turn.b))
    notes = tuple(_notes(first, loose, found))
    return ReplayFinding(
        differences=tuple(one for one in found if one.kind != "unsure"),
        reaches=tuple(used),
        points=max(len(run.notes.points) for turn in turns for run in (turn.a, turn.b)),
        runs=call.times,
        whole=all(run.whole for turn in turns for run in (turn.a, turn.b))
        and not any(key[0] == "output" for key in loose)
        and not any(True for _ in not_comparable(first)),
        notes=notes,
    )


@dataclass
class _Counted:
    """A pipeline, and how often it ran."""

    call: Callable[[Any, Notes], Any]
    times: int = 0

    def __call__(self, value: Any, notes: Notes) -> Any:
        self.times += 1
        return self.call(value, notes)


def _notes(first: Run, loose: set[Key], found: Iterable[Difference]) -> Iterator[str]:
    """What a reader should know besides."""
    random = list(dict.fromkeys(not_compared(first, loose)))
    if random:
        yield (
            "not compared, since two runs on the same input differ there: "
            f"{'; '.join(random)}. Hand random values through recorder.released, with drawn=True "
            "if they have nothing to do with the data, or give same_noise="
        )
    if not first.whole and first.output is not None:
        yield (
            "what is returned was compared by its shape alone, since not all that reached noise "
            "went through recorder.released"
        )
    opaque = list(dict.fromkeys(not_comparable(first)))
    if opaque:
        kinds = ", ".join(opaque)
        yield f"not compared, since it has no equality: what is returned of type {kinds}"
    for one in found:
        if one.kind == "unsure":
            yield (
                f"{one.point}: what was released is what had reached the noise, in each of many "
                "runs: the noise is almost always zero, or there is none"
            )


def _run(
    call: Callable[[Any, Notes], Any],
    value: Any,
    noise: SameNoise,
    script: list[Release] | None,
) -> Run:
    notes = Notes(script=script)
    try:
        with noise(), recording(notes):
            return Run(notes, plain(call(copied(value), notes)), None)
    except (Exception, SystemExit) as error:  # an outcome like any other: who sees it learns
        if notes.misused is not None:
            raise notes.misused from None
        return Run(notes, None, error.with_traceback(None))


def _pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs",
            given="nothing" if pair is None else InvalidArgument.describe_data(pair),
            hint="as in pair=(with_ada, without_ada)",
        )
    x, y = plain(pair[0]), plain(pair[1])
    opaque = any(True for _ in (*opaques(x), *opaques(y)))
    if pair[0] is pair[1] or not (opaque or any(True for _ in unlike(x, y))):
        raise InvalidArgument(
            name="pair",
            expected="two different neighbouring inputs",
            given="two equal ones",
            hint="let them differ in one person, as in pair=(0, 1) for a count",
        )
    return pair[0], pair[1]


def _calls(run: Callable[..., Any]) -> Callable[[Any, Notes], Any]:
    """How to call it: with the recorder, if it takes one."""
    if not callable(run):
        given = InvalidArgument.describe_parameter(run)
        raise InvalidArgument(name="run", expected="a function of one input", given=given)
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


def _check(first: Run, second: Run) -> None:
    """Nothing recorded is not the same as nothing found."""
    if any(one.notes.steps for one in (first, second)):
        return
    kinds = [None if one.error is None else type(one.error).__name__ for one in (first, second)]
    if kinds[0] == kinds[1]:
        raise InvalidArgument(
            name="run",
            expected="a pipeline that tells the recorder where exact values meet noise",
            given="one that told it nothing" + (f" and raised {kinds[0]}" if kinds[0] else ""),
            hint="call recorder.reached(name, values, sensitivity=...) in run(value, recorder), or "
            "release from a Session in the thread that replays",
        )
