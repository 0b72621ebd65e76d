"""Hospital visits: the answers are right within their errors, and the bound does what is told."""

import numpy as np
import pytest

import discreet as dp
from discreet.testing import seeded
from examples import hospital_wards


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wards")
    with seeded(8):
        return {
            **hospital_wards.main(picture=str(folder / "wards.svg"), folder=str(folder / "new")),
            "folder": folder,
        }


def kept(often, bound):
    """Visits that a bound leaves in, ward by ward."""
    return {ward: int(np.minimum(each, bound).sum()) for ward, each in often.items()}


def test_counts_are_those_of_the_bounded_visits(told):
    """Catches a bound that keeps more or fewer visits than it says, and a wrong error."""
    table, often = told["table"], told["often"]
    bound = next(b for b in range(1, 40) if f"{b} a group" in " ".join(table.notes))
    expected = kept(often, bound)
    for ward in hospital_wards.WARDS:
        visits, patients = table.value("visits", ward=ward), table.value("patients", ward=ward)
        assert abs(visits.value - expected[ward]) <= 2 * visits.error
        assert abs(patients.value - np.count_nonzero(often[ward])) <= 2 * patients.error


def test_dialysis_is_cut_short_by_the_first_bound_and_not_by_the_second(told):
    """Catches a story that is not told by its numbers: bias that no ± shows."""
    truth = int(told["often"]["dialysis"].sum())
    cut, alone = told["table"].value("visits", ward="dialysis"), told["alone"].value("visits")
    assert cut.value + cut.error < truth / 3
    assert abs(alone.value - truth) <= 2 * alone.error


def test_noise_grows_with_the_bound_and_what_is_left_out_falls(told):
    """Catches a trade that is none."""
    by = {what: [] for what in ("noise, 95 % error", "left out of dialysis", "left out of surgery")}
    for row in told["trade"]:
        by[row["what"]].append(row["visits"])
    noise, dialysis, surgery = by.values()
    assert noise == sorted(noise)
    assert noise[-1] / noise[0] == pytest.approx(32, rel=0.05)
    assert dialysis == sorted(dialysis, reverse=True)
    assert surgery[3] < noise[3] < dialysis[3]  # a bound of 8 is too large here, too small there


def test_the_budget_is_kept_and_the_certificate_holds(told):
    """Catches a charge that is forgotten, a stored answer that is charged or drawn anew."""
    assert told["spent"] == dp.Pure("1.75")
    assert told["verdict"].ok
    assert told["again"].to_arrow() == told["table"].to_arrow()
    assert "ε = 1.75 of ε = 2 is already spent" in str(told["no"])


def test_the_files_are_kept_in_a_folder_that_is_new(told):
    """Catches a second run in the same folder, which would spend on the same ledger."""
    folder = told["folder"]
    names = {path.name for path in (folder / "new").iterdir()}
    assert {"visits.parquet", "visits.ledger", "first-quarter.json"} <= names
    with pytest.raises(SystemExit, match="name a new --folder"):
        hospital_wards.main(patients=100, folder=str(folder / "new"))
