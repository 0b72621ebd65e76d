"""A Chromium for the page of a survey, and a record of everything that leaves the page."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from threading import Condition, Thread
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from discreet.survey.page import page as page_of
from discreet.survey.questionnaire import Questionnaire
from tests.survey.page.words import seeded_words

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def found_chromium() -> str:
    """The path of a Chromium, or a failure that says what to install."""
    paths = [which(name) for name in (*NAMES, MAC)]
    for path in filter(None, paths):
        return path
    pytest.fail(
        "no Chromium was found, and the survey page is tested in one: install it (on Debian: "
        f"apt-get install chromium) so that one of {', '.join(NAMES)} is on the PATH"
    )


@contextmanager
def running_chromium() -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Server:
    """Takes reports on this machine, and keeps what came over the wire."""

    address: str
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    status: int = 200
    arrived: Condition = field(default_factory=Condition)

    @property
    def bodies(self) -> list[bytes]:
        return [body for method, _, _, body in self.requests if method == "POST"]

    def wait_for(self, names: Iterable[str]) -> None:
        """Until a request for each of these has come."""
        wanted = set(names)

        def missing() -> set[str]:
            return wanted - {path.strip("/?") for _, path, _, _ in self.requests}

        with self.arrived:
            self.arrived.wait_for(lambda: not missing(), timeout=60)
        assert not missing()


@contextmanager
def running_server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with server.arrived:
                told = (self.command, self.path, dict(self.headers.items()), body)
                server.requests.append(told)
                server.arrived.notify()
            self.send_response(200 if self.command == "OPTIONS" else server.status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "content-type")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_OPTIONS = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("localhost", 0), Handler)
    server = Server(f"http://localhost:{listener.server_port}/reports")
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


# Words come from Python, and an end of them throws, like a source that has failed.
_FEED = """encoded => {
  const bytes = Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0));
  const words = new Uint32Array(bytes.buffer);
  let at = 0;
  Crypto.prototype.getRandomValues = (wanted) => {
    if (at + wanted.length > words.length) throw new Error("no more words");
    wanted.set(words.subarray(at, at + wanted.length));
    at += wanted.length;
    return wanted;
  };
}"""

# Where millions of words are needed, they are made in the page: xoshiro128** (Blackman and Vigna
# 2018) from a state that Python draws.
_STREAM = """([a, b, c, d]) => {
  const rotated = (word, by) => (word << by) | (word >>> (32 - by));
  const next = () => {
    const drawn = Math.imul(rotated(Math.imul(b, 5), 7), 9);
    const shifted = b << 9;
    c ^= a; d ^= b; b ^= c; a ^= d; c ^= shifted; d = rotated(d, 11);
    return drawn >>> 0;
  };
  Crypto.prototype.getRandomValues = (wanted) => {
    for (let place = 0; place < wanted.length; place += 1) wanted[place] = next();
    return wanted;
  };
}"""

# The function that the button calls, as often as is wished, each time as on a new device: what is
# kept is forgotten at once, since keeping takes fifty times as long as randomizing.
_MANY = """([count, truths]) => {
  const kept = [readMemory, writeMemory];
  [readMemory, writeMemory] = [emptyMemory, () => true];
  try {
    const draw = () => JSON.stringify(randomized((name) => truths[name]));
    return Array.from({ length: count }, draw).join("\\n");
  } finally {
    [readMemory, writeMemory] = kept;
  }
}"""

_STATE = """() => ({
  html: document.documentElement.outerHTML,
  values: Array.from(document.querySelectorAll("input"), (input) => [input.value, input.checked]),
  local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage),
  cookie: document.cookie, address: location.href, title: document.title, name: window.name,
  state: JSON.stringify(history.state), entries: history.length,
})"""


@dataclass
class Visit:
    """One respondent's browser with the page open in it."""

    page: Page
    context: BrowserContext
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def feed(self, words: Sequence[int] | np.ndarray) -> None:
        """Let the page draw these words instead of the browser's own."""
        self.page.evaluate(_FEED, b64encode(np.asarray(words, "<u4").tobytes()).decode())

    def stream(self, seed: int) -> None:
        """Let the page draw from an endless row of words that is the same in every run."""
        self.page.evaluate(_STREAM, seeded_words(seed, 4).view(np.int32).tolist())

    def reports(self, truths: dict[str, Any], count: int) -> list[dict[str, Any]]:
        """So many reports of these true answers, by the function that the button calls."""
        lines: str = self.page.evaluate(_MANY, [count, truths])
        return [json.loads(line) for line in lines.splitlines()]

    def submit(self) -> None:
        self.page.get_by_role("button", name="Randomize my answers").click()

    def shown(self) -> dict[str, Any]:
        """The report on the screen."""
        return json.loads(self.page.locator("#report").text_content())

    def save(self) -> tuple[str, bytes]:
        """Click, and return the name of the file and what is in it."""
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name="Save the report").click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()

    def send(self) -> str:
        """Click, and return what the page then says."""
        self.page.get_by_role("button", name="Send the report").click()
        outcome = self.page.locator("#outcome", has_text="sent").or_(
            self.page.locator("#outcome", has_text="Sent")
        )
        return outcome.text_content()

    def everything(self) -> dict[str, Any]:
        """All that the page holds and all that left it, but for files and posts."""
        return {
            **self.page.evaluate(_STATE),
            "cookies": self.context.cookies(),
            "requests": self.requests,
            "console": self.console,
            "errors": self.errors,
        }


@cache
def written(form: Questionnaire, wave: int) -> str:
    """The page, once for all tests that visit it."""
    return page_of(form, wave=wave)


class Visitors:
    """Opens pages, each in a browser of its own with nothing remembered."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._open: list[BrowserContext] = []

    def visit(
        self,
        form: Questionnaire,
        *,
        wave: int = 1,
        prepare: str = "",
        before: Visit | None = None,
        ignore_policy: bool = False,
    ) -> Visit:
        """Open the page of a wave; ``before``: in the browser of that visit."""
        path = self._folder / "page.html"
        path.write_text(written(form, wave), encoding="utf-8")
        if before is None:
            self._open.append(self._browser.new_context(bypass_csp=ignore_policy))
        context = self._open[-1] if before is None else before.context
        page = context.new_page()
        page.set_default_timeout(60_000)
        if prepare:
            page.add_init_script(prepare)
        visit = Visit(page, context)
        page.on("request", lambda request: visit.requests.append(request.url))
        page.on("console", lambda message: visit.console.append(message.text))
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.goto(path.as_uri())
        if before is not None:
            self._see_what_was_kept(page, before.page)
        return visit

    @staticmethod
    def _see_what_was_kept(page: Page, earlier: Page) -> None:
        """On a busy machine another tab's writing may arrive after this one has been opened, and a
        tab may not see it until it is loaded again."""
        kept = earlier.evaluate("localStorage.length")
        for _ in range(100):
            if page.evaluate("localStorage.length") >= kept:
                return
            page.reload()

    def close(self) -> None:
        for context in self._open:
            context.close()
