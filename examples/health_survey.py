"""A health survey whose organisers never learn anybody's answer.

A health authority asks who smokes, where people live and how many days they were off sick. Nobody
likes to tell. So each answer is randomized on its owner's device, before it is sent: the one about
smoking by the two coins of the textbook. The crowd's answer is still in the reports. This script
goes the way of a survey team: plan, page, reports in files, estimates.

    python examples/health_survey.py
    python examples/health_survey.py --respondents 100000

The respondents are invented, so the truth is known and can be put beside the estimates.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import discreet as dp
from discreet.plot import Plot, dressed

LIVE = {"north": 0.35, "east": 0.3, "south": 0.2, "west": 0.15}  # shares of the population
SMOKE = {"north": 0.32, "east": 0.18, "south": 0.24, "west": 0.21}  # and of each region


def questionnaire() -> dp.survey.Questionnaire:
    """Three questions, each with its own promise; what they tell about a person adds up."""
    questions = [
        dp.survey.YesNo("smoker", "Do you smoke?", truth=0.5),  # heads: the truth; tails: a coin
        dp.survey.ChooseOne("region", "Where do you live?", options=list(LIVE), epsilon=2),
        dp.survey.Number("sick", "Days off sick?", bounds=(0, 40), unit="days", epsilon=1),
    ]
    return dp.survey.Questionnaire("Health in our country", questions)


def invent(respondents: int) -> dict[str, np.ndarray]:
    """True answers, which in a real survey nobody but their owners would ever see."""
    draw = np.random.default_rng(2026)
    region = draw.choice(list(LIVE), respondents, p=list(LIVE.values()))
    smoker = draw.random(respondents) < np.array([SMOKE[name] for name in region])
    sick = np.minimum(draw.poisson(np.where(smoker, 11, 8)), 40)
    return {"smoker": smoker, "region": region, "sick": sick}


def send(form: dp.survey.Questionnaire, answers: dict[str, Any], folder: Path) -> list[Path]:
    """Every device randomizes and sends; the team finds the reports in a file a week."""
    files = []
    for week, part in enumerate(np.array_split(np.arange(len(answers["smoker"])), 4), start=1):
        reports = form.respond_many({name: column[part] for name, column in answers.items()})
        files.append(reports.write(folder / f"week-{week}.jsonl"))
    with files[-1].open("a") as last:  # reports come over a network, and not all are reports
        last.write('{"survey": "another one", "id": "1", "smoker": 1}\nhello\n')
    return files


def collect(form: dp.survey.Questionnaire, files: list[Path]) -> Any:
    """Count all files once, with the pairs of answers that were asked for beforehand."""
    collector = dp.survey.Collector(form, cross=[("region", "smoker")])
    for file in files:
        collector.add(file)
    return collector.result(confidence=0.95)


def compare(result: Any) -> list[dict[str, Any]]:
    """A row for each share: estimate, interval, and the truth of the invented population."""
    smokers = sum(LIVE[name] * SMOKE[name] for name in LIVE)
    estimates = [("smoker", result["smoker"].to_arrow().to_pylist(), {"yes": smokers})]
    estimates.append(("lives in the", result["region"].to_arrow().to_pylist(), LIVE))
    cross = result.cross("region", "smoker").to_arrow().to_pylist()
    both = [{**row, "answer": row["region"]} for row in cross if row["smoker"] == "yes"]
    estimates.append(("smoker in the", both, {name: LIVE[name] * SMOKE[name] for name in LIVE}))
    return [
        {
            "who": who if row["answer"] == "yes" else f"{who} {row['answer']}",
            **{name: row[name] for name in ("estimate", "low", "high")},
            "truth": truth[row["answer"]],
        }
        for who, rows, truth in estimates
        for row in rows
        if row["answer"] in truth
    ]


def draw(rows: list[dict[str, Any]], respondents: int) -> Plot:
    """Estimates with their intervals, and the truth as a tick."""
    base = alt.Chart(alt.Data(values=rows)).encode(alt.Y("who:N", sort=None, title=None))
    axis = alt.Axis(format="%")
    share = {"title": "share of the population", "axis": axis}
    layers = (
        base.mark_rule(color="#1f5fa8", strokeWidth=2).encode(alt.X("low:Q", **share), x2="high:Q"),
        base.mark_circle(color="#1f5fa8", size=70, opacity=1).encode(x="estimate:Q"),
        base.mark_tick(color="#8a8f98", thickness=3, size=22).encode(x="truth:Q"),
    )
    below = f"Blue: estimates and 95 % intervals from {respondents:,} reports. Grey: the truth."
    chart = alt.layer(*layers).properties(width=460, height=30 * len(rows))
    return Plot(dressed(chart, "The crowd's answers, from randomized ones", below))


def main(respondents: int | None = None, picture: str = "health_survey.svg") -> Any:
    """Plan, ask, collect and compare; returns the result and the rows of the picture."""
    form = questionnaire()
    plan = dp.survey.plan(form, half_width=0.02)
    print(f"How many people must answer?\n\n{plan}\n")
    dp.survey.write_page(form, Path(picture).with_suffix(".html"))
    print(f"The page that asks them, with no server: {Path(picture).with_suffix('.html').name}\n")
    answers = invent(plan.respondents if respondents is None else respondents)
    with tempfile.TemporaryDirectory() as folder:
        files = send(form, answers, Path(folder))
        print(f"A report as it arrives:\n{files[0].read_text().splitlines()[0]}\n")
        result = collect(form, files)
    print(f"{result}\n\n{result.cross('region', 'smoker')}\n")
    rows = compare(result)
    held = sum(row["low"] <= row["truth"] <= row["high"] for row in rows)
    print(f"The truth lies in {held} of {len(rows)} intervals about shares.")
    print("Each holds 19 times in 20 by itself, so now and then one of them misses.")
    draw(rows, result.respondents).save(picture)
    print(f"The picture is in {Path(picture).name}.")
    return result, rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--respondents", type=int, help="how many answer (as many as planned)")
    parser.add_argument("--picture", default="health_survey.svg", help="where the picture goes")
    given = parser.parse_args()
    if given.respondents is not None and given.respondents < 4:
        parser.error("--respondents must be 4 or above: one a week")
    if given.picture.endswith(".html"):
        parser.error("--picture must end in .svg or .png: the page has the same name in .html")
    main(**vars(given))
