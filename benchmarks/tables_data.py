"""Tables of invented visits, made by DuckDB once and kept in ``results/`` for the next run.

Nothing is drawn at random: each cell is a hash of the row's number, so each run sees the same
rows. People come in no order, and each is in about as many wards as they have rows, which is the
hardest case for bounding: nearly everybody is over the bound. Of clinics they see three.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import duckdb

FOLDER = Path(__file__).parent / "results"
GROUPS = 200
ROOM = 6 * 10**9  # bytes that must be free before the largest table is made


@dataclass(frozen=True)
class Sizes:
    """How much is measured, and how often."""

    rows: int
    people: int
    large: int  # rows of the largest table
    key_rows: int
    keys: int
    cells: int  # groups of the answer that is streamed
    peer_rows: int  # for the libraries that loop over rows in Python
    rounds: int


FULL = Sizes(10**7, 10**6, 10**8, 10**6, 10**5, 10**6, 10**6, rounds=7)
QUICK = Sizes(10**5, 10**4, 10**6, 10**5, 10**4, 10**5, 10**4, rounds=2)

PERSON = "hash(i) % {people}"
WARD = f"'ward ' || lpad((hash(i, 1) % {GROUPS})::VARCHAR, 3, '0')"
CLINIC = (
    f"'ward ' || lpad(((hash({PERSON}) % {GROUPS} + hash(i, 2) % 3) % {GROUPS})::VARCHAR, 3, '0')"
)
DAYS = "(hash(i, 3) % 61)::INTEGER"
VALUE = "(hash(i, 4) >> 11)::DOUBLE / 9007199254740992 * 100"  # 53 bits, so below 100


def wards() -> list[str]:
    """The public list of wards, which are also those of the clinics."""
    return [f"ward {i:03d}" for i in range(GROUPS)]


def visits(rows: int, people: int) -> Path:
    """Visits of people, who are known by a number and by a name of ten letters."""
    columns = {
        "person": f"({PERSON})::BIGINT",
        "name": f"'p' || lpad(({PERSON})::VARCHAR, 9, '0')",
        "ward": WARD,
        "clinic": CLINIC,
        "days": DAYS,
        "value": VALUE,
    }
    return _made(f"visits-{rows}-{people}", rows, columns, people=people)


def readings(rows: int) -> Path:
    """The same without people."""
    return _made(f"readings-{rows}", rows, {"ward": WARD, "days": DAYS, "value": VALUE})


def places(rows: int, count: int) -> Path:
    """Values in many places, which are known by a number and by a code."""
    columns = {
        "place": f"(hash(i) % {count})::BIGINT",
        "code": f"'c' || lpad((hash(i) % {count})::VARCHAR, 7, '0')",
        "value": VALUE,
    }
    return _made(f"places-{rows}-{count}", rows, columns)


def codes(count: int) -> list[str]:
    """The public list of codes."""
    return [f"c{i:07d}" for i in range(count)]


def room() -> bool:
    """Is there room for the largest table?"""
    FOLDER.mkdir(exist_ok=True)
    return shutil.disk_usage(FOLDER).free >= ROOM


def _made(name: str, rows: int, columns: dict[str, str], **numbers: int) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        cells = ", ".join(f"{sql.format(**numbers)} AS {key}" for key, sql in columns.items())
        partial = path.with_suffix(".partial")
        with duckdb.connect() as database:
            database.execute("SET preserve_insertion_order = false")  # so that memory stays small
            database.execute(
                f"COPY (SELECT {cells} FROM range({rows}) AS t(i)) "
                f"TO '{partial}' (FORMAT parquet, COMPRESSION snappy)"
            )
        partial.rename(path)  # an interrupted run leaves no half table behind
    return path
