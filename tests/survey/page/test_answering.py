"""What a respondent meets: the form, the file, and who can use it."""

import json
from pathlib import Path

import pytest

from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo, collect
from tests.survey.page.browser import Server, Visitors
from tests.survey.page.forms import TRUTHS, every_kind

TOWNS = ["Zürich", "Zug", "Genève", "Neuchâtel", "Zu\u0308berwangen", "Bad Zurzach", "Bern"]
TOWNS += [f"Village {number}" for number in range(2000)]


def test_one_wave_goes_without_a_memory_and_says_so(visitors: Visitors) -> None:
    """Catches a page that cannot be used where nothing may be kept."""
    form = Questionnaire("Once", [YesNo("vote", "Did you vote?", epsilon=1)])
    visit = visitors.visit(form, prepare="Storage.prototype.setItem = () => { throw 0 }")
    visit.page.get_by_label("Yes", exact=True).check()
    visit.submit()
    assert "do not answer twice" in visit.page.locator("#result-note").text_content()
    assert set(visit.shown()) == {"survey", "id", "wave", "vote"}


def test_nothing_is_randomized_before_everything_is_answered(visitors: Visitors) -> None:
    """A question that is left out would be an answer that nothing hides. Catches a form that goes
    on without it, or that keeps on complaining."""
    form = Questionnaire(
        "All",
        [
            YesNo("vote", "Did you vote?", epsilon=1),
            ChooseAny("had", "What?", options=["a", "b", "c"], most=1, epsilon=1),
            Number("hours", "How long?", bounds=(0, 24), epsilon=1),
            ChooseOne("number", "Which?", options=5000, epsilon=1),
        ],
    )
    visit = visitors.visit(form)
    complaints = visit.page.locator(".error")
    for tick in ("a", "b"):
        visit.page.get_by_label(tick, exact=True).check()
    visit.page.get_by_label("How long?").fill("25")
    visit.page.get_by_label("Which?").fill("17.5")
    visit.submit()
    assert complaints.all_text_contents() == [
        "Please choose one.",
        "Please choose at most 1.",
        "Please give a number from 0 to 24.",
        "Please give a whole number.",
    ]
    assert visit.page.evaluate("document.activeElement.id") == "q0-0"
    assert not visit.page.locator("#result").is_visible()
    visit.page.get_by_label("No", exact=True).check()
    visit.page.get_by_label("b", exact=True).uncheck()
    visit.page.get_by_label("How long?").fill("24")
    visit.page.get_by_label("Which?").fill("4999")
    assert complaints.all_text_contents() == [""] * 4
    visit.submit()
    assert form.digest == visit.shown()["survey"]


def test_long_lists_are_searched_by_keyboard(visitors: Visitors) -> None:
    """Catches a search that heeds case or accents, loses the order, or takes what was not chosen;
    and an Enter that submits the form."""
    form = Questionnaire("Towns", [ChooseOne("town", "Where?", options=TOWNS, epsilon=1)])
    visit = visitors.visit(form)
    box, press = visit.page.get_by_role("combobox", name="Where?"), visit.page.keyboard.press
    options = visit.page.get_by_role("option")

    def typed(text: str) -> list[str]:
        box.fill(text)
        return options.all_text_contents()

    assert typed("zu") == ["Zürich", "Zug", "Zu\u0308berwangen", "Bad Zurzach"]
    assert typed("NEUCHATEL") == ["Neuchâtel"]
    assert typed("xyz") == [] and typed("") == []
    assert typed("lage 19") == ["Village 19", *(f"Village 19{digit}" for digit in range(10))] + [
        f"Village 19{number:02}" for number in range(38)
    ] + ["Village 1938"]
    assert typed("village 1999") == ["Village 1999"]
    typed("illage 199")
    visit.submit()
    assert visit.page.locator(".error").text_content() == "Please choose an option from the list."
    typed("zu")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        press(key)
    chosen = visit.page.get_by_role("option", selected=True)
    assert box.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    press("Enter")
    assert box.input_value() == "Zug" and visit.page.evaluate("document.activeElement.id") == "q0"
    visit.page.evaluate(
        "() => { for (const kind in randomizers) randomizers[kind] = (truth) => truth; }"
    )
    visit.submit()
    assert visit.shown()["town"] == 1


@pytest.mark.parametrize(
    ("text", "town"),
    [
        ("Zug", 1),
        (" neuchatel ", 3),
        ("Village 1", 8),
        ("zu", None),
        ("same", None),
        ("Same", 2008),
    ],
)
def test_an_option_that_is_typed_in_full_is_taken(
    visitors: Visitors, text: str, town: int | None
) -> None:
    """Whoever pastes it, or goes on to the button without the list; case and accents do not matter
    where it is clear which one is meant. Catches a refusal of the right answer."""
    options = [*TOWNS, "SAME", "Same"]
    form = Questionnaire("Towns", [ChooseOne("town", "Where?", options=options, epsilon=1)])
    visit = visitors.visit(form)
    visit.page.get_by_role("combobox").fill(text)
    visit.page.evaluate(
        "() => { for (const kind in randomizers) randomizers[kind] = (truth) => truth; }"
    )
    visit.submit()
    if town is None:
        assert "from the list" in visit.page.locator(".error").text_content()
    else:
        assert visit.shown()["town"] == town


