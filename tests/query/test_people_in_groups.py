"""People who are counted in each of their groups: all of these counts move with one person."""

import pyarrow as pa
import pytest

import discreet as dp
from tests.attacks.tables import check_neighbours

ROWS = {"id": [1, 1, 2, 3], "ward": ["A", "B", "A", "C"]}
EVERYWHERE = {"id": [9] * 6, "ward": ["A", "B", "C"] * 2}
ELSEWHERE = {"id": [9] * 6, "ward": ["D", "E", "F"] * 2}


def query(*parts, relation):
    rows = {name: [cell for part in parts for cell in part[name]] for name in ROWS}
    table = dp.table(pa.table(rows), unit="id", relation=relation)
    bounded = table.bound(max_groups=3, max_rows_per_group=2)
    return bounded.group_by("ward", keys=list("ABCDEF")).agg(u=dp.count_units())


@pytest.mark.parametrize(
    ("relation", "one", "other"),
    [
        ("add-remove", (ROWS,), (ROWS, EVERYWHERE)),
        ("replace", (ROWS, ELSEWHERE), (ROWS, EVERYWHERE)),
    ],
)
def test_a_person_in_three_groups_moves_three_counts(relation, one, other):
    """Replays the worst neighbours. Catches people who are hidden in one group only, and noise
    that is larger than need be: what is declared is reached."""
    shares = check_neighbours(query(*one, relation=relation), query(*other, relation=relation))
    assert shares == [1.0]
