"""Do people see the doctor less when they pay for it? The RAND experiment, answered privately.

In the 1970s the RAND Health Insurance Experiment gave families insurance plans by lot: care was
free, or they paid 25, 50 or 95 % of it, or most of it up to a deductible. 20,190 rows come with
statsmodels (`statsmodels.datasets.randhie`, from Cameron and Trivedi 2005; in the public domain).

Who is protected? A row is a *year* of a person, and the file has no column that says whose. So
what is promised for a row holds for a year. Families took part for three or five years, so a person
has at most five rows: a promise of ε for each row is one of 5·ε for each person (group privacy).
This script wants ε = 1 for a person, so it spends ε = 1/5 on rows.

    python examples/rand_health.py
    python examples/rand_health.py --epsilon 5 --picture more.svg

It needs statsmodels: pip install statsmodels
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt

import discreet as dp
from discreet.plot import Plot, dressed

PLANS = ("free", "25 %", "50 %", "95 %", "deductible")  # fixed by the experiment, hence public
YEARS = 5  # of one person at most, by the experiment's design
MOST = 30  # visits a year; more count as 30


def rows() -> Any:
    """The data frame, from the installed package."""
    try:
        from statsmodels.datasets import randhie
    except ModuleNotFoundError:
        raise SystemExit(
            "This example needs data of statsmodels: pip install statsmodels"
        ) from None
    return randhie.load_pandas().data


def with_plan(years: dp.Table) -> dp.Table:
    """Name the plan of each row; the file has ln(1 + coinsurance in per cent)."""
    return years.mutate(
        plan=lambda row: dp.case(
            (row.idp == 1, "deductible"),
            (row.lncoins < 1, "free"),
            (row.lncoins < 3.6, "25 %"),  # ln 26 = 3.26
            (row.lncoins < 4.2, "50 %"),  # ln 51 = 3.93
            otherwise="95 %",
        )
    )


def by_plan(years: dp.Table) -> dp.Query:
    """How many, how often, and how many not at all, plan by plan."""
    asked = years.where(lambda row: row.mdvis.is_not_null())  # so that one count serves all
    return asked.group_by("plan", keys=PLANS).agg(
        years=dp.count(),
        visits=dp.mean("mdvis", bounds=(0, MOST), weight=2),
        no_visit=dp.mean(lambda row: dp.case((row.mdvis == 0, 1), otherwise=0), bounds=(0, 1)),
    )


def of_all(years: dp.Table) -> dp.Query:
    """What is usual, and what is much: quantiles need many rows, so they are asked of all."""
    return years.agg(visits=dp.quantile("mdvis", [0.5, 0.9], bounds=(0, MOST)))


def truth(frame: Any) -> dict[str, dict[str, float]]:
    """The exact answers. Only public data may be shown like this."""
    coins = frame["lncoins"]
    plan = coins.map(
        lambda x: "free" if x < 1 else "25 %" if x < 3.6 else "50 %" if x < 4.2 else "95 %"
    )
    groups = frame.groupby(plan.mask(frame["idp"] == 1, "deductible"))["mdvis"]
    return {
        name: {
            "years": len(visits),
            "visits": visits.mean(),
            "no_visit": (visits == 0).mean(),
            "clamped": visits.clip(upper=MOST).mean(),
        }
        for name, visits in groups
    }


def draw(result: dp.Result, exact: dict[str, dict[str, float]], epsilon: Fraction) -> Plot:
    """Mean visits and the share without any, released and true."""
    panels = [
        _panel(result, exact, "visits", "visits to a doctor in a year"),
        _panel(result, exact, "no_visit", "share of years without a visit"),
    ]
    title = "Who pays more of the bill sees the doctor less"
    below = f"Blue: released, ± 95 %, ε = {epsilon} for a person. Grey: exact (the data is public)."
    return Plot(dressed(alt.hconcat(*panels, spacing=40), title, below))


def _panel(result: dp.Result, exact: dict[str, dict[str, float]], name: str, words: str) -> Any:
    rows = [
        {
            "plan": plan,
            "value": answer.value,
            "low": answer.value - answer.error,
            "high": answer.value + answer.error,
            "exact": exact[plan][name],
        }
        for plan in PLANS
        for answer in [result.value(name, plan=plan)]
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.X(
            "plan:N",
            sort=None,
            title="plan: share that the patient pays",
            axis=alt.Axis(labelAngle=0),
        )
    )
    layers = (
        base.mark_tick(color="#8a8f98", thickness=3, size=34).encode(y="exact:Q"),
        base.mark_rule(color="#1f5fa8", strokeWidth=2).encode(
            alt.Y("low:Q", title=words), y2="high:Q"
        ),
        base.mark_circle(color="#1f5fa8", size=60, opacity=1).encode(y="value:Q"),
    )
    return alt.layer(*layers).properties(width=320, height=280)


def tell(result: dp.Result, exact: dict[str, dict[str, float]]) -> None:
    """The answer to the question, and what the bounds cost."""
    free, most = result.value("visits", plan="free"), result.value("visits", plan="95 %")
    less, error = free.value - most.value, free.error + most.error  # errors of means add up
    print(
        f"Who pays 95 % makes {less:.2f} ± {error:.2f} fewer visits a year than who pays nothing;"
    )
    print(f"exactly it is {exact['free']['visits'] - exact['95 %']['visits']:.2f}.")
    lost = max(one["visits"] - one["clamped"] for one in exact.values())
    print(f"Counting more than {MOST} visits as {MOST} takes up to {lost:.2f} off a mean.")


def main(epsilon: float = 1, picture: str = "rand_health.svg") -> dict[str, Any]:
    """Ask, release, compare; returns the result, the exact answers and the promises."""
    for_person = Fraction(str(epsilon))
    for_row = for_person / YEARS
    frame = rows()
    years = with_plan(dp.table(frame))
    session = dp.Session(years, budget=dp.Pure(for_row))
    print(f"A person has at most {YEARS} rows, one a year: ε = {for_row} a row, for all answers.\n")
    result = session.release(by_plan(years), epsilon=for_row * 3 / 4)
    overall = session.release(of_all(years), epsilon=for_row / 4)
    print(f"{result}\n\n{overall}\n")
    person = session.spent.group(YEARS)
    print(f"A row is promised {session.spent}; a person, with {YEARS} rows, {person}.")
    exact = truth(frame)
    tell(result, exact)
    draw(result, exact, for_person).save(picture)
    print(f"The picture is in {Path(picture).name}.")
    return {
        "plans": result,
        "overall": overall,
        "exact": exact,
        "row": session.spent,
        "person": person,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=1, help="promised to a person (1)")
    parser.add_argument("--picture", default="rand_health.svg", help="where the picture goes")
    given = parser.parse_args()
    if not 0 < given.epsilon < float("inf"):
        parser.error("--epsilon must be above 0 and finite")
    main(**vars(given))
