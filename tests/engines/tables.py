"""Tables and expressions to compare engines on: few rows, nasty values, all reproducible."""

import datetime
import math
import struct
from random import Random
from typing import Any

import ibis
import pyarrow as pa
from ibis.backends import BaseBackend
from ibis.expr.types import Table

from discreet.query.schema import Field, Schema, Type

NAN = struct.unpack("d", struct.pack("Q", 0xFFF8000000000001))[0]  # negative, with a payload
DAY, MOMENT = datetime.date, datetime.datetime
B, I, R, T = Type.BOOLEAN, Type.INTEGER, Type.REAL, Type.TEXT  # noqa: E741
D, M, RAW = Type.DATE, Type.TIMESTAMP, Type.RAW

# fmt: off
VALUES: dict[Type, list[Any]] = {
    B: [True, False],
    I: [
        0, 1, -1, 7, 18, -40, 1000, 2**31 - 1, -(2**31), 2**53 + 1, -(2**53) - 1, 2**61,
        2**62 - 1, -(2**62), 2**63 - 1, -(2**63), 10**18, 3037000500,
    ],
    R: [
        0.0, -0.0, 1.0, -1.0, 0.1, 0.3, -2.5, 37.4, 0.49999999999999994, 2.0**53 + 2, 1e15, 1e18,
        math.inf, -math.inf, math.nan, NAN, 5e-324, -1e-310, 1e-99, -1e-101, 1e99, 1e101, -1e200,
        1e308, -1.7976931348623157e308, 4503599627370495.5, -9223372036854775808.0, 1e60, 1e-60,
    ],
    T: [
        "", " ", "A", "a", "B", "ward 3", "it's", 'say "hi"', "back\\slash", "50%", "a_b", "ä", "Ä",
        "straße", "İ", "ﬁ", "日本", "🤦🏼\u200d♂️", "e\u0301", "line\nbreak", "tab\t", "\u00a0",
        "x" * 5000, "nan", "12", " 12 ", "+7", "-0", "12\n", "１２", "0x1F", "1_000", "1e3", "1E-3",
        ".5", "5.", ".", "-", "1e309", "-1e99", "1e-99", "inf", "Infinity", "NaN", "9" * 18,
        "9" * 19, "0.1", "1 2", "1,5", "0.30000000000000004", "2.5d", "1e100", "٣", "yes",
        "t", "1", "0", "123456789012345678901234567890.123456789", "true", "FALSE", " True ",
        "truE\n", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-2-9", "2024-02-30",
        "0000-01-01", "0001-01-01", "9999-12-31", " 2020-12-31 ", "2020-13-01", "2020-00-10",
        "20200101", "2020-01-01T00:00:00",
    ],
    D: [
        DAY(1, 1, 1), DAY(9999, 12, 31), DAY(1582, 10, 10), DAY(1970, 1, 1), DAY(1969, 12, 31),
        DAY(2024, 2, 29), DAY(2026, 1, 31), DAY(1900, 3, 1), DAY(4, 2, 29),
    ],
    M: [
        MOMENT(1, 1, 1), MOMENT(9999, 12, 31, 23, 59, 59, 999999), MOMENT(1970, 1, 1),
        MOMENT(1969, 12, 31, 23, 59, 59, 1), MOMENT(2024, 2, 29, 12, 30, 0, 500000),
        MOMENT(2026, 10, 25, 2, 30),
    ],
}
# fmt: on
VALUES[RAW] = VALUES[T]
COLUMNS = {"b": B, "c": B, "i": I, "j": I, "x": R, "y": R, "s": T, "t": T, "d": D, "m": M}
COLUMNS |= {"e": D, "n": M, "r": RAW, "q": RAW}
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))
ARROW = {B: pa.bool_(), I: pa.int64(), R: pa.float64(), T: pa.string(), RAW: pa.string()}
ARROW |= {D: pa.date32(), M: pa.timestamp("us")}
POSTGRES = {pa.bool_(): "boolean", pa.int64(): "bigint", pa.float64(): "double precision"}
POSTGRES |= {pa.string(): "text", pa.date32(): "date", pa.timestamp("us"): "timestamp"}


def cell(random: Random, kind: Type) -> Any:
    """A value that is nasty more often than not, ordinary often enough to meet others."""
    roll = random.random()
    if roll < 0.1:
        return None
    if roll < 0.4 and kind is I:
        return random.randrange(-50, 150)
    if roll < 0.5 and kind is R:
        return random.choice(
            [random.uniform(-10, 120), random.gauss(0, 1) * 10 ** random.uniform(-30, 30)]
        )
    return random.choice(VALUES[kind])


def rows_of(random: Random, size: int, columns: dict[str, Type] = COLUMNS) -> list[dict[str, Any]]:
    """Rows of cells; a few are there twice, and some columns hold nothing at all."""
    empty = {name for name in columns if random.random() < 0.03}
    rows: list[dict[str, Any]] = []
    for _ in range(size):
        if rows and random.random() < 0.1:
            rows.append(dict(random.choice(rows)))
            continue
        rows.append({n: None if n in empty else cell(random, k) for n, k in columns.items()})
    return rows


def arrow(rows: list[dict[str, Any]], columns: dict[str, Type] = COLUMNS) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.table(
        {name: pa.array([row[name] for row in rows], ARROW[kind]) for name, kind in columns.items()}
    )


def load(backend: BaseBackend, name: str, table: pa.Table) -> Table:
    """The table on an engine: natively, since Ibis on its way there loses nulls and digits."""
    match backend.name:
        case "duckdb":
            backend.con.register("loading", table)
            backend.con.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM loading")
            backend.con.unregister("loading")
        case "pyspark":
            backend._session.createDataFrame(table).createOrReplaceTempView(name)
        case "postgres":
            copy_to_postgres(backend, name, table)
        case _:
            backend.create_table(name, table, overwrite=True)
    return ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)


def copy_to_postgres(backend: BaseBackend, name: str, table: pa.Table) -> None:
    columns = ", ".join(f'"{f.name}" {POSTGRES[f.type]}' for f in table.schema)
    with backend.con.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(f"CREATE TEMP TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)


def fetch(backend: BaseBackend, query: Table) -> list[dict[str, Any]]:
    """The rows of a query, natively."""
    sql = backend.compile(query)
    match backend.name:
        case "duckdb":
            return backend.con.cursor().sql(sql).to_arrow_table().to_pylist()
        case "pyspark":
            rows = backend._session.sql(sql).toArrow().to_pylist()
            return [{name: _naive(cell) for name, cell in row.items()} for row in rows]
    with backend.con.cursor() as cursor:
        cursor.execute(sql)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _naive(cell: Any) -> Any:
    return cell.replace(tzinfo=None) if isinstance(cell, MOMENT) else cell
