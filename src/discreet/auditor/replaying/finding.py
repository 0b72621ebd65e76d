"""What a replay found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

from discreet.exact import round_down


@dataclass(frozen=True)
class Difference:
    """Something that differs between neighbours and that no noise hides."""

    kind: str  #: "distance", "path", "noise", "type", "shape", "keys", "nan", "error", "output"
    point: str  #: the name of the recording point, or "" for the run as a whole
    words: str
    measured: Fraction | None = None  #: for a distance
    declared: Fraction | None = None
    norm: str | None = None

    def __str__(self) -> str:
        return f"{self.point}: {self.words}" if self.point else self.words


@dataclass(frozen=True)
class Reach:
    """How much of a declared sensitivity one point used: 1 is all of it."""

    point: str
    norm: str
    measured: Fraction
    declared: Fraction


@dataclass(frozen=True)
class ReplayFinding:
    """Whether two runs on neighbours differed by more than was declared, and where.

    ``violated`` is true if there are ``differences``. ``reaches`` says for every point and norm
    how far neighbours were apart and how far they may be; ``points`` how many points were reached.
    ``whole`` says that outputs were compared, too: everything noisy was handed to the recorder.
    """

    differences: tuple[Difference, ...]
    reaches: tuple[Reach, ...]
    points: int
    runs: int
    whole: bool

    @property
    def violated(self) -> bool:
        """Was there a difference that no noise hides?"""
        return bool(self.differences)

    def __str__(self) -> str:
        if self.violated:
            head = f"violated: {_many(len(self.differences), 'difference')} between pair[0] and "
            lines = [head + "pair[1] that the noise does not hide"]
            return "\n".join([*lines, *(f"- {one}" for one in self.differences)])
        rest = "" if self.whole else "; what the pipeline returned was compared by its shape alone"
        return (
            f"no violation found: {_many(self.points, 'point')} reached the noise in the same way "
            f"from pair[0] and pair[1], none further apart than declared{rest}. This is about "
            "these two inputs and is not a proof"
        )

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(
            {
                "route": "replay",
                "violated": self.violated,
                "differences": [
                    {
                        "kind": one.kind,
                        "point": one.point,
                        "words": one.words,
                        "measured": _text(one.measured),
                        "declared": _text(one.declared),
                        "norm": one.norm,
                    }
                    for one in self.differences
                ],
                "points": self.points,
                "runs": self.runs,
                "outputs compared": self.whole,
                "words": str(self),
            },
            ensure_ascii=False,
        )


def short(x: Fraction | float) -> str:
    """A number in a sentence.

    >>> short(Fraction(1, 3)), short(Fraction(2**64 - 1)), short(float("inf"))
    ('0.333333', '18446744073709551615', 'infinite')
    """
    if x == float("inf"):
        return "infinite"
    exact = Fraction(x)
    return str(exact) if exact.denominator == 1 else f"{round_down(exact):.6g}"


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)
