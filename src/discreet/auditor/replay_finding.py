"""What a replay found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.numeric.exact import round_down


@dataclass(frozen=True)
class Difference:
    """Something that differs between neighbours and that no noise hides."""

    kind: str  #: "distance", "path", "noise", "type", "shape", "keys", "nan", "error",
    #: "output", "question", "released" (nothing of its name reached noise), "bare" (without noise)
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
    ``whole`` says that outputs were compared, too: everything noisy was handed to the recorder, and
    nothing is random or opaque beside it. ``notes`` say what was not compared, or looks odd.
    """

    differences: tuple[Difference, ...]
    reaches: tuple[Reach, ...]
    points: int
    runs: int
    whole: bool
    notes: tuple[str, ...] = ()

    @property
    def violated(self) -> bool:
        """Was there a difference that no noise hides?"""
        return bool(self.differences)

    def __str__(self) -> str:
        return "\n".join([self._verdict(), *(f"note: {note}" for note in self.notes)])

    def _verdict(self) -> str:
        if self.violated:
            lines = list(dict.fromkeys(_lines(self.differences)))
            head = f"violated: {many(len(lines), 'difference')} between pair[0] and pair[1] that "
            return "\n".join([head + "the noise does not hide", *(f"- {line}" for line in lines)])
        some = " in what was compared" if self.notes else ""
        return (
            f"no violation found{some}: {many(self.points, 'point')} reached the noise in the same "
            f"way from pair[0] and pair[1], none further apart than declared. This is about "
            "these two inputs and is not a proof"
        )

    def to_json(self) -> str:
        """The finding as JSON."""
        return json.dumps(
            {
                "route": "replay",
                "violated": self.violated,
                "differences": [
                    {**vars(one), "measured": _text(one.measured), "declared": _text(one.declared)}
                    for one in self.differences
                ],
                "points": self.points,
                "runs": self.runs,
                "outputs compared": self.whole,
                "notes": list(self.notes),
                "words": str(self),
            },
            ensure_ascii=False,
        )


def short(x: Fraction | float) -> str:
    """A number as it is written in a sentence.

    >>> short(Fraction(1, 3)), short(Fraction(2**64 - 1)), short(float("inf"))
    ('0.333333', '18446744073709551615', 'infinite')
    """
    if x == float("inf"):
        return "infinite"
    exact = Fraction(x)
    return str(exact) if exact.denominator == 1 else f"{round_down(exact):.6g}"


def many(n: int, noun: str) -> str:
    """A count with its noun.

    >>> many(1, "point"), many(2000, "point")
    ('1 point', '2,000 points')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _lines(differences: tuple[Difference, ...]) -> Iterator[str]:
    """One line for a point that moved too far, in however many norms."""
    far: dict[str, list[Difference]] = {}
    for one in differences:
        if one.kind == "distance":
            far.setdefault(one.point, []).append(one)
        else:
            yield str(one)
    for point, moved in far.items():
        ways: dict[str, list[str]] = {}
        for one in moved:
            assert one.measured is not None and one.declared is not None
            size = f"{short(one.measured)} apart in {{}}, and {short(one.declared)} was declared"
            norms = ways.setdefault(size, [])
            if one.norm is not None and one.norm not in norms:
                norms.append(one.norm)
        told = "; ".join(size.format(_listed(norms)) for size, norms in ways.items())
        yield f"{point}: pair[0] and pair[1] are {told} (or the two inputs are not neighbours)"


def _listed(norms: list[str]) -> str:
    return " and ".join([", ".join(norms[:-1]), norms[-1]] if norms[1:] else norms)


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)
