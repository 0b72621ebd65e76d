"""Attack E1, the error channel: one row that would raise, overflow or fail to parse must change
neither the status nor the shape of what comes back."""

import math

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import DiscreetError, EngineError

CANARY = "c4n4ry-8251"

# One row each that makes a careless engine raise: division by zero, overflow of integers and
# floats, casts of text that is no number or date, huge text, a date far out.
BAD_ROWS = [
    {"x": 0.0},
    {"x": math.nan},
    {"x": math.inf},
    {"x": -math.inf},
    {"x": 1e308},
    {"x": 5e-324},
    {"i": 2**63 - 1},
    {"i": -(2**63)},
    {"i": 0},
    {"t": "12a"},
    {"t": ""},
    {"t": "99999999999999999999"},
    {"t": "1e999"},
    {"t": "2026-02-30"},
    {"t": CANARY},
    {"t": "((((" * 5000},
    {"t": "\x00"},
    {"x": None, "i": None, "t": None},
]
SCHEMA = pa.schema([("x", pa.float64()), ("i", pa.int64()), ("t", pa.string())])
GOOD = [{"x": 1.5, "i": 7, "t": "12"}, {"x": 2.5, "i": 8, "t": "2026-01-31"}]


def rows(*extra):
    full = [{"x": 1.0, "i": 1, "t": "1"} | row for row in (*GOOD, *extra)]
    return pa.Table.from_pylist(full, schema=SCHEMA)


TEMPLATES = {
    "division": lambda row: 1 / row.x,
    "integer_division": lambda row: row.i // row.i,
    "product": lambda row: row.i * row.i * row.i,
    "sum": lambda row: row.i + row.i,
    "difference": lambda row: row.i - (-row.i),
    "negative": lambda row: -row.i,
    "absolute": lambda row: abs(row.i),
    "powers": lambda row: row.x * row.x * row.x * row.x,
    "floor": lambda row: row.x.floor(),
    "to_integer": lambda row: row.x.cast("integer"),
    "text_to_integer": lambda row: row.t.cast("integer"),
    "text_to_real": lambda row: row.t.cast("real"),
    "text_to_date": lambda row: row.t.cast("date").year(),
    "length": lambda row: row.t.length(),
    "substring": lambda row: row.t.substring(2, 3).cast("integer"),
    "case": lambda row: dp.case((row.x > 0, row.i), otherwise=1 / row.x),
}


def released(data):
    """What an analyst sees: the error, or the shape of the answer."""
    table = dp.table(data).mutate(**TEMPLATES)
    session = dp.Session(table, budget=dp.Pure(1))
    kept = table.where(lambda row: row.division.is_null() | (row.product > -1e50))
    columns = {name: dp.sum(name, bounds=(-5, 5)) for name in TEMPLATES}
    query = kept.agg(n=dp.count(), q=dp.median("division", bounds=(-5, 5)), **columns)
    try:
        frame = session.release(query, epsilon=1).to_arrow()
    except DiscreetError as error:
        return f"{type(error).__name__}: {error}", session.spent
    return frame.schema, frame.num_rows, session.spent


def test_e1_a_bad_row_changes_nothing_that_can_be_seen():
    """E1: for each query template, neighbours where exactly one row triggers the fault."""
    usual = released(rows())
    assert not isinstance(usual[0], str)
    for bad in BAD_ROWS:
        assert released(rows(bad)) == usual


def test_e1_csv_cells_that_are_not_what_they_should_be(tmp_path):
    """E1: a CSV file is text: a bad cell is missing, a broken line harms nothing else."""
    head = "id,age,ward\n" + "".join(f"{i},{20 + i},A\n" for i in range(50))
    seen = set()
    for i, line in enumerate(
        ["51,abc,A\n", "51,,\n", "51\n", "51,1,A,extra,extra\n", '51,"1\n2",A\n', '51,"x,A\n', "\n",
         "51,1e999,A\n", "51,\xff\xfe,A\n", f"51,{CANARY},A\n", ""]
    ):  # fmt: skip
        file = tmp_path / f"{i}.csv"
        file.write_bytes((head + line).encode("latin-1"))
        table = dp.table(file)
        session = dp.Session(table, budget=dp.Pure(1))
        query = table.where(lambda row: row.age >= 18).group_by("ward", keys=["A", "B"])
        query = query.agg(n=dp.count(), m=dp.mean("age", bounds=(0, 120)))
        try:
            frame = session.release(query, epsilon=1).to_arrow()
            seen.add((str(frame.schema), frame.num_rows))
        except DiscreetError as error:
            seen.add((type(error).__name__, str(error)))
    assert len(seen) == 1 and "int64" in next(iter(seen))[0]


def test_e1_after_the_charge_there_is_one_constant_sentence(tmp_path):
    """E1: a file that breaks while it is read: charged, one sentence, no cause, no context, and
    no word from the file. One that is gone before is refused, and nothing is charged."""
    file = tmp_path / "people.parquet"
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"ward": [CANARY] * 5000, "x": list(range(5000))}), file)
    table = dp.table(file)
    session = dp.Session(table, budget=dp.Pure(2))
    query = table.group_by("ward", keys=["A"]).agg(s=dp.sum("x", bounds=(0, 9)))
    whole = file.read_bytes()
    middle = len(whole) // 2
    sentences = set()
    for place in (middle, middle + 128):
        file.write_bytes(whole[:place] + bytes(64) + whole[place + 64 :])
        with pytest.raises(EngineError) as caught:
            session.release(query, epsilon="0.5")
        error = caught.value
        assert error.__cause__ is None and error.__context__ is None
        assert CANARY not in str(error)
        sentences.add(str(error))
    assert len(sentences) == 1
    assert session.spent == dp.Pure(1)  # both were charged, and stay so
    file.unlink()
    with pytest.raises(dp.InvalidArgument):
        session.release(query, epsilon="0.5")
    assert session.spent == dp.Pure(1)
