"""Replays with repeatable entropy: for Sessions, and for mechanisms that are used by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.auditor.replay import replay as replay_with
from discreet.auditor.replaying.finding import ReplayFinding
from discreet.testing.entropy import seeded


def replay(run: Callable[..., Any], pair: tuple[Any, Any], *, seed: int = 0) -> ReplayFinding:
    """`discreet.replay`, with the same random words on both neighbours.

    ``run`` and ``pair`` are as there: a function of one input, and two neighbouring inputs.
    ``seed``, any int, decides the words; 0 if left out.

    A Session needs that only for a test that is the same each time. Mechanisms that are used by
    hand tell the recorder nothing: where their outputs decide what comes next, that is compared
    only if they repeat.

    >>> import discreet as dp, pyarrow as pa
    >>> def released(rows):
    ...     people = dp.table(pa.table({"age": rows}))
    ...     query = people.agg(n=dp.count(), total=dp.sum("age", bounds=(0, 120)))
    ...     return dp.Session(people, budget=dp.Pure(1)).release(query, epsilon=1)
    >>> print(replay(released, pair=([34, 51], [34, 51, 990])))
    no violation found: 2 points reached the noise in the same way from pair[0] and pair[1], \
none further apart than declared. This is about these two inputs and is not a proof
    """
    return replay_with(run, pair, same_noise=lambda: seeded(seed))
