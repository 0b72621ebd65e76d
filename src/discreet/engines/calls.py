"""Functions that engines name differently, or that do different things under the same name."""

from __future__ import annotations

import math
from typing import Final

import ibis
import ibis.expr.types as ir

from discreet.engines.engine import Dialect

LONGEST: Final = 2**30  # characters: no text has more, and PostgreSQL counts them in 32 bits

builtin = ibis.udf.scalar.builtin


@builtin(name="isfinite")
def _isfinite(x: float) -> bool: ...


@builtin(name="floor")
def floor(x: float) -> float:
    """The largest integer not above x; unlike Ibis's own, still a double (an integer in Spark)."""


@builtin(name="trunc")
def _trunc(x: float) -> float: ...


@builtin(name="substring")
def _substring(text: str, start: int, length: int) -> str: ...


@builtin(name="trim")
def _trim(text: str, characters: str) -> str: ...


@builtin(name="btrim")
def _btrim(text: str, characters: str) -> str: ...


@builtin(name="to_char", signature=(("date", "string"), "string"))
def _to_char(day, form): ...  # type: ignore[no-untyped-def]


@builtin(name="convert_to", signature=(("string", "string"), "binary"))
def _convert_to(text, encoding): ...  # type: ignore[no-untyped-def]


def real(value: float) -> ir.Value:
    """An exact double: written as a plain number, it might be read as a decimal first."""
    return ibis.literal(repr(float(value))).cast("float64")


def whole(value: int) -> ir.Value:
    """An integer of 64 bits: written as a plain number, it might be read as one of 32 bits."""
    return ibis.literal(str(value)).cast("int64")


def in_parentheses(condition: ir.Value) -> ir.Value:
    """The condition in parentheses, which Ibis would leave out around IN and IS NULL."""
    return ibis.coalesce(condition)


def is_false(condition: ir.Value) -> ir.Value:
    """The negation, written as a comparison: NOT (a) = b would be read as NOT ((a) = b)."""
    return condition == ibis.literal(False)


def is_number(x: ir.Value, dialect: Dialect) -> ir.Value:
    """True for numbers and infinities, not true for NaN and null."""
    if dialect is Dialect.DUCKDB:
        # The smallest and largest values stored in a Parquet file ignore NaN, and DuckDB would
        # decide a comparison by them; it does not decide isfinite that way.
        return _isfinite(x) | x.isinf()
    return x <= real(math.inf)  # NaN is above it, or not comparable


def present(x: ir.Value, dialect: Dialect) -> ir.Value:
    """The double, or null for a NaN."""
    return ibis.ifelse(is_number(x, dialect), x, ibis.null("float64"))


def truncated(x: ir.Value, dialect: Dialect) -> ir.Value:
    """A double of at most 2^53 as an integer, rounded towards 0."""
    match dialect:
        case Dialect.SPARK:
            return x.cast("int64")
        case Dialect.DUCKDB | Dialect.POSTGRES:
            return _trunc(x).cast("int64")
    return ibis.ifelse(x < real(0.0), x.ceil(), x.floor()).cast("int64")


def trimmed(text: ir.Value, dialect: Dialect) -> ir.Value:
    """The text without spaces at both ends; no other character counts as a space."""
    match dialect:
        case Dialect.DUCKDB:
            return _trim(text, " ")
        case Dialect.SPARK | Dialect.POSTGRES:
            return _btrim(text, " ")
    return text.re_replace("^[ ]+", "").re_replace("[ ]+$", "")


def part(text: ir.Value, start: int, length: int, dialect: Dialect) -> ir.Value:
    """At most `length` characters from `start` on."""
    start, length = min(start, LONGEST), min(length, LONGEST)
    if dialect is Dialect.OTHER:
        return text.substr(start, length)
    return _substring(text, start + 1, length)


def written(day: ir.Value, dialect: Dialect) -> ir.Value:
    """A date as YYYY-MM-DD."""
    match dialect:
        case Dialect.DUCKDB | Dialect.SPARK:
            return day.cast("string")
        case Dialect.POSTGRES:  # whose casts follow the settings of the session
            return _to_char(day, "YYYY-MM-DD")
    parts = (day.year(), 4), (day.month(), 2), (day.day(), 2)
    year, month, day = (number.cast("string").lpad(width, "0") for number, width in parts)
    return year + "-" + month + "-" + day


def matches(text: ir.Value, pattern: str, dialect: Dialect) -> ir.Value:
    """Does the whole text match? The pattern has no line breaks and no capturing groups."""
    # In Java $ also matches before a line break at the end; "nothing follows" does not.
    end = "(?!(?s:.))" if dialect is Dialect.SPARK else "$"
    return text.re_search(f"^({pattern}){end}")


def in_order(text: ir.Value, dialect: Dialect) -> ir.Value:
    """Something that compares as the code points of the text do."""
    if dialect is Dialect.POSTGRES:  # whose order is that of the database's language
        return _convert_to(text, "UTF8")
    return text
