"""What a guarantee says in words: true, complete and readable."""

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Failing,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
)
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.key_discovery import KeyPair

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
sizes = st.fractions(Fraction(1, 1000), 30, max_denominator=1000)

COMPOSITIONS = [
    compose([LaplacePair(1), GDP(1)]),
    compose([Pure(1), Approx("1/2", "1e-5"), GDP(1)]),
    compose([LaplacePair(1), LaplacePair("1/2")]),
    Pure("0.1").repeat(100),
    LaplacePair("0.1").repeat(1000),
    Approx(1, "1e-3").repeat(30),
    SampledPair(GDP(1), "0.01").repeat(10_000),
    SampledPair(GDP(1), "0.1").add.repeat(100),
    compose([TotalVariation(1), GDP(1)]),
]
SINGLE = [
    Pure(1),
    Approx(1, "1e-5"),
    ZCDP("1/2"),
    GDP(1),
    TotalVariation("1/4"),
    LaplacePair(1),
    LaplacePair(1, 10),
    BoundedRange(1),
    ResponsePair(1, 10),
    SampledPair(GDP(1), "0.01"),
    SampledPair(Approx(1, "1e-5"), "1/2"),
    SampledPair(LaplacePair(1), "0.1").add,
    Least([Pure(2), GDP(1)]),
    Failing(GDP(1), "1e-6"),
    GroupPrivacy(SampledPair(GDP(1), "0.1"), 3),
    KeyPair(coins=[(0, "0.01")], base=Pure(1)),
    LossDistribution.from_laws([0.5, 0.5, 0.0], [0.25, 0.7, 0.05]),
]
EXTREMES = [
    *(notion(0) for notion in (Pure, ZCDP, GDP, TotalVariation, LaplacePair, BoundedRange)),
    *(notion(1000) for notion in (Pure, ZCDP, GDP, LaplacePair, BoundedRange)),
    *(notion("1e-300") for notion in (Pure, ZCDP, GDP, LaplacePair, BoundedRange)),
    *(notion("1e300") for notion in (Pure, ZCDP, GDP, LaplacePair, BoundedRange)),
    TotalVariation(1),
    TotalVariation("1e-300"),
    TotalVariation("0.9999999"),
    Approx(1, 1),
    Approx(0, "1e-9"),
    Approx(1000, "1/2"),
    ResponsePair(1000, 2),
    ResponsePair("1e-9", 10**6),
    SampledPair(GDP(1000), "1e-9"),
    SampledPair(Pure(1000), 1),
    SampledPair(GDP(1), 0),
]


def percentages(line: str) -> list[Fraction]:
    return [Fraction(p) / 100 for p in re.findall(r"([\d.]+) %", line)]


def beliefs(words: str) -> list[Fraction]:
    """The three posteriors: the line names three priors as well."""
    (line,) = (line for line in words.splitlines() if line.startswith("Somebody"))
    first, after, second, after_second, third, after_third = percentages(line)
    assert (first, second, third) == PRIORS
    return [after, after_second, after_third]


def hit_rate(words: str) -> Fraction:
    (line,) = (line for line in words.splitlines() if line.startswith("An attacker"))
    false_alarms, hits = percentages(line)
    assert false_alarms == Fraction(1, 100)
    return hits


def headline(words: str) -> tuple[Fraction, Fraction]:
    """ε and the chance set aside, as a reader takes them from the page."""
    found = re.match(r"ε = ([\d,.]+)(?: but for a chance of (?:1 in ([\d,]+)|([\d.]+) %))?:", words)
    assert found is not None, words
    epsilon = Fraction(found[1].replace(",", ""))
    if found[2]:
        return epsilon, 1 / Fraction(found[2].replace(",", ""))
    return epsilon, Fraction(found[3]) / 100 if found[3] else Fraction(0)


def test_every_sentence_once():
    """The whole text of a simple case: catches whatever the other tests do not look at."""
    assert Pure(1).describe().splitlines() == [
        "ε = 1: whatever comes out is at most 2.72 times as likely with your data as without it, "
        "so you can always say that it came about without you.",
        "Somebody who is 1 % sure that your data was used is at most 2.68 % sure after seeing the "
        "result; 10 % becomes at most 23.2 %, and 50 % at most 73.2 %.",
        "An attacker whose test for your data gives 1 % false alarms finds it at most 2.72 % of "
        "the time.",
    ]


def test_rare_results_and_failure_are_mentioned():
    """Catches a belief stated for all results where only likely ones are bounded, and silence
    about outright failure."""
    gaussian, failing = GDP(1).describe(), Approx(1, "1e-5").describe()
    assert "but for a chance of 1 in 1,000,000" in gaussian
    for words in (gaussian, failing):
        assert "that at least 1 in 20 results show" in words
        assert "rarer results may tell more" in words
    assert "fail outright" not in gaussian
    assert "With a chance of at most 1 in 100,000 the method may fail outright" in failing
    assert "rarer" not in Pure(1).describe()


