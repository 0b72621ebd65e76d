"""Is a score plus noise at or above a noisy threshold? Decided exactly.

The threshold's noise is one real number for the whole run; it is never rounded, only known
to as many bits as the comparisons have needed so far. Each comparison

    s_i + b·N_i ≥ T + c·N_0        with Laplace N

is made in float64 with an error bound, and in ball arithmetic where that leaves a doubt.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.noise import entropy
from discreet.noise.accuracy import trusted
from discreet.noise.argmax import ERROR, HIGH, RELATIVE
from discreet.noise.entropy import Real, Tape, nearest, settle
from discreet.noise.laplace import LaplaceReal, flip, log_uniform
from discreet.noise.workspace import Workspace
from discreet.numeric.balls import arb, ball

TAG: Final = 0x600


class NoisyThreshold:
    """``threshold`` plus Laplace noise of ``scale``, drawn once and kept secret."""

    def __init__(self, threshold: Fraction, scale: Fraction) -> None:
        self._threshold, self._scale = threshold, scale
        self._source = entropy.source()
        tape = Tape(self._source, self._source.words(1))
        self._noise = LaplaceReal(tape, 0, TAG)
        self._float = float(_laplace(tape.words)[0])

    def compare(self, scores: NDArray[Any], scale: Fraction) -> "Comparison":
        """Compare each score plus fresh Laplace noise of ``scale`` with the threshold."""
        tape = Tape(self._source, self._source.words(scores.size))
        noise = _laplace(tape.words)
        value = scores.astype(np.float64)
        with np.errstate(over="ignore"):  # an infinite size leaves unlimited doubt
            size = np.abs(value) + abs(float(self._threshold))
            value -= float(self._threshold)
        value += float(scale) * noise
        value -= float(self._scale) * self._float
        doubt = RELATIVE * size + ERROR * float(scale + self._scale)
        extreme = (np.abs(noise) > HIGH["laplace"]) | (abs(self._float) > HIGH["laplace"])
        doubtful = (np.abs(value) <= doubt) | extreme | (not trusted())

        def lead(i: int) -> tuple[list[Real], Callable[[], arb]]:
            noise = LaplaceReal(tape, i, TAG)
            apart = Fraction(scores[i].item()) - self._threshold

            def difference() -> arb:
                own = ball(scale) * noise.ball()
                return ball(apart) + own - ball(self._scale) * self._noise.ball()

            return [noise.uniform, self._noise.uniform], difference

        above = value > 0
        for i in np.flatnonzero(doubtful):
            reals, difference = lead(int(i))
            above[i] = settle(reals, lambda d=difference: _sign(d()))  # type: ignore[misc]
        return Comparison(above, lead)


Lead = Callable[[int], tuple[list[Real], Callable[[], arb]]]


class Comparison:
    """Which scores came out at or above the threshold, and by how much."""

    def __init__(self, above: NDArray[np.bool_], lead: Lead) -> None:
        self.above = above
        self._lead = lead

    def gap(self, index: int, exponent: int) -> int:
        """Return how far score ``index`` is above, rounded to a whole number of 2^exponent."""
        reals, difference = self._lead(index)
        step = ball(Fraction(2) ** exponent)
        return settle(reals, lambda: nearest(difference() / step))


def _laplace(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    space = Workspace()
    noise = log_uniform(words, space)
    return flip(np.negative(noise, out=noise), words, space)


def _sign(difference: arb) -> bool | None:
    if difference > 0:
        return True
    return False if difference < 0 else None
