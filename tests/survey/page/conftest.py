"""One browser for all tests of the folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.survey.page.browser import Server, Visitors, running_chromium, running_server


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def visitors(chromium: Browser, tmp_path: Path) -> Iterator[Visitors]:
    opened = Visitors(chromium, tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def listening() -> Iterator[Server]:
    with running_server() as taking:
        yield taking


@pytest.fixture
def server(listening: Server) -> Server:
    """At the same address in all tests, so that pages are written once."""
    listening.requests.clear()
    listening.status = 200
    return listening
