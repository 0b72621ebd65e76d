"""Which score is largest once noise is added: decided exactly, in one pass.

Each candidate i has the noisy value s_i + b·N_i with real noise N_i: Laplace, exponential,
or Gumbel (argmax then follows P(i) ∝ e^(s_i/b)). Scores are exact (int64 or float64). Values
are computed in float64 relative to the largest score, with an error of at most

    ERROR·b + RELATIVE·|value|      as long as the draw is not extreme (``_extreme``).

A candidate that cannot be ruled out with these bounds is a contender; contenders are compared in
ball arithmetic, from the same random bits, until one is left. No weights are formed, so nothing
under- or overflows, whatever the scores.
"""

from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.lazy import cached_property
from discreet.noise import entropy
from discreet.noise.accuracy import trusted
from discreet.noise.additive import Flags, Floats
from discreet.noise.entropy import Source, Tape, Words, nearest, settle
from discreet.noise.laplace import LaplaceReal, flip, quick_log_uniform
from discreet.noise.workspace import Workspace, chunks, in_blocks, room
from discreet.numeric.balls import arb, ball

Kind = Literal["laplace", "exponential", "gumbel"]
TAG: Final = 0x500
ERROR: Final = 2.0**-18  # of a noise N that is not extreme
RELATIVE: Final = 2.0**-50  # rounding of score differences, products and sums
HIGH: Final = {"laplace": 22.0, "exponential": 22.0, "gumbel": 22.0}
LOW: Final = {"laplace": -22.0, "exponential": 0.0, "gumbel": -3.0}


def argmax(scores: NDArray[Any], scale: Fraction, kind: Kind, *, runner_up: bool = False) -> "Race":
    """Return the place of the largest score plus ``scale`` times noise of ``kind``.

    ``scores`` is a flat array of int64 or finite float64, not empty. ``runner_up`` keeps the
    second best too, which ``Race.gap`` needs.
    """
    source = entropy.source()
    fields: list[Field] = []
    top = scores.max()

    def work(start: int, end: int) -> None:
        block = scores[start:end]
        for chunk in chunks(block.size):
            places, words, values = _contend(block[chunk], top, scale, kind, source, runner_up)
            fields.append((places + start + chunk.start, words, values))

    in_blocks(work, scores.size, source)
    fields.sort(key=lambda field: int(field[0][0]))
    places, words, values = (np.concatenate([field[i] for field in fields]) for i in range(3))
    kept = _not_beaten(values, scale, runner_up)
    tape = Tape(source, words[kept])
    return Race(tape, places[kept], scores[places[kept]], scale, kind)


Field = tuple[NDArray[np.intp], Words, Floats]


def _contend(
    scores: NDArray[Any], top: Any, scale: Fraction, kind: Kind, source: Source, runner_up: bool
) -> Field:
    """Return places, words and values of those in a chunk that may be the best."""
    with room() as space:
        words = space.words("words", scores.size)
        source.fill(words)
        if not trusted():
            return np.arange(scores.size), words.copy(), np.full(scores.size, np.inf)
        noise = _noise(words, kind, space)
        extreme = _extreme(noise, kind, space)
        noise *= float(scale)
        with np.errstate(invalid="ignore"):  # ∞ − ∞, for a noise that is extreme
            noise += _below_top(scores, top, space)
        noise[extreme] = np.inf  # nothing is known of them, so they contend
        kept = _not_beaten(noise, scale, runner_up)
        return kept, words[kept], noise[kept]


def _noise(words: Words, kind: Kind, room: Workspace) -> Floats:
    """Return N of each word, to within ``ERROR`` if it is not extreme."""
    noise = quick_log_uniform(words, room)
    np.negative(noise, out=noise)
    if kind == "laplace":
        return flip(noise, words, room)
    if kind == "gumbel":
        np.log(noise, out=noise)
        np.negative(noise, out=noise)
    return noise


def _extreme(noise: Floats, kind: Kind, room: Workspace) -> NDArray[np.intp]:
    """Return where the bits drawn so far leave more than ``ERROR`` of doubt."""
    high: Flags = np.greater(noise, HIGH[kind], out=room.flags("sure", noise.size))
    high |= np.less(noise, LOW[kind], out=room.flags("common", noise.size))
    return np.flatnonzero(high)


def _below_top(scores: NDArray[Any], top: Any, room: Workspace) -> Floats:
    """Return s_i − max s as floats: close scores keep all their digits."""
    below = room.floats("whole", scores.size)
    if scores.dtype == np.int64:
        # as an unsigned difference it cannot overflow
        spare = room.words("spare", scores.size)
        np.subtract(np.uint64(int(top) & (2**64 - 1)), scores.view(np.uint64), out=spare)
        np.copyto(below, spare, casting="unsafe")
        return np.negative(below, out=below)
    with np.errstate(over="ignore"):  # −∞ is out of the race, as it should be
        np.subtract(scores, top, out=below)
    return below


def _not_beaten(values: Floats, scale: Fraction, runner_up: bool) -> NDArray[np.intp]:
    """Return the places whose upper bound reaches the best (or second best) lower bound.

    The true value is within e(v) = ERROR·b + RELATIVE·|v| of v. As v + e(v) rises with v, the
    comparison v + e(v) ≥ best − e(best) is one with a constant.
    """
    finite = values[np.isfinite(values)] if np.isinf(values.max()) else values
    if finite.size <= runner_up:
        return np.arange(values.size)
    best = float(np.partition(finite, -2)[-2]) if runner_up else float(finite.max())
    doubt = 2 * (ERROR * float(scale) + RELATIVE * abs(best)) * (1 + 2 * RELATIVE)
    return np.flatnonzero(values >= best - doubt)


class Race:
    """The contenders, compared in ball arithmetic."""

    def __init__(
        self,
        tape: Tape,
        places: NDArray[np.intp],
        scores: NDArray[Any],
        scale: Fraction,
        kind: Kind,
    ) -> None:
        self._places = places.tolist()
        self._scores = [Fraction(score) for score in scores.tolist()]
        self._scale, self._kind = scale, kind
        self._noise = [LaplaceReal(tape, i, TAG) for i in range(tape.words.size)]
        self._reals = [noise.uniform for noise in self._noise]

    @cached_property
    def index(self) -> int:
        """The place of the largest value."""
        running = list(range(len(self._places)))

        def attempt() -> int | None:
            nonlocal running
            values = [self._value(i) for i in running]
            best = max(values, key=lambda value: value.lower())
            running = [i for i, v in zip(running, values, strict=True) if not v < best]
            return running[0] if len(running) == 1 else None

        if len(running) == 1:
            return int(self._places[0])
        return int(self._places[settle(self._reals, attempt)])

    def gap(self, exponent: int) -> int:
        """Return the lead over the runner-up, rounded to a whole number of 2^exponent."""
        first = self._places.index(self.index)
        others = [i for i in range(len(self._places)) if i != first]

        def attempt() -> int | None:
            second = self._value(others[0])
            for i in others[1:]:
                second = second.max(self._value(i))
            return nearest((self._value(first) - second) / ball(Fraction(2) ** exponent))

        return settle(self._reals, attempt)

    def _value(self, i: int) -> arb:
        noise = self._noise[i]
        e = noise.ball() if self._kind == "laplace" else noise.exponential()
        if self._kind == "gumbel":
            e = -e.log()
        return ball(self._scores[i]) + ball(self._scale) * e
