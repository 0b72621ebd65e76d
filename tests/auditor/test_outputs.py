"""Outputs of any type: forms, numbers, and that a batch reads like its members."""

import numpy as np
import pytest

from discreet.auditor.sampling.outputs import Raised, Reader, joined, row_keys

OUTPUTS = {
    "floats": [0.5, -1.25, float("nan"), float("inf")],
    "ints": [1, 2, 10**30, -(10**400)],
    "bools and None": [True, None, False],
    "texts": ["yes", "no", b"raw"],
    "lists of any length": [[1, 2], [], [1], [0.5, None]],
    "dicts": [{"a": 1}, {"b": 1, "a": 2.0}, {}],
    "sets": [{"x"}, frozenset(), {"y", "x"}],
    "arrays": [np.arange(3), np.zeros((2, 2)), np.array([np.nan]), np.array(["t"])],
    "errors": [Raised("ValueError"), 1.0],
    "nested": [(1, {"k": [2.0, "z"]}), (1, {"k": [2.0, "w"]})],
}


@pytest.mark.parametrize("outputs", OUTPUTS.values(), ids=OUTPUTS)
def test_different_outputs_are_told_apart_whatever_batch_they_come_in(outputs):
    """Catches two things that read alike, and keys that depend on the rest of the batch."""
    reader = Reader()
    together = reader.read(list(outputs))
    alone = joined([reader.read([one]) for one in outputs])
    for read in (together, alone):
        keys = row_keys(np.column_stack([read.forms, read.numbers]))
        assert len(set(keys.tolist())) == len(outputs)
    assert together.forms.tolist() == alone.forms.tolist()
    wide = alone.widened(together.width + 3)
    first = row_keys(np.column_stack([together.forms, together.numbers]))
    assert first.tolist() == row_keys(np.column_stack([wide.forms, wide.numbers])).tolist()


def test_a_stacked_array_reads_like_a_list_of_its_numbers():
    """Catches a quick path that differs from the slow one in the numbers."""
    values = np.array([[1.5, 2.0], [np.nan, 0.0], [0.0, np.nan]])
    stacked, listed = Reader().read(values), Reader().read([list(row) for row in values.tolist()])
    assert np.array_equal(stacked.numbers, listed.numbers, equal_nan=True)
    assert len(set(stacked.forms.tolist())) == 3  # where the NaNs are is part of the form


def test_a_member_of_a_batch_reads_as_it_would_alone():
    """The witness is called with single outputs; a batch that happens to be alike on one side
    only must not look different for that."""
    reader = Reader()
    for batch in (
        np.array([0.5, np.nan]),
        np.zeros((2, 3)),
        np.array([1, 2]),
        [[1], [2]],
        [1.0, 2.0],
    ):
        stacked = reader.read(batch)
        singles = joined([reader.read([one]) for one in batch])
        mixed = reader.read([*batch, None, "text"])
        assert stacked.forms.tolist() == singles.forms.tolist() == mixed.forms[:2].tolist()


def test_types_shapes_and_dtypes_are_forms():
    """A private count that comes as an int on one side and as a float on the other is a leak."""
    reader = Reader()
    read = [
        reader.read(outputs).forms[0]
        for outputs in ([1], [1.0], [True], np.ones(1, np.float32), np.ones((1, 2)), [(1,)], [[1]])
    ]
    assert len(set(read)) == len(read)


def test_messages_of_errors_are_compared_and_not_kept():
    """A message may quote data: that is a leak to be found, and not one to be made."""
    reader = Reader()
    read = reader.read(
        [Raised.by(KeyError("Ada")), Raised.by(KeyError("Bob")), Raised.by(KeyError("Ada"))]
    )
    assert read.forms.tolist() == [0, 1, 0]
    assert "KeyError" in reader.words(0) and "Ada" not in str(reader.known) + reader.words(0)
