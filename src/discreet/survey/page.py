"""A web page that asks a questionnaire and lets only randomized answers leave.

It is one file that needs no network and no build step: open it from a disk, or publish it anywhere.
Its policy lets the browser run this script and no other, and contact only the address that the
questionnaire names, if any. Texts of the questionnaire are treated as data, never as markup.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.survey.questionnaire import read_wave
from discreet.survey.questions import KINDS
from discreet.survey.questions.question import check_form

if TYPE_CHECKING:
    from discreet.survey.card import Card
    from discreet.survey.questionnaire import Questionnaire

_SCRIPTS: Final = (
    "questionnaire",
    "dom",
    "chance",
    "randomizers",
    "projective",
    "search",
    "fields",
    "reading",
    "memory",
    "answering",
)
_FIELDS: Final = "  // an entry for each kind of question\n"
_UNFOLDED: Final = 4  # with more questions, their cards are folded, to be opened one by one
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+")


def page(questionnaire: Questionnaire, *, wave: int = 1) -> str:
    """The page of one wave, as HTML.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
    >>> html = page(form)
    >>> "<title>Health</title>" in html, "https://" in html       # it knows no address
    (True, False)
    """
    wave = read_wave(check_form(questionnaire), wave)
    fields = "".join(f"  {kind.page_field()},\n" for kind in KINDS.values())
    script = "\n".join(_part(f"{name}.js") for name in _SCRIPTS).replace(_FIELDS, fields)
    style, waves = _part("style.css"), questionnaire.waves
    rounds = f'\n<p class="promise">Round {wave:,} of {waves:,}.</p>' if waves > 1 else ""
    return Template(_part("template.html")).substitute(
        policy=escape(_policy(questionnaire.post, script=script, style=style)),
        title=escape(questionnaire.title),
        round=rounds,
        style=style,
        card=_card(questionnaire.card()),
        questionnaire=_data({**questionnaire.document(), "wave": wave}),
        script=script,
    )


@spelled
def write_page(questionnaire: Questionnaire, path: str | Path, *, wave: int = 1) -> Path:
    """Write the page of a ``questionnaire`` to the file ``path``, and return its path.

    ``wave`` is the number of the wave, 1 if left out. Publish all waves at the same address: what a
    browser remembers belongs to that address.

    >>> import tempfile
    >>> from discreet.survey import Questionnaire, YesNo
    >>> form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", truth=0.5)])
    >>> write_page(form, f"{tempfile.mkdtemp()}/health.html").name
    'health.html'
    """
    written, text = Path(path), page(questionnaire, wave=wave)
    try:
        written.write_text(text, encoding="utf-8", newline="\n")
    except OSError as failure:
        reason = failure.strerror
    else:
        return written
    raise InvalidArgument(
        "path",
        "a file that can be written",
        f"{written.name}, which cannot be ({reason})",
        hint="check the folder, and who may write there",
    )


def _part(name: str) -> str:
    return (files("discreet.survey") / "page_parts" / name).read_text(encoding="utf-8")


def _policy(post: str | None, *, script: str, style: str) -> str:
    """What the browser may do: nothing that is not listed; script and style are given by hashes."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "connect-src": "'none'" if post is None else _source(post),
        "form-action": "'none'",
        "base-uri": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{rule} {value}" for rule, value in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _source(post: str) -> str:
    """An address as a policy names it: without a query, and without signs that would end a rule.

    >>> _source("https://example.org/in;box?key=1")
    'https://example.org/in%3Bbox'
    """
    address = urlsplit(post)
    try:
        host = (address.hostname or "").encode("idna").decode()
        port = "" if address.port is None else f":{address.port}"
    except ValueError:
        host = port = ""
    if not _HOST.fullmatch(host) or address.username is not None:
        raise InvalidArgument.of(
            "post",
            "an address with the name of a host, as in https://example.org/reports",
            post,
            hint="a browser's policy cannot name others; for this machine it is localhost",
        )
    return f"{address.scheme}://{host}{port}{quote(address.path, safe='/%:@!$&()*+=~')}"


def _data(document: dict[str, Any]) -> str:
    """JSON that is inert inside a page: no character in it can end the element that holds it."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _card(card: Card) -> str:
    """The card in HTML, which can be read even if scripts are off."""
    said = card.document()
    opened = " open" if len(said["questions"]) <= _UNFOLDED else ""
    lines = [f"<p>{escape(said['introduction'])}</p>"]
    if not opened:
        lines += ["<p>Open a question to read what happens to your answer.</p>"]
    for place, part in enumerate(said["questions"], start=1):
        lines += [f"<details{opened}>", f"<summary>{place}. {escape(part['question'])}</summary>"]
        lines += ["<dl>"]
        for head, words in part["sentences"]:
            lines += [f"<dt>{escape(head)}</dt>", f"<dd>{_unbroken(words)}</dd>"]
        lines += ["</dl>", "</details>"]
    lines += ["<h3>All answers together</h3>", f"<p>{_unbroken(said['together'])}</p>"]
    return "\n".join(lines)


def _unbroken(words: str) -> str:
    """Words in HTML, without a line break between a number and its unit."""
    return escape(words).replace(" %", "\u00a0%")
