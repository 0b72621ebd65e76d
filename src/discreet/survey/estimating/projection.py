"""Shares made to look like shares: none below 0, and a sum of 1 where the answers exclude others.

Unbiased estimates may lie below 0 or add up to 1.03. Who needs proper shares, to draw or to
simulate from them, projects: of all proper shares the nearest ones. That is post-processing. It
costs nothing, but small shares come out too large on average and large ones too small, so the
result carries a label and no intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.release.projection import nearest_with_total
from discreet.survey.estimating.intervals import FloatArray

LABEL: Final = "projected: post-processing, biased, no intervals"


@dataclass(frozen=True, eq=False)
class Projected:
    """Proper shares near unbiased estimates, and the label that goes with them.

    >>> Projected(("red", "blue", "green"), np.array([0.8, 0.3, 0.0]))
    red 80.0 %, blue 30.0 %, green 0.0 % (projected: post-processing, biased, no intervals)
    """

    labels: tuple[str, ...]
    values: FloatArray
    label: str = LABEL

    def __repr__(self) -> str:
        shown = list(zip(self.labels, self.values.ravel().tolist(), strict=False))[:8]
        more = [f"… and {self.values.size - 8:,} more"] if self.values.size > 8 else []
        parts = [*(f"{label} {100 * value:.1f} %" for label, value in shown), *more]
        return f"{', '.join(parts)} ({self.label})"


def to_simplex(values: FloatArray) -> FloatArray:
    """The nearest shares that are at least 0 and add up to 1 (Duchi et al. 2008).

    >>> to_simplex(np.array([0.9, 0.3, -0.1])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    flat = nearest_with_total(values.ravel(), np.ones(values.size), 1.0)
    return flat.reshape(values.shape)


def to_box(values: FloatArray) -> FloatArray:
    """The nearest shares between 0 and 1, for answers that do not exclude each other."""
    return np.clip(values, 0.0, 1.0)
