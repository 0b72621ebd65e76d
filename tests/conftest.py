"""What tests measure and want to show is printed at the end of a run, whether they passed or not.

A test calls ``record_property("measured", line)``; pytest carries it across processes.

Tracing makes Python half as fast, so coverage is measured only where tests are about the parts
that have a floor: those parts must be covered by their own tests, not by chance from elsewhere.
It is off while tests are collected too, once the parts are imported.
Tests that draw or compute the same lines over and over are marked ``no_cover`` one by one.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.engines.postgres_server import icu_postgres_server, postgres_server
from tests.engines.spark_server import spark_session

# Relative to the root; the parts are those of [tool.coverage.run] in pyproject.toml.
PARTS = ("guarantees", "ledger", "mechanisms", "noise", "numeric")
TRACED = tuple(
    start.format(part)
    for part in PARTS
    for start in ("src/discreet/{}/", "src/discreet/{}.py", "tests/{}/", "tests/test_{}.py")
)
TRACING = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    # PySpark leaves the sockets it reads results from to the garbage collector, by design.
    unclosed = "ignore:unclosed <socket.*'127[.]0[.]0[.]1':ResourceWarning"
    config.addinivalue_line("filterwarnings", unclosed)


def trace(config: pytest.Config, on: bool) -> None:
    """Switch the tracing of `--cov` on or off; without it, there is nothing to switch."""
    controller = getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if controller is None or config.stash.get(TRACING, True) is on:
        return
    (controller.resume if on else controller.pause)()
    config.stash[TRACING] = on


def stop_what_is_left_running() -> None:
    """In a worker, pytest-cov starts a measurement before its own and forgets about it: a pause
    would not stop the tracing for that one, whose result nobody reads."""
    from coverage import Coverage

    while (left := Coverage.current()) is not None:
        left.stop()


def import_parts() -> None:
    """Import every module of the parts: each line at the top of one is run, and traced, here."""
    for part in PARTS:
        module = import_module(f"discreet.{part}")
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            import_module(found.name)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Any:
    import_parts()
    trace(session.config, False)
    if hasattr(session.config, "workerinput"):
        stop_what_is_left_running()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    trace(item.config, item.nodeid.startswith(TRACED))
    return (yield)


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[dict[str, str]]:
    """A PostgreSQL for all tests of a worker that need one."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def icu_postgres_address() -> Iterator[dict[str, str]]:
    """A PostgreSQL with ICU, for collations that call different texts equal."""
    with icu_postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark for all tests of a worker that need one."""
    with spark_session() as session:
        yield session


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        str(value)
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == "measured"
    ]
    if lines:
        terminalreporter.section("measured")
        for line in sorted(lines):
            terminalreporter.write_line(line)
