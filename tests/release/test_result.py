"""What a result holds: rows, cells, batches, and what it refuses."""

import math

import pyarrow as pa
import pytest

from discreet.errors import InternalError, InvalidArgument
from discreet.release import Answer, ColumnInfo


def test_shape(wards):
    """Catches a lost row or column, and roles that are mixed up."""
    assert len(wards) == 3
    assert [c.name for c in wards.keys] == ["ward"]
    assert [c.name for c in wards.values] == ["n", "stay", "p90", "common"]
    assert [c.name for c in wards.columns] == wards.to_arrow().column_names


def test_cells(wards, make):
    """Catches the wrong row, a null key that is never found, and an error of another column."""
    assert wards.value("n", ward="B") == Answer(870, 6.0)
    assert wards.value("n", ward=None) == Answer(-3, 6.0)
    assert wards.value("stay", ward=None) == Answer(None, math.inf)
    assert wards.value("p90", ward="A") == Answer(12.5, 40.0)
    assert wards.value("common", ward="A") == Answer("flu", 12.0)
    total = make.build({"n": [7], "n_error": [2.0]}, make.value("n"), make.error("n"))
    assert total.value("n") == Answer(7, 2.0) and str(total.value("n")) == "7 ± 2"


def test_cells_by_several_keys(make):
    """Catches keys that are joined by "or"."""
    frame = {"ward": ["A", "A", "B"], "year": [1, 2, 1], "n": [5, 6, 7]}
    result = make.build(frame, make.key("ward"), make.key("year"), make.value("n"))
    assert result.value("n", ward="A", year=2) == Answer(6, math.inf)
    assert result.value("n", year=1, ward="B") == Answer(7, math.inf)


@pytest.mark.parametrize(
    ("column", "keys", "words"),
    [
        ("m", {"ward": "A"}, "column must be one of n, stay, p90, common"),
        ("sty", {"ward": "A"}, 'did you mean "stay"'),
        ("n", {}, r"nothing for ward; write value\(\"…\", ward=…\)"),
        ("n", {"word": "A"}, 'did you mean "ward"'),
        ("n", {"ward": "Z"}, "those of 0 rows"),
        ("n", {"ward": 3}, "of the type of the group column, string"),
        ("n", {"ward": object()}, "of the type of the group column, string"),
    ],
)
def test_cells_that_do_not_exist(wards, column, keys, words):
    """Catches a guess, and an error of Arrow's that quotes cells."""
    with pytest.raises(InvalidArgument, match=words) as caught:
        wards.value(column, **keys)
    assert caught.value.__cause__ is None


def test_columns_by_name(wards):
    """Catches key columns and numbers that pass for values."""
    for name in ("ward", "n_error", 0, None):
        with pytest.raises(InvalidArgument, match="column must be one of"):
            wards[name]


def test_batches(make):
    """Catches lost rows between batches, and sizes that make no sense."""
    result = make.counts(list(range(1000)), [1.0] * 1000)
    sizes = [batch.num_rows for batch in result.batches(size=300)]
    assert sizes == [300, 300, 300, 100]
    assert pa.Table.from_batches(result.batches(300)).equals(result.to_arrow())
    for size in (0, -1, 2.5):
        with pytest.raises(InvalidArgument, match="size must be"):
            result.batches(size=size)


def test_our_mistakes_are_internal_errors(make):
    """Catches a frame that its description does not fit: that is never the user's mistake."""
    for frame, columns in (
        ({"n": [1]}, ()),
        ({"n": [1], "m": [1]}, (make.value("m"), make.value("n"))),
        ({"n_error": [1.0]}, (make.error("n"),)),
    ):
        with pytest.raises(InternalError):
            make.build(frame, *columns)


def test_bounds_of_truth():
    """Catches a count that may be negative, and a count cut off at a declared bound."""
    assert ColumnInfo("n", "value", kind="count", bounds=(0, 5)).greatest == math.inf
    assert ColumnInfo("n", "value", kind="count").least == 0
    mean = ColumnInfo("m", "value", kind="mean", bounds=(-1, 5))
    assert (mean.least, mean.greatest) == (-1, 5)
    assert ColumnInfo("s", "value", kind="sum").least == -math.inf
