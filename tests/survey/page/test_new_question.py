"""A new kind of question, added as CONTRIBUTING.md says: one file, and one entry in its set."""

import io
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.main import main
from discreet.survey import Questionnaire, YesNo, collect, plan
from discreet.survey.questions import KINDS, Question
from discreet.testing import seeded
from tests.survey.page.browser import Visitors

STARS = '''
"""A question that is answered with stars."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.survey.questions.question import Question, array_of, read_codes, wrong
from discreet.survey.randomizers import Response


@dataclass(frozen=True, init=False)
class Stars(Question):
    """One to ``most`` stars."""

    kind: ClassVar[str] = "stars"
    name: str
    text: str
    most: int
    epsilon: Any
    prior: Any
    permanent: bool

    def __init__(self, name, text, *, most=5, epsilon, prior=None, permanent=False):
        super().__init__(name, text, epsilon=epsilon, prior=prior, permanent=permanent)
        self.__dict__["most"] = most
        _ = self.randomizer

    @property
    def categories(self):
        return tuple("★" * count for count in range(1, self.most + 1))

    def choose(self):
        return Response(categories=self.most, epsilon=self.epsilon)

    def read(self, answer):
        if answer not in self.codes:
            raise wrong("stars", answer=answer)
        return self.codes[answer]

    def truths(self, column):
        return read_codes(array_of(column) - 1, self.most)

    @staticmethod
    def page_field():
        return "stars: ({ options }, id) => oneOf(options, id, (place) => place)"

    def document(self):
        return {"options": list(self.categories)}
'''


@pytest.fixture
def stars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Question]:
    """The file in a package of its own, and its entry in the set."""
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").write_text("")
    (tmp_path / "toys" / "stars.py").write_text(STARS)
    monkeypatch.syspath_prepend(str(tmp_path))
    kind: type[Question] = import_module("toys.stars").Stars
    monkeypatch.setitem(KINDS, kind.kind, kind)
    return kind


def test_a_new_kind_is_asked_answered_collected_and_estimated(
    stars: type[Question],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches a module that knows the kinds by name: files, cards, plans, results, the command
    line. 20,000 people, each share within six standard errors (false-alarm rate 1e-8)."""
    form = Questionnaire(
        "Film",
        [
            stars("film", "How was it?", most=4, epsilon=2, prior=0.2),
            YesNo("again", "?", truth=0.5),
        ],
        respondents=20_000,
    )
    assert Questionnaire.from_toml(form.to_toml()) == form
    assert 'kind = "stars"' in form.to_toml() and "most = 4" in form.to_toml()
    assert "all 4 options" in str(form.card()) and "film: ε = 2" in form.explain()
    assert plan(form, half_width=0.02).needed["film"] > 1000
    truth = np.repeat([1, 2, 3, 4], [2000, 4000, 6000, 8000])
    with seeded(3):
        reports = form.respond_many({"film": truth, "again": truth > 2})
        one = form.respond({"film": "★★★", "again": "yes"})
    for path in (reports.write(tmp_path / "r.jsonl"), reports.write(tmp_path / "r.csv")):
        result = collect(form, path, one, cross=[("film", "again")])
        assert (result.respondents, result.set_aside) == (20_001, {})
        shares = result["film"]
        assert list(shares.labels) == ["★", "★★", "★★★", "★★★★"]
        assert (abs(shares.values - [0.1, 0.2, 0.3, 0.4]) < 6 * shares.standard_errors).all()
        assert result.cross("film", "again").values.shape == (4, 2)
        assert "★★★★" in str(result) and result.plot() is not None
    (tmp_path / "film.toml").write_text(form.to_toml())
    monkeypatch.setattr("sys.stdin", io.StringIO("9\n3\ny\n"))
    assert main(["survey", "respond", str(tmp_path / "film.toml")]) == 0
    told = capsys.readouterr()
    assert "  3. ★★★" in told.err and told.err.count("please try again") == 1
    assert 0 <= json.loads(told.out)["film"] < 4


def test_a_new_kind_is_asked_on_the_page(stars: type[Question], visitors: Visitors) -> None:
    """Its field is drawn, and what leaves the page is a report that counts. Catches a page that
    knows the fields by name."""
    form = Questionnaire("Film", [stars("film", "How was it?", epsilon=30)])
    visit = visitors.visit(form)
    visit.page.get_by_label("★★", exact=True).check()
    visit.submit()
    assert visit.console == visit.errors == []
    assert visit.page.locator("dd").last.text_content() == "★★"  # at ε = 30, but once in 10¹²
    assert collect(form, visit.shown()).respondents == 1


def test_a_kind_without_a_member_cannot_be_made(stars: type[Question]) -> None:
    """Catches a kind that fails when its reports are in. For mypy it is a type error in the set."""
    needed = Question.__abstractmethods__
    assert needed == {"categories", "choose", "read", "truths", "page_field", "document"}
    for member in needed:
        less = type("Less", (stars,), {member: getattr(Question, member)})
        with pytest.raises(TypeError, match=f"abstract method {member}"):
            less("film", "How was it?", epsilon=1)
