"""The recipe "a new aggregate" of CONTRIBUTING.md, followed in a copy of the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent

# Step 1 and 2: its own file, with its function.
TOY = '''
"""Half of a sum: what the recipe adds."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.query.aggregates.aggregate import (
    Aggregate,
    Expected,
    Output,
    added_noise,
    as_floats,
    bounds_flag,
    clamped,
    read_bounds,
    read_weight,
    value_total,
)


@dataclass(frozen=True)
class HalfSum(Aggregate):
    column: object
    bounds: tuple[Fraction, Fraction]
    weight: Fraction
    kind = "half sum"

    @property
    def words(self):
        return clamped("half sum", self.value, self.bounds)

    @classmethod
    def flags(cls):
        return (bounds_flag("half-sum", "Half of the sum.", cls.of),)

    @classmethod
    def read(cls, told):
        return cls.of(told.column, told["bounds"], told["weight"])

    @classmethod
    def of(cls, column, bounds, weight):
        return cls(column, read_bounds(bounds, name="half_sum"), read_weight(weight))

    @property
    def parts(self):
        return (value_total(self.value, self.bounds, centred=False),)

    def outputs(self, name, bought, values):
        (total,) = self.parts
        halves = as_floats(values, total) / 2
        errors = np.full(len(halves), added_noise(bought, total).error / 2)
        return [Output(name, "half sum", halves, errors, (total.words,))]

    def expected(self, name, bought, size):
        error = added_noise(bought, self.parts[0]).error / 2
        return [Expected(name, error, f"of {self.value.words}")]


def half_sum(column, *, bounds=None, weight=1):
    return HalfSum.of(column, bounds, weight)
'''

# Steps 2 to 4: a file, a line that is there, and the same with what is added.
REGISTERED = [
    ("__init__.py", '"query.aggregates": "count ', '"query.aggregates": "half_sum count '),
    (
        "query/aggregates/__init__.py",
        "from discreet.query.aggregates.means import Mean\n",
        "from discreet.query.aggregates.half_sums import HalfSum\n"
        "from discreet.query.aggregates.half_sums import half_sum as half_sum\n"
        "from discreet.query.aggregates.means import Mean\n",
    ),
    ("query/aggregates/__init__.py", '    "sum": Sum,', '    "sum": Sum, "half sum": HalfSum,'),
]
VERIFIED = [
    (
        "auditor/certificate/query_check.py",
        '    "mean": AggregateRule(_BOUNDED, _added("sum")),\n',
        '    "mean": AggregateRule(_BOUNDED, _added("sum")),\n'
        '    "half sum": AggregateRule(_BOUNDED, _added("sum", alone=True)),\n',
    ),
    ("auditor/certificate/certificate.schema.json", '"top k",', '"top k", "half sum",'),
]

ASKING = """
from pathlib import Path

import pyarrow as pa

import discreet as dp
from discreet.cli.main import main
from discreet.errors import Refused

data = pa.table({"who": [1, 1, 2], "days": [3, 5, 9], "ward": ["A", "B", "A"]})
table = dp.table(data, unit="who")
grouped = table.bound(max_rows=2).group_by("ward", keys=["A", "B"])
query = grouped.agg(n=dp.count(), half=dp.half_sum("days", bounds=(0, 60)))
session = dp.Session(table, budget=dp.Pure(3), ledger="people.ledger", create=True)
told = session.explain(query.document, epsilon=1)
assert "Error of half (95 %)" in str(told)
"""
REFUSED = (
    ASKING
    + """
try:
    session.release(query, epsilon=1)
except Refused as error:
    assert 'the verifier does not know the aggregate "half sum"' in str(error), error
else:
    raise AssertionError("it was released")
assert session.spent == dp.Pure(0) and len(session.history) == 0
session.release(grouped.agg(n=dp.count()), epsilon=1)
"""
)
RELEASED = (
    ASKING
    + """
result = session.release(query, epsilon=1)
assert result.to_arrow().column_names == ["ward", "n", "n_error", "half", "half_error"]
assert result.value("half", ward="A").error == result.to_dicts()[0]["half_error"]
result.plot("half").save("half.html")
assert "half by ward" in Path("half.html").read_text()
(entry,) = session.history
again = session.recall(entry)
assert again.to_dicts() == result.to_dicts() and "half sum of days" in entry.question
result.to_csv("half.csv")
result.to_parquet("half.parquet")
for file in ("half.csv", "half.parquet"):
    verdict = again.certificate.verify(ledger="people.ledger", result=file)
    assert verdict.ok, verdict
Path("days.csv").write_text("days\\n3\\n5\\n")
assert main(["explain", "days.csv", "--half-sum", "days:0:60", "--epsilon", "1"]) == 0
"""
)


def edited(package: Path, changes: list[tuple[str, str, str]]) -> None:
    for name, old, new in changes:
        text = (package / name).read_text()
        assert text.count(old) == 1, f"{name} has changed: {old}"
        (package / name).write_text(text.replace(old, new))


def run(folder: Path, code: str) -> str:
    place = folder / "run"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose package has the toy, which no verifier knows yet."""
    made = tmp_path_factory.mktemp("toy")
    package = made / "discreet"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "query/aggregates/half_sums.py").write_text(TOY)
    edited(package, REGISTERED)
    return made


def test_without_its_entry_in_the_verifier_nothing_is_charged(folder: Path) -> None:
    """Catches a release whose certificate would fail our own verification, after the charge."""
    run(folder, REFUSED)


def test_the_recipe_is_complete(folder: Path) -> None:
    """Catches a second place that must know an aggregate: the toy explains, releases, plots, is
    stored, recalled, exported, certified, verified, read from its document and typed."""
    edited(folder / "discreet", VERIFIED)
    assert "half_sum_days" in run(folder, RELEASED)


def test_a_member_that_is_missing_is_noticed() -> None:
    """Catches a base class that lets a half-finished aggregate through: each abstract member is one
    that mypy, and Python, ask for."""
    from discreet.query.aggregates import KINDS
    from discreet.query.aggregates.aggregate import Aggregate

    asked = {"kind", "words", "flags", "read", "parts", "outputs", "expected"}
    assert Aggregate.__abstractmethods__ == asked
    assert not any(kind.__abstractmethods__ for kind in KINDS.values())
    assert {name: kind.kind for name, kind in KINDS.items()} == {name: name for name in KINDS}
