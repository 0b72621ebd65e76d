"""The main job, end to end, on bundled data: ``make demo`` or ``python -m discreet.demo``.

5,000 invented hospital patients, one row each, in a CSV file. Questions, bounds and the list of
wards are fixed beforehand; the neighbour relation is add-remove: whether any one patient is in
the table at all is what stays hidden.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

import discreet as dp

WARDS = ("cardiology", "maternity", "oncology", "orthopaedics", "paediatrics", "surgery")
# Lists of possible answers are public and fixed: taking them from the data would reveal people.
DIAGNOSES = (
    *("appendix", "arrhythmia", "asthma", "birth", "breast", "colon", "fever", "fracture"),
    *("gall bladder", "heart failure", "hernia", "hip", "infarction", "knee", "lung"),
    "observation",
)
SCHEMA = {"days": "integer"}  # the cells of a CSV file are text: stays are whole days
EPSILON = 1


def by_ward(visits: dp.Table) -> dp.Query:
    """How many patients, how long they stay, and what most of them have, ward by ward."""
    return visits.group_by("ward", keys=WARDS).agg(
        patients=dp.count(),
        days=dp.mean("days", bounds=(0, 30)),
        days_p90=dp.quantile("days", 0.9, bounds=(0, 30)),
        commonest=dp.most_common("diagnosis", candidates=DIAGNOSES),
    )


def rows_of(name: str, stack: ExitStack) -> Path:
    """The path of a bundled file."""
    return stack.enter_context(resources.as_file(resources.files("discreet") / "data" / name))


def leave_rows(rows: Path, folder: Path) -> str:
    """Leave a copy to continue with next to the picture; an existing file is not changed."""
    place = folder / rows.name
    try:
        with place.open("xb") as copy:
            copy.write(rows.read_bytes())
    except FileExistsError:
        return f"{place} was there already, and was not changed."
    return f"The rows are in {place}: try other questions on them."


def draw(result: dp.Result, picture: str) -> str:
    """Save a picture and say where it is, or what is needed to draw it."""
    try:
        result.plot("patients").save(picture)
    except dp.Refused as refusal:  # the rest works without the extra for pictures
        return f"No picture: {refusal}."
    return f"The picture is in {picture}."


def main(picture: str = "demo.svg") -> None:
    """Open, explain, release, show, draw, and say what is left."""
    with ExitStack() as stack:
        rows = rows_of("visits.csv", stack)
        visits = dp.table(rows, schema=SCHEMA)
        session = dp.Session(visits, budget=dp.Pure(3))
        query = by_ward(visits)
        print(f"What a release with epsilon={EPSILON} would do (reads no data):\n")
        print(session.explain(query, epsilon=EPSILON))
        result = session.release(query, epsilon=EPSILON)
        print("\nReleased, with new noise every run:\n")
        print(result)
        print(f"\n{draw(result, picture)} {leave_rows(rows, Path(picture).parent)}")
        print(f"Spent {session.spent}, left {session.remaining}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
