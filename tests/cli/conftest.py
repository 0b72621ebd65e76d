"""A folder with invented people, and a way to run the command line in this process."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.cli.main import main

LEDGER = "people.ledger"
ROWS = 600
CITIES = ("A", "B", "C")


def people() -> pa.Table:
    """600 rows of 400 people, the same in every run."""
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "person": draw.integers(0, 400, ROWS),
            "city": draw.choice(CITIES, ROWS),
            "income": np.round(draw.gamma(2, 20_000, ROWS), 2),
            "age": draw.integers(0, 100, ROWS),
            "member": draw.integers(0, 2, ROWS).astype(bool),
            "since": draw.integers(0, 2_000, ROWS).astype("datetime64[D]"),
        }
    )


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """The result of a document on standard output."""
        return json.loads(self.out)["result"]

    @property
    def error(self) -> Any:
        """The error of a document on standard error."""
        return json.loads(self.err)["error"]


Run = Callable[..., Ended]


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """people.csv, people.parquet, and a ledger with one dataset of ε = 3, made once."""
    made = tmp_path_factory.mktemp("samples")
    table = people()
    pa_csv.write_csv(table, made / "people.csv")
    pq.write_table(table, made / "people.parquet")
    with dp.Ledger(made / LEDGER, create=True) as ledger:
        ledger.add_dataset("people", budget=dp.Pure(3), unit="person")
    return made


@pytest.fixture
def folder(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: people.csv and people.parquet."""
    for variable in ("DISCREET_LEDGER", "DISCREET_KEY", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "people.parquet"):
        shutil.copy(samples / name, tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``discreet`` with these arguments."""

    def ran(*arguments: str) -> Ended:
        capsys.readouterr()
        code = main(arguments)
        told = capsys.readouterr()
        return Ended(code, told.out, told.err)

    return ran


@pytest.fixture
def ledger(samples: Path, folder: Path) -> str:
    """The name of a ledger in the folder, with nothing spent."""
    return copied(samples, folder)


def copied(source: Path, target: Path) -> str:
    """A ledger and its head, copied."""
    for name in (LEDGER, f"{LEDGER}.head"):
        shutil.copy(source / name, target)
    return LEDGER
