"""Some pairs of neighbours, the same ones each time; `make fuzz` draws 22,000 new ones."""

import pytest

from tests.fuzz.report import script
from tests.fuzz.run import fuzz
from tests.fuzz.world import world

SEED = "suite"


@pytest.mark.parametrize(("engine", "pairs"), [("duckdb", 120), ("postgres", 25), ("spark", 8)])
def test_nothing_tells_neighbours_apart(
    engine: str, pairs: int, request: pytest.FixtureRequest
) -> None:
    # Catches whatever breaks one of the six demands of `judging`, on any engine.
    spark = request.getfixturevalue("spark") if engine == "spark" else None
    with world(engine, spark) as here:
        outcome = fuzz(engine, SEED, here, pairs=pairs)
    assert not outcome.found, "\n".join(script(one.finding) for one in outcome.found.values())
    assert outcome.pairs >= pairs
    assert outcome.refused < 0.7 * outcome.pairs  # the others reach the data
