"""Hospital visits by ward, where a patient has many visits and all of them are protected.

A hospital publishes a table a quarter: visits, patients and stays by ward. One patient comes once,
another three times a week for dialysis, and what is hidden is the patient, not the visit. So how
much of one patient may count has to be bounded. This script buys a bound, explains the release,
makes it on a budget that is kept on disk, certifies it, and shows what other bounds would do.

    python examples/hospital_wards.py
    python examples/hospital_wards.py --patients 200000 --folder quarter    # a new one, to keep

The visits are invented, so what a bound leaves out is known.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dp
from discreet.certificate import verify
from discreet.plot import Plot, dressed

WARDS = ["cardiology", "dialysis", "maternity", "oncology", "surgery"]  # known, not looked up
BOUNDS = [1, 2, 4, 8, 16, 32]


def write_visits(path: Path, patients: int) -> dict[str, np.ndarray]:
    """Invent a quarter; returns for each ward how often each of its patients came."""
    draw = np.random.default_rng(4)
    ward = draw.choice(5, (patients, 2), p=[0.3, 0.02, 0.18, 0.2, 0.3])
    often = np.where(ward == 1, draw.integers(20, 40, ward.shape), draw.geometric(0.6, ward.shape))
    often[:, 1] *= (draw.random(patients) < 0.2) & (ward[:, 0] != ward[:, 1])  # one in five: two
    at = np.repeat(ward, often.ravel())
    stay = draw.gamma(2, np.array([3, 0.2, 1.5, 2.5, 2])[at])
    table = {
        "patient_id": np.repeat(np.arange(patients), often.sum(axis=1)),
        "ward": np.array(WARDS)[at],
        "days": np.ceil(stay).astype(np.int64),
    }
    pq.write_table(pa.table(table), path)
    return {name: often[ward == place] for place, name in enumerate(WARDS)}


def by_ward(visits: dp.Table, rows: int) -> dp.Query:
    """The table of the quarter, with at most two wards of a patient and `rows` visits to each."""
    return (
        visits.bound(max_groups=2, max_rows_per_group=rows)
        .group_by("ward", keys=WARDS)
        .agg(
            visits=dp.count(),
            patients=dp.count_units(),
            days=dp.mean("days", bounds=(0, 30)),
            days_p90=dp.quantile("days", 0.9, bounds=(0, 30)),
        )
    )


def trade(session: dp.Session, visits: dp.Table, often: dict[str, np.ndarray]) -> list[dict]:
    """For each bound the visits that it leaves out of two wards, and the noise it calls for.

    Explaining reads no data, so the noise may be looked up. What is left out may not: it is known
    here because the visits are invented.
    """
    rows = []
    for bound in BOUNDS:
        error = session.explain(by_ward(visits, bound), epsilon=1).errors[0].error
        rows.append({"bound": bound, "visits": error, "what": "noise, 95 % error"})
        for ward in ("dialysis", "surgery"):
            dropped = int(np.maximum(often[ward] - bound, 0).sum())
            rows.append({"bound": bound, "visits": dropped, "what": f"left out of {ward}"})
    return rows


def draw_trade(rows: list[dict[str, Any]]) -> Plot:
    """What is left out and the noise, over the bound."""
    lines = ["left out of dialysis", "left out of surgery", "noise, 95 % error"]
    colors = alt.Scale(domain=lines, range=["#c8452f", "#e08a1e", "#1f5fa8"])
    chart = (
        alt.Chart(alt.Data(values=[row for row in rows if row["visits"] >= 1]))
        .mark_line(point=True)
        .encode(
            alt.X("bound:Q", title="visits to a ward that count of one patient")
            .scale(type="log", base=2)
            .axis(values=BOUNDS),
            alt.Y("visits:Q", title="visits").scale(type="log").axis(tickCount=5, format=",d"),
            alt.Color("what:N", title=None, scale=colors),
        )
        .properties(width=420, height=260)
    )
    below = "The best bound for a ward is near where its line meets the blue one (ε = 1)"
    return Plot(dressed(chart, "A small bound leaves visits out, a large one adds noise", below))


def publish(session: dp.Session, visits: dp.Table, place: Path) -> dict[str, Any]:
    """Buy a bound, explain, release, certify, and ask until the budget is used up."""
    grouped = visits.group_by("ward", keys=WARDS)
    bound = session.release_max_rows_per_group(grouped, coverage=0.95, epsilon=0.25)
    print(f"Bought for ε = 0.25: 95 % of patients came to a ward at most {bound} times.\n")

    query = by_ward(visits, bound)
    print(f"What a release would do (reads no data):\n\n{session.explain(query, epsilon=1)}\n")
    table = session.release(query, epsilon=1, idempotency_key="first quarter")
    print(f"{table}\n")
    table.certificate.save(place / "first-quarter.json")
    verdict = verify(place / "first-quarter.json", ledger=place / "visits.ledger")
    proved, failed = len(verdict.proved), len(verdict.failed)
    print(f"Its certificate, checked: {proved} facts proved, {failed} failed.\n")

    print("No ± tells that this bound cut dialysis short. Asked alone, with a larger one:\n")
    dialysis = visits.where(lambda row: row.ward == "dialysis").bound(max_rows=39)
    alone = session.release(dialysis.agg(visits=dp.count()), epsilon=0.5)
    print(f"{alone}\n")

    again = session.release(query, epsilon=1, idempotency_key="first quarter")
    stored = next(note for note in again.notes if "stored answer" in note)
    print(f"The table again, from the ledger: {stored}.")
    try:
        session.release(query, epsilon=1)
    except dp.BudgetExceeded as refused:
        print(f"With new noise: {refused}.")
        return {"table": table, "again": again, "alone": alone, "verdict": verdict, "no": refused}
    raise AssertionError("the budget of ε = 2 should have been used up")


def main(patients: int = 20_000, folder: str = "", picture: str = "hospital_wards.svg") -> Any:
    """The quarter, from the file to the refusal; returns what was released, and the truth."""
    if not folder:
        with tempfile.TemporaryDirectory() as scratch:
            return main(patients, f"{scratch}/quarter", picture)
    place = Path(folder)
    if place.exists():
        raise SystemExit(f"{place} is there already, perhaps with a ledger: name a new --folder")
    place.mkdir(parents=True)
    often = write_visits(place / "visits.parquet", patients)
    visits = dp.table(place / "visits.parquet", unit="patient_id")
    session = dp.Session(visits, budget=dp.Pure(2), ledger=place / "visits.ledger", create=True)
    told = publish(session, visits, place)
    rows = trade(session, visits, often)
    draw_trade(rows).save(picture)
    print(f"\nWhat other bounds would leave out and add is in {Path(picture).name}.")
    return {**told, "often": often, "trade": rows, "spent": session.spent}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--patients", type=int, default=20_000, help="how many (20,000)")
    parser.add_argument("--folder", default="", help="a new one for visits, ledger and certificate")
    parser.add_argument("--picture", default="hospital_wards.svg", help="where the picture goes")
    given = parser.parse_args()
    if given.patients < 1:
        parser.error("--patients must be 1 or above")
    main(**vars(given))
