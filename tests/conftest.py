"""What tests measured and want to be seen is printed at the end of a run, passed or not.

A test calls ``record_property("measured", line)``; pytest carries it across processes.
"""

from collections.abc import Iterator

import pytest

from tests.engines.postgres_server import postgres_server


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
