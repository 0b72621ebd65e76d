"""How large a question may be: every size that it can choose has its limit here.

Sizes are checked where they are given, before anything of that size is built, counted or charged:
a list that is too long, or that never ends, is read up to its limit and one value further. The
limits are far above what people ask, and what lies within them is answered in seconds. (How large
numbers get in arithmetic is another matter: `engines/translation.py`.)
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from discreet.errors import InvalidArgument

KEYS: Final = 5_000_000  # groups of an answer; where lists are crossed, all combinations count
GROUP_COLUMNS: Final = 30  # columns that an answer is grouped by
CELLS: Final = 10**8  # groups × bins: they are all in memory
BINS: Final = 10_000  # edges, or categories, of a histogram: each bin is a column of the answer
VALUES: Final = 100_000  # of one list: candidates, and all that is_in lists in an expression
CHOICES: Final = 1_000  # k of a top_k: each is a column of the answer
PROBABILITIES: Final = 1_000  # of one quantile
POINTS: Final = 2**20  # of the grid that a quantile is chosen from
AGGREGATES: Final = 100  # of a question
BINNED: Final = 20  # histograms, quantiles or choices among them: each is a query of its own
COLUMNS: Final = 20_000  # of an answer, not counting those of errors
STEPS: Final = 100  # where, mutate, select and join
JOINS: Final = 20  # joins among them
MADE: Final = 1_000  # columns that all steps of a question make
NODES: Final = 2_000  # operations, columns and literals in the expressions of a question
DEPTH: Final = 64  # operations inside each other: engines and their compilers recurse
TEXT: Final = 10_000  # characters of a text, as a literal, a key or a name
ROWS: Final = 10**9  # of one person, or groups, that a bound lets through
PUBLIC: Final = 10_000_000  # rows of a public table


def check(size: int, most: int, *, name: str, what: str, hint: str) -> None:
    """Refuse what is larger than its limit.

    >>> check(200, STEPS, name="the question", what="steps", hint="put several into one mutate")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: the question must be of at most 100 steps, got 200; put \
several into one mutate
    """
    if size > most:
        given = f"{size:,}" if size < 10**18 else "more than 10^18"
        expected = f"of at most {most:,} {what}"
        raise InvalidArgument(name, expected, given, hint=hint, code="too-large")


def taken(values: Iterable[Any], most: int, *, name: str, what: str, hint: str) -> tuple[Any, ...]:
    """All of the values; reading stops as soon as there is one too many.

    >>> from itertools import count
    >>> taken(count(), 3, name="edges", what="numbers", hint="make the bins wider")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: edges must be of at most 3 numbers, got more; make the bins \
wider
    """
    first = tuple(islice(values, most + 1))  # whatever length it claims to have
    if len(first) > most:
        given = f"{len(values):,}" if type(values) in (list, tuple) else "more"  # type: ignore
        expected = f"of at most {most:,} {what}"
        raise InvalidArgument(name, expected, given, hint=hint, code="too-large")
    return first
