"""Means over records, without noise: on a part of their own each, or rounded coarsely."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.mechanisms.query_values import (
    EXAMPLE,
    UNIT,
    check_column_function,
    sum_of_column,
    sum_of_records,
)
from discreet.mechanisms.statistical_queries import Records, StatisticalQueries, read_sample
from discreet.noise.entropy import source


class ExactMeans:
    """Means of functions φ: record → [0, 1], with the rules of `StatisticalQueries`.

    In ``parts`` parts, of ⌊n/parts⌋ records each, in an order that chance decides: so a file that
    somebody has sorted is split as well as one in the order of the draws.

    >>> means = ExactMeans(np.arange(10), parts=1)
    >>> means.mean(lambda x: x > 6, vectorized=True, part=0)
    Fraction(3, 10)
    """

    def __init__(self, sample: Records, *, parts: int) -> None:
        StatisticalQueries(sample, sigma=1)  # refuses what is no sample
        self._rows = _shuffled(sample) if parts > 1 else read_sample(sample)
        self._size = len(sample) // parts

    def mean(self, phi: Callable[[Any], Any], *, vectorized: bool, part: int) -> Fraction:
        """The mean over one part, each value rounded to a multiple of 2^−32."""
        rows = self._rows[part * self._size : (part + 1) * self._size]
        if vectorized and isinstance(rows, np.ndarray):
            total = sum_of_column(phi, rows)
        else:
            total = sum_of_records(phi, rows)
        return Fraction(total, self._size * UNIT)


def check_query(phi: Callable[[Any], Any], *, vectorized: bool, nothing: Records) -> None:
    """Refuse what can be refused without a look at the records: it is shown none of them."""
    if not callable(phi):
        given = InvalidArgument.describe_parameter(phi)
        raise InvalidArgument(name="phi", expected="a function", given=given, hint=EXAMPLE)
    if not vectorized:
        return
    if not isinstance(nothing, np.ndarray):
        raise InvalidArgument(
            name="vectorized",
            expected="False for a sample that is not a NumPy array",
            given="True",
            hint="make the sample an array",
        )
    check_column_function(phi, nothing)


def rounded(mean: Fraction, levels: int) -> Fraction:
    """The nearest of 0, 1/levels, …, 1; the upper one of two.

    >>> rounded(Fraction(5, 8), 4)
    Fraction(3, 4)
    """
    return Fraction(floor(mean * levels + Fraction(1, 2)), levels)


def _shuffled(sample: Records) -> Records:
    # Equal words, of 64 bits each, keep the order they had: of 10⁹ records some might.
    order = np.argsort(source().words(len(sample)), kind="stable")
    if not isinstance(sample, np.ndarray):
        return tuple(sample[place] for place in order)
    rows = sample[order]
    rows.flags.writeable = False
    return rows
