"""One claim of the lectures: what it says, what was checked, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Final, Literal, NamedTuple, TypeAlias

Verdict: TypeAlias = Literal["holds", "wrong as written", "corrected"]

WIDTH: Final = 100
_FIXED: Final = "\u00a0"  # a space where no line may break
_SAID: Final[dict[Verdict, str]] = {
    "holds": "holds",
    "wrong as written": "wrong as written",
    "corrected": "wrong as written, corrected",
}


class Measured(NamedTuple):
    """A number of the report: its name, how it is printed, and how it was obtained."""

    name: str
    value: str
    how: str


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was tried and could have failed."""

    words: str
    passed: bool
    corrects: bool = False  #: whether it is about the corrected statement, not the printed one


@dataclass(frozen=True, kw_only=True)
class ClaimReport:
    """A claim with its checks; the verdict follows from them.

    >>> checks = (Check("x ≤ 1", False), Check("x ≤ 2", True, corrects=True))
    >>> claim = ClaimReport(number=0, source="nowhere", statement="x ≤ 1", checks=checks)
    >>> claim.verdict
    'corrected'
    """

    number: int
    source: str
    statement: str
    checks: tuple[Check, ...]
    numbers: tuple[Measured, ...] = ()
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether all checks of the statement passed; if not, whether its correction's did."""
        if all(check.passed for check in self.checks if not check.corrects):
            return "holds"
        corrections = [check.passed for check in self.checks if check.corrects]
        return "corrected" if corrections and all(corrections) else "wrong as written"

    def __str__(self) -> str:
        head = f"Claim {self.number}  ({self.source})"
        said = _SAID[self.verdict]
        lines = [f"{head}{said:>{WIDTH - len(head)}}", *_indented(self.statement, "  ")]
        for check in self.checks:
            words = f"corrected: {check.words}" if check.corrects else check.words
            lines += _indented(words, "  ✓ " if check.passed else "  ✗ ")
        column = max((len(each.value) for each in self.numbers), default=0)
        for each in self.numbers:
            lines += _indented(f"{each.name}: {each.how}", f"    {each.value:<{column}}  ")
        return "\n".join([*lines, *_indented(self.note, "  ")])

    def to_document(self) -> dict[str, object]:
        """The claim as plain values, for JSON."""
        return {
            "number": self.number,
            "source": self.source,
            "statement": self.statement,
            "verdict": self.verdict,
            "checks": [
                {"words": c.words, "passed": c.passed, "corrects": c.corrects} for c in self.checks
            ],
            "numbers": [each._asdict() for each in self.numbers],
            "note": self.note,
        }


def shown(x: float) -> str:
    """Six digits, as numbers are printed in the report.

    >>> shown(0.07965567455), shown(2), shown(float("inf"))
    ('0.0796557', '2', '∞')
    """
    return "∞" if x == float("inf") else f"{x:.6g}"


def _indented(text: str, start: str) -> list[str]:
    """The text in lines of at most WIDTH characters, which start below its first word."""
    for sign in "=≤<≥>≈":  # no line breaks beside the sign of an equation
        text = text.replace(f" {sign} ", f"{_FIXED}{sign}{_FIXED}")
    lines = wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )
    return [line.replace(_FIXED, " ") for line in lines]
