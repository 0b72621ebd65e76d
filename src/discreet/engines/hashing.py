"""A 64-bit hash of a salt and some columns, by what each engine has for it.

Which groups and rows are kept is decided by comparing hashes, so they must be fair: over the
salt, every order of different inputs must be equally likely. That is more than spreading well.
DuckDB combines columns by exclusive or, under which one of three keys comes first half of the
time; hashing once more mends it. PostgreSQL's hash of a short text under a salt needs the same,
and the salt in the text. Spark skips nulls, so that they are marked apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from inspect import Parameter, Signature

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from discreet.engines.dialects import Dialect


def hashed(salt: int, columns: Sequence[ir.Value], dialect: Dialect) -> ir.Value:
    """The hash, to be ordered by; a missing value is a value like any other."""
    given = ibis.literal(salt - 2**64 if salt >= 2**63 else salt, type="int64")
    match dialect:
        case Dialect.DUCKDB:
            return _call("hash", [_call("hash", [given, *columns], dt.uint64)], dt.uint64)
        case Dialect.SPARK:
            missing = [column.isnull() for column in columns]
            return _call("xxhash64", [given, *columns, *missing], dt.int64)
        case Dialect.POSTGRES:
            once = _call("hashtextextended", [_text(given, columns), given], dt.int64)
            return _call("hashint8extended", [once, ibis.literal(0, type="int64")], dt.int64)
    return _text(given, columns).hash()


def fingerprint(columns: Sequence[ir.Value]) -> ir.Value:
    """DuckDB's hash of some columns, to be hashed again with a salt."""
    return _call("hash", columns, dt.uint64)


def _text(salt: ir.Value, columns: Sequence[ir.Value]) -> ir.Value:
    """All of it as one text, from which each part can be read back."""
    texts = [column.cast("string") for column in columns]
    parts = [ibis.coalesce(text.length().cast("string") + ":" + text, "n") for text in texts]
    return reduce(lambda left, right: left + "|" + right, parts, salt.cast("string"))


def _call(name: str, arguments: Sequence[ir.Value], result: dt.DataType) -> ir.Value:
    kinds = tuple(argument.type().copy(nullable=True) for argument in arguments)
    return _function(name, kinds, result)(*arguments)


@cache
def _function(
    name: str, kinds: tuple[dt.DataType, ...], result: dt.DataType
) -> Callable[..., ir.Value]:
    """A function that the engine has, as Ibis wants it: with a Python signature."""

    def stub() -> None: ...

    names = [Parameter(f"x{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in range(len(kinds))]
    stub.__signature__ = Signature(names)  # type: ignore[attr-defined]
    made: Callable[..., ir.Value] = ibis.udf.scalar.builtin(
        stub, name=name, signature=(kinds, result)
    )
    return made
