"""What these tests say must not depend on how fast the machine is today."""

import math

import pytest

from discreet.auditor import replay


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever audits goes on for as long as it takes: on a busy machine a replay would make less
    sure of what it has seen, and a verification leave neighbours out."""
    monkeypatch.setattr(replay, "_SECONDS", math.inf)
    monkeypatch.setattr(replay, "_BARE_SECONDS", math.inf)
    monkeypatch.setattr("discreet.auditor.verify._SECONDS", math.inf)
