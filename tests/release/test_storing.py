"""A stored answer is the answer: cells, errors, words and noise."""

import datetime
from decimal import Decimal

import pyarrow as pa

from discreet.guarantees import Pure
from discreet.release import ColumnInfo, Result
from discreet.release.result import from_bytes, to_bytes


def test_a_result_survives():
    """Catches a type, a note or a bound that is lost, and noise taken for new noise: the sum of a
    column with itself read again has at least twice its error, not √2 times."""
    frame = pa.table(
        {
            "day": [datetime.date(2026, 1, 31), datetime.date(2026, 2, 1)],
            "n": [2**62, -3],
            "n_error": [6.0, float("nan")],
            "s": [Decimal(10**37), None],
            "s_error": [1e300, 0.1],
        }
    )
    columns = (
        ColumnInfo("day", "key"),
        ColumnInfo("n", "value", kind="count", integer=True, sources=("rows",)),
        ColumnInfo("n_error", "error", of="n"),
        ColumnInfo("s", "value", kind="sum", bounds=(-1.5, 2.5)),
        ColumnInfo("s_error", "error", of="s"),
    )
    result = Result(
        frame,
        columns,
        guarantee=Pure("1/3"),
        cost="ε = 1/3",
        protects="a row",
        notes=("one", "two"),
        suppressed="few",
    )
    again = from_bytes(to_bytes(result))
    assert str(again.to_dicts()) == str(result.to_dicts())  # as text: nan is not nan
    assert again.frame.schema == result.frame.schema
    assert again.columns == result.columns and again.guarantee == result.guarantee
    told = (again.cost, again.protects, again.notes, again.suppressed, again.origin)
    assert told == (result.cost, result.protects, result.notes, result.suppressed, result.origin)
    twice = result["n"] + again["n"]
    assert float(twice.errors[0]) >= 12


def test_no_rows():
    frame = pa.table({"k": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    empty = frame.append_column("n_error", pa.array([], pa.float64()))
    columns = (
        ColumnInfo("k", "key"),
        ColumnInfo("n", "value", kind="count"),
        ColumnInfo("n_error", "error", of="n"),
    )
    result = Result(empty, columns, guarantee=Pure(1), cost="", protects="")
    assert len(from_bytes(to_bytes(result))) == 0
