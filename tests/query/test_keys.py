"""Groups: what may be listed, and what each spelling means."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument
from discreet.query.keys import DiscoveredKeys, read_keys
from discreet.query.schema import Type

TEXT, INTEGER, RAW = (Type.TEXT,), (Type.INTEGER,), (Type.RAW,)


def listed(columns, keys, types):
    return read_keys(columns, keys, types=types).table.to_pydict()


@pytest.mark.parametrize(
    ("keys", "types", "expected"),
    [
        (["A", "B"], TEXT, ["A", "B"]),
        (("B", "A"), TEXT, ["B", "A"]),  # the order given is that of the answer
        ([3, 1], INTEGER, [3, 1]),
        (range(3), INTEGER, [0, 1, 2]),
        (np.array([5, 6], np.int32), INTEGER, [5, 6]),
        ([np.int64(7)], INTEGER, [7]),
        ([1, 2], RAW, [1, 2]),  # the cells of a CSV file take the type of the keys
        (["x"], RAW, ["x"]),
        ([True, False], (Type.BOOLEAN,), [True, False]),
        ([datetime.date(2026, 1, 31)], (Type.DATE,), [datetime.date(2026, 1, 31)]),
        (pa.table({"k": ["A", "B"], "other": [1, 2]}), TEXT, ["A", "B"]),
        (["", " ", "ü", "A\x00B"], TEXT, ["", " ", "ü", "A\x00B"]),
    ],
)
def test_keys_in_every_spelling(keys, types, expected):
    """Catches a spelling that is read as something else, or reordered."""
    assert listed(("k",), keys, types) == {"k": expected}


def test_lists_are_crossed():
    """Catches a product in another order, or with a pair missing."""
    found = listed(("a", "b"), {"b": ["x", "y"], "a": [1, 2]}, (Type.INTEGER, Type.TEXT))
    assert list(zip(found["a"], found["b"], strict=True)) == [
        (1, "x"),
        (1, "y"),
        (2, "x"),
        (2, "y"),
    ]


def test_pairs_are_listed():
    """Catches columns that change places."""
    found = listed(("a", "b"), [(1, "x"), (2, "y")], (Type.INTEGER, Type.TEXT))
    assert found == {"a": [1, 2], "b": ["x", "y"]}


def test_discovery_is_asked_for_by_its_name():
    """Catches a text that is taken for a list of letters."""
    assert read_keys(("k",), "discover", types=TEXT) == DiscoveredKeys()


@pytest.mark.parametrize(
    ("keys", "types", "said"),
    [
        ([], TEXT, "at least one"),
        (["A", "A"], TEXT, "distinct"),
        (["A", None], TEXT, "missing"),
        (pa.table({"k": pa.array(["A", None])}), TEXT, "missing"),
        ("ABC", TEXT, "a list"),
        (7, TEXT, "a list"),
        (None, TEXT, "a list"),
        ([1, 2], TEXT, "of type text"),
        (["1"], INTEGER, "of type integer"),
        ([True], INTEGER, "of type integer"),
        ([1.5], INTEGER, "booleans, integers, text or dates"),
        ([float("nan")], RAW, "booleans, integers, text or dates"),
        ([1, "x"], RAW, "of one type"),
        ([2**63], INTEGER, "64 bits"),
        ({"other": ["A"]}, TEXT, "a list for each of k"),
        (pa.table({"x": ["A"]}), TEXT, 'a column "k"'),
        (["A"], (Type.REAL,), "booleans, integers, text or dates"),
        (["A"], (Type.OTHER,), "booleans, integers, text or dates"),
        ([b"A"], TEXT, ""),
        ([object()], TEXT, ""),
    ],
)
def test_bad_keys_are_refused_with_a_sentence(keys, types, said):
    """Catches a list that would give other groups than the caller thinks."""
    with pytest.raises(InvalidArgument) as caught:
        read_keys(("k",), keys, types=types)
    assert said in str(caught.value)


def test_two_million_keys_are_read_at_once():
    """Catches a loop over keys: the genome of claim 19 has as many."""
    assert len(read_keys(("k",), range(2_000_000), types=INTEGER)) == 2_000_000
