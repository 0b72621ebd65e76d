"""Cells of every type: few to choose from in one table, so that they meet, and nasty ones."""

import datetime
import math
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.query.schema import Type
from tests.engines.tables import VALUES, B, D, I, M, R, T

# Texts that collations, normal forms and C strings confuse.
TEXTS = ["a\0b", "a\0", "\0", "é", "e\u0301", "É", "ſ", "s", "ß", "ss", "SS", "Σ", "ς", "σ", "A "]
TEXTS += ["aa", "Aa", "1", "01", "ﬀ", "\u200b", "\ufeff", "co-op", "coop"]
POOLS: dict[Type, list[Any]] = {
    **VALUES,
    I: [*VALUES[I], 2, 3, 127, -128, 255, 2**32, 2**64 - 1, 2**63, 2**63 + 1],
    R: [*VALUES[R], 2.0**63, 1.5, 2.0**62, 1e-320],
    T: [*VALUES[T], *TEXTS],
}
NEAR = [1, 2, 999, 1001]  # nanoseconds, of which some are in one microsecond
KINDS: dict[Type, list[str]] = {
    B: ["pa.bool_()"],
    I: ["pa.int64()"] * 4 + ["pa.int8()", "pa.uint8()", "pa.int32()", "pa.uint64()"],
    R: ["pa.float64()"] * 4 + ["pa.float32()"],
    T: ["pa.string()"] * 3 + ["pa.large_string()", "pa.string_view()"],
    D: ["pa.date32()", "pa.date32()", "pa.date64()"],
    M: ["pa.timestamp('us')"] * 2 + ["pa.timestamp('us', 'UTC')", "pa.timestamp('ns')"],
}
PLAIN = {kind: kinds[0] for kind, kinds in KINDS.items()}
ARROW = {B: pa.bool_(), I: pa.int64(), R: pa.float64(), T: pa.string(), D: pa.date32()}
ARROW |= {M: pa.timestamp("us")}


@cache
def arrow_type(kind: str) -> pa.DataType:
    return eval(kind, {"pa": pa})


@cache
def pool(kind: Type, stored: str, nul: bool) -> tuple[Any, ...]:
    """The cells that fit a column of this Arrow type."""
    cells = [*POOLS[kind], *(NEAR if stored == "pa.timestamp('ns')" else [])]
    return tuple(cell for cell in cells if fits(cell, stored) and (nul or "\0" not in str(cell)))


def fits(cell: Any, stored: str) -> bool:
    try:
        pa.array([cell], arrow_type(stored))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return True


def few(random: Random, kind: Type, stored: str, *, nul: bool = True) -> list[Any]:
    """The cells of one column: some nasty ones, some that are near each other."""
    cells = list(pool(kind, stored, nul))
    chosen = random.sample(cells, min(len(cells), random.choice([1, 2, 3, 5])))
    if kind is I:
        chosen += random.sample(range(20), 2)
    if kind is R:
        chosen += [random.uniform(-5, 60), float(random.randrange(10))]
    if kind is T:
        chosen += random.sample(["a", "A", "b", "ä", "é", "e\u0301"], 2)
    return chosen


def as_read(cell: Any, kind: Type, stored: str) -> Any:
    """What a column of this Arrow type holds, in the type that a query sees: by the documents."""
    if cell is None:
        return None
    if kind is I:
        return min(cell, 2**63 - 1)
    if kind is R:
        # larger than a float of 32 bits holds is infinite
        with np.errstate(over="ignore"):
            return float(np.float32(cell)) if "32" in stored else cell
    if kind is M and isinstance(cell, int):  # of nanoseconds
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=cell // 1000)
    return cell


def as_cell(cell: Any, form: str) -> str | None:
    """The same for a file or a list of records whose cells are text."""
    if cell is None:
        return None
    if form == "csv":
        return str(cell) or None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return None if math.isnan(cell) else repr(cell)
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)
