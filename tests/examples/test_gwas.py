"""The genome-wide release: its proof, its cost, and the facts that its story tells."""

import math
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bed_reader import open_bed, to_bed

import discreet as dp
from discreet.testing import seeded
from examples.gwas import cohort, planning, private, story


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One small run with its files kept."""
    folder = tmp_path_factory.mktemp("gwas")
    with seeded(8):
        found = story.main(variants=2_000, folder=str(folder), picture=str(folder / "gwas.svg"))
    return {**found, "folder": folder}


def test_the_files_are_plink_files_of_the_cohort_that_was_asked_for(told: dict[str, Any]) -> None:
    """Catches a wrong size, wrong codes of cases, and alleles that are counted the wrong way."""
    with open_bed(told["folder"] / "cohort.bed") as bed:
        assert bed.shape == (4_000, 2_000)
        assert sorted(np.unique(bed.pheno)) == [cohort.CONTROL, cohort.CASE]
        assert (bed.pheno == cohort.CASE).sum() == 2_000
        genotypes, case = bed.read(dtype="int8"), bed.pheno == cohort.CASE
    assert told["folder"].joinpath("cohort.bed").stat().st_size == 3 + 2_000 * 1_000
    np.testing.assert_array_equal(told["counts"], cohort.count_carriers(genotypes, case))
    for column, effect in told["planted"].items():  # within 5 standard deviations of the plan
        for count, share in zip(told["counts"][:, column], effect.shares, strict=True):
            assert abs(count - 2_000 * share) < 5 * math.sqrt(2_000 * share * (1 - share))


def test_blocks_do_not_change_the_counts(
    told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a variant that is lost or counted twice where one block ends and the next begins."""
    monkeypatch.setattr(cohort, "BLOCK", 300)
    again = cohort.read_counts(told["folder"] / "cohort.bed")
    np.testing.assert_array_equal(again, told["counts"])


def test_a_missing_genotype_is_no_carrier() -> None:
    """Catches −127 read as a number of copies."""
    genotypes = np.array([[0, 1], [2, -127], [-127, 1]], dtype=np.int8)
    counts = cohort.count_carriers(genotypes, np.array([True, True, False]))
    assert counts.tolist() == [[1, 1], [0, 1]]


def test_who_is_neither_case_nor_control_is_not_counted(tmp_path: Path) -> None:
    """Catches people of unknown phenotype (PLINK's 0 and −9) among the controls."""
    place = tmp_path / "cohort.bed"
    genotypes = np.ones((4, 2), dtype=np.int8)
    to_bed(place, genotypes, properties={"pheno": ["2", "1", "0", "-9"]})
    assert cohort.read_counts(place).tolist() == [[1, 1], [1, 1]]


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    """Catches a cohort of the reader's that is written over."""
    mine = tmp_path / "cohort.fam"
    mine.write_text("mine")
    with pytest.raises(SystemExit, match="name another --folder"):
        story.main(variants=6, people=4, folder=str(tmp_path))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("given", [["--variants", "5"], ["--people", "0"], ["--people", "-4"]])
