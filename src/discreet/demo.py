"""The main job, end to end, on bundled data: ``make demo`` or ``python -m discreet.demo``.

5,000 invented patients, one row each. The questions are fixed beforehand, so are the bounds
and the list of wards; the neighbour relation is add-remove: whether any one patient is in the
table at all is what stays hidden.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

import discreet as dp

WARDS = ("cardiology", "maternity", "oncology", "orthopaedics", "paediatrics", "surgery")
DAYS = (0, 30)
# Lists of possible answers are public and fixed: taking them from the data would tell on it.
DIAGNOSES = (
    *("appendix", "arrhythmia", "asthma", "birth", "breast", "colon", "fever", "fracture"),
    *("gall bladder", "heart failure", "hernia", "hip", "infarction", "knee", "lung"),
    "observation",
)


@dataclass(frozen=True)
class Line:
    """One line of the table: what was asked, what came out, how sure it is, what it cost."""

    question: str
    released: str
    error: str
    spent: str


def visits() -> list[dict[str, str]]:
    """Read the bundled table."""
    with resources.files("discreet").joinpath("data/visits.csv").open() as file:
        return list(csv.DictReader(file))


def patients_by_ward(rows: list[dict[str, str]], epsilon: Fraction) -> list[Line]:
    """A histogram: each patient is in one ward, so all counts together cost ε once."""
    sensitivity = dp.sensitivity.histogram(relation="add-remove").l1
    mechanism = dp.Laplace(sensitivity=sensitivity, epsilon=epsilon)
    counts = Counter(row["ward"] for row in rows)
    released = mechanism.release([counts[ward] for ward in WARDS])
    error = f"± {mechanism.error():.0f}"
    lines = [
        Line(f"patients, {ward}", str(n), error, "")
        for ward, n in zip(WARDS, released, strict=True)
    ]
    lines[0] = Line(lines[0].question, lines[0].released, error, f"ε = {float(epsilon):g}")
    return lines


def days_in_hospital(rows: list[dict[str, str]], epsilon: Fraction) -> Line:
    """A bounded sum: stays are clamped to 30 days, so one patient moves it by at most 30."""
    sensitivity = dp.sensitivity.bounded_sum(bounds=DAYS, relation="add-remove").l1
    mechanism = dp.Laplace(sensitivity=sensitivity, epsilon=epsilon)
    total = sum(min(max(int(row["days"]), DAYS[0]), DAYS[1]) for row in rows)
    return Line(
        "days in hospital, all stays",
        str(mechanism.release(total)),
        f"± {mechanism.error():.0f}",
        f"ε = {float(epsilon):g}",
    )


def patients_by_decade(rows: list[dict[str, str]], rho: Fraction) -> list[Line]:
    """Ten counts with Gaussian noise, which is calibrated to the smaller L2 sensitivity."""
    sensitivity = dp.sensitivity.histogram(relation="add-remove").l2
    mechanism = dp.Gaussian(sensitivity=sensitivity, rho=rho)
    counts = Counter(min(int(row["age"]) // 10, 9) for row in rows)
    released = mechanism.release([counts[decade] for decade in range(10)])
    lines = [
        Line(f"patients aged {10 * d} to {10 * d + 9}", str(n), f"± {mechanism.error():.0f}", "")
        for d, n in enumerate(released)
    ]
    spent = f"ρ = {float(rho):g}  (ε = {mechanism.guarantee.epsilon(1e-6):.2f} at δ = 1e-6)"
    lines[0] = Line(lines[0].question, lines[0].released, lines[0].error, spent)
    return lines


def commonest_diagnosis(rows: list[dict[str, str]], epsilon: Fraction) -> Line:
    """Only the name of the largest count is published, so its noise is small."""
    counts = Counter(row["diagnosis"] for row in rows)
    mechanism = dp.NoisyMax(sensitivity=1, epsilon=epsilon, monotone=True)
    winner = mechanism.release([counts[diagnosis] for diagnosis in DIAGNOSES])
    short = mechanism.error(candidates=len(DIAGNOSES))
    within = f"best − {short:.0f}"  # how many patients fewer than the commonest one may have
    return Line("commonest diagnosis", DIAGNOSES[winner], within, f"ε = {float(epsilon):g}")


def smokers(rows: list[dict[str, str]], epsilon: Fraction) -> Line:
    """Randomized response: each patient's own answer is flipped before anybody sees it."""
    mechanism = dp.RandomizedResponse(epsilon=epsilon)
    estimate = mechanism.estimate(mechanism.release([int(row["smoker"]) for row in rows]))
    return Line(
        "share of smokers, each answer flipped at home",
        f"{estimate.value:.3f}",
        f"± {mechanism.error(respondents=len(rows)):.3f}",
        f"ε = {float(epsilon):g} (local)",
    )


def table(lines: list[Line]) -> str:
    """Lay the lines out in columns."""
    head = Line("question", "released", "error (95 %)", "spent")
    rows = [(x.question, x.released, x.error, x.spent) for x in [head, *lines]]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    text = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip()
        for row in rows
    ]
    return "\n".join([text[0], "-" * len(max(text, key=len)), *text[1:]])


def main() -> None:
    """Ask, release, print."""
    rows = visits()
    by_ward, by_days, by_diagnosis = Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)
    rho, local = Fraction(1, 50), Fraction(1)
    lines = [
        *patients_by_ward(rows, by_ward),
        days_in_hospital(rows, by_days),
        commonest_diagnosis(rows, by_diagnosis),
        *patients_by_decade(rows, rho),
        smokers(rows, local),
    ]
    epsilon = by_ward + by_days + by_diagnosis  # pure promises add up
    print("Hospital visits: one row a patient, relation add-remove. Every run draws new noise.\n")
    print(table(lines))
    print(
        f"\nTogether they cost a patient ε = {float(epsilon):g} and ρ = {float(rho):g}.\n"
        f"The smoking answers were randomized before they were collected, for ε = {float(local):g}"
        " more;\nhow many people answered is public there."
    )


if __name__ == "__main__":
    main()
