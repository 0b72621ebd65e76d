"""A word is the beginning of a real number.

A uniform real U in [0, 1) has infinitely many random bits. A draw looks at the first 64 (or
fewer) of them, which pins U to an interval. Where that interval is too wide to decide how
the draw is rounded, more bits are revealed, of the *same* U. A ``Tape`` remembers what was
revealed, so that each bit is drawn once, whoever asks first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from discreet.noise.entropy import Source, Words
from discreet.numeric.balls import ball, precision

if TYPE_CHECKING:
    from flint import arb

T = TypeVar("T")

PREFETCH: Final = 8  # words for a single draw: enough for nearly all of them


@dataclass(frozen=True)
class Tape:
    """The bits behind a few words, revealed as they are asked for."""

    source: Source
    words: Words
    _revealed: dict[int, Words] = field(default_factory=dict)

    def more(self, tag: int) -> Words:
        """Return the further word called ``tag`` behind each word."""
        if tag not in self._revealed:
            self._revealed[tag] = self.source.extend(self.words, tag)
        return self._revealed[tag]

    def real(self, index: int, *, first: int, bits: int, tag: int) -> "Real":
        """Return the real that begins with the ``bits`` bits of the integer ``first``."""
        return Real(self, index, first, bits, tag)


class Draw:
    """The bits behind one word, in plain integers: the quick way for a single number."""

    def __init__(self, source: Source) -> None:
        self._source = source
        first, *rest = source.words(PREFETCH).tolist()
        self.word: int = first
        self._store: list[int] = rest
        self._revealed: dict[int, int] = {}

    def more(self, tag: int) -> int:
        """Return the further word called ``tag``."""
        if tag not in self._revealed:
            self._revealed[tag] = (
                self._store.pop() if self._store else int(self._source.words(1)[0])
            )
        return self._revealed[tag]

    def tape(self) -> Tape:
        """Return the same bits as a tape, for the slow path."""
        revealed = {tag: np.array([word], np.uint64) for tag, word in self._revealed.items()}
        return Tape(self._source, np.array([self.word], np.uint64), revealed)


class Real:
    """A uniform real in [0, 1), known to ``bits`` bits so far."""

    def __init__(self, tape: Tape, index: int, first: int, bits: int, tag: int) -> None:
        self._tape, self._index, self._tag = tape, index, tag
        self.first, self.bits = first, bits

    def refine(self) -> None:
        """Reveal 64 more bits."""
        self.first = (self.first << 64) | int(self._tape.more(self._tag)[self._index])
        self.bits += 64
        self._tag += 1

    def ball(self) -> "arb":
        """Return a ball around every real that begins with the known bits."""
        from flint import arb

        half = Fraction(1, 1 << (self.bits + 1))
        return arb(ball((2 * self.first + 1) * half), ball(half))


def settle(reals: list[Real], attempt: Callable[[], T | None]) -> T:
    """Call ``attempt`` with ever more bits of ``reals`` known, until it is certain.

    ``attempt`` works in ball arithmetic and returns None where the balls leave a doubt. It
    ends with probability one: what is decided depends on continuous laws.
    """
    while True:
        with precision(max(real.bits for real in reals) + 96):
            answer = attempt()
        if answer is not None:
            return answer
        for real in reals:
            real.refine()


def nearest(value: "arb") -> int | None:
    """Return ⌊value + ½⌋ where the whole ball agrees on it, else None."""
    rounded = (value + ball(Fraction(1, 2))).floor().unique_fmpz()
    return None if rounded is None else int(rounded)
