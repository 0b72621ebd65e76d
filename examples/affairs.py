"""Had you an affair? One sensitive question, asked of a trusted office and asked of nobody.

In 1974 the magazine Redbook asked its readers about their marriages; 6,366 answers of married women
were studied by Fair ("A Theory of Extramarital Affairs", Journal of Political Economy 1978) and
come with statsmodels (`statsmodels.datasets.fair`, included there with the author's permission).

There are two ways to promise privacy. *Central*: an office collects true answers and adds noise to
what it publishes. *Local*: each woman randomizes her own answer, and nobody ever holds the truth.
Both are run here on the same women with the same promise, that ε bounds what anyone can learn about
how one of them answered (relation "replace"; how many answered is public). A row is a woman.

    python examples/affairs.py
    python examples/affairs.py --epsilon 2

It needs statsmodels: pip install statsmodels
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import discreet as dp
from discreet.plot import Plot, dressed

RATINGS = ("1 very poor", "2 poor", "3 fair", "4 good", "5 very good")  # of the own marriage
JOBS = ("student", "unskilled", "white-collar", "teacher, nurse, artist", "manager", "professional")
SAID = ("no", "yes")
SPENDS = (0.1, 0.2, 0.5, 1, 2, 4)  # the ε of the comparison
REPEATS = 20  # surveys simulated for each


def rows() -> Any:
    """One row a woman: her rating, her job, years married, and whether there was an affair."""
    try:
        from statsmodels.datasets import fair
    except ModuleNotFoundError:
        raise SystemExit(
            "This example needs data of statsmodels: pip install statsmodels"
        ) from None
    frame = fair.load_pandas().data
    return frame.assign(
        rating=[RATINGS[int(code) - 1] for code in frame["rate_marriage"]],
        job=[JOBS[int(code) - 1] for code in frame["occupation"]],
        affair=np.where(frame["affairs"] > 0, "yes", "no"),
    )


def by_rating(women: dp.Table) -> dp.Query:
    """How many women rate their marriage so and had an affair, or had none: ten cells.

    A woman is in one of them. Asked for as two counts a rating, of women and of affairs, each
    would get half of ε, and twice the error.
    """
    keys = {"rating": RATINGS, "affair": SAID}
    return women.group_by("rating", "affair", keys=keys).agg(women=dp.count())


def more(women: dp.Table) -> list[dp.Query]:
    """Of those with an affair: how long they are married, and their commonest jobs."""
    with_affair = women.where(lambda row: row.affair == "yes")
    return [
        with_affair.agg(married=dp.histogram("yrs_married", edges=[0, 1, 4, 8, 15, 25])),
        with_affair.agg(jobs=dp.top_k("job", k=2, candidates=JOBS)),
    ]


def ask_each(frame: Any, epsilon: float) -> Any:
    """The same ten cells from women who randomize themselves, rating and affair as one answer.

    Asked as two questions, with half of ε each, they would have four times the error at ε = 1.
    """
    options = [f"{rating}, {said}" for rating in RATINGS for said in SAID]
    asked = "Your marriage, and had you an affair?"
    question = dp.survey.ChooseOne("both", asked, options=options, epsilon=epsilon)
    form = dp.survey.Questionnaire("Marriage", [question])
    reports = form.respond_many({"both": frame["rating"] + ", " + frame["affair"]})
    return dp.survey.collect(form, reports, about="respondents")


def shares(frame: Any, result: dp.Result, told: Any) -> list[dict[str, Any]]:
    """Women of each rating with an affair, as a share of all: central, local and exact."""
    n, found = len(frame), []
    for rating in RATINGS:
        answer = result.value("women", rating=rating, affair="yes")
        exact = float(((frame["rating"] == rating) & (frame["affair"] == "yes")).mean())
        central = np.array([answer.value, answer.value - answer.error, answer.value + answer.error])
        yes = told["both"][f"{rating}, yes"]
        reach = 1.96 * yes.standard_error
        local = [yes.value, yes.value - reach, yes.value + reach]
        for way, (value, low, high) in (("central", central / n), ("local", local)):
            place = {"rating": rating, "way": way, "exact": exact}
            found.append(place | {"value": float(value), "low": float(low), "high": float(high)})
    return found


def compare(frame: Any) -> list[dict[str, Any]]:
    """Errors of "what share had an affair?" for both ways and every ε, stated and seen."""
    affair = frame["affair"] == "yes"
    n, yes, found = len(frame), int(affair.sum()), []
    for epsilon in SPENDS:
        counting = dp.Laplace(sensitivity=1, epsilon=epsilon)
        seen = (counting.release(np.full(REPEATS, yes)) - yes) / n
        found.append(_row(epsilon, "central", counting.error(0.95) / n, seen))
        question = dp.survey.YesNo("affair", "Had you an affair?", epsilon=epsilon)
        form = dp.survey.Questionnaire("Marriage", [question])
        results = [
            dp.survey.collect(form, form.respond_many({"affair": affair}), about="respondents")
            for _ in range(REPEATS)
        ]
        answers = [result["affair"]["yes"] for result in results]
        stated = 1.96 * np.mean([answer.standard_error for answer in answers])
        seen = np.array([answer.value for answer in answers]) - yes / n
        found.append(_row(epsilon, "local", float(stated), seen))
    return found


def _row(epsilon: float, way: str, stated: float, seen: np.ndarray) -> dict[str, Any]:
    return {"epsilon": epsilon, "way": way, "stated": stated, "seen": np.abs(seen).tolist()}


def draw(found: list[dict[str, Any]], errors: list[dict[str, Any]], sampling: float) -> Plot:
    """Left the error of one share against ε, right the cross shares at one ε."""
    panels = alt.hconcat(_errors(errors, sampling), _shares(found), spacing=40)
    title = "The price of trusting nobody"
    below = [
        "Central: an office adds noise to totals. Local: each woman randomizes her own answer.",
        f"Lines: stated errors, 95 %. Dots (left): {REPEATS} runs each. Grey (right): exact.",
    ]
    return Plot(dressed(panels, title, below))


COLOURS = alt.Scale(domain=["central", "local"], range=["#1f5fa8", "#e08a1e"])


def _errors(errors: list[dict[str, Any]], sampling: float) -> Any:
    points = [
        {"epsilon": row["epsilon"], "way": row["way"], "error": 100 * max(error, 1e-4)}
        for row in errors
        for error in row["seen"]
    ]
    lines = [row | {"stated": 100 * row["stated"], "seen": None} for row in errors]
    wide = alt.Scale(type="log", domain=[0.08, 5], nice=False)
    x = alt.X("epsilon:Q", title="ε", scale=wide, axis=alt.Axis(values=SPENDS))
    colour = alt.Color("way:N", scale=COLOURS, legend=alt.Legend(orient="top", title=None))
    log = alt.Scale(type="log")
    title = "error of the share with an affair, percentage points"
    axis = alt.Axis(values=[0.01, 0.1, 1, 10, 100])
    dots = alt.Chart(alt.Data(values=points)).mark_circle(size=16, opacity=0.5)
    line = alt.Chart(alt.Data(values=lines)).mark_line(strokeWidth=2)
    limit = [{"y": 100 * sampling, "x": 0.085, "text": "sampling error"}]
    rule = alt.Chart(alt.Data(values=limit)).encode(y="y:Q")
    return alt.layer(
        dots.encode(x, alt.Y("error:Q", title=title, scale=log, axis=axis), colour),
        line.encode(x, alt.Y("stated:Q", scale=log), colour),
        rule.mark_rule(color="#8a8f98", strokeDash=[6, 4], strokeWidth=2),
        rule.mark_text(align="left", dy=10, color="#5a6470").encode(x="x:Q", text="text:N"),
    ).properties(width=320, height=300)


def _shares(found: list[dict[str, Any]]) -> Any:
    base = alt.Chart(alt.Data(values=found)).encode(
        alt.X("rating:N", title="how women rate their marriage", axis=alt.Axis(labelAngle=-30)),
    )
    title = "of all women: this rating and an affair"
    low = alt.Y("low:Q", title=title, axis=alt.Axis(format="%"))
    colour = alt.Color("way:N", scale=COLOURS)
    side = alt.XOffset("way:N")
    return alt.layer(
        base.mark_tick(color="#8a8f98", thickness=3, size=50).encode(y="exact:Q"),
        base.mark_rule(strokeWidth=2).encode(low, alt.Y2("high:Q"), colour, side),
        base.mark_circle(size=60, opacity=1).encode(alt.Y("value:Q"), colour, side),
    ).properties(width=360, height=300)


def main(epsilon: float = 1, picture: str = "affairs.svg") -> dict[str, Any]:
    """Ask the office, ask each woman, compare; returns what was found."""
    frame = rows()
    n = len(frame)
    women = dp.table(frame, relation="replace")
    session = dp.Session(women, budget=dp.Pure(2 * epsilon))
    print(f"{n:,} women. Central: an office has the answers, ε = {epsilon} for this table.\n")
    table = session.release(by_rating(women), epsilon=epsilon)
    print(f"{table}\n")
    print("Of those who rate their marriage so, had an affair:")
    for rating, share, error in _ratios(table):
        print(f"  {rating:<12} {100 * share:5.1f} % ± {100 * error:.1f}")
    for query in more(women):
        print(f"\n{session.release(query, epsilon=epsilon / 2)}")
    print(f"\nThe office spent {session.spent} in all.\n")
    print(f"Local: nobody has the answers, ε = {epsilon} for the same table.\n")
    each = ask_each(frame, epsilon)
    print(f"{each}\n")
    errors = compare(frame)
    share = float((frame["affair"] == "yes").mean())
    sampling = 1.96 * float(np.sqrt(share * (1 - share) / n))
    tell(errors, sampling, n)
    found = shares(frame, table, each)
    draw(found, errors, sampling).save(picture)
    print(f"The picture is in {Path(picture).name}.")
    return {
        "frame": frame,
        "table": table,
        "each": each,
        "shares": found,
        "errors": errors,
        "spent": session.spent,
    }


def _ratios(table: dp.Result) -> list[tuple[str, float, float]]:
    """Yes over no and yes, with the error that follows from both."""
    cells = {said: [table.value("women", rating=r, affair=said) for r in RATINGS] for said in SAID}
    no, yes = (
        dp.Released.independent(said, [one.value for one in column], [one.error for one in column])
        for said, column in cells.items()
    )
    ratio = yes / (no + yes)
    return list(zip(RATINGS, ratio.values, ratio.errors, strict=True))


def tell(errors: list[dict[str, Any]], sampling: float, n: int) -> None:
    """Stated errors side by side, and how many women the local way would need."""
    print("What share had an affair? ± 95 %, in percentage points")
    print("     ε   central    local   women needed for local to be as good")
    by = {(row["way"], row["epsilon"]): row["stated"] for row in errors}
    for epsilon in SPENDS:
        central, local = by["central", epsilon], by["local", epsilon]
        needed = n * (local / central) ** 2  # its error falls with the root of their number
        print(f"{epsilon:>6} {100 * central:>9.3f} {100 * local:>8.2f}   {needed:>14,.0f}")
    print(f"Who happened to be asked moves the share by ± {100 * sampling:.2f}, privacy or not.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=1, help="of each table (1)")
    parser.add_argument("--picture", default="affairs.svg", help="where the picture goes")
    given = parser.parse_args()
    if not 0 < given.epsilon < float("inf"):
        parser.error("--epsilon must be above 0 and finite")
    main(**vars(given))
