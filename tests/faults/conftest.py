"""Where ledgers are damaged: in memory, if there is a file system for it, since syncing to a real
disk hundreds of thousands of times would only cost time."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import clinic
from tests.faults.server import url_of

MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def quiet_clinic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was told when data is touched is forgotten after the test."""
    monkeypatch.setattr(clinic.Counted, "when_touched", clinic.Counted.when_touched)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """An empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=MEMORY if MEMORY.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres(postgres_address: dict[str, str]) -> str:
    """The address of a database that may be emptied."""
    import psycopg

    with psycopg.connect(url_of(postgres_address), autocommit=True) as connection:
        connection.execute("CREATE DATABASE faults")
    return url_of({**postgres_address, "database": "faults"})
