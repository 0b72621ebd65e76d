"""What these tests say must not depend on how fast the machine is today."""

import math

import pytest

from discreet.auditor.replaying import settling


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay makes sure of what it has seen as often as it likes to, however long that takes: on
    a busy machine it would give up earlier."""
    monkeypatch.setattr(settling, "_SECONDS", math.inf)
    monkeypatch.setattr(settling, "_BARE_SECONDS", math.inf)
