"""What the code of a case runs in: names, folders, and the servers of an engine."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ibis

from tests.engines.postgres_server import icu_postgres_server
from tests.engines.spark_server import spark_session
from tests.engines.tables import POSTGRES
from tests.fuzz.case import Case
from tests.fuzz.script import IMPORTS, prelude

COLLATED = {
    "anycase": "locale = 'und-u-ks-level2', deterministic = false",
    "plain_letters": "locale = 'und-u-ks-level1', deterministic = false",
    "numeric_order": "locale = 'und-u-kn-true'",
}
ENGINES = ("duckdb", "spark", "postgres")


@dataclass
class World:
    """An engine that is running; folders are emptied after each case."""

    names: dict[str, Any]
    clean: Callable[[], None] = lambda: None
    recover: Callable[[], None] = lambda: None
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="fuzz-")))
    sides: int = 0

    def functions(self, case: Case) -> dict[str, Any]:
        """`table(rows, folder)` and `ask(table, folder)` of a case."""
        names = dict(self.names)
        exec(prelude(case), names)
        return names

    def side(self) -> Path:
        """A folder for one table."""
        self.sides += 1
        made = self.folder / str(self.sides)
        made.mkdir()
        return made

    def forget(self) -> None:
        """Remove what the last case left."""
        self.clean()
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.sides = 0


@contextmanager
def world(engine: str, spark: Any = None) -> Iterator[World]:
    """Start an engine; a Spark that runs already is used as it is."""
    names: dict[str, Any] = {}
    exec(IMPORTS, names)
    with ExitStack() as stack:
        calls: list[Callable[[], None]] = []
        if engine == "spark":
            names["spark"] = spark or stack.enter_context(spark_session())
        if engine == "postgres":
            loader = stack.enter_context(postgres_loader())
            names["on_postgres"], calls = loader, [loader.clean, loader.recover]
        made = World(names, *calls)
        stack.callback(shutil.rmtree, made.folder)
        yield made


@dataclass
class Loader:
    """Arrow tables as tables of PostgreSQL, in a database and with a collation of their texts."""

    connections: dict[str, Any]
    made: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, table: Any, collation: str, database: str) -> Any:
        self.recover()
        backend, name = self.connections[database], f"people_{len(self.made)}"
        kinds = []
        for column in table.schema:
            kind = POSTGRES[column.type]
            collated = f' COLLATE "{collation}"' if collation and kind == "text" else ""
            fixed = "" if column.nullable else " NOT NULL"
            kinds.append(f'"{column.name}" {kind}{collated}{fixed}')
        with backend.con.cursor() as cursor:
            cursor.execute(f"CREATE TEMP TABLE {name} ({', '.join(kinds)})")
            self.made.append((database, name))
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)
        backend.con.commit()
        return backend.table(name)

    def recover(self) -> None:
        """A query that failed leaves its transaction behind."""
        for backend in self.connections.values():
            backend.con.rollback()

    def clean(self) -> None:
        """Drop the tables."""
        self.recover()
        for database, name in self.made:
            with self.connections[database].con.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
        for backend in self.connections.values():
            backend.con.commit()
        self.made.clear()


@contextmanager
def postgres_loader() -> Iterator[Loader]:
    """A PostgreSQL with collations that call different texts equal, or order them oddly."""
    with icu_postgres_server() as address, ExitStack() as stack:
        first = ibis.postgres.connect(**address)
        stack.callback(first.disconnect)
        first.con.autocommit = True
        first.con.execute(
            "CREATE DATABASE other_order TEMPLATE template0 LOCALE_PROVIDER icu "
            "ICU_LOCALE 'de-u-co-phonebk'"
        )
        first.con.autocommit = False
        second = ibis.postgres.connect(**{**address, "database": "other_order"})
        stack.callback(second.disconnect)
        for backend in (first, second):
            for name, options in COLLATED.items():
                backend.raw_sql(f"CREATE COLLATION {name} (provider = icu, {options})").close()
            backend.con.commit()
        yield Loader({"": first, "other_order": second})
