"""What leaves the page follows the law that Python states, word for word."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom, chi2

from discreet.survey import ChooseOne, Number, Questionnaire, YesNo, randomizers
from discreet.survey.randomizers import GRID
from tests.survey.page.browser import Visitors
from tests.survey.page.forms import TRUTHS, every_kind
from tests.survey.page.words import READ, Words, as_words, read_report, seeded_words

FALSE_ALARM = 1e-6
COUNT = 40_000


def misfit(reports, law, lie=0.0):
    """The chi-square p-value of reports against a law, or one that lies: the outcomes that are
    likelier than most are together likelier still, by this factor."""
    seen, support = Counter(reports), list(law.outcomes)
    assert set(seen) <= set(support)
    weights = np.array([law.pmf(outcome) for outcome in support])
    likely = weights > weights.mean()
    mass = weights[likely].sum()
    weights *= np.where(likely, 1 + lie, (1 - mass * (1 + lie)) / (1 - mass))
    expected = len(reports) * weights
    observed = np.array([seen[outcome] for outcome in support])
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), len(support) - 1)


def test_reports_follow_the_laws_of_python(visitors: Visitors) -> None:
    """40,000 reports with seeded words, false-alarm rate 1e-6 for each of 9 questions.

    Catches a threshold, a die or a rounding that is off: the same test rejects a law in which
    the likely outcomes are 5 % likelier."""
    form = every_kind()
    visit = visitors.visit(form)
    visit.stream(7)
    reports = visit.reports(TRUTHS, COUNT)
    for question in form.questions:
        law = question.randomizer.law(TRUTHS[question.name])
        column = [report[question.name] for report in reports]
        assert misfit(column, law) > FALSE_ALARM, question.name
        assert misfit(column, law, lie=0.05) < FALSE_ALARM, question.name
    assert len({report["id"] for report in reports}) == COUNT


def test_the_browsers_own_chance_follows_the_law(visitors: Visitors) -> None:
    """4,000 reports with the browser's own source, false-alarm rate 1e-9. Catches a source that
    is not asked, or asked in a way that wastes it: a coin that is 5 points off is rejected."""
    form = Questionnaire("Own", [YesNo("smoker", "Do you smoke?", truth="1/2")])
    reports = visitors.visit(form).reports({"smoker": 1}, 4000)
    kept = sum(report["smoker"] for report in reports)
    assert 1e-9 < binom.cdf(kept, 4000, 0.75) < 1 - 1e-9
    assert min(binom.cdf(kept, 4000, 0.8), binom.sf(kept, 4000, 0.7)) < 1e-5


def test_words_become_what_python_reads_in_them(visitors: Visitors) -> None:
    """300 reports of every kind, the same to the last bit. Catches any deviation, however rare
    it is, and words that are taken in another order for another truth."""
    form, words = every_kind(), seeded_words(8, 30_000)
    document = form.document()
    visit = visitors.visit(form)
    for truths in (TRUTHS, {**TRUTHS, "smoker": 0, "mood": 0, "pet": 3, "town": 39, "trade": 0}):
        visit.feed(words)
        stream = Words(words)
        expected = [read_report(stream, document, truths) for _ in range(150)]
        assert visit.reports(truths, 150) == expected


@pytest.mark.parametrize("categories", [2, 3, 7])
def test_thresholds_are_exact(visitors: Visitors, categories: int) -> None:
    """u = T − 1 turns an answer, u = T does not; a die throws away what is beyond its last full
    round. Catches ≤ for <, a rounded threshold, and a die with a bias of 2^-53."""
    options = [str(option) for option in range(categories)]
    question = ChooseOne("q", "Which?", options=options, epsilon=1, mechanism="response")
    visit = visitors.visit(Questionnaire("Edges", [question]))
    law = question.randomizer.document()
    T = law["flip"] if categories == 2 else law["replace"]
    fair = GRID - GRID % categories
    mark = [0, 0, 0, 0]
    beyond = [fair] if fair < GRID else []
    cases = {
        (T - 1, *beyond, 1): 1,  # turned, or thrown: a one
        (T, *beyond, 1): 0,
        (0, fair - 1): 1 if categories == 2 else categories - 1,
        (GRID - 1, fair - 1): 0,
    }
    for numbers, expected in cases.items():
        visit.feed(mark + as_words(*numbers))
        (report,) = visit.reports({"q": 0}, 1)
        assert report["q"] == expected, numbers


def test_large_spaces_are_computed_exactly(visitors: Visitors) -> None:
    """Points of spaces near 2^50 vectors. Catches a product beyond 2^53."""
    laws = [
        {"kind": "projective", "prime": 33554393, "dimension": 2, "away": GRID // 2},
        {"kind": "projective", "prime": 2, "dimension": 22, "away": GRID // 2},
        {"kind": "projective", "prime": 5791, "dimension": 3, "away": GRID // 2},
    ]
    visit = visitors.visit(Questionnaire("Any", [YesNo("any", "Any?", epsilon=1)]))
    words = seeded_words(9, 2000)
    for law in laws:
        visit.feed(words)
        stream = Words(words)
        for truth in (0, 1, law["prime"] - 1, law["prime"], law["prime"] + 1):
            drawn = "([truth, law]) => randomizers.projective(truth, law)"
            assert visit.page.evaluate(drawn, [truth, law]) == _projective(stream, truth, law)


def _projective(stream: Words, truth: int, law: dict[str, int]) -> int:
    """The same in Python's own integers, where q is too large to list a line."""
    q, t = law["prime"], law["dimension"]
    away = stream.coin(law["away"])
    drawn = stream.die(q ** (t - 1)) if away else 1 + stream.die(q ** (t - 1) - 1)
    leading, first = 0, 0
    while truth >= first + q**leading:
        first, leading = first + q**leading, leading + 1
    code = truth - first + q**leading
    true = [code // q**place % q for place in range(t)]
    free = [place for place in range(t) if place != leading]
    vector = dict.fromkeys(range(t), 0) | {p: drawn // q**i % q for i, p in enumerate(free)}
    vector[leading] = (away - sum(true[p] * vector[p] for p in free)) % q
    last = max(place for place in range(t) if vector[place])
    factor = pow(vector[last], -1, q)
    canonical = sum(vector[place] * factor % q * q**place for place in range(last))
    return sum(q**place for place in range(last)) + canonical


def test_a_number_is_rounded_as_in_python(visitors: Visitors) -> None:
    """Answers typed into the form become the steps that Python reads. Catches rounding to the
    nearest even step, and bounds that are not decimal numbers."""
    question = Number("share", "How much?", bounds=("1/3", 3), step="1/9", epsilon=1)
    visit = visitors.visit(Questionnaire("Numbers", [question]))
    for typed in ("0.5", "1", "2.9999", "3", "0.34"):
        code = visit.page.evaluate(
            """([question, typed]) => {
                const made = makers.number(question, "probe");
                made.parts[0].value = typed;
                return made.value();
            }""",
            [json.loads(json.dumps(question.document())), typed],
        )
        assert code == question.read(typed)


def test_every_randomizer_is_there(visitors: Visitors) -> None:
    """Catches a randomizer that is added to Python and forgotten in the page or in these tests."""
    named = (getattr(getattr(randomizers, name), "kind", None) for name in randomizers.__all__)
    kinds = {kind for kind in named if isinstance(kind, str)}
    assert kinds == {question.randomizer.kind for question in every_kind().questions} == set(READ)
    assert kinds == set(visitors.visit(every_kind()).page.evaluate("Object.keys(randomizers)"))
