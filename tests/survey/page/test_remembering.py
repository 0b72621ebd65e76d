"""What a browser remembers: the report of a wave, and permanent answers over all surveys."""

import json
from collections.abc import Callable

import pytest

from discreet.survey import ChooseOne, Questionnaire
from tests.survey.page.browser import Server, Visit, Visitors


def waves(post: str | None = None) -> Questionnaire:
    numbers = {"options": 60, "truth": "1/100", "mechanism": "response"}
    return Questionnaire(
        "Waves",
        [
            ChooseOne("vote", "Whom?", permanent=True, **numbers),
            ChooseOne("mood", "How?", **numbers),
        ],
        waves=3,
        post=post,
    )


def answer(visit: Visit) -> None:
    for box in visit.page.get_by_role("spinbutton").all():
        box.fill("17")
    visit.submit()


def test_a_wave_that_was_answered_sends_the_same_report(visitors: Visitors) -> None:
    """Catches a second draw, which would halve the noise: the form is not even shown again."""
    first = visitors.visit(waves())
    answer(first)
    report = first.shown()
    for again in (visitors.visit(waves(), before=first), visitors.visit(waves(), before=first)):
        assert not again.page.locator("#questions").is_visible()
        assert again.shown() == report
        assert json.loads(again.save()[1]) == report


def test_permanent_answers_are_drawn_once(visitors: Visitors) -> None:
    """Waves would average out an answer that is drawn anew. Here answers are hardly more than the
    throw of a die with 60 sides, with seeded words: what is not permanent does change."""
    visit = visitors.visit(waves())
    visit.stream(1)
    answer(visit)
    reports = [visit.shown()]
    for wave in (2, 3):
        visit = visitors.visit(waves(), wave=wave, before=visit)
        assert visit.page.locator("fieldset").count() == 1  # a permanent one is not asked again
        visit.stream(wave)
        answer(visit)
        reports.append(visit.shown())
    assert [report["wave"] for report in reports] == [1, 2, 3]
    assert len({report["vote"] for report in reports}) == 1
    assert len({report["mood"] for report in reports}) > 1
    assert len({report["id"] for report in reports}) == 3


def test_a_form_that_is_issued_again_draws_no_permanent_answer_again(visitors: Visitors) -> None:
    """With another title, other waves and another question beside it, twice: the permanent answer
    is that of the first form, and is not asked for. In other words, or with another chance, it is
    another question, as the card says. 60 sides and seeded words. Catches a memory of the form,
    which whoever re-issues it averages away."""
    numbers = {"options": 60, "truth": "1/100", "mechanism": "response"}
    vote = ChooseOne("vote", "Whom?", permanent=True, **numbers)
    visit = visitors.visit(waves())
    visit.stream(1)
    answer(visit)
    first = visit.shown()
    for place, others in enumerate([[], [ChooseOne("mood", "How are you?", **numbers)]]):
        form = Questionnaire(f"Again {place}", [vote, *others])
        visit = visitors.visit(form, before=visit)
        assert visit.page.locator("fieldset").count() == len(others)
        assert "sent again: Whom?" in " ".join(visit.page.locator("#known").inner_text().split())
        visit.stream(10 + place)
        answer(visit)
        assert visit.shown()["survey"] == form.digest != first["survey"]
        assert visit.shown()["vote"] == first["vote"]
    for other in (
        ChooseOne("vote", "Whom, really?", permanent=True, **numbers),
        ChooseOne("vote", "Whom?", permanent=True, **(numbers | {"truth": "1/99"})),
    ):
        visit = visitors.visit(Questionnaire("Again", [other]), before=visit)
        assert visit.page.locator("fieldset").count() == 1
        assert not visit.page.locator("#known").is_visible()


@pytest.mark.parametrize("change", ["forgotten", "other", "text", "range", "report"])
def test_a_damaged_memory_is_no_new_beginning(visitors: Visitors, change: str) -> None:
    """Attack D5 in a browser: nothing is asked, and what is there stays as it is. Catches an answer
    that is drawn a second time because what was kept could not be read."""
    visit = visitors.visit(waves())
    answer(visit)
    before = visit.page.evaluate(
        """(change) => {
          const [reports, kept] = ["reports", "answer"].map((part) =>
            Object.keys(localStorage).find((key) => key.includes(part)));
          const other = JSON.stringify((JSON.parse(localStorage[kept]) + 1) % 60);
          if (change === "forgotten") localStorage.removeItem(kept);
          if (change === "other") localStorage[kept] = other;
          if (change === "text") localStorage[reports] = "{";
          if (change === "range") {
            localStorage.removeItem(reports);
            localStorage[kept] = "60";
          }
          if (change === "report") localStorage[reports] = '{"1":{}}';
          return JSON.stringify(localStorage);
        }""",
        change,
    )
    for wave in (1, 2):
        visit = visitors.visit(waves(), wave=wave, before=visit)
        visit.page.get_by_role("alert").filter(has_text="damaged").wait_for()
        assert not visit.page.locator("#questions").is_visible()
        assert visit.page.evaluate("JSON.stringify(localStorage)") == before
        assert visit.errors == []


def permanent_once(post: str) -> Questionnaire:
    vote = ChooseOne("vote", "Whom?", options=60, epsilon=1, permanent=True)
    return Questionnaire("Once", [vote], post=post)


@pytest.mark.parametrize("form_of", [waves, permanent_once])
@pytest.mark.parametrize("broken", ["getItem", "setItem"])
def test_waves_and_permanent_answers_need_a_browser_that_keeps_something(
    visitors: Visitors, server: Server, broken: str, form_of: Callable[[str], Questionnaire]
) -> None:
    """Catches answers that are drawn anew in every wave because nothing is kept; and in every
    visit, where a question is permanent though the form has one wave."""
    prepare = f"Storage.prototype.{broken} = () => {{ throw new Error('full') }}"
    visit = visitors.visit(form_of(server.address), prepare=prepare)
    if broken == "setItem":
        answer(visit)
    visit.page.get_by_role("alert").filter(has_text="keep").wait_for()
    assert not visit.page.locator("#result").is_visible()
    assert server.requests == []
