"""The attack of the story inflates exact scores, and a Ladder not at all."""

import pytest

from examples import leaderboard


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    picture = tmp_path_factory.mktemp("board") / "leaderboard.svg"
    result = leaderboard.main(submissions=600, labels=1_000, picture=str(picture))
    assert picture.read_text().startswith("<svg")
    return result


def test_votes_climb_a_board_of_exact_scores(told):
    """Catches an attack that does not work, which would make any board look good."""
    shown = [row["shown"] for row in told["exact scores"]]
    assert shown == sorted(shown)
    assert shown[-1] > 0.68


def test_the_truth_is_one_half_all_the_time(told):
    """Catches fresh labels that are the hidden ones: they are hit half of the time (± 5 sd)."""
    truth = [row["truth"] for board in ("exact scores", "Ladder") for row in told[board]]
    assert all(abs(each - 0.5) < 5 * 0.5 / 1_000**0.5 for each in truth)


def test_the_ladder_stays_with_the_truth(told):
    """Catches a board that can be climbed by guessing: it must keep to its own error, and more."""
    shown = [row["shown"] for row in told["Ladder"]]
    assert max(abs(each - 0.5) for each in shown) < told["error"]
    assert max(shown) <= 0.55


def test_the_ladder_sees_who_can_predict(told):
    """Catches a board that is safe because it says nothing: 80 % right is told as such."""
    low, high = told["honest"].interval
    assert told["honest"].improved
    assert low <= 0.8 <= high
    assert 0.75 <= told["honest"].value <= 0.8
