"""Whether a law has one form at every input: looked at in many places, never proved.

Proofs for all neighbours rest on the form of a law, such as "discrete Laplace noise of scale 2
around the input". A law is a function that anybody may have written, so its form is known only
where it was looked at: at small numbers, around powers of two, at some fractions. A proof says
so, and what looks different there is compared like any other neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.auditor.exactly.families import form, place
from discreet.auditor.exactly.neighbours import Pair
from discreet.errors import DiscreetError

_SMALL = 64
_LARGEST_POWER = 60
_MOST_ODD = 4
_NOT_AN_INPUT = (DiscreetError, ValueError, ArithmeticError, LookupError)


@dataclass(frozen=True)
class Look:
    """What a look at a law in many places found."""

    same: int  #: at how many inputs it had one form, which is that of the first of them
    odd: tuple[Any, ...]  #: inputs at which it had another one, a few of them

    def __add__(self, other: Look) -> Look:
        return Look(self.same + other.same, self.odd + other.odd)

    @property
    def one_form(self) -> bool:
        """Whether the law had one form wherever it was looked at, and a form that is known."""
        return self.same > 0 and not self.odd

    @property
    def words(self) -> str:
        """The assumption that is left."""
        return f"if the law has this form at every input, as it had at the {self.same} looked at"

    def around(self, shift: Fraction | int) -> list[Pair]:
        """Neighbours of what looked different."""
        return [pair for v in self.odd for pair in ((v, v + shift), (v - shift, v))]


def look(law: Callable[[Any], Any], inputs: Iterable[Any]) -> Look:
    """Compare the form of the law at the inputs, and whether it takes them as they are."""
    first: Any = None
    same = 0
    odd: list[Any] = []
    for value, one in laws_at(law, inputs):
        found = form(one)
        first = found if first is None else first
        if first is None:
            return Look(0, ())  # of a law of another type no form is known
        if found == first and place(one) == value:
            same += 1
        elif len(odd) < _MOST_ODD:
            odd.append(value)
    return Look(same, tuple(odd))


def laws_at(law: Callable[[Any], Any], inputs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The laws at these inputs; what has no law is no input."""
    for value in inputs:
        try:
            one = law(value)
        except _NOT_AN_INPUT:
            continue
        yield value, one


def whole_numbers(near: Iterable[int] = ()) -> list[int]:
    """Small ones, powers of two and their neighbours, a few of no pattern, and those near these."""
    sizes = [*range(_SMALL + 1), *(1000, 1001, 12345, 999_983, 10**9 + 7)]
    sizes += [(1 << k) + d for k in range(7, _LARGEST_POWER + 1) for d in (-1, 0, 1)]
    sizes += [n * d for n in near for d in (1, 2, 3)] + [n + d for n in near for d in (-1, 1)]
    return list(dict.fromkeys([*sizes, *(-size for size in sizes)]))


def numbers(step: Fraction, near: Iterable[Fraction] = ()) -> list[Fraction]:
    """Whole numbers, multiples of the step, and what lies between them."""
    parts = [Fraction(1, 3), Fraction(1, 2), Fraction(-2, 7), Fraction(1, 1 << 30)]
    found = [Fraction(n) for n in whole_numbers()]
    found += [n + part for n in (0, 1, -3, 17, 12345, 1 << 20, -(1 << 40)) for part in parts]
    found += [step * n for n in (1, 2, 3, 17, 1000, 1 << 20, -1, -5)]
    found += [step * (n + part) for n in (0, 1, -8, 1 << 16) for part in parts]
    found += [x * k for x in near for k in (1, 2, 3, -1)]
    return list(dict.fromkeys(found))


def lists_of_scores(least: int, near: Sequence[Fraction] = ()) -> list[list[float]]:
    """Scores of one to eight candidates, and of many: equal, in order, with a leader or not."""
    sizes = [float(n) for n in whole_numbers() if abs(n) < 1 << 53]
    sizes += [0.5, 0.1, -0.3, 1e-9, *(float(x) for x in near)]
    found = [[0.0], [0.0] * 33, [float(i % 7) for i in range(100)]]
    for x in sizes:
        found += [[x, 0.0], [0.0, x, 1.0], [x, x]]
    for count in range(1, 9):
        found += [[float(i) for i in range(count)], [5.5] + [-1.0] * (count - 1)]
        found += [[(7.25 * i * i) % 11 - 5 for i in range(count)]]
    return [scores for scores in found if len(scores) >= least]
