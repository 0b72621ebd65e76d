"""Whose SQL is spoken: the few engines whose ways we know, and all others."""

from __future__ import annotations

from enum import Enum


class Dialect(Enum):
    """An engine by the name of its Ibis backend."""

    DUCKDB = "duckdb"
    SPARK = "pyspark"
    POSTGRES = "postgres"
    OTHER = "other"  # portable expressions only
