"""What ``discreet audit`` says: what was tried, what was found, and that it is not a proof."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.app.cli.printing import note, say, show_document

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.auditor.verify import Verification

_LONGEST: Final = 60  # letters of an input
_NOT_RUN: Final = (
    "not looked at, and nothing drawn: say --pair, since the law is about other inputs than release"
)


@dataclass(frozen=True)
class Audited:
    """What both routes found; one of them may not have been possible."""

    target: str
    finding: Finding | None
    verification: Verification | None
    suggested: bool = False  #: no pair was given, and those that the law suggests were tried
    picture: Path | None = None

    @property
    def violated(self) -> bool:
        """Whether either route refuted the claim."""
        return any(route is not None and route.violated for route in self._routes)

    @property
    def _routes(self) -> tuple[Verification | None, Finding | None]:
        return self.verification, self.finding

    @property
    def verdict(self) -> str:
        """In one line. The silence of a search is never worded as more."""
        claim = next(route.claim for route in self._routes if route is not None)
        exact = self.verification
        if exact is not None and exact.violated:
            return f"Violated: {claim} is false, by its law"
        if self.violated:
            return f"Violated: {claim} is false, by its outputs"
        if exact is not None and exact.holds and exact.proven:
            return (
                f"No violation of {claim} found; its law keeps it, but that the code follows "
                "its law is not proved"
            )
        return f"No violation of {claim} found, which is not a proof"

    @property
    def _pair(self) -> list[str] | None:
        """Which inputs were taken; not where they were given, since then they may be data."""
        if not self.suggested or self.finding is None or self.finding.witness is None:
            return None
        return [_short(value) for value in self.finding.witness.pair]

    @property
    def _pair_words(self) -> list[str]:
        if self._pair is None:
            return []
        return ["No pair was given: pair[0] is {}, pair[1] is {}.".format(*self._pair)]

    def show(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            finding, exact = (
                route and json.loads(route.to_json()) for route in reversed(self._routes)
            )
            facts: dict[str, Any] = {
                "target": self.target,
                "violated": self.violated,
                "verdict": self.verdict,
            }
            facts["suggested_pair"] = self._pair
            routes = {"finding": finding, "verification": exact}
            show_document("audit", {**facts, **routes, "plot": self.picture and str(self.picture)})
            return
        lines = [] if self.finding is None else str(self.finding).splitlines()
        style = "bold red" if self.violated else "bold yellow"
        if self.verification is None:
            say(lines[0], style=style)
            say(*lines[1:])
        else:
            say(self.verdict, style=style)
            say("", "By its law:", *_indented(str(self.verification).splitlines()))
            say("", "By its outputs:", *_indented([*self._pair_words, *(lines or [_NOT_RUN])]))
        if self.picture is not None:
            note(f"the picture is in {self.picture}")


def show_lectures(progress: Callable[[float, str], None], *, as_json: bool) -> bool:
    """All claims of the lectures, recomputed; whether each holds, or its correction does."""
    from discreet.app.lectures.report import report

    progress(0.0, "recomputing the claims")
    made = report()
    if as_json:
        show_document("audit lectures", json.loads(made.to_json()))
    else:
        say(*str(made).splitlines())
    return all(claim.verdict != "wrong as written" for claim in made.claims)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
