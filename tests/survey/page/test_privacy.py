"""A true answer never leaves the page, and nothing but the report does."""

import json

import pytest

from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo
from discreet.survey.randomizers import GRID
from tests.survey.page.browser import Server, Visit, Visitors
from tests.survey.page.words import as_words

MARK = [1, 2, 3, 4]
STREETS = [f"street {name}" for name in "abcdefghijklmnopqrst"]


def form_of(post: str | None) -> Questionnaire:
    return Questionnaire(
        "Secrets",
        [
            YesNo("crime", "Did you do it?", truth=0.5),
            ChooseOne("mood", "How?", options=["red", "green", "blue"], epsilon=1),
            ChooseOne("street", "Where?", options=STREETS, epsilon=1, mechanism="response"),
            ChooseAny("had", "What?", options=["axe", "rope"], epsilon=1, mechanism="items"),
            Number("hours", "How long?", bounds=(0, 24), epsilon=1),
        ],
        post=post,
    )


def fill(visit: Visit, *, crime: str, mood: str, street: str, had: list[str], hours: str) -> None:
    """Answer as a person does: by what the labels say."""
    group = visit.page.get_by_role
    group("group", name="Did you do it?").get_by_label(crime, exact=True).check()
    group("group", name="How?").get_by_label(mood).check()
    group("combobox", name="Where?").fill(street)
    group("option", name=street).click()
    for each in had:
        group("group", name="What?").get_by_label(each).check()
    group("spinbutton", name="How long?").fill(hours)


YES = {"crime": "Yes", "mood": "red", "street": "street q", "had": ["axe"], "hours": "17.381"}
NO = {"crime": "No", "mood": "blue", "street": "street c", "had": ["rope"], "hours": "3.0625"}
ALWAYS, NEVER = 0, GRID - 1  # a coin that turns an answer, and one that lets it be


def lying(form: Questionnaire, crime: int, had: int) -> list[int]:
    """Words for a report in which each answer is replaced: by the same, whatever the truth is."""
    hours = (ALWAYS, 0) if form["hours"].randomizer.outcomes > 2 else (ALWAYS,)
    return MARK + as_words(crime, ALWAYS, 1, ALWAYS, 5, 0, had, 0, *hours)


def leave(visit: Visit, server: Server, words: list[int], answers: dict) -> dict:
    """Answer, save and send; return everything that can be seen from then on."""
    visit.feed(words)
    fill(visit, **answers)
    visit.submit()
    name, saved = visit.save()
    assert visit.send() == "Sent. Thank you."
    sent = [request for request in server.requests if request[0] == "POST"]
    server.requests.clear()
    return {"name": name, "saved": saved, "sent": sent, **visit.everything()}


def test_what_leaves_does_not_depend_on_a_replaced_answer(
    visitors: Visitors, server: Server
) -> None:
    """Two people with different answers, whom chance makes the same: all that can be seen of them
    is the same to the last byte (posts with their headers, files, storage, cookies, address,
    title, console, the whole document and its fields). Catches any trace of a true answer."""
    form = form_of(server.address)
    seen = []
    for answers, crime, had in ((YES, ALWAYS, ALWAYS), (NO, NEVER, NEVER)):
        visit = visitors.visit(form)
        seen.append(leave(visit, server, lying(form, crime, had), answers))
    first, second = seen
    assert len(first["sent"]) == 1 and first["sent"][0][3] == first["saved"]
    assert first == second


def test_no_true_answer_is_left_anywhere(visitors: Visitors, server: Server) -> None:
    """What was typed and ticked is gone from the page once it is randomized. Catches fields that
    are only hidden, and texts that are copied into storage or into a message."""
    form = form_of(server.address)
    visit = visitors.visit(form)
    seen = leave(visit, server, lying(form, ALWAYS, ALWAYS), YES)
    assert seen["values"] == []
    dumped = json.dumps(seen["local"]) + seen["session"] + seen["address"] + seen["title"]
    for trace in ("17.381", "street q", "axe"):
        assert trace not in dumped + str(seen["console"]) + seen["saved"].decode()
    body = visit.page.evaluate("document.querySelector('main').outerHTML")
    assert "17.381" not in body and "street q" not in body
    report = json.loads(seen["saved"])
    assert {key: json.loads(text) for key, text in json.loads(seen["local"]).items()} == {
        f"discreet survey 2 reports {form.digest}": {"1": report}
    }
    assert seen["cookies"] == [] and seen["console"] == [] and seen["errors"] == []


def test_a_post_carries_the_report_and_no_more(visitors: Visitors, server: Server) -> None:
    """Catches cookies, the address of the page, and further fields."""
    form = form_of(server.address)
    seen = leave(visitors.visit(form), server, lying(form, ALWAYS, ALWAYS), NO)
    ((_, path, headers, body),) = seen["sent"]
    assert path == "/reports" and body.endswith(b"}\n")
    assert list(json.loads(body)) == ["survey", "id", "wave", *(q.name for q in form.questions)]
    assert not {"cookie", "referer"} & {name.lower() for name in headers}
    assert headers["Origin"] == "null"  # from a file; a browser names the host of a published page


