"""What ``discreet audit`` says: what was tried, what was found, and that it is not a proof."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.app.cli.printing import note, say, show_document

if TYPE_CHECKING:
    from discreet.auditor.finding import Finding
    from discreet.auditor.verification import Verification

_NOT_RUN: Final = (
    "not looked at, and nothing drawn: say --pair, since the law is about other inputs than release"
)


@dataclass(frozen=True)
class Audited:
    """What both routes found; one of them may not have been possible."""

    target: str
    finding: Finding | None
    verification: Verification | None
    picture: Path | None

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
            return f"VIOLATED: {claim} is refuted by the law itself"
        if self.violated:
            return f"VIOLATED: {claim} is refuted by outputs"
        if exact is not None and exact.holds and exact.proven:
            return (
                f"No violation of {claim} found; its law keeps it, but that the code follows "
                "its law is not proved"
            )
        return f"No violation of {claim} found, which is not a proof"

    def show(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            finding, exact = (
                route and json.loads(route.to_json()) for route in reversed(self._routes)
            )
            facts = {"target": self.target, "violated": self.violated, "verdict": self.verdict}
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
            say("", "By its outputs:", *_indented(lines or [_NOT_RUN]))
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


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
