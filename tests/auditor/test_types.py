"""Outputs of every type are read by dp.audit: what no feature looks into could give all away."""

import sys
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.testing import seeded


def half_the_noise(value, size):
    """Of what `Pure(1)` needs."""
    return dp.Laplace(sensitivity=1, epsilon=2).release(np.full(size, int(value)))


@pytest.fixture(autouse=True)
def _repeatable():
    with seeded(20261115):
        yield


class Colour(Enum):
    RED = 1
    BLUE = 2


class Plain:
    def __init__(self, value):
        self.value = value


LEAKS = {
    "fraction": Fraction,
    "decimal": Decimal,
    "enum": lambda x: Colour(x + 1),
    "date": lambda x: date(2026, 1, 1 + x),
    "datetime64": lambda x: np.datetime64("2026-01-01") + x,
    "complex": lambda x: complex(0, x),
    "complex array": lambda x: np.array([1 - x + 1j * x]),
    "a long int": lambda x: 2**60 + x,
    "an array of long ints": lambda x: np.array([2**60 + x, 3]),
    "pyarrow array": lambda x: pa.array([x]),
    "pyarrow scalar": lambda x: pa.scalar(x),
    "polars series": lambda x: pl.Series([x]),
    "pandas index": lambda x: pd.Index([x]),
    "pandas frame": lambda x: pd.DataFrame({"a": [x]}),
    "an object": Plain,
    "an iterator": lambda x: iter([x]),
    "deeply nested": lambda x: [[[[[[[[[[[[x]]]]]]]]]]]],
    "the order of keys": lambda x: {"b": 1, "a": 1} if x else {"a": 1, "b": 1},
    "bytes": lambda x: bytes([200 + x]),
    "how a number is written": lambda x: "1.0" if x else "1",
    "the digits of a long number": lambda x: str(2**60 + x),
    "a long fraction": lambda x: Fraction(2**60 + x, 3),
    "a text in an array": lambda x: np.array([f"a{x}"]),
    "the sign of zero": lambda x: -0.0 if x else 0.0,
    "an object that holds itself": lambda x: Plain(Plain(x)),
    "another error": lambda x: int("a") if x else 1 / 0,
    "leaving": lambda x: sys.exit(x) if x else 0,
}


@pytest.mark.parametrize("leak", LEAKS)
def test_an_input_that_is_given_away_is_seen_in_every_type(leak):
    """Catches a type that is not looked into: each of these returns its input."""
    finding = dp.audit(LEAKS[leak], (0, 1), dp.Pure(1), samples=400)
    assert finding.violated and not finding.unread


def test_a_number_inside_of_a_text_is_a_number():
    """Catches texts that are compared as a whole: each noisy one is a text of its own."""

    def run(value, size):
        return [f"the count is {n:.6f}" for n in 1e6 * half_the_noise(value, size) / 999_999]

    assert dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True).violated


def test_a_time_with_noise_is_a_number():
    """Catches times that are compared as texts: each is one of its own."""

    def run(value, size):
        return [timedelta(seconds=float(n) / 7) for n in half_the_noise(value, size) * 7.1]

    assert dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True).violated


def test_odd_objects_neither_break_nor_hang_it():
    class Odd:
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda: self

    class Rude:
        def __getattr__(self, name):
            raise RuntimeError

    for output in (Odd(), Rude(), Decimal("sNaN"), Mock()):
        assert not dp.audit(lambda value, o=output: o, (0, 1), dp.Pure(1), samples=200).violated


def test_what_cannot_be_looked_into_is_named():
    finding = dp.audit(lambda value: object, (0, 1), dp.Pure(1), samples=400)
    assert finding.unread == ("type",) and "Not looked into" in str(finding)


@pytest.mark.parametrize(
    "table",
    [
        lambda x, n: pd.DataFrame({"a": np.full(n, x), "b": np.arange(n)}),
        lambda x, n: pa.table({"a": np.full(n, x), "b": np.arange(n)}),
        lambda x, n: pl.DataFrame({"a": np.full(n, x), "b": np.arange(n)}),
        lambda x, n: pa.array(np.full(n, x)),
    ],
    ids=["pandas", "arrow", "polars", "arrow array"],
)
def test_rows_of_a_table_are_the_outputs_of_a_batch(table):
    """Catches columns that are taken for outputs, which makes every count false."""
    run = lambda value, size: table(value, size)  # noqa: E731
    assert dp.audit(run, (0, 1), dp.Pure(1), samples=400, batched=True).violated


def test_a_batch_that_is_a_dict_or_a_set_is_refused():
    kinds = (lambda value, n: dict.fromkeys(range(n)), lambda value, n: set(range(n)))
    for kind in kinds:
        with pytest.raises(InvalidArgument, match="a list or an array"):
            run = lambda value, size, kind=kind: kind(value, size)  # noqa: E731
            dp.audit(run, (0, 1), dp.Pure(1), samples=400, batched=True)
