"""Each claim of the lectures and each attack has a test that carries its number."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NAMES = {
    name
    for file in TESTS.rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
}
CLAIMS = [*range(1, 25)]
ATTACKS = [
    *(f"a{n}" for n in range(1, 10)),
    *(f"b{n}" for n in range(1, 15)),
    *(f"c{n}" for n in range(1, 8)),
    *("d1", "d2", "d3", "d4", "d5", "d6", "e1", "e4", "e5", "e6"),
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_has_a_test(claim: int) -> None:
    """Catches a claim whose test was renamed away or never written."""
    assert [n for n in NAMES if n.startswith(f"test_claim_{claim:02d}_")]


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_has_a_test(attack: str) -> None:
    """Catches an attack whose test was renamed away or never written."""
    assert [n for n in NAMES if re.match(rf"test_(b\d+_and_)?{attack}_", n)]