def test_a_page_says_what_it_does(visitors: Visitors) -> None:
    """Which round it is, that a number is rounded, what the report says in words (no "yes to none"
    beside an option of that name), and for whom the saved file is. Catches a respondent left
    alone with it."""
    form = Questionnaire(
        "Words",
        [
            ChooseAny("pets", "Which?", options=["cat", "none of these"], epsilon=1),
            Number("sleep", "How long?", bounds=(0, 24), step="1/4", epsilon=1),
            Number("age", "How old?", bounds=(0, 100), epsilon=1),
        ],
        waves=3,
    )
    visit = visitors.visit(form, wave=2)
    assert "Round 2 of 3." in visit.page.locator("header").inner_text()
    assert "Round" not in visitors.visit(every_kind()).page.locator("header").inner_text()
    hints = visit.page.locator("fieldset .hint").all_text_contents()
    assert hints[1:] == [
        "A number from 0 to 24. It is rounded to steps of 0.25.",
        "A number from 0 to 100.",
    ]
    words = "([report, at]) => inWords(form.questions[at], report)"
    said = [visit.page.evaluate(words, [report, 0]) for report in ("-0", "1-", "10", "00")]
    assert said == [
        "No to none of these. Nothing is said about the others.",
        "Yes to cat. Nothing is said about the others.",
        "Yes to cat; no to none of these.",
        "No to cat, none of these.",
    ]
    for box in visit.page.get_by_role("spinbutton").all():
        box.fill("8")
    visit.submit()
    visit.save()
    assert "for whoever asked you" in visit.page.locator("#outcome").inner_text()


def test_many_of_a_long_list(visitors: Visitors) -> None:
    """Catches ticks that are lost, doubled or cannot be taken back."""
    form = Questionnaire("Towns", [ChooseAny("been", "Where?", options=TOWNS, epsilon=1)])
    visit = visitors.visit(form)
    for town in ("Zug", "Bern", "Zug", "Genève"):
        visit.page.get_by_role("combobox").fill(town)
        visit.page.keyboard.press("Enter")
    visit.page.get_by_role("button", name="Remove Bern").click()
    chosen = visit.page.get_by_role("list", name="Chosen").get_by_role("listitem")
    assert [text.strip("×") for text in chosen.all_text_contents()] == ["Zug", "Genève"]
    visit.page.evaluate(
        "() => { randomizers.items = (ticks) => ticks.map((tick, i) => (tick ? i : '')).join(''); }"
    )
    visit.submit()
    assert visit.shown()["been"] == "12"


def test_a_failed_post_can_be_tried_again(visitors: Visitors, server: Server) -> None:
    """The same report is sent. Catches a new draw, and a success that is none."""
    form = Questionnaire("Once", [YesNo("vote", "Voted?", epsilon=1)], post=server.address)
    visit = visitors.visit(form)
    visit.page.get_by_label("Yes", exact=True).check()
    visit.submit()
    server.status = 503
    assert "could not be sent (the server replied 503)" in visit.send()
    server.status = 200
    visit.page.get_by_role("button", name="Send the report").click()
    visit.page.get_by_text("Sent. Thank you.").wait_for()
    assert len(server.bodies) == 2 and len(set(server.bodies)) == 1


def test_the_collector_reads_what_the_page_wrote(visitors: Visitors, tmp_path: Path) -> None:
    """200 reports of every kind, and a file that was saved. Catches a report that the collector
    sets aside, and a file that it cannot read."""
    form = every_kind()
    visit = visitors.visit(form)
    visit.stream(11)
    lines = [json.dumps(report) for report in visit.reports(TRUTHS, 200)]
    visit.page.evaluate("(truths) => show(randomized((name) => truths[name]), '')", TRUTHS)
    name, saved = visit.save()
    assert name == f"report-{json.loads(saved)['id']}.jsonl"
    path = tmp_path / name
    path.write_bytes(saved + "\n".join(lines).encode())
    result = collect(form, path)
    assert result.respondents == 201 and not any(result.set_aside.values())


CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!color.endsWith(", 0)")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = document.evaluate("//body//text()[normalize-space()]", document, null, 7, null);
  const found = [];
  for (let i = 0; i < texts.snapshotLength; i += 1) {
    const element = texts.snapshotItem(i).parentElement;
    if (!element.checkVisibility() || element.closest("script")) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))].sort();
    found.push([(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), element.textContent]);
  }
  return found.sort((a, b) => a[0] - b[0])[0];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(visitors: Visitors, scheme: str) -> None:
    """Contrast of at least 4.5 (WCAG AA) for every text, nothing wider than a narrow telephone,
    a language, and a name for every field. Catches colours and layouts that shut people out."""
    form = Questionnaire(
        "A long_title_without_any_place_to_break_it_into_lines_for_a_narrow_telephone",
        [
            YesNo("vote", "Did you vote?", epsilon=1),
            ChooseOne("town", "Where?", options=TOWNS, epsilon=1),
            ChooseAny("had", "What?", options=["x" * 200, "b"], epsilon=1),
            Number("hours", "How long?", bounds=(0, 24), epsilon=1),
        ],
        post="https://example.org/reports",
    )
    visit = visitors.visit(form)
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_viewport_size({"width": 320, "height": 640})
    visit.submit()  # with complaints
    visit.page.get_by_role("combobox").fill("village")
    visit.page.keyboard.press("ArrowDown")
    lowest, text = visit.page.evaluate(CONTRAST)
    assert lowest >= 4.5, text
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
    assert visit.page.evaluate("document.documentElement.lang") == "en"
    unnamed = "Array.from(document.querySelectorAll('input')).filter((input) => "
    unnamed += "!input.labels.length && !input.getAttribute('aria-labelledby')).length"
    assert visit.page.evaluate(unnamed) == 0
    visit.page.get_by_role("option").first.click()
    for label in ("No", "b"):
        visit.page.get_by_label(label, exact=True).check()
    visit.page.get_by_label("How long?").fill("8")
    visit.submit()
    lowest, text = visit.page.evaluate(CONTRAST)
    assert lowest >= 4.5, text
    assert visit.page.evaluate("document.activeElement.id") == "result-title"
