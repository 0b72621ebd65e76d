"""The story from files to picture, with the numbers of this run."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from examples.gwas.cohort import Effect, read_counts, write_cohort
from examples.gwas.picture import draw
from examples.gwas.planning import chance, people_needed
from examples.gwas.private import (
    CHOSEN,
    DELTA,
    Release,
    check_scores,
    choice,
    laplace_on_all,
    promise,
    release,
    scores,
)

FULL = 1_000_000
SIZES = (1_000, 2_000, 3_000, 4_000, 4_500, 5_500, 7_000, 10_000)


def main(
    variants: int = 4_000, people: int = 4_000, folder: str | None = None, picture: str = "gwas.svg"
) -> dict[str, Any]:
    """Tell the story; returns what was released, what is true, and the table of chances."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(folder or scratch) / "cohort.bed"
        files = [place.with_suffix(end) for end in (".bed", ".bim", ".fam")]
        for file in files:
            if file.exists():
                raise SystemExit(f"{file} is there already: name another --folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        planted = write_cohort(place, variants=variants, people=people)
        size = sum(file.stat().st_size for file in files)
        print(
            f"{people:,} people, half of them cases, {variants:,} variants: {size / 1e6:,.1f} MB.\n"
        )
        counts = read_counts(place)
    drowned = tell_laplace(counts, planted, people)
    published = tell_release(counts, planted)
    table = tell_people(people, variants)
    draw(published, counts[:, list(published.chosen)], table, people).save(picture)
    print(f"\nThe picture is in {Path(picture).name}.")
    return {
        "counts": counts,
        "planted": planted,
        "release": published,
        "drowned": drowned,
        "table": table,
    }


def tell_laplace(counts: np.ndarray, planted: dict[int, Effect], people: int) -> list[int]:
    """Noise on every count: what it would take, and what would be the top four then."""
    print(f"1. All {counts.size:,} counts with Laplace noise, ε = ln 2")
    for k in sorted({10, counts.size, 2 * FULL}):
        sd = math.sqrt(laplace_on_all(k).variance)
        print(f"   {k:>9,} counts: Δ₁ = {k:,}, standard deviation {sd:,.1f}")
    noisy = laplace_on_all(counts.size).release(counts)
    inside = np.mean((noisy >= 0) & (noisy <= people // 2))
    top = np.argsort(-scores(noisy))[:CHOSEN].tolist()
    right = len(set(top) & set(list(planted)[:CHOSEN]))
    share = f"{100 * inside:.2f} %"
    print(f"   Counts lie between 0 and {people // 2:,}; of the noisy ones {share} do.")
    print(f"   Their {CHOSEN} largest differences have {right} of the {CHOSEN} strongest effects.")
    print("   Under add-remove a person is a case or a control, which halves the noise. No help.\n")
    return top


def tell_release(counts: np.ndarray, planted: dict[int, Effect]) -> Release:
    """The choice, then the counts, then the promise; beside what is true of this cohort."""
    width = choice().error(0.95, candidates=counts.shape[1])
    print(f"2. Which {CHOSEN} variants differ most? ε = {choice().epsilon}, scale {choice().scale}")
    found = check_scores("add-remove").found
    print(
        f"   One person moves a score by at most 1 (proof in private.py; a search found {found})."
    )
    print(f"   Each choice is within {width:,.0f} people of the best one left, at 95 %.\n")
    published = release(counts)
    exact, names = np.argsort(-scores(counts))[:CHOSEN].tolist(), list(planted)
    print(f"3. Their carriers, ± {published.error:.0f} at 95 %")
    print("   variant   cases  controls   true cases  controls  effect")
    for at, (cases, controls) in zip(published.chosen, published.carriers.T, strict=True):
        effect = f"odds ratio {planted[at].odds_ratio}" if at in planted else "odds ratio 1"
        true = f"{counts[0, at]:>10,}  {counts[1, at]:>8,}"
        print(f"   {f'v{at}':<8} {cases:>6,}  {controls:>8,}   {true}  {effect}")
    right = set(names[:CHOSEN])
    hits, exact_hits = len(right & set(published.chosen)), len(right & set(exact))
    print(f"   Of the {CHOSEN} strongest effects {hits} are named; without privacy, {exact_hits}.")
    print("   (Exact counts are shown as the cohort is invented. In a study nobody sees them.)\n")
    total = promise().epsilon(DELTA)
    print(f"4. Both steps together: ε = {total:.3f} at δ = {DELTA:g}\n")
    return published


def tell_people(people: int, variants: int) -> list[dict[str, Any]]:
    """The chance of the right four against the number of people, from public effects alone."""
    options = {"private": float(choice().scale), "exact": 0.0}
    print(f"5. How many people for the right {CHOSEN} of {FULL:,} variants? (reads no data)")
    print("   people   private   without privacy")
    table = []
    for n in SIZES:
        row = {
            name: chance(n, variants=FULL, scale=scale, wanted=CHOSEN)
            for name, scale in options.items()
        }
        table.append({"people": n, **row})
        print(f"   {n:>6,} {100 * row['private']:>7.1f} % {100 * row['exact']:>15.1f} %")
    needed = {
        name: people_needed(variants=FULL, scale=scale, wanted=CHOSEN)
        for name, scale in options.items()
    }
    here = chance(people, variants=variants, scale=options["private"], wanted=CHOSEN)
    more, fewer = needed["private"], needed["exact"]
    print(f"   A chance of 90 % takes {more:,} people, and {fewer:,} without privacy.")
    print(
        f"   With {people:,} people and {variants:,} variants, as here, it is {100 * here:.1f} %."
    )
    return table
