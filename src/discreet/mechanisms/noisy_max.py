"""Report noisy max: which of many scores is largest, for the price of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, get_args

from numpy.typing import ArrayLike

from discreet import laws
from discreet.errors import Argument, InvalidArgument, Phrase
from discreet.guarantees import BoundedRange, Pure
from discreet.hints import spelled
from discreet.inputs import Scores
from discreet.laws.noisy_argmax import NoisyLead
from discreet.mechanisms.mechanism import check_noise, positive_sensitivity, read_flag, read_scores
from discreet.noise.additive import FloatGrid, fine_exponent
from discreet.noise.argmax import Kind, argmax
from discreet.numeric.balls import arb, ball, certainly_at_most, least_float
from discreet.numeric.exact import Number, integer, positive, probability, round_up
from discreet.sensitivity import Sensitivity


@dataclass(frozen=True)
class Chosen:
    """A candidate, and by how much its noisy score leads the runner-up's.

    ``NoisyMax(gap=True)`` returns it. ``index`` is the candidate's place among the scores, from 0;
    ``gap`` is in the units of the scores, noise included.

    >>> best = NoisyMax(sensitivity=1, epsilon=1, gap=True).release([120, 500, 80])
    >>> best.index, 280 < best.gap < 480
    (1, True)
    """

    index: int
    gap: float


@dataclass(frozen=True, init=False)
class NoisyMax:
    """Adds noise of scale 2·sensitivity/ε to each score and says which is largest.

    That is ε-differential privacy for scores of which one person can move each by at most
    ``sensitivity``. If one person moves them all up or all down, say ``monotone=True``: then
    scale = sensitivity/ε will do. Counts are monotone when a row is added or removed. When a row
    is *replaced*, one count rises while another falls, and half the noise would cost up to 2ε.

    ``noise`` is "laplace", "exponential" (permute-and-flip: the least error for the same ε) or
    "gumbel" (the exponential mechanism, with its tighter ``guarantee``). With ``gap=True``
    (Laplace noise only) the lead over the runner-up comes with the index at no further cost:
    Ding, Wang, Zhang and Kifer, "Free Gap Information from the Differentially Private Sparse
    Vector and Noisy Max Mechanisms", VLDB 2019. The proof moves the winner's noise alone, by the
    change of its score less the change of the best other one: at most 2·sensitivity, and the gap
    stays what it was.

    Cost: ``guarantee``, however many candidates. Error: ``error(0.95, candidates=K)``, the
    score that is lost relative to the best candidate, in proportion to ln K.

    >>> votes = NoisyMax(sensitivity=1, epsilon=1, monotone=True)     # counts, rows added
    >>> votes.scale, votes.release([120, 500, 80])
    (Fraction(1, 1), 1)
    >>> best = NoisyMax(sensitivity=1, epsilon=1, gap=True).release([120, 500, 80])
    >>> best.index, 280 < best.gap < 480
    (1, True)
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    noise: Kind
    gap: bool

    @spelled
    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        noise: Kind = "laplace",
        gap: bool = False,
    ) -> None:
        object.__setattr__(self, "sensitivity", positive_sensitivity(sensitivity, norm="linf"))
        object.__setattr__(self, "epsilon", positive(epsilon, name="epsilon"))
        object.__setattr__(self, "monotone", read_flag(monotone, name="monotone"))
        object.__setattr__(self, "noise", _kind(noise))
        object.__setattr__(self, "gap", read_flag(gap, name="gap"))
        if self.gap and noise != "laplace":
            raise InvalidArgument(
                "gap",
                "False unless the noise is Laplace",
                Phrase("True with {}", Argument("noise", noise)),
                hint=Phrase('the gap is proved to be free for {noise="laplace"} alone'),
            )
        check_noise(self.scale, name="epsilon")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each score."""
        return (1 if self.monotone else 2) * self.sensitivity / self.epsilon

    def release(self, scores: ArrayLike) -> Any:
        """Return the index of the largest noisy score. Each call spends ``guarantee``.

        ``scores`` has a number for each candidate; which candidates there are is public.
        With ``gap=True`` the result is a ``Chosen(index, gap)``, the gap rounded to a multiple of
        a power of two below scale/1000.
        """
        values = read_scores(scores)
        if not self.gap:
            return argmax(values, self.scale, self.noise).index
        if values.size < 2:
            raise InvalidArgument("scores", "at least two where a gap is asked for", "one")
        winner = argmax(values, self.scale, self.noise, runner_up=True)
        exponent = fine_exponent(self.scale)
        return Chosen(winner.index, FloatGrid(exponent).join_one(0.0, winner.gap(exponent)))

    @property
    def guarantee(self) -> Pure | BoundedRange:
        """ε-differential privacy, with or without the gap; for Gumbel noise ε-bounded range."""
        # With Gumbel noise the choice is that of `Exponential`, where the proof is. For the other
        # two no more than pure ε is proved: the ρ = ε²/8 of bounded range is not theirs.
        return BoundedRange(self.epsilon) if self.noise == "gumbel" else Pure(self.epsilon)

    def error(self, confidence: Number = Fraction(95, 100), *, candidates: int) -> float:
        """Return w such that the chosen score is within w of the best, with this probability.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``candidates`` is K, how many there
        are to choose from.

        A candidate that is worse by w wins only if its noise beats that of the best one by w.
        For each of the K − 1 others this has a known probability; w makes their sum at most
        1 − confidence, whatever the scores, and is rounded up.
        """
        sure = probability(confidence, name="confidence")
        others = integer(candidates, name="candidates", minimum=1) - 1
        beats = _BEATS[self.noise]
        scales = least_float(lambda x: certainly_at_most(lambda: others * beats(ball(x)), 1 - sure))
        return round_up(self.scale * Fraction(scales))

    @property
    def inputs(self) -> Scores:
        """What one person can do to the scores."""
        return Scores(self.sensitivity, self.monotone, least=2 if self.gap else 1)

    def law(self, scores: ArrayLike) -> laws.NoisyArgmax | laws.Gibbs | NoisyLead:
        """Return the exact law of ``release(scores)``; with a gap, of (index, gap)."""
        exact = read_scores(scores).tolist()
        if self.gap:
            step = Fraction(2) ** fine_exponent(self.scale)
            return NoisyLead(exact, scale=self.scale, step=step)
        if self.noise == "gumbel":
            return laws.Gibbs(exact, rate=1 / self.scale)
        return laws.NoisyArgmax(exact, scale=self.scale, noise=self.noise)


# P(N₁ − N₂ > x) of two independent draws of unit scale, x ≥ 0
_BEATS: Final[dict[Kind, Callable[[arb], arb]]] = {
    "laplace": lambda x: (1 + x / 2) * (-x).exp() / 2,
    "exponential": lambda x: (-x).exp() / 2,
    "gumbel": lambda x: 1 / (1 + x.exp()),
}


def _kind(noise: Kind) -> Kind:
    if noise in get_args(Kind):
        return noise
    expected = ", ".join(f'"{kind}"' for kind in get_args(Kind))
    raise InvalidArgument.of("noise", f"one of {expected}", noise)