def test_without_an_address_nothing_is_requested(visitors: Visitors, server: Server) -> None:
    """Catches fonts, beacons, icons and reports of violations: the page itself is all that is
    loaded, before and after an answer. There is no button to send."""
    form = form_of(None)
    visit = visitors.visit(form)
    fill(visit, **YES)
    visit.submit()
    visit.save()
    assert not visit.page.get_by_role("button", name="Send").is_visible()
    assert [url for url in visit.requests if not url.startswith("blob:")] == [visit.page.url]
    assert server.requests == []


# Each knows an address; `put` adds an element to the page.
ATTEMPTS = {
    "fetch": "fetch(url)",
    "post": "fetch(url, { method: 'POST', mode: 'no-cors', body: 'x' })",
    "beacon": "navigator.sendBeacon(url, 'x')",
    "image": "put('img', { src: url })",
    "frame": "put('iframe', { src: url })",
    "style": "put('link', { rel: 'stylesheet', href: url })",
    "socket": "new WebSocket(url.replace('http', 'ws'))",
    "events": "new EventSource(url)",
    "form": "put('form', { action: url, target: '_blank' }).submit()",
    "script": "put('script', { src: url })",
    "inline": "put('script', { textContent: `fetch('${url}')` })",
    "markup": "document.body.innerHTML = `<img src='${url}'>`",
}


_TRY = """async url => {
  const put = (name, fields) => {
    const made = Object.assign(document.createElement(name), fields);
    document.body.append(made);
    return made;
  };
  try { await (WAY); } catch { /* blocked */ }
}"""


# The browser tells a page of each attempt that it has blocked.
_WATCH = """() => {
  window.blocked = [];
  document.addEventListener("securitypolicyviolation", (told) => blocked.push(told.blockedURI));
}"""


def attempt(visit: Visit, way: str, url: str) -> None:
    visit.page.evaluate(_TRY.replace("WAY", ATTEMPTS[way]), url)


@pytest.mark.parametrize("post", [False, True])
def test_the_policy_blocks_every_other_way_out(
    visitors: Visitors, server: Server, post: bool
) -> None:
    """Each way a script could speak to a server is tried from inside the page: none arrives.
    With an address to post to, that address is reached and no other on the same host."""
    visit = visitors.visit(form_of(server.address if post else None))
    visit.page.evaluate(_WATCH)
    for way in ATTEMPTS:
        attempt(visit, way, server.address.replace("/reports", f"/{way}"))
    visit.page.wait_for_function("wanted => blocked.length >= wanted", arg=len(ATTEMPTS))
    assert server.requests == []
    attempt(visit, "post", server.address)
    assert [request[1] for request in server.requests] == (["/reports"] if post else [])


def test_the_ways_out_are_open_without_the_policy(visitors: Visitors, server: Server) -> None:
    """The planted error: in a browser that ignores the policy every attempt arrives, so the test
    above would see it."""
    visit = visitors.visit(form_of(None), ignore_policy=True)
    for way in ATTEMPTS:
        attempt(visit, way, server.address.replace("/reports", f"/{way}"))
    server.wait_for(ATTEMPTS)


@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(window, 'crypto', {value: undefined})",
        "Crypto.prototype.getRandomValues = undefined",
        "Crypto.prototype.getRandomValues = () => { throw new Error('broken') }",
        # breaks down in the middle of the answers
        "let left = 3; const real = Crypto.prototype.getRandomValues;"
        "Crypto.prototype.getRandomValues = function (words) {"
        " if (left-- <= 0) throw new Error('broken'); return real.call(this, words) }",
    ],
)
def test_without_chance_nothing_leaves(visitors: Visitors, server: Server, broken: str) -> None:
    """Catches a fallback to Math.random, and half a report."""
    visit = visitors.visit(form_of(server.address), prepare=broken)
    fill(visit, **YES)
    visit.submit()
    visit.page.get_by_text("Nothing was randomized, kept or sent").wait_for()
    assert not visit.page.locator("#result").is_visible()
    assert visit.page.evaluate("localStorage.length") == 0
    assert server.requests == []


def test_chance_comes_from_the_strong_source_alone() -> None:
    """Catches another source in the script."""
    from importlib.resources import files

    parts = files("discreet.survey") / "page_parts"
    script = "".join(part.read_text("utf-8") for part in parts.iterdir() if part.name[-3:] == ".js")
    for forbidden in ("Math.random", "Date.", "innerHTML", "eval(", "document.write", "http"):
        assert forbidden not in script
