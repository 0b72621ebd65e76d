"""H16: names that pass by a wildcard, numbers that no float holds, cells that compute."""

import csv
import io
import sqlite3
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.auditor.certificate.table_check import as_written
from discreet.certificate import verify
from discreet.errors import DiscreetError, LedgerDamaged
from discreet.release.exports import harmless
from tests.certificate.releases import certificate

# -- the ledger's file -----------------------------------------------------------------------------

PLANTED = {
    "trigger": 'CREATE TRIGGER "{}" AFTER INSERT ON discreet_schema BEGIN SELECT 1; END',
    "view": 'CREATE VIEW "{}" AS SELECT 1 AS one',
    "table": 'CREATE TABLE "{}" (one INTEGER)',
    "index": 'CREATE INDEX "{}" ON discreet_schema (version)',
}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("name", ["sqlitezz", "SQLITEzz", "sqlite-x", "other"])
def test_h16_nothing_passes_by_a_name_like_sqlites(kind, name, tmp_path):
    """Catches LIKE 'sqlite_%', where the underscore stands for any character."""
    path = tmp_path / "people.ledger"
    dp.Ledger(path, create=True).close()
    with sqlite3.connect(path) as file:
        file.execute(PLANTED[kind].format(name))
    file.close()
    with pytest.raises(LedgerDamaged, match="not its own"):
        dp.Ledger(path)


@pytest.mark.parametrize("kind", ["trigger", "view"])
def test_h16_a_trigger_with_a_reserved_name_is_seen(kind, tmp_path):
    """Names that SQLite keeps for itself can be written into its schema by hand."""
    path = tmp_path / "people.ledger"
    dp.Ledger(path, create=True).close()
    with sqlite3.connect(path) as file:
        file.execute(PLANTED[kind].format("planted"))
        file.execute("PRAGMA writable_schema = ON")
        file.execute("UPDATE sqlite_master SET name = 'sqlite_x' WHERE name = 'planted'")
    file.close()
    with pytest.raises(LedgerDamaged):
        dp.Ledger(path)


# -- numbers ---------------------------------------------------------------------------------------

PEOPLE = dp.table(
    pa.table({"id": [1, 2], "age": [3, 4], "x": [1.0, 2.0], "ward": ["a", "b"]}), unit="id"
).bound(max_rows=1)
COUNT = PEOPLE.agg(n=dp.count())
MEAN = PEOPLE.agg(m=dp.mean("age", bounds=(0, 10)))
RESULT = dp.Session(PEOPLE, budget=dp.Pure(1)).release(COUNT, epsilon=1)
EXTREME = (
    "1e1000",
    "1e-1000",
    10**400,
    -(10**400),
    Fraction(1, 10**400),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    "nan",
    "1/0",
    "1e999999999",
    "",
    float("inf"),
    float("-inf"),
    float("nan"),
    True,
    np.float64("nan"),
    10**5000,
    2**64,
    0,
    -1,
    5e-324,
)


def session(budget=None):
    return dp.Session(PEOPLE, budget=dp.Pure(1) if budget is None else budget)


def one(aggregate):
    return lambda value: session().explain(PEOPLE.agg(a=aggregate(value)), epsilon=1)


def audited(**options):
    return dp.audit(lambda value: value, (0, 1), dp.Pure(1), **{"samples": 64, **options})


