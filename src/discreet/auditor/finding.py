"""What an audit found: a bound, how sure it is, and the event that shows it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from discreet.auditor.accusation import accused
from discreet.auditor.sampling.events import SampledEvent
from discreet.auditor.sampling.parameters import ClaimParameters
from discreet.auditor.sampling.region import Counts
from discreet.auditor.sampling.sampler import BatchRaised, Run, Sampler
from discreet.auditor.subject import Subject
from discreet.guarantees import Guarantee, Pure
from discreet.numeric.exact import integer

# -- witness: the event, and how to see it again ---------------------------------------------------


@dataclass(frozen=True, eq=False)
class Witness:
    """An event that is likelier under pair[first] than the claim allows, or came nearest to it.

    The probabilities are bounds, valid together with the finding's confidence.
    """

    first: int  #: pair[first] is the input under which the event is likelier
    event: SampledEvent
    counts: Counts = field(repr=False)
    probability: float  #: at least this under pair[first] ...
    other_probability: float  #: ... and at most this under the other
    epsilon: float  #: a lower bound on ε at the claimed δ
    delta: float  #: a lower bound on δ at the claimed ε
    question: ClaimParameters = field(repr=False)
    risk: float = field(repr=False)
    pair: tuple[Any, Any] = field(repr=False)

    @property
    def hits(self) -> tuple[int, int]:
        """How often it was seen under pair[first], and in how many runs."""
        return self.counts.hits, self.counts.n

    @property
    def other_hits(self) -> tuple[int, int]:
        """How often it was seen under the other input, and in how many runs."""
        return self.counts.other_hits, self.counts.other_n

    @property
    def one_sided(self) -> bool:
        """Whether it was never seen under the other input, as when ε is infinite."""
        return self.counts.other_hits == 0 < self.counts.hits

    def replay(self, run: Run, *, samples: int = 100_000, batched: bool = False) -> Replayed:
        """Draw again from both inputs and test this event alone, at the same confidence.

        ``run`` is what was audited, or a version repaired since.
        """
        many = integer(samples, name="samples", minimum=1)
        run, batched = Subject.of(run).drawn(batched)
        sampler = Sampler(run, self.pair, batched, reader=self.event.reader)
        try:
            counts = self._counted(sampler, many)
        except BatchRaised:
            counts = self._counted(sampler.one_by_one(), many)
        # In batches there may be two attempts, of which one counts: each at half the risk.
        risk, deciding = self.risk / 2 if batched else self.risk, self.question.parameters[0]
        violated = deciding.exceeded_by(deciding.bound(counts, risk))
        return Replayed(violated, self.question.reported.bound(counts, risk), counts)

    def _counted(self, sampler: Sampler, many: int) -> Counts:
        found = [0, 0]
        for side in (self.first, 1 - self.first):
            left = many
            while left:
                size = min(left, sampler.chunk)
                found[side] += int(self.event.mask(sampler.draw(side, size)).sum())
                left -= size
        return Counts(found[self.first], many, found[1 - self.first], many)


@dataclass(frozen=True)
class Replayed:
    """What a witness showed when it was tried again."""

    violated: bool
    lower_bound: float  #: in the claim's own parameter
    counts: Counts


def factor(witness: Witness) -> str:
    """How much likelier the event is than a claim in ε allows, in words."""
    ratio, allowed = (
        math.exp(min(epsilon, 700.0))  # such that the power is still a float
        for epsilon in (witness.epsilon, witness.question.reported.claimed)
    )
    return (
        f"it, or its opposite, is at least {ratio:.3g} times as likely under one input as under "
        f"the other; ε allows {allowed:.3g} times"
    )


# -- finding ---------------------------------------------------------------------------------------


SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ", "tv": "total variation"}


@dataclass(frozen=True)
class Bar:
    """One bar of a picture of the two output laws, along what the witness looks at."""

    words: str  #: the kind of output, or its range
    start: float | None  #: a range from here ...
    end: float | None  #: ... to here
    shares: tuple[float, float]  #: of the outputs of pair[0] and of pair[1]
    inside: float  #: how much of it belongs to the event


@dataclass(frozen=True, eq=False)
class Finding:
    """The outcome of `dp.audit`.

    ``lower_bound`` is in the claim's own parameter: ε, ρ, μ or the total variation distance; for
    an (ε, δ) claim it is the ε at the claimed δ, and the δ at the claimed ε is in the witness.
    It is finite even where one input never gave the event: samples cannot show that it never
    will. ``one_sided`` says that it was so. Printed, it says what was found in sentences.

    >>> import discreet as dp
    >>> finding = dp.audit(lambda x: x, (10, 11), dp.Pure(1), samples=2_000)       # no noise at all
    >>> finding.violated, finding.one_sided, finding.parameter, finding.witness.counts.n
    (True, True, 'epsilon', 875)
    """

    claim: Guarantee
    violated: bool
    lower_bound: float
    parameter: str
    confidence: float
    witness: Witness | None
    samples: int  #: outputs drawn for each of the two inputs, to choose and to test
    seconds: float
    shown_by: Witness | None  #: the event that shows the bound; often the witness itself
    within_reach: float  #: about the bound, had the witness been known and all samples tested it
    bars: tuple[Bar, ...] = field(default=(), repr=False)
    pairs_tried: int = 1
    errors: tuple[float, float] = (0.0, 0.0)  #: the share of runs that ended in an error
    unread: tuple[str, ...] = ()  #: types of outputs that could not be looked into
    risk: float = 1e-9  #: 1 − confidence, without rounding

    @property
    def one_sided(self) -> bool:
        """Whether the event was never seen under the other input, as when ε is infinite."""
        return self.witness is not None and self.witness.one_sided

    @property
    def least_tests(self) -> int:
        """How many outputs per side it takes to refute the claim by an event that only one input
        gives, and always gives."""
        n = 1
        while n < 1 << 40 and not self._could_show(n):
            n *= 2
        low, high = n // 2, n
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            low, high = (low, middle) if self._could_show(middle) else (middle, high)
        return high

    @property
    def too_few(self) -> bool:
        """Whether so few outputs were tested that no violation could have been found."""
        return self.witness is not None and not self._could_show(self.witness.counts.n)

    def _could_show(self, n: int) -> bool:
        assert self.witness is not None
        deciding = self.witness.question.parameters[0]
        return deciding.exceeded_by(deciding.bound(Counts(n, n, 0, n), self.witness.risk))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        symbol, sure = SYMBOLS[self.parameter], f"1 − {self.risk:.2g}"
        drawn = f"{self.samples:,} outputs of each input, {self.seconds:.1f} s"
        tested = 0 if self.witness is None else self.witness.counts.n
        chose = f"{self.samples - tested:,} to choose the event, {tested:,} to test it"
        shown = f"{symbol} ≥ {self.lower_bound:.4g}"
        if self.violated:
            lines = [f"Violated: {accused(self.claim)} is false, with confidence {sure}."]
        else:
            lines = [
                f"No violation of {self.claim} found in {self.samples:,} outputs of each input, at "
                f"confidence {sure}.",
                "That is not a proof: another event, pair of inputs or more samples may show one.",
            ]
        lines.append(f"Shown: {shown}.")
        if self.witness is not None and (self.violated or self.lower_bound > 0):
            lines += self._witness_lines(self.witness)
            if self.shown_by is not None and self.shown_by is not self.witness:
                lines.append(f"By another event: {shown}.")
                lines += self._witness_lines(self.shown_by)
        elif not self.violated:
            lines.append("No event told the two inputs apart.")
        if self.too_few:
            lines.append(
                f"So few outputs could not have shown a violation, whatever the function does: it "
                f"takes at least {self.least_tests:,} to test."
            )
        if self.unread:
            lines.append(f"Not looked into: outputs of type {', '.join(self.unread)}.")
        if any(self.errors):
            shares = " and ".join(f"{e:.3g} of pair[{i}]" for i, e in enumerate(self.errors))
            lines.append(f"Runs that ended in an error: about {shares}.")
        if self.violated:
            more = f"{symbol} of about {self.within_reach:.4g}"
            lines.append(f"With all of these samples to test it, this event would show {more}.")
        lines.append(f"Drawn: {drawn}; {chose}.")
        if self.pairs_tried > 1:
            lines.append(f"The pair was chosen among {self.pairs_tried:,}.")
        return lines

    def _witness_lines(self, witness: Witness) -> list[str]:
        (k, n), (l, m) = witness.hits, witness.other_hits  # noqa: E741
        first, other = f"pair[{witness.first}]", f"pair[{1 - witness.first}]"
        lines = [
            f"Event: {witness.event}",
            f"  under {first}: at least {witness.probability:.4g} (seen {k:,} times in {n:,})",
            f"  under {other}: at most {witness.other_probability:.4g} (seen {l:,} times in {m:,})",
        ]
        if self.violated and isinstance(self.claim, Pure):
            lines.append(f"  {factor(witness).capitalize()}.")
        if witness.one_sided and self.violated:
            lines.append(f"  It was never seen under {other}, as when ε is infinite.")
        if "delta" in [p.name for p in witness.question.parameters]:
            lines.append(f"  δ ≥ {witness.delta:.4g} at the claimed ε.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values: without inputs, and of outputs only what the event names."""
        witness = self.witness
        return {
            "claim": json.loads(self.claim.to_json()),
            "violated": self.violated,
            "words": str(self),
            "proof": False,
            "parameter": self.parameter,
            "lower_bound": self.lower_bound,
            "within_reach": self.within_reach if math.isfinite(self.within_reach) else None,
            "confidence": self.confidence,
            "risk": self.risk,
            "samples": self.samples,
            "seconds": self.seconds,
            "pairs_tried": self.pairs_tried,
            "one_sided": self.one_sided,
            "errors": list(self.errors),
            "unread": list(self.unread),
            "too_few": self.too_few,
            "witness": None
            if witness is None
            else {
                "likelier_under": witness.first,
                "event": str(witness.event),
                "hits": list(witness.hits),
                "other_hits": list(witness.other_hits),
                "probability_at_least": witness.probability,
                "other_probability_at_most": witness.other_probability,
                "epsilon_at_least": witness.epsilon,
                "delta_at_least": witness.delta,
            },
        }

    def to_json(self) -> str:
        """The finding as a JSON document."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def plot(self) -> Any:
        """Draw the two output laws with the event shaded; save with ``.save("finding.png")``."""
        from discreet.auditor.plot import plot

        return plot(self)
