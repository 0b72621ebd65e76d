"""What a Session tells a recorder: every purchase, once, as it was declared; else nothing."""

import logging

import pyarrow as pa
import pytest

import discreet as dp
from discreet.auditor.recorder import recording
from discreet.auditor.replay import Notes
from discreet.errors import EngineError
from discreet.testing import seeded

SECRET = 915_733_202
ROWS = pa.table({"id": [1, 1, 2, 2, 3], "k": list("ABABA"), "x": [1, 2, 3, SECRET, 5]})


def ask(**spend):
    table = dp.table(ROWS, unit="id").bound(max_groups=2, max_rows_per_group=1)
    session = dp.Session(table, budget=dp.Approx(10, "1e-3"))
    query = table.group_by("k", keys=["A", "B"]).agg(
        n=dp.count(),
        s=dp.sum("x", bounds=(0, 10)),
        q=dp.median("x", bounds=(0, 10)),
        t=dp.top_k("k", 1, candidates=["A", "B"]),
    )
    return session.release(query, **spend)


@pytest.mark.parametrize("spend", [{"epsilon": 1}, {"rho": 1}])
def test_every_purchase_is_recorded_as_declared(spend):
    """Catches a part that meets noise unheard, or with another sensitivity than it was bought
    for: a person has two groups and a row in each."""
    notes = Notes()
    with recording(notes):
        ask(**spend)
    told = {point.name: point for point in notes.points}
    assert len(told) == len(notes.points) == 4
    assert told["rows"].values.tolist() == [3, 2]
    assert told["sum of x"].values.tolist() == [1 + 3 + 5, 2 + 10]  # the outlier is clamped
    assert told["rows"].declared["l1"] == 2 and told["rows"].declared["l0"] == 2
    assert told["sum of x"].declared["l1"] == 20 and told["sum of x"].declared["linf"] == 10
    assert told["quantile 0.5 of x"].declared == {"l1": 2}
    assert told["commonest k"].declared == {"linf": 1, "range": 2}
    kind = dp.Laplace if "epsilon" in spend else dp.Gaussian
    assert isinstance(told["rows"].noise, kind)
    assert [one.name for one in notes.outputs] == ["salt", *told]
    assert all(point.question["kind"] == "query" for point in notes.points)
    # all but the salt have something that reached their noise
    assert [one.drawn for one in notes.outputs] == [True] + [False] * 4
    assert [one.spare for one in notes.outputs] == [True] + [False] * 4


def test_nothing_changes_without_a_replay():
    """Catches a recorder in the way: answers with the same words are the same, recorded or not."""
    answers = []
    for notes in (None, Notes()):
        with seeded(1):
            if notes is None:
                answers.append(ask(epsilon=1).to_dicts())
            else:
                with recording(notes):
                    answers.append(ask(epsilon=1).to_dicts())
    assert answers[0] == answers[1]


def test_exact_values_go_to_the_recorder_alone(caplog):
    """Catches exact values in a log, in the result, or in what a recorder prints of itself."""
    notes = Notes()
    with caplog.at_level(logging.DEBUG), recording(notes):
        result = ask(epsilon=1)
    assert str(SECRET) not in caplog.text + repr(result) + repr(notes)


def test_a_recorder_that_fails_tells_nothing():
    """Catches a message of the recorder that quotes data on its way to an analyst."""

    class Failing(Notes):
        def reached(self, name, values, **declared):
            raise ValueError(f"saw {values}")

    with recording(Failing()), pytest.raises(EngineError) as caught:
        ask(epsilon=1)
    assert "saw" not in str(caught.value) and caught.value.__context__ is None