NUMBERS = {
    "Pure": lambda v: dp.Pure(v).epsilon(0),
    "Approx epsilon": lambda v: dp.Approx(v, "1e-6").delta(1),
    "Approx delta": lambda v: dp.Approx(1, v),
    "ZCDP": lambda v: dp.ZCDP(v),
    "GDP": lambda v: dp.GDP(v),
    "TotalVariation": lambda v: dp.TotalVariation(v),
    "epsilon(delta)": lambda v: dp.GDP(1).epsilon(v),
    "delta(epsilon)": lambda v: dp.GDP(1).delta(v),
    "compose(tolerance=)": lambda v: dp.compose([dp.Pure(1), dp.GDP(1)], tolerance=v),
    "Laplace sensitivity": lambda v: dp.Laplace(sensitivity=v, epsilon=1),
    "Laplace epsilon": lambda v: dp.Laplace(sensitivity=1, epsilon=v),
    "Laplace scale": lambda v: dp.Laplace(sensitivity=1, scale=v),
    "Laplace step": lambda v: dp.Laplace(sensitivity=1, epsilon=1, step=v),
    "Gaussian sigma": lambda v: dp.Gaussian(sensitivity=1, sigma=v),
    "Gaussian rho": lambda v: dp.Gaussian(sensitivity=1, rho=v),
    "Gaussian delta": lambda v: dp.Gaussian(sensitivity=1, epsilon=1, delta=v),
    "RandomizedResponse": lambda v: dp.RandomizedResponse(epsilon=v),
    "RandomizedResponse truth": lambda v: dp.RandomizedResponse(truth=v),
    "KeyThreshold delta": lambda v: dp.KeyThreshold(epsilon=1, delta=v),
    "Exponential": lambda v: dp.Exponential(sensitivity=v, epsilon=1),
    "NoisyMax": lambda v: dp.NoisyMax(sensitivity=1, epsilon=v),
    "AboveThreshold": lambda v: dp.AboveThreshold(sensitivity=1, epsilon=1, threshold=v),
    "SparseVector": lambda v: dp.SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=v),
    "TopK k": lambda v: dp.TopK(k=v, epsilon=1),
    "Quantiles": lambda v: dp.Quantiles(probabilities=[v], epsilon=1),
    "PoissonSampled": lambda v: dp.PoissonSampled(dp.Laplace(sensitivity=1, epsilon=1), rate=v),
    "release epsilon": lambda v: session(dp.Pure(10)).explain(COUNT, epsilon=v),
    "release delta": lambda v: session(dp.Approx(1, "1e-5")).explain(COUNT, epsilon=1, delta=v),
    "release rho": lambda v: session(dp.ZCDP(1)).explain(COUNT, rho=v),
    "release mu": lambda v: session(dp.GDP(1)).explain(COUNT, mu=v),
    "release error": lambda v: session().explain(COUNT, error=v),
    "release error of n": lambda v: session().explain(COUNT, error={"n": v}),
    "release group_size": lambda v: session().explain(MEAN, error=1, group_size=v),
    "bound max_rows": lambda v: PEOPLE.bound(max_rows=v),
    "bound max_groups": lambda v: PEOPLE.bound(max_groups=v),
    "sum bounds": one(lambda v: dp.sum("age", bounds=(-1, v))),
    "mean bounds": one(lambda v: dp.mean("x", bounds=(-1, v))),
    "variance bounds": one(lambda v: dp.variance("x", bounds=(-1, v))),
    "median bounds": one(lambda v: dp.median("x", bounds=(-1, v))),
    "quantile probability": one(lambda v: dp.quantile("x", v, bounds=(0, 1))),
    "quantile step": one(lambda v: dp.quantile("x", 0.5, bounds=(0, 1), step=v)),
    "histogram edges": one(lambda v: dp.histogram("x", edges=[0, 1, v])),
    "weight": one(lambda v: dp.sum("age", bounds=(0, 1), weight=v)),
    "top_k": one(lambda v: dp.top_k("ward", v, candidates=["a", "b"])),
    "where": lambda v: PEOPLE.where(lambda row: row.age > v),
    "result + number": lambda v: RESULT["n"] + v,
    "result * number": lambda v: RESULT["n"] * v,
    "result / number": lambda v: RESULT["n"] / v,
    "number / result": lambda v: v / RESULT["n"],
    "round": lambda v: RESULT.round(v),
    "consistent": lambda v: RESULT.consistent(total=v),
    "batches": lambda v: RESULT.batches(v),
    "audit confidence": lambda v: audited(confidence=v),
    "audit seconds": lambda v: audited(seconds=v, samples=None),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NUMBERS)
def test_h16_extreme_numbers_are_taken_or_refused_in_a_sentence(name):
    """Catches a bare OverflowError, ZeroDivisionError or TypeError for a number that is read."""
    for value in EXTREME:
        if name.startswith("audit") and type(value) is int and value > 1:
            continue  # it would be done, in its own time
        try:
            str(NUMBERS[name](value))
        except DiscreetError as error:
            assert len(str(error)) < 1000
        except (TypeError, ArithmeticError) as error:
            written = str(error)
            assert "Write " in written or "unsupported operand" in written, (value, error)


# -- cells that compute ----------------------------------------------------------------------------

DANGEROUS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1+1", "'=1", "a\x1b[2J", "＝1+1"]
HARMLESS = ["a", "", "a=b", "tab\tinside", "two\nlines", "back\\slash", "é", "1", "a'b"]


def test_h16_no_cell_of_a_csv_computes_or_commands():
    """Catches =1+1 as it is, and characters that a terminal obeys, in cells and headings."""
    table = pa.table({"=cmd": DANGEROUS, "n": range(-5, 5), "x": [-0.5] * 10})
    result = RESULT.__class__.__new__(RESULT.__class__)
    object.__setattr__(result, "frame", table)
    text = result.to_csv()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["'=cmd", "n", "x"]
    for (cell, number, real), plain in zip(rows[1:], DANGEROUS, strict=True):
        assert cell[0] == "'" and as_written(cell) == plain
        assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in cell)
        assert float(number) == int(number) and real == "-0.5"  # numbers stay as they are
    assert "\x1b" not in text
    assert [harmless(one) for one in HARMLESS] == HARMLESS


@pytest.mark.parametrize("text", [*DANGEROUS, *HARMLESS, "'\\x41", "\\x41", "=\\\\x41\x00", "''"])
def test_h16_what_is_made_harmless_is_found_again(text):
    assert as_written(harmless(text)) == text


def test_h16_a_csv_with_such_keys_is_still_the_certificates_table(tmp_path):
    """Catches a mark that `verify` takes for another key."""
    keys = ["=1+1", "-2", "'a", "b\x1b[2J", "plain"]
    sent, table = certificate(keys=keys, with_table=True)
    result = RESULT.__class__.__new__(RESULT.__class__)
    object.__setattr__(result, "frame", table)
    result.to_csv(tmp_path / "marked.csv")
    with open(tmp_path / "plain.csv", "w", newline="", encoding="utf-8") as file:
        rows = [list(row.values()) for row in table.to_pylist()]
        csv.writer(file).writerows([table.column_names, *rows])
    for name in ("marked.csv", "plain.csv"):
        verdict = verify(sent, result=tmp_path / name)
        assert verdict.ok, verdict
        assert any("cell by cell" in sentence for sentence in verdict.proved)
    other = (tmp_path / "marked.csv").read_text().replace("'=1+1", "'=1+2")
    (tmp_path / "other.csv").write_text(other)
    assert not verify(sent, result=tmp_path / "other.csv").ok
