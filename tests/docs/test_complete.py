"""Nothing public without documentation; `make docs` stops at the same gaps."""

import dataclasses
from typing import Any

import pytest

import discreet as dp
from publishing import complete


def test_there_are_no_gaps() -> None:
    """Catches a public name, a parameter, an error or a setting that no page or docstring
    explains."""
    assert list(complete.gaps()) == []


@dataclasses.dataclass(frozen=True)
class Silent:
    epsilon: int


def silent(epsilon: int) -> int:
    """Does something."""
    return epsilon


@pytest.mark.parametrize("found", [Silent, silent, dp.Laplace.release])
def test_gaps_are_seen(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted errors: a docstring that a dataclass wrote, a parameter without a word, and a
    name that no page knows."""
    everything = dict(complete.public())
    name = f"discreet.{found.__name__}"
    monkeypatch.setattr(complete, "public", lambda: (everything | {name: found}).items())
    assert any(gap.startswith(name) for gap in complete.gaps())
