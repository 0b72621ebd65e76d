"""One small released table that most tests look at."""

import math
from types import SimpleNamespace

import pyarrow as pa
import pytest

from discreet.guarantees import Pure
from discreet.release import ColumnInfo, Result


def key(name):
    return ColumnInfo(name, "key")


def value(name, kind="count", **facts):
    return ColumnInfo(name, "value", kind=kind, **facts)


def error(of, name=None):
    return ColumnInfo(name or f"{of}_error", "error", of=of)


def build(frame, *columns, **facts):
    facts = {
        "guarantee": Pure("1/2"),
        "cost": "ε = 0.5",
        "protects": "a row (add-remove)",
        **facts,
    }
    return Result(pa.table(frame), columns, **facts)


def counts(values, errors, *, name="n", wards=None, **facts):
    """Whole counts by ward, as a session releases them."""
    wards = wards or [f"ward {i}" for i in range(len(values))]
    frame = {
        "ward": pa.array(wards),
        name: pa.array(values, pa.int64()),
        f"{name}_error": pa.array(errors, pa.float64()),
    }
    return build(frame, key("ward"), value(name, integer=True), error(name), **facts)


@pytest.fixture
def make():
    """What builds results: columns, whole tables, counts by ward."""
    return SimpleNamespace(key=key, value=value, error=error, build=build, counts=counts)


@pytest.fixture
def wards():
    """Counts, means, quantiles and choices, with a null group and an unknown mean."""
    return build(
        {
            "ward": ["A", "B", None],
            "n": [1234, 870, -3],
            "n_error": [6.0, 6.0, 6.0],
            "stay": [5.3211, 4.1, None],
            "stay_error": [0.1372, 1.2, math.inf],
            "p90": [12.5, 30.0, 4.0],
            "p90_rank_error": [40.0, 41.0, 1000.0],
            "common": ["flu", "a cold", None],
            "common_count_error": [12.0, 12.0, 12.0],
        },
        key("ward"),
        value("n", integer=True, sources=("count",)),
        error("n"),
        value("stay", "mean", bounds=(0, 60), sources=("count", "days")),
        error("stay"),
        value("p90", "quantile", bounds=(0, 60)),
        error("p90", "p90_rank_error"),
        value("common", "choice"),
        error("common", "common_count_error"),
        notes=("rows without a ward are kept",),
        suppressed="keys held by too few people are not shown",
    )
