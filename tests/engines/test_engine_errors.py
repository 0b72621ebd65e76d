"""What fails after data is touched says nothing: no text of the engine, no cause, no context."""

import io
import logging
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines import execution
from discreet.engines.duckdb import DuckDbPass
from discreet.engines.execution import FAILED, run
from discreet.engines.sources import open_source
from discreet.errors import EngineError, InvalidArgument
from discreet.query.contribution import ContributionBound
from tests.engines.asking import ask, numbers

CANARY = "canary-4711"
ENDLESS = "SELECT sum(hash(a.range, b.range) % 7) FROM range(10000000) a, range(10000000) b"


def failing_relation(folder: Path) -> Any:
    return duckdb.sql(f"SELECT '{CANARY}' AS ward, error('{CANARY}')::DOUBLE AS x, 1 AS person")


def changed_file(folder: Path) -> Any:
    path = folder / "rows.parquet"
    pq.write_table(pa.table({"ward": ["A"], "x": [1.0], "person": [1]}), path)
    source = open_source(path)
    pq.write_table(pa.table({"ward": [CANARY], "x": [[1.0]], "person": [CANARY]}), path)
    return source


def hostile_frame(folder: Path) -> Any:
    class Frame(pd.DataFrame):
        def __getitem__(self, key: Any) -> Any:
            raise ValueError(CANARY)

    return Frame({"ward": ["A"], "x": [1.0], "person": [1]})


@pytest.mark.parametrize("broken", [failing_relation, changed_file, hostile_frame])
@pytest.mark.parametrize("how", [{}, {"unit": "person", "bound": ContributionBound(1, 1, None)}])
def test_an_engine_error_carries_nothing(
    broken: Any, how: dict[str, Any], tmp_path: Path, capfd: Any, caplog: Any
) -> None:
    # Catches a cell that is quoted in a message, a chain of exceptions, a frame, or a log.
    made = broken(tmp_path)
    source = made if hasattr(made, "measure") else open_source(made)
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError) as caught:
        source.measure(ask(source, *numbers(source), keys=["A"], **how))
    error = caught.value
    assert error.args == (FAILED,) and error.__cause__ is None and error.__context__ is None
    assert CANARY not in "".join(traceback.format_exception(error))
    out, err = capfd.readouterr()
    assert CANARY not in out + err + caplog.text


def test_the_failure_is_not_kept_alive() -> None:
    # Catches a traceback that still holds the engine's exception, which a debugger would show.
    seen = []

    class Loud(Exception):
        def __del__(self) -> None:
            seen.append("gone")

    def work() -> None:
        raise Loud(CANARY)

    with pytest.raises(EngineError) as caught:
        run(work)
    assert seen == ["gone"] and caught.value.__traceback__ is not None


def test_our_own_errors_pass() -> None:
    # Catches a refusal that becomes a riddle.
    def work() -> None:
        try:
            raise ValueError(CANARY)
        except ValueError:
            raise InvalidArgument(name="x", expected="y", given="z") from None

    with pytest.raises(InvalidArgument) as caught:
        run(work)
    assert caught.value.__context__ is None


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_stops_the_engine() -> None:
    # Catches a query that runs on, and an interrupt that becomes an EngineError.
    connection = duckdb.connect()
    stopped = threading.Event()

    def work() -> Any:
        threading.Thread(target=interrupt).start()
        try:
            return connection.sql(ENDLESS).fetchall()
        finally:
            stopped.set()

    with pytest.raises(KeyboardInterrupt):
        run(work, interrupt=connection.interrupt)
    assert stopped.wait(60)


def test_a_measure_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches a measure whose own interrupt is not that of the query it runs.
    source = open_source(pa.table({"ward": ["A"], "x": [1.0]}))
    batches = DuckDbPass.batches

    def endless(self: DuckDbPass, query: Any) -> Any:
        threading.Thread(target=interrupt).start()
        return batches(self, ENDLESS)

    monkeypatch.setattr(DuckDbPass, "batches", endless)
    with pytest.raises(KeyboardInterrupt):
        source.measure(ask(source, keys=["A"]))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches output where nobody asked for it, a bar for what is quick, and one that never comes.
    enough = threading.Event()

    class Watched(execution.ProgressBar):
        looks = 0

        def update(self) -> None:
            super().update()
            self.looks += 1
            if self.looks == 3:
                enough.set()

    monkeypatch.setattr(execution, "ProgressBar", Watched)
    for stream, patience, shown in (
        (io.StringIO(), 0.0, False),
        (Terminal(), 1e9, False),
        (Terminal(), 0.0, True),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(execution, "PATIENCE", patience)
        enough.clear()
        run(lambda: enough.wait(60), fraction=iter([None, 0.25, 0.5, *[0.75] * 99]).__next__)
        assert bool(stream.getvalue()) == shown
