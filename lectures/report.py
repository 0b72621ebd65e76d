"""The report on all claims: 24 statements of the lectures, each recomputed when it is made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lectures import (
    distances,
    gaussians,
    generalization,
    groups,
    laplaces,
    means,
    oracles,
    responses,
    selections,
    sensitivities,
    squares,
    stability,
)
from lectures.claim import WIDTH, ClaimReport

SOURCES: Final = (
    "Lectures 000 and 002 are two scans of one text (stability), 001 is on privacy basics, 003 on",
    "randomized response and the Laplace mechanism; 004 is a set of class notes on ε-privacy.",
)
# The functions that check the claims, in the order of their numbers.
CLAIMS: Final[tuple[Callable[[], ClaimReport], ...]] = (
    stability.tv_stability,
    oracles.gaussian_oracle,
    oracles.gaussian_tv,
    distances.multiplicative_distance,
    distances.three_forms,
    oracles.laplace_oracle,
    stability.tv_of_pure,
    stability.loss_tail,
    sensitivities.global_sensitivity,
    laplaces.laplace_mechanism,
    gaussians.tail,
    gaussians.classic,
    gaussians.many_numbers,
    responses.randomized_response,
    responses.estimate,
    responses.deniability,
    groups.group_privacy,
    sensitivities.proportions_and_histograms,
    sensitivities.many_counts,
    selections.noisy_max,
    selections.exponential,
    means.by_distance,
    squares.by_square,
    generalization.validity,
)


@dataclass(frozen=True)
class Report:
    """What came out, claim by claim; ``str(report)`` is what is printed."""

    claims: tuple[ClaimReport, ...]

    def __str__(self) -> str:
        rule = "─" * WIDTH
        parts = ["The lectures' claims, recomputed", *SOURCES]
        for claim in self.claims:
            parts += [rule, str(claim)]
        return "\n".join([*parts, rule, self.summary])

    @property
    def summary(self) -> str:
        """How many claims hold, and which do not."""
        found = Counter(claim.verdict for claim in self.claims)
        wrong = [str(claim.number) for claim in self.claims if claim.verdict != "holds"]
        if not wrong:
            return f"All {len(self.claims)} claims hold."
        return (
            f"{found['holds']} of {len(self.claims)} claims hold. Wrong as written: "
            f"{', '.join(wrong)}; corrected: {found['corrected']} of {len(wrong)}."
        )

    def to_json(self) -> str:
        """The report as JSON."""
        document = {
            "claims": [claim.to_document() for claim in self.claims],
            "summary": self.summary,
        }
        return json.dumps(document, ensure_ascii=False, indent=2)


def report(*, progress: Callable[[float, str], None] | None = None) -> Report:
    """Check every claim anew, which takes some seconds; ``progress`` is called before each."""
    claims: list[ClaimReport] = []
    for done, check in enumerate(CLAIMS):
        if progress is not None:
            progress(done / len(CLAIMS), f"claim {done + 1}")
        claims.append(check())
    return Report(tuple(claims))
