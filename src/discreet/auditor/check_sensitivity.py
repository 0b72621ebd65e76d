"""A search for neighbours that break a declared sensitivity."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, Literal

from discreet.auditor.moving import TOLERANCE, Move, move, read_norm
from discreet.auditor.recorder import Norm
from discreet.auditor.searching.finding import SensitivityFinding, in_words
from discreet.auditor.searching.neighbouring import Changes, Sizes
from discreet.auditor.searching.records import read_domain
from discreet.auditor.searching.search import Raised, Search
from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, non_negative, positive_float
from discreet.neighbors import Relation
from discreet.spelling import spelled

_TRIES = 2000
_SECONDS = 5.0


@spelled
def check_sensitivity(
    f: Callable[[Any], Any],
    domain: Any,
    claimed: Number,
    relation: Relation | str,
    *,
    norm: Literal["l1", "l2", "linf", "l0"] = "l1",
    size: int | tuple[int, int] | None = None,
    tries: int | None = None,
    seconds: Number | None = None,
    shuffled: bool = True,
    tolerance: Number = TOLERANCE,
) -> SensitivityFinding:
    """Search for two neighbouring datasets whose answers are further apart than ``claimed``.

    ``f`` takes a dataset and returns a number, an array, or a dict of numbers: exactly, without
    noise. ``domain`` says what a record can be: an interval ``(0, 1)``, a type ``np.int64``, a list
    of values or of datasets, a function of numbers in [0, 1), or a tuple of these for rows
    (`discreet.auditor.domains`). Edges of types, values that round, wrap or are no numbers come
    first, small datasets before large ones; the search then climbs from the worst it has seen.

    ``relation`` says which datasets are neighbours: "add-remove" or "replace". ``norm`` says how
    far apart answers are: "l1" (the sum of all changes, if left out, as Laplace noise needs it),
    "l2" (as Gaussian noise does), "linf" (the largest) or "l0" (how many numbers change).
    ``size`` is the largest number of records, or (least, most); under replace, where the size is
    public, a single number is the size itself. A dataset is a multiset, so neighbours also come in
    different orders unless ``shuffled`` is False. The search ends after ``tries`` pairs or
    ``seconds``, or, given neither, after 2,000 pairs or 5 seconds; with ``tries`` alone it is the
    same in each run. Answers in floats may be off by a factor of 1 + ``tolerance``, which moves ε
    by as little; integers are compared exactly, but for the root in l2.

    >>> import numpy as np
    >>> bounded = {"claimed": 1, "relation": "add-remove", "tries": 500}
    >>> print(check_sensitivity(lambda x: x.clip(0, 1).sum(), np.int64, **bounded))
    no violation found: the largest change in 500 tries was 1 in l1, and 1 is claimed under \
add-remove. That is not a proof
    >>> wrapped = {"claimed": 2**63 - 1, "relation": "add-remove", "tries": 500}
    >>> print(check_sensitivity(lambda x: x.sum(), (0, 2**63 - 1), **wrapped))
    violated: neighbours under add-remove were found in 500 tries whose answers are \
18446744073709551615 apart in l1, and 9223372036854775807 is claimed
    - worst[0] and worst[1] have 1 and 2 records; worst[1] has one record more: 1
    - [9223372036854775807] and [9223372036854775807, 1]
    """
    told = Relation.parse(relation)
    changes = Changes(read_domain(domain), told, Sizes.read(size, told), shuffled)
    neither = tries is None and seconds is None
    search = Search(
        _callable(f),
        changes,
        norm=_norm(norm),
        claimed=non_negative(claimed, name="claimed"),
        tolerance=non_negative(tolerance, name="tolerance"),
        tries=_TRIES if neither else _tries(tries),
        seconds=_SECONDS if neither else _seconds(seconds),
    )
    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a mean of nothing, say: what counts is the answer
        search.run()
        if search.worst is None or not (search.answered or search.worst.exceeds):
            raise InvalidArgument(
                name="f",
                expected="a function that answers for datasets of this domain",
                given="one that raised an error for each",
                hint="records come as a NumPy array for numbers, else as a list",
            )
        _check_numeric(search)
        _check_exact(search)
        tried = search.tried
        worst = search.shrink() if search.worst.exceeds else search.worst
    return SensitivityFinding(
        violated=worst.exceeds,
        found=worst.distance,
        claimed=search.claimed,
        norm=search.norm,
        relation=str(told),
        worst=worst.pair.datasets(changes.domain),
        why=worst.why,
        tried=tried,
        seconds=time.monotonic() - begun,
        shown=in_words(worst.pair.lists()) if changes.domain.invented else "",
        apart=worst.pair.in_words(shown=changes.domain.invented),
        tolerance=search.tolerance,
    )


def _check_numeric(search: Search) -> None:
    """Text has no sensitivity, and neither has nothing."""
    assert search.worst is not None
    given = [one for one in search.worst.answers if not isinstance(one, Raised)]
    if search.answered and not search.numeric:
        raise InvalidArgument(
            name="f",
            expected="a function that returns numbers: one, an array, or a dict of them",
            given=f"one that returns a value of type {type(given[0]).__name__}",
            hint="is a return missing?" if given[0] is None else "",
        )


def _check_exact(search: Search) -> None:
    """A function with noise in it moves by itself, and everything would look broken."""
    assert search.worst is not None
    datasets = search.worst.pair.datasets(search.changes.domain)
    for data, x in zip(datasets, search.worst.answers, strict=True):
        y = search.answer(data)  # once more
        moved = None if isinstance(x, Raised) or isinstance(y, Raised) else move(x, y)
        same = x == y if moved is None else isinstance(moved, Move) and moved.size("l0") == 0
        if not same:
            raise InvalidArgument(
                name="f",
                expected="exact: the same answer for the same data",
                given="one that gave two answers",
                hint="leave the noise out; dp.audit looks at noisy answers",
            )
        if search.late:
            return  # one of the two will do


def _norm(norm: Norm) -> Norm:
    """One that measures a whole answer."""
    if read_norm(norm) != "range":
        return norm
    raise InvalidArgument(
        name="norm",
        expected='"l1" or "l2" or "linf" or "l0"',
        given='"range"',
        hint="of scores, see dp.replay",
    )


def _callable(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    if callable(f):
        return f
    given = InvalidArgument.describe_parameter(f)
    raise InvalidArgument(name="f", expected="a function of a dataset", given=given)


def _tries(tries: int | None) -> int | None:
    return None if tries is None else integer(tries, name="tries", minimum=1)


def _seconds(seconds: Number | None) -> float | None:
    return None if seconds is None else positive_float(seconds, name="seconds")
