"""The replay route: the same pipeline on two neighbours, with the same noise.

What reaches the noise may then differ by the declared sensitivity and no more; the way there,
shapes, types, errors, and the noise itself may not differ at all. One run on each neighbour is
enough to see what no number of noisy samples shows: a wrapped sum, or a clamp that is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from discreet.auditor.recorder import recording
from discreet.auditor.replaying.comparing import Run, differences, reaches
from discreet.auditor.replaying.finding import ReplayFinding
from discreet.auditor.replaying.notes import Notes
from discreet.errors import InvalidArgument

SameNoise = Callable[[], AbstractContextManager[Any]]


def replay(
    run: Callable[..., Any], pair: tuple[Any, Any], *, same_noise: SameNoise | None = None
) -> ReplayFinding:
    """Run a pipeline on two neighbours and compare what reached the noise.

    ``run(value, recorder)`` is a pipeline that tells the `Recorder` where exact values meet
    noise; ``run(value)`` one that releases from a Session, which does so by itself. ``same_noise``
    is a function that returns a context manager in which the noise repeats, for instance one that
    seeds a generator anew; it is not needed where each noisy value goes through
    ``recorder.released``, as in a Session. Meant for test data: the second run repeats what the
    first one released.

    >>> def clamped_sum(rows, recorder):
    ...     total = sum(min(row, 10) for row in rows)              # not clamped from below
    ...     recorder.reached("total", total, sensitivity=10)
    ...     return total                                           # plus noise
    >>> print(replay(clamped_sum, pair=([3, 4], [3, 4, -50])))
    violated: 1 difference between pair[0] and pair[1] that the noise does not hide
    - total: pair[0] and pair[1] are 50 apart in l1, and 10 was declared
    >>> replay(clamped_sum, pair=([3, 4], [3, 4, 99])).violated
    False
    """
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs",
            given=InvalidArgument.describe_data(pair),
            hint="as in pair=(with_ada, without_ada)",
        )
    call = _calls(run)
    noise = nullcontext if same_noise is None else same_noise
    first = _run(call, pair[0], noise, None)
    second = _run(call, pair[1], noise, first.notes)
    _check(first, second)
    turns = [(first, second)]
    if first.notes.outputs or second.notes.outputs:
        # What pair[1] would have released leads elsewhere, so that counts as well.
        back = _run(call, pair[1], noise, None)
        turns.append((_run(call, pair[0], noise, back.notes), back))
    found = dict.fromkeys(one for a, b in turns for one in differences(a, b))
    used = dict.fromkeys(one for a, b in turns for one in reaches(a, b))
    return ReplayFinding(
        differences=tuple(found),
        reaches=tuple(used),
        points=max(len(run.notes.points) for turn in turns for run in turn),
        runs=2 * len(turns),
        whole=all(run.whole for turn in turns for run in turn),
    )


def _run(
    call: Callable[[Any, Notes], Any],
    value: Any,
    noise: SameNoise,
    earlier: Notes | None,
) -> Run:
    notes = Notes(script=None if earlier is None else earlier.outputs)
    try:
        with noise(), recording(notes):
            return Run(notes, call(value, notes), None)
    except Exception as error:  # an outcome like any other: who sees it learns from it
        if notes.misused is not None:
            raise notes.misused from None
        return Run(notes, None, error.with_traceback(None))


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
    if first.notes.points or second.notes.points:
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
