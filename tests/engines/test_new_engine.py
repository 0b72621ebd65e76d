"""A new engine, added as CONTRIBUTING says: one file and one entry, and the suite runs on it."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from ibis.backends import BaseBackend

import discreet as dp
from discreet import engines
from discreet.engines.engine import Engine, real
from tests.engines import test_conformance as suite
from tests.engines.tables import load

# Ibis 12 calls what DuckDB 2 calls deprecated; we do not.
pytestmark = pytest.mark.filterwarnings("ignore:fetch:DeprecationWarning")

# The file of the new engine: DuckDB under another name, on the portable defaults. It overrides a
# few of them in a way of its own, and has a pass of its own.
TOY = """
import ibis.expr.datatypes as dt
from ibis.backends.duckdb import Backend
from sqlglot.dialects import DuckDB

from discreet.engines.engine import Engine, Pass, call
from discreet.engines.execution import Turn


class Toy(DuckDB):  # the dialect, which Ibis looks up by the name of a backend
    pass


class ToyBackend(Backend):
    name = "toy"


class ToyEngine(Engine):
    name = "toy"
    title = "Toy"

    def start(self, table, backend):
        return ToyPass(self, table, backend, Turn(backend.con))

    def in_order(self, text):
        return call("encode", dt.binary, text)

    def nested(self, table, before, depth):
        return table.limit(2**62)

    def names_keys(self, keys):
        return keys.table.num_columns == 1


class ToyPass(Pass):
    def batches(self, query):
        yield from self.backend.to_pyarrow(query).to_batches()
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseBackend]:
    """A connection to the toy, whose file and entry are there for this test alone."""
    (tmp_path / "newcomer").mkdir()
    (tmp_path / "newcomer" / "__init__.py").touch()
    (tmp_path / "newcomer" / "toy.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("newcomer.toy")
    monkeypatch.setitem(engines.ENGINES, "toy", module.ToyEngine())
    connection = module.ToyBackend()
    connection.do_connect()
    yield connection
    connection.disconnect()


@pytest.mark.parametrize("seed", range(5))
def test_the_suite_runs_on_it(toy: BaseBackend, seed: int) -> None:
    # Catches a default that is not portable, and anything that only engines of ours are asked.
    suite.test_exact_aggregates_are_those_of_the_reference(toy, seed)


def test_lists_and_steps_too(toy: BaseBackend) -> None:
    # Catches lists that only our engines can be sent.
    suite.test_long_lists(toy, "at most a million rows a person", 120)
    suite.test_a_hundred_steps(toy)


def test_a_mistake_in_it_is_seen(toy: BaseBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    # The planted error: infinities and NaN become missing values.
    def finite(self: Engine, x: Any) -> Any:
        return x < real(1e300)

    monkeypatch.setattr(type(engines.ENGINES["toy"]), "is_number", finite)
    with pytest.raises(AssertionError):
        suite.test_exact_aggregates_are_those_of_the_reference(toy, 0)


def test_it_needs_its_entry(toy: BaseBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    # Catches an engine that answers although no suite has tested it, and a title that nobody reads.
    load(toy, "people", pa.table({"ward": ["A", "A", "B"], "who": [1, 1, 2]}))
    table = dp.table(toy.table("people"), unit="who")
    session = dp.Session(table, budget=dp.Pure(1))
    query = table.bound(max_rows=1).group_by("ward", keys=["A", "B"]).agg(n=dp.count())
    assert len(session.release(query, epsilon=1).to_dicts()) == 2
    with pytest.raises(dp.InvalidArgument, match="DuckDB, Spark, PostgreSQL or Toy"):
        dp.table(no_engine())
    monkeypatch.delitem(engines.ENGINES, "toy")
    with pytest.raises(dp.InvalidArgument, match="untested=True"):
        dp.table(toy.table("people"))


def no_engine() -> Any:
    connection = ibis.sqlite.connect()
    connection.create_table("t", pa.table({"x": [1]}))
    return connection.table("t")


FILES = {type(e).__module__.rpartition(".")[2]: e.name for e in engines.ENGINES.values()}


def test_every_engine_is_in_the_suite() -> None:
    # Catches an entry without its cases: tables of that engine are accepted as tested ones.
    assert FILES.keys() <= {case.values[0] for case in suite.CASES}


def test_what_is_peculiar_to_an_engine_is_in_its_file() -> None:
    # Catches a branch on an engine elsewhere: ask the engine instead, by a method of `Engine`.
    folder = Path(engines.__file__).parent
    allowed = {"SOURCE", "Embedded", "text"}  # what tables in files and in memory are read by
    for path in folder.glob("*.py"):
        if path.stem in {*FILES, "__init__"}:
            continue
        tree = ast.parse(path.read_text())
        typing = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                assert node.value not in FILES.values(), f"{path.name} names {node.value}"
            if isinstance(node, ast.ImportFrom) and node not in typing:
                of_engine = (node.module or "").rpartition(".")[2] in FILES
                names = {one.name for one in node.names}
                assert not of_engine or names <= allowed, f"{path.name} imports {names - allowed}"