@pytest.mark.no_cover
@settings(max_examples=25)
@given(sizes)
def test_pure_numbers_are_safe(epsilon):
    """Catches a number rounded to nearest: recomputed at 60 digits, none is above its print."""
    words = Pure(epsilon).describe()
    with mp.workdps(60):
        grown = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        for prior, shown in zip(PRIORS, beliefs(words), strict=True):
            odds = mpf(prior.numerator) / (prior.denominator - prior.numerator) * grown
            assert odds / (1 + odds) <= mpf(shown.numerator) / shown.denominator
        best = min(grown / 100, 1 - mpf(99) / 100 / grown)
        hits = hit_rate(words)
        assert best <= mpf(hits.numerator) / hits.denominator <= best * mpf("1.02")


@pytest.mark.no_cover
@settings(max_examples=25)
@given(sizes)
def test_gaussian_numbers_are_safe(mu):
    """Catches a trade-off bound that cuts below the true curve Φ(Φ⁻¹(f) + μ)."""
    words = GDP(mu).describe()
    with mp.workdps(60):
        z = mp.sqrt(2) * mp.erfinv(2 * mpf("0.01") - 1)
        best = mp.ncdf(z + mpf(mu.numerator) / mu.denominator)
        hits = hit_rate(words)
        assert best <= mpf(hits.numerator) / hits.denominator <= best * mpf("1.02")
    # The most telling event of probability τ is the upper tail: Q(E) = Φ(Φ⁻¹(τ) − μ).
    with mp.workdps(60):
        z = mp.sqrt(2) * mp.erfinv(2 * mpf("0.05") - 1)
        growth = mpf("0.05") / mp.ncdf(z - mpf(mu.numerator) / mu.denominator)
        for prior, shown in zip(PRIORS, beliefs(words), strict=True):
            odds = mpf(prior.numerator) / (prior.denominator - prior.numerator) * growth
            assert odds / (1 + odds) <= mpf(shown.numerator) / shown.denominator


@pytest.mark.no_cover
@pytest.mark.parametrize("g", [*SINGLE, *COMPOSITIONS[:-1]], ids=repr)
def test_the_headline_holds(g):
    """Catches an ε or a chance rounded down in print: δ there would be above what is said."""
    epsilon, aside = headline(g.describe())
    if aside:
        assert g.delta(epsilon) <= aside * (1 + Fraction(1, 10**9))
    else:  # what a float can tell
        assert Fraction(g.epsilon(0)) <= epsilon * (1 + Fraction(1, 2**50))


@pytest.mark.no_cover
@pytest.mark.parametrize("g", [*SINGLE, *COMPOSITIONS, *EXTREMES], ids=lambda g: repr(g)[:60])
def test_readable_in_every_case(g):
    """Catches nan, inf, Python's notation, Greek beyond ε, jargon and rambling."""
    words = g.describe()
    assert words.startswith(("ε = ", "No ε is promised"))
    assert not re.search(r"nan|inf\b|\de[+-]\d|Fraction|δ|ρ|μ|None|  ", words)
    assert len(words.split()) <= 130
    assert all(line.endswith(".") for line in words.splitlines())
    assert all(p <= 1 for p in percentages(words))


@pytest.mark.parametrize(
    "g", [Pure(0), GDP(0), TotalVariation(0), SampledPair(GDP(1), 0)], ids=repr
)
def test_nothing_is_learnt(g):
    """Catches 'at most 1 times as likely' and numbers where there is nothing to count."""
    assert g.describe().startswith("ε = 0: the result does not depend on your data")


@pytest.mark.parametrize("g", [TotalVariation(1), Approx(1, 1), COMPOSITIONS[-1]], ids=repr)
def test_nothing_is_promised(g):
    """Catches a soothing sentence about a guarantee that allows showing the data."""
    assert g.describe().startswith("No ε is promised: the result may show your data")


def test_round_numbers_stay_round():
    """Catches 0.301 for ε = 0.3, which no float equals: rounding up twice is too much."""
    assert Pure("0.3").describe().startswith("ε = 0.3:")
    assert LaplacePair("0.1").repeat(10).describe().startswith("ε = 1:")
    assert (
        Approx("0.3", "1e-9").describe().startswith("ε = 0.3 but for a chance of 1 in 1,000,000,")
    )


def test_many_runs_are_not_described_by_their_sum():
    """Catches ε = 100 for a thousand small steps, of which nothing that bad is likely."""
    epsilon, aside = headline(LaplacePair("0.1").repeat(1000).describe())
    assert epsilon < 20 and aside == Fraction(1, 10**6)


def test_one_direction_says_which():
    """Catches a guarantee about adding a person that is worded as one about removing."""
    pair = SampledPair(LaplacePair(1), "0.1")
    assert "your data was not used" in pair.add.describe()
    assert "without your data as with it" in pair.add.repeat(3).describe()
    assert "your data was used" in pair.remove.describe()
    assert "other way round" in pair.remove.describe()
    assert "other way round" not in pair.describe()
