"""What tests measured and want to be seen is printed at the end of a run, passed or not.

A test calls ``record_property("measured", line)``; pytest carries it across processes.

Tracing makes Python half as fast, so coverage is measured only where tests are about the parts
that have a floor: those parts must be covered by their own tests, not by chance from elsewhere.
Tests that draw or compute the same lines over and over are marked ``no_cover`` one by one.
"""

from collections.abc import Iterator, Sequence

import pytest

from tests.engines.postgres_server import postgres_server

# Relative to the root; the parts are those of [tool.coverage.run] in pyproject.toml.
PARTS = ("exact", "guarantees", "ledger", "mechanisms", "noise")
TRACED = tuple(
    start.format(part)
    for part in PARTS
    for start in ("src/discreet/{}/", "src/discreet/{}.py", "tests/{}/", "tests/test_{}.py")
)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if not item.nodeid.startswith(TRACED):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[dict[str, str]]:
    """A PostgreSQL for all tests of a worker that need one."""
    with postgres_server() as address:
        yield address


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