def test_a_cohort_too_small_for_the_story_is_refused(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a traceback of NumPy, and "nan %"."""
    monkeypatch.setattr(sys, "argv", ["gwas", *given])
    with pytest.raises(SystemExit):
        runpy.run_module("examples.gwas", run_name="__main__")
    assert "6 variants and 2 people at least" in capsys.readouterr().err


def test_the_proof_survives_a_search_and_a_wrong_claim_does_not() -> None:
    """Catches scores that move by more than 1, and a search that cannot find such."""
    held = private.check_scores("add-remove")
    assert not held.violated and held.found == 1
    broken = private.check_scores("replace")  # a case becomes a control: 2
    assert broken.violated and broken.found == 2


def test_scores_are_not_monotone() -> None:
    """Catches a choice made with half of the noise: one case raises one score, lowers another."""
    counts = np.array([[5, 0], [0, 5]])
    one_case_more = counts + np.array([[1, 1], [0, 0]])
    assert (private.scores(one_case_more) - private.scores(counts)).tolist() == [1, -1]
    assert private.choice().monotone is False
    assert private.choice().scale == 2 * private.CHOSEN / private.choice().epsilon


def test_laplace_on_all_counts_is_useless(told: dict[str, Any]) -> None:
    """Catches other noise than the lecture's: 4.08·10⁶ for two million counts, 20.4 for ten."""
    assert math.sqrt(private.laplace_on_all(2_000_000).variance) == pytest.approx(4.08e6, rel=1e-3)
    assert math.sqrt(private.laplace_on_all(10).variance) == pytest.approx(20.4, abs=0.05)
    assert not set(told["drowned"]) & set(list(told["planted"])[:4])


def test_the_strong_effects_are_named_and_their_counts_are_near(told: dict[str, Any]) -> None:
    """Catches a choice that ignores the scores, and noise that is larger than its bars."""
    published = told["release"]
    assert set(list(told["planted"])[:3]) <= set(published.chosen)
    off = np.abs(published.carriers - told["counts"][:, list(published.chosen)])
    assert off.max() <= private.noise_on_counts().error(0.9999)
    assert published.error == private.noise_on_counts().error(0.95) < 20


def test_the_promise_is_both_steps_together() -> None:
    """Catches a step that is left out, a sum where composition is tighter, and √8 for √4."""
    total = private.promise().epsilon(private.DELTA)
    assert 1 < total < 2
    assert total >= private.noise_on_counts().guarantee.epsilon(private.DELTA)
    assert private.noise_on_counts().sensitivity == 2
    assert private.choice().guarantee.within(dp.Pure(1))


def test_effects_are_ordered_from_strong_to_weak() -> None:
    """Catches a list whose first four are not the four that a study should find."""
    gaps = [abs(effect.shares[0] - effect.shares[1]) for effect in cohort.EFFECTS]
    assert sorted(gaps[:4], reverse=True)[-1] > gaps[4] > gaps[5]


def test_chances_agree_with_a_simulation() -> None:
    """Catches a wrong integral: 300 invented studies, within 4 standard errors of the formula."""
    people, variants, wanted = 2_000, 500, 3
    choice = dp.TopK(k=wanted, epsilon=1, monotone=False)
    group, draw = people // 2, np.random.default_rng(5)
    shares = np.array([effect.shares for effect in cohort.EFFECTS])
    hits = 0
    with seeded(5):
        for _ in range(300):
            other = cohort.carrying(draw.uniform(*cohort.FREQUENCIES, variants - len(shares)))
            p = np.concatenate([shares, np.stack([other, other], axis=1)])
            score = private.scores(draw.binomial(group, p.T))
            hits += set(choice.release(score)) == {0, 1, 2}
    expected = planning.chance(people, variants=variants, scale=float(choice.scale), wanted=wanted)
    assert abs(hits / 300 - expected) < 4 * math.sqrt(expected * (1 - expected) / 300)
    assert 0.2 < expected < 0.95  # else this test could not fail


def test_more_people_help_and_privacy_costs_some(told: dict[str, Any]) -> None:
    """Catches a table upside down, and a needed number that does not reach its chance."""
    private_, exact = ([row[name] for row in told["table"]] for name in ("private", "exact"))
    assert private_ == sorted(private_) and exact == sorted(exact)
    assert all(a <= b for a, b in zip(private_, exact, strict=True))
    options = {"variants": 1_000_000, "scale": 8.0, "wanted": 4}
    needed = planning.people_needed(**options)
    assert planning.chance(needed, **options) >= 0.9 > planning.chance(needed - 100, **options)


def test_the_picture_is_drawn(told: dict[str, Any]) -> None:
    """Catches a picture that is missing, empty or too large for a page."""
    drawn = Path(told["folder"], "gwas.svg").read_text()
    assert "largest count: 2,000" in drawn and len(drawn) < 150_000


def test_the_full_run_has_a_million_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a command line that does not reach the story."""
    asked: dict[str, Any] = {}
    monkeypatch.setattr(story, "main", lambda **given: asked.update(given))
    monkeypatch.setattr(sys, "argv", ["gwas", "--full", "--people", "6000"])
    runpy.run_module("examples.gwas", run_name="__main__")
    assert asked == {
        "variants": 1_000_000,
        "people": 6_000,
        "folder": None,
        "picture": "gwas.svg",
    }


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a bare ModuleNotFoundError."""
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    for name in ("story", "cohort"):
        monkeypatch.delitem(sys.modules, f"examples.gwas.{name}")
    with pytest.raises(SystemExit, match="pip install bed-reader"):
        runpy.run_module("examples.gwas", run_name="__main__")
