"""The page as text: its policy, and what is embedded in it."""

import json
import re
from pathlib import Path

import pytest

from discreet.errors import InvalidArgument
from discreet.survey import ChooseAny, ChooseOne, Questionnaire, YesNo
from discreet.survey.page import _data, page, write_page
from tests.survey.page.browser import Visitors

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<!--<script>",
    "\"'`;window.hacked=1//",
    "${window.hacked = 1}",
    "$title $script",
    "]]> &lt;b&gt; &amp; \\u003c \\",
    "javascript:window.hacked=1",
    "__proto__",
]


def vote(**more: object) -> Questionnaire:
    return Questionnaire("Vote", [YesNo("vote", "Did you vote?", epsilon=1)], **more)


def test_texts_are_shown_as_they_were_written(visitors: Visitors) -> None:
    """Catches markup or script that gets in through a title, a question or an option."""
    title = " ".join(HOSTILE)
    form = Questionnaire(
        title,
        [
            ChooseOne("one", title, options=[*HOSTILE], epsilon=1),
            ChooseAny("any", title, options=[*HOSTILE], epsilon=1),
            ChooseOne("long", title, options=[*HOSTILE, *"abcdef"], epsilon=1),
        ],
    )
    visit = visitors.visit(form)
    assert visit.page.title() == visit.page.locator("h1").text_content() == title
    assert visit.page.locator("legend").all_text_contents() == [title] * 3
    assert visit.page.locator(".option").all_text_contents() == HOSTILE * 2
    for option in HOSTILE:
        visit.page.get_by_role("combobox").fill(option)
        visit.page.get_by_role("option").first.click()
        assert visit.page.get_by_role("combobox").input_value() == option
    visit.page.locator("input[type=radio]").first.check()
    visit.submit()
    assert visit.page.locator("dt").last.text_content() == title
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.evaluate("({}).hacked") is None
    assert visit.console == visit.errors == []


def test_data_stays_inside_its_element() -> None:
    """Line separators and brackets are escaped, and read back as they were. Catches a text that
    ends the element it stands in."""
    document = {"text": "</script> <!-- \u2028 \u2029 & é 漢 \U0001f600 \"'"}
    written = _data(document)
    assert json.loads(written) == document
    assert not set("<>&\u2028\u2029") & set(written)


def test_the_policy_names_scripts_by_their_hash_and_one_address() -> None:
    """Catches "unsafe-inline", and an address that opens another door."""
    policy = _policy_of(page(vote()))
    assert policy["default-src"] == policy["connect-src"] == policy["form-action"] == ["'none'"]
    assert all(re.fullmatch(r"'sha256-[\w+/]{43}='", each) for each in policy["script-src"])
    policy = _policy_of(page(vote(post="https://example.org/a;script-src%20*/b,c?key=1;img-src")))
    assert policy["connect-src"] == ["https://example.org/a%3Bscript-src%20*/b%2Cc"]
    assert "img-src" not in policy and len(policy["script-src"]) == 1
    assert _policy_of(page(vote(post="http://localhost:8000/in")))["connect-src"] == [
        "http://localhost:8000/in"
    ]


def _policy_of(html: str) -> dict[str, list[str]]:
    (content,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    rules = [rule.split() for rule in content.replace("&#x27;", "'").split(";")]
    return {name: values for name, *values in rules}


@pytest.mark.parametrize("post", ["https://*/in", "https://a;b/in", "https://exa$mple.org/in"])
def test_addresses_that_a_policy_cannot_name_are_refused(post: str) -> None:
    """Catches a page that could post anywhere, or nowhere."""
    with pytest.raises(InvalidArgument, match="post must be an address with the name of a host"):
        page(vote(post=post))


def test_the_card_is_read_before_the_questions(visitors: Visitors) -> None:
    """Every sentence of the card is there, above the form. Catches a card that is left out."""
    form = vote()
    text = visitors.visit(form).page.locator("#card").text_content()
    assert "\u00a0%" in text and " %" not in text  # no line ends between a number and its sign
    text = text.replace("\u00a0", " ")
    said = form.card().document()
    for sentence in (said["introduction"], *said["questions"][0]["sentences"][0], said["together"]):
        assert sentence in text
    html = page(form)
    assert html.index('id="card"') < html.index('id="questions"')


def test_a_page_is_the_same_whoever_writes_it(tmp_path: Path) -> None:
    """From the questionnaire, from the function and in a file, for each wave. Catches a method
    that forgets the wave, so that every page would be that of the first."""
    form = vote(waves=2)
    for wave in (1, 2):
        written = write_page(form, tmp_path / f"{wave}.html", wave=wave)
        assert form.page(wave=wave) == page(form, wave=wave) == written.read_text("utf-8")
        assert f'"wave":{wave}' in form.page(wave=wave)
    assert form.page() == form.page(wave=1) != form.page(wave=2)
    for path in (tmp_path, tmp_path / "none" / "page.html"):
        with pytest.raises(InvalidArgument, match="path must be a file that can be written"):
            write_page(form, path)


def test_a_wave_that_was_not_promised_is_refused(tmp_path: Path) -> None:
    """Catches more waves than the card speaks of."""
    with pytest.raises(InvalidArgument, match="wave must be at most 2"):
        write_page(vote(waves=2), tmp_path / "page.html", wave=3)
    assert not (tmp_path / "page.html").exists()
