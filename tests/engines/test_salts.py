"""Every release has a salt of its own, also where the same question is asked again."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.duckdb import DuckDb
from discreet.engines.engine import Engine
from discreet.engines.row_sampling import Layout, kept
from discreet.engines.sources import open_source
from discreet.query.contribution import ContributionBound
from discreet.query.measures import Grid, GridBins
from discreet.session import salt
from tests.engines.asking import ask, cell


def people() -> pa.Table:
    """Fifty people with eight rows each; marks tell the rows apart."""
    return pa.table({"person": np.repeat(np.arange(50), 8), "mark": np.tile(np.arange(8), 50)})


@pytest.mark.parametrize(
    "bound", [ContributionBound(None, 2, None), ContributionBound(None, None, 2)], ids=str
)
@pytest.mark.parametrize("way", ["by sorting", "in SQL"])
def test_a_question_that_is_asked_again_keeps_other_rows(way, bound, monkeypatch):
    """Catches a query that is remembered together with its salt, which no new source shows."""
    if way == "in SQL":
        monkeypatch.setattr(DuckDb, "query", Engine.query)
    source = open_source(people())
    bins = GridBins(cell(source, "mark"), Grid(0, 0, 7))

    def counts(number, source):
        asked = ask(source, bins, group=(), unit="person", bound=bound, salt=number)
        return source.measure(asked).columns[bins].tolist()

    again = [counts(number, source) for number in range(2)]
    assert again == [counts(number, open_source(people())) for number in range(2)]
    assert len({str(one) for one in again}) == 2


def test_salts_are_drawn_anew():
    """Catches a constant. A false alarm is a pair of equal 64-bit words among eight: 2e-18."""
    assert len({salt() for _ in range(8)}) == 8


@pytest.mark.parametrize(
    "bound", [ContributionBound(None, 5, None), ContributionBound(None, None, 5)], ids=str
)
def test_rows_of_one_group_are_chosen_by_the_salt_itself(bound):
    """A hundred rows of one person in one group, under the same packed key, which has a salted
    hash too. Catches rows that are chosen by that alone."""
    keys, marks = np.zeros(100, np.uint64), np.arange(100)
    chosen = {kept(keys, [marks], bound, Layout.of(1), salt=s).tobytes() for s in range(4)}
    assert len(chosen) == 4
