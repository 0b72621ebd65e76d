"""``make lectures``: the report is complete, and every number in it is right.

Each printed number has an oracle here: mpmath, SciPy's quadrature or a closed form, and nothing
of the package.
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from math import comb, e, erfc, exp, inf, isclose, log, sqrt, tanh

import pytest
from mpmath import erf, mp, mpf, ncdf
from scipy.integrate import quad
from scipy.optimize import brentq

from lectures import oracles
from lectures.__main__ import main
from lectures.claim import Check, ClaimReport
from lectures.report import Report, report

NUMBER = re.compile(r"∞|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:/\d+)?")


STEPS: list[tuple[float, str]] = []


def adaptive_width(n: int, k: int, beta: float, sigma: float) -> float:
    """Worst cases of the largest of k errors, and of the drift: means beyond quantiles."""
    one = -math.expm1(log(1 - beta) / k)
    start = brentq(lambda x: erfc(x / sqrt(2)) - one, 0, 20)
    beyond, _ = quad(lambda x: 1 - (1 - erfc(x / sqrt(2))) ** k, start, start + 12, epsabs=1e-13)
    mu = sqrt(k) / (n * sigma)
    # E[e^(μz − μ²/2) | z > u] − 1 with P(z > u) = β: what δ(ε)/β + e^ε − 1 is at its least
    cut = brentq(lambda z: normal(-z) - beta, 0, 10)
    return sigma * (start + beyond / beta) + normal(mu - cut) / beta - 1


def splitting_error(size: int, k: int, beta: float) -> float:
    """Where the four terms of the relative entropy reach what a part of this size needs."""
    one = -math.expm1(log(1 - beta) / k)

    def entropy(t: float) -> float:
        return 2 * t**2 + 4 * t**4 / 9 + 32 * t**6 / 135 + 7072 * t**8 / 42525

    return brentq(lambda t: size * entropy(t) - log(2 / one), 1e-9, 1)


@pytest.fixture(scope="module")
def made() -> Report:
    return report(progress=lambda done, words: STEPS.append((done, words)))


# -- oracles ---------------------------------------------------------------------------------------


def normal(z: float) -> float:
    return float(ncdf(z))


def gaussian_delta(mu: object, epsilon: object) -> float:
    """Balle and Wang (2018), Theorem 5."""
    with mp.workdps(60):
        m, x = mpf(mu), mpf(epsilon)
        return float(ncdf(m / 2 - x / m) - mp.exp(x) * ncdf(-m / 2 - x / m))


def classic_mu(constant: float, epsilon: int, delta: str) -> object:
    with mp.workdps(60):
        return mpf(epsilon) / mp.sqrt(2 * mp.log(mpf(constant) / mpf(delta)))


def least_sigma(epsilon: int, delta: str) -> float:
    return brentq(lambda s: gaussian_delta(1 / s, epsilon) / float(delta) - 1, 1, 10, xtol=1e-12)


def deviation(sigma: float, dimension: int) -> float:
    """Rounded to whole numbers: the variance grows by a twelfth."""
    return sqrt(dimension * sigma**2 + 1 / 12)


def hundred_answers() -> float:
    """ε at δ = 1e-5 of 100 randomized responses with ε = 0.1, by bisection on the binomial sum."""
    p = 1 / (1 + exp(-0.1))

    def delta(x: float) -> float:
        total = 0.0
        for k in range(101):
            loss = 0.1 * (2 * k - 100)
            mass = comb(100, k) * p**k * (1 - p) ** (100 - k)
            total += max(0.0, mass * (1 - exp(x - loss)))
        return total

    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > 1e-5 else (low, middle)
    return high


def wins(scores: tuple[int, ...], index: int, scale: float) -> float:
    """P(index has the largest score after Laplace noise), by quadrature."""

    def density(y: float) -> float:
        value = exp(-abs(y - scores[index]) / scale) / (2 * scale)
        for j, score in enumerate(scores):
            z = (y - score) / scale
            value *= 1 if j == index else (exp(z) / 2 if z < 0 else 1 - exp(-z) / 2)
        return value

    knots = sorted({*map(float, scores)})
    ends = [knots[0] - 60, *knots, knots[-1] + 60]
    return sum(quad(density, a, b, epsabs=1e-14, epsrel=1e-12)[0] for a, b in pairwise(ends))


def max_loss(x: tuple[int, ...], y: tuple[int, ...], scale: float = 1) -> float:
    different = {(a, b): i for i, (a, b) in enumerate(zip(x, y, strict=True))}.values()
    return max(abs(log(wins(x, i, scale) / wins(y, i, scale))) for i in different)


def added_loss(k: int) -> float:
    """The leader alone, all but the leader, or all move up."""
    counts = (3, *[2] * (k - 1))
    moves = [(1, *[0] * (k - 1)), (0, *[1] * (k - 1))]  # all together change nothing
    return max(max_loss(counts, tuple(map(sum, zip(counts, m, strict=True)))) for m in moves)


def largest_error(candidates: int) -> float:
    """The x for which K − 1 times P(a difference of two Laplace draws exceeds x) is 5 %."""
    root = brentq(lambda x: (candidates - 1) * (1 + x / 2) * exp(-x) / 2 / 0.05 - 1, 1, 100)
    return root / log(2)


def restricted_loss(n: int, epsilon: float, a: float = 0, share: float = 1) -> float:
    """ln p(1)/p₀(1) of the densities ∝ e^(−(nε/2)(c − l)²) on [0, 1] around a + share/n and a."""
    with mp.workdps(40):
        root, h = mp.sqrt(n * mpf(epsilon) / 2), mpf(share) / n

        def inside(c: object) -> object:
            return erf(root * (1 - c)) + erf(root * c)

        squares = (1 - mpf(a)) ** 2 - (1 - a - h) ** 2
        return float(n * mpf(epsilon) / 2 * squares - mp.log(inside(a + h) / inside(a)))


def gaussian_tv(mu: float) -> float:
    return 2 * normal(mu / 2) - 1


@pytest.fixture(scope="module")
def expected() -> dict[int, dict[str, tuple[float, ...]]]:
    """Claim → name of the number (its beginning) → what is printed, as numbers."""
    return {
        1: {
            "TV of randomized response": (tanh(0.5),),
            "TV of discrete Laplace": (tanh(0.5),),
            "TV of Gaussian noise": (gaussian_tv(1),),
            "TV of (0.6": (0.3,),
            "TV of Pure": (tanh(0.5),),
            "TV of Approx": (1e-5 + (1 - 1e-5) * tanh(0.5),),
            "TV of ZCDP": (0.5,),
            "TV of GDP": (gaussian_tv(1),),
            "TV of TotalVariation": (0.25,),
            "TV of BoundedRange": (tanh(0.25),),
            "TV of LaplacePair": (1 - exp(-0.5),),
        },
        2: {
            "sd of an answer": (0.05,),
            "μ of one answer": (0.2,),
            "TV of one answer": (gaussian_tv(0.2),),
            "TV of three answers": (gaussian_tv(0.2 * sqrt(3)),),
        },
        3: {
            "exact TV, m = 100": (gaussian_tv(0.2),),
            "bound, scan 002": (1 / (sqrt(2 * math.pi) * 5),),
            "misprint, scan 000": (1 / sqrt(2 * math.pi * 5),),
            "exact TV, m = 10,": (gaussian_tv(2),),
            "misprint, m = 10,": (1 / sqrt(2 * math.pi * 0.5),),
            "witness at m = 10": (normal(1), normal(-1)),
        },
        4: {"laws (0.6": (log(4),), "Laplace densities": (1,), "normal densities": (inf,)},
        5: {
            "ε of randomized response": (1, 1, 1),
            "ε of the same with four": (1, 1, 1),
            "ε of discrete Laplace": (1, 1, 1),
        },
        6: {"sd of an answer": (sqrt(2) / 100,), "TV of an answer": (1 - exp(-0.5),)},
        7: {
            "TV at ε = 0.1": (tanh(0.05), (exp(0.1) - 1) / 2),
            "TV at ε = 1": (tanh(0.5), (e - 1) / 2),
            "TV at ε = ln 3": (0.5, 1),
        },
        8: {"P(loss > 1)": (normal(-0.5),), "δ(1), σ": (gaussian_delta(1, 1),)},
        9: {
            "Δ of a sum in [−3, 1], add-remove": (3,),
            "Δ of a sum in [−3, 1], replace": (4,),
            "Δ₁ and Δ₂ of two counts": (2, sqrt(2)),
            "Δ found where 1": (3,),
        },
        10: {"E|Z|": (2.5,), "Var Z": (12.5,)},
        11: {f"exact tail at t = {t}": (erfc(t / sqrt(2)),) for t in (1, 2, 5)},
        12: {
            "true δ at": (gaussian_delta(classic_mu(2, 10, "1e-5"), 10),),
            "the same with ln(1.25/δ)": (gaussian_delta(classic_mu(1.25, 10, "1e-5"), 10),),
            "classic σ": (sqrt(2 * log(2e6)),),
            "least σ": (least_sigma(1, "1e-6"),),
        },
        13: {
            **{
                f"sd of the noise, d = {d}": (
                    deviation(least_sigma(1, "1e-5"), d),
                    sqrt(2) * d,
                )
                for d in (1, 10, 100, 1000)
            },
            "ε of 100 answers": (hundred_answers(),),
        },
        14: {
            "ε at q = 1/4": (5 / 3, log(5 / 3)),
            "ε at q = 1/2": (3, log(3)),
            "ε at q = 3/4": (7, log(7)),
        },
        15: {
            "E of the estimate": (0.3,),
            "95 % half-width": (1.959963984540054 * 0.5 / sqrt(10_000) / 0.5,),
        },
        16: {f"posterior after a yes, r = {r}": (3 * r / (1 + 2 * r),) for r in (0.01, 0.1, 0.5)},
        17: {
            "ε for 2 people": (2,),
            "ε for 3 people": (3,),
            "δ at ε = 2 for 2 people": (0.01 * (1 + e),),
        },
        18: {
            "Δ of a proportion": (1 / 4,),
            "Δ₁ of a histogram, replace": (2,),
            "Δ₁ of a histogram, add-remove": (1,),
        },
        19: {
            "sd of each of 2·10⁶ counts": (sqrt(2) * 2e6 / log(2),),
            "sd of each of 10 counts": (sqrt(2) * 10 / log(2),),
            "95 % error of the largest": (largest_error(2 * 10**6),),
        },
        20: {
            "loss on (3, 2), K = 2": (added_loss(2),),
            **{f"loss on (3, 2, …, 2), K = {k}": (added_loss(k),) for k in (10, 20)},
            # the one that is 1000 behind falls to 1001: 1 + log((1 + 1000/2)/(1 + 1001/2))
            "loss on (0, 1000), (0, 1001)": (1 + log(501 / 501.5),),
            # of two candidates, the one behind by g wins with probability (1 + g/2)·e^(−g)/2
            "loss on (9, 1)": (2 + log(5 / 6),),
            "loss on (6, 0": (max_loss((6, 0, 0, 0, 0), (7, -1, 1, 1, 1)),),
            "the same at scale 2/ε": (max_loss((6, 0, 0, 0, 0), (7, -1, 1, 1, 1), 2),),
        },
        21: {
            "loss on (9, 1)": (log((1 + exp(5)) / (1 + exp(4))),),
            "loss on (3, 1), (4, 0) without": (log((1 + exp(4)) / (1 + exp(2))),),
        },
        22: {"scale": (0.02,), "loss of two means": (0.5,)},
        23: {
            "Δu on [0, 1], n = 50": ((2 - 1 / 50) / 50,),
            "Δu on [0, 1], n = 10": ((2 - 1 / 10) / 10,),
            "Δu for l in [−1000": (0.1 * (2 * 0.9 + 0.1 + 2000),),
            "largest loss of N": (inf,),
            "witness at n = 1": (normal(-0.5), normal(-1.5)),
            "δ(ε) of N": (gaussian_delta(1, 1), gaussian_delta("0.1", 1)),
            **{
                f"loss on [0, 1], n = {n}, ε": (restricted_loss(n, epsilon) / epsilon,)
                for n, epsilon in ((100, 1), (10, 2), (100000, 1))
            },
            "margin": ((1 - restricted_loss(10**5, 1)) * sqrt(10**5),),
        },
        24: {
            "off by": (3 / 8,),
            "TV stability of 1,000": (gaussian_delta(sqrt(1000) / (10**5 * 0.0125), 0),),
            "error of all": (adaptive_width(10**5, 1000, 0.05, 0.0125),),
            "the same by splitting": (splitting_error(100, 1000, 0.05),),
        },
    }


def printed(text: str) -> tuple[float, ...]:
    """The numbers in a printed value; 99/2500 is one of them."""

    def read(word: str) -> float:
        top, _, bottom = word.partition("/")
        return inf if word == "∞" else float(top) / float(bottom or 1)

    return tuple(map(read, NUMBER.findall(text)))


@pytest.mark.parametrize("number", range(1, 25))
def test_every_printed_number_is_right(made: Report, expected, number: int) -> None:
    """Catches a formula, a law or a rounding that is off, and a number without an oracle."""
    left = dict(expected[number])
    for measured in made.claims[number - 1].numbers:
        (name,) = [n for n in left if measured.name.startswith(n)] or [None]
        if name is None:
            assert measured.name.startswith("witness at (10, 1e-5)"), measured.name
            continue
        found, wanted = printed(measured.value), left.pop(name)
        assert len(found) == len(wanted), measured
        for a, b in zip(found, wanted, strict=True):  # six digits are printed
            assert a == b or isclose(a, b, rel_tol=1e-5), measured
    assert not left


def test_the_witness_of_claim_12_breaks_it(made: Report) -> None:
    """Catches an event that does not show what it is printed for: p − e^10·q > 1e-5."""
    (witness,) = [m for m in made.claims[11].numbers if m.name.startswith("witness")]
    p, q = printed(witness.value)
    assert p - exp(10) * q > 1e-5
    with mp.workdps(40):
        sigma = 1 / classic_mu(2, 10, "1e-5")
        cut = mpf(re.search(r"at most (-[\d.]+)", witness.name)[1])
        assert isclose(p, float(ncdf(cut / sigma)), rel_tol=1e-4)
        assert isclose(q, float(ncdf((cut - 1) / sigma)), rel_tol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5, 100])
@pytest.mark.parametrize("epsilon", [0.01, 1, 30])
def test_claim_23_the_worst_means_are_0_and_1_over_n(n: int, epsilon: float) -> None:
    """Catches a gap in the proof that the restricted density is ε-DP for every n and ε: the loss
    falls with the mean, grows with the move, and is at most ε(1 − 1/(2n))."""
    worst = restricted_loss(n, epsilon)
    assert 0 < worst <= epsilon * (1 - 1 / (2 * n)) * (1 + 1e-15)
    starts = [(1 - 1 / n) * k / 8 for k in range(9)]
    by_start = [restricted_loss(n, epsilon, a) for a in starts]
    by_move = [restricted_loss(n, epsilon, 0, k / 8) for k in range(9)]
    assert by_start == sorted(by_start, reverse=True) and by_move == sorted(by_move)
    assert max(by_start) == max(by_move) == worst


# -- the report as a whole -------------------------------------------------------------------------


def test_all_24_claims_in_order(made: Report) -> None:
    """Catches a claim that is missing, twice or misnumbered."""
    assert [claim.number for claim in made.claims] == [*range(1, 25)]
    for claim in made.claims:
        assert claim.statement and claim.source and claim.checks and claim.numbers


def test_progress_is_told(made: Report) -> None:
    """Catches a bar that stands still, or runs past its end."""
    assert [words for _, words in STEPS] == [f"claim {claim.number}" for claim in made.claims]
    assert [done for done, _ in STEPS] == [k / 24 for k in range(24)]


def test_two_claims_are_wrong_as_written(made: Report) -> None:
    """Catches a verdict that flips: only the misprint of 3 and the squares of 23 are wrong."""
    verdicts = {claim.number: claim.verdict for claim in made.claims}
    assert {n for n, verdict in verdicts.items() if verdict != "holds"} == {3, 23}
    assert verdicts[3] == verdicts[23] == "corrected"
    assert made.summary == ("22 of 24 claims hold. Wrong as written: 3, 23; corrected: 2 of 2.")


def test_both_faults_of_claim_23_are_found(made: Report) -> None:
    """Wrong twice: Δu on [0, 1] and over ℝ, and the normal output; all corrections hold."""
    claim = made.claims[22]
    assert [check.passed for check in claim.checks if not check.corrects] == [False] * 3
    assert all(check.passed for check in claim.checks if check.corrects)


def test_lines_fit_and_say_what_failed(made: Report) -> None:
    """Catches a line wider than 100 characters, and a failed check that is not marked."""
    lines = str(made).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum("wrong as written, corrected" in line for line in lines) == 2
    failed = [c for claim in made.claims for c in claim.checks if not c.passed]
    assert sum(line.startswith("  ✗ ") for line in lines) == len(failed) == 4
    for number in range(1, 25):
        assert any(line.startswith(f"Claim {number}  (") for line in lines)


def test_json_says_the_same(made: Report) -> None:
    """Catches a field that is only printed."""
    document = json.loads(made.to_json())
    assert document["summary"] == made.summary
    for claim, written in zip(made.claims, document["claims"], strict=True):
        assert (claim.number, claim.source, claim.statement) == (
            written["number"],
            written["source"],
            written["statement"],
        )
        assert written["verdict"] == claim.verdict and written["note"] == claim.note
        assert [tuple(m.values()) for m in written["numbers"]] == list(claim.numbers)
        assert [c["passed"] for c in written["checks"]] == [c.passed for c in claim.checks]


def test_the_same_report_each_time() -> None:
    """Catches noise that is printed: the one claim that draws any is the same twice."""
    assert oracles.gaussian_oracle() == oracles.gaussian_oracle()


@pytest.mark.parametrize(
    "spread, false", [(0.159, False), (0.161, True), (0.904, True), (0.906, False)]
)
def test_claim_03_is_false_where_the_note_says(spread: float, false: bool) -> None:
    """Catches a range of mσ in the note of claim 3 that is not the true one."""
    printed = 1 / math.sqrt(2 * math.pi * spread)
    true = 2 * float(ncdf(1 / (2 * spread))) - 1
    assert (printed < true) == false


def test_the_command_tells_a_claim_that_went_wrong(monkeypatch, capsys) -> None:
    """Catches a claim that fails and ends as done. (The whole report runs above.)"""

    def claims(*, passed: bool) -> Report:
        check = Check("x is below 1", passed)
        one = ClaimReport(number=1, source="nowhere", statement="x < 1", checks=(check,))
        return Report((one,))

    monkeypatch.setattr("lectures.report.report", lambda: claims(passed=True))
    assert main([]) == 0
    assert main(["--json"]) == 0
    assert '"verdict": "holds"' in capsys.readouterr().out
    monkeypatch.setattr("lectures.report.report", lambda: claims(passed=False))
    assert main([]) == 1
    assert "wrong as written" in capsys.readouterr().out
