"""How errors add up: sums of released columns as combinations of named noise.

A column is its truth plus noise, so a sum of columns is its truth plus Σ aᵢ·Zᵢ, where each Zᵢ has
a 95 % half-width wᵢ. Kept as a list of (aᵢ, Zᵢ) with names, a − a has no error and a + a twice
that of a. Different Zᵢ add up by one of two rules:

*Independent noise, added as it is* (counts, sums), in quadrature, each a step of its grid wider:

    w² = Σ aᵢ²·(wᵢ + gᵢ)²

For Gaussian laws that is exact without the steps. For Laplace laws it is not too small either:
|Z| has its 95 % point at 3.00 scales and |Z₁ + Z₂| at 4.11 ≤ √2·3.00. The step is needed because
the half-width of a law on the whole numbers is cut off at a whole number: discrete Laplace noise
of scale 0.27 is 0 in 95 of 100 cases, so its half-width is 0, but the sum of two is not 0 in 10 of
100. The tests convolve the exact laws, Laplace and Gaussian, for many scales and coefficients.

*Everything else* (means and other quotients, results of post-processing, noise that may depend on
the other's), by adding half-widths, each a step wider: w = Σ |aᵢ|·(wᵢ + gᵢ). For any k laws that
proves 1 − 0.05·k, no more. For those that occur here it is 95 %:

- Combinations of the same noise: *proven* for continuous laws. Laplace and Gaussian noise is
  symmetric and log-concave, and the 95 % points of the combinations of such noise are a norm of
  their coefficients: that of a sum is at most the sum (Meyer and Reisner 1991 for convex bodies,
  Bobkov 2010 for log-concave laws). On the whole numbers *measured*, by convolution.
- Independent noise to which something was done that makes no error larger, such as clipping:
  *measured*. P(Σ|Zᵢ| ≤ Σ wᵢ) is 95 % or more for all laws that were convolved.
- Means and quotients that share noise: *measured*, by draws in many settings. Where they share
  nearly all of it, coverage is 95 %, and else above.

A quotient, or a sum of rows, made of noise that is cut off at a whole number is cut off too. Its
step is what the steps of that noise add to its half-width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Source = tuple[str, str]  #: the release it belongs to, and its name there

FINE = 1e-3  # the step of a grid finer than the whole numbers is below this share of a half-width


@dataclass(frozen=True, eq=False)
class Noise:
    """a·Z in each row, where Z has a name and a 95 % half-width w."""

    name: tuple[str, ...]
    coefficient: FloatArray  #: a
    width: FloatArray  #: w
    step: FloatArray  #: g, the grid of Z
    sources: frozenset[Source]  #: what Z was computed from; without a common one, independent
    additive: bool  #: whether the rule of quadrature holds for Z

    def times(self, factor: FloatArray) -> Noise:
        """The same noise, scaled."""
        return replace(self, coefficient=self.coefficient * factor)

    @property
    def reach(self) -> FloatArray:
        """|a|·w, and 0 where a is 0 even if w is infinite."""
        return scaled(self.coefficient, self.width)

    @property
    def wide_reach(self) -> FloatArray:
        """|a|·(w + g)"""
        return scaled(self.coefficient, self.width + self.step)


def scaled(coefficient: FloatArray, width: FloatArray) -> FloatArray:
    """|a|·w, and 0 where a is 0 even if w is infinite.

    >>> scaled(np.array([-2.0, 0.0]), np.array([3.0, np.inf])).tolist()
    [6.0, 0.0]
    """
    a, w = np.broadcast_arrays(np.abs(coefficient), width)
    reach: FloatArray = np.multiply(a, w, out=np.zeros(a.shape), where=a != 0)
    return reach


def added(noises: Iterable[Noise]) -> tuple[Noise, ...]:
    """Noise of the same name becomes one term; its coefficients add up."""
    terms: dict[tuple[str, ...], Noise] = {}
    for noise in noises:
        seen = terms.get(noise.name)
        total = noise.coefficient if seen is None else seen.coefficient + noise.coefficient
        terms[noise.name] = replace(noise, coefficient=np.asarray(total))
    return tuple(terms.values())


def half_width(noises: Sequence[Noise], *, wide: bool = False) -> FloatArray:
    """The 95 % half-width of Σ aᵢ·Zᵢ, row by row; `wide` as it counts beside others, with steps."""
    single, squares, rest, live = (np.zeros(1) for _ in range(4))
    for group in related(noises):
        reach = _sum(noise.wide_reach for noise in group)
        squares, rest = (squares + reach**2, rest) if _quadratic(group) else (squares, rest + reach)
        single = single + _sum(noise.reach for noise in group)
        live = live + _sum((noise.coefficient != 0).astype(float) for noise in group)
    # Where a row has one source of noise, its own half-width is the answer: nothing is combined.
    return np.where((live <= 1) & (not wide), single, np.sqrt(squares) + rest)


def half_width_of_sum(noises: Sequence[Noise], rows: int) -> float:
    """The 95 % half-width of the sum of Σ aᵢ·Zᵢ over all rows, with steps.

    Each row has its own Z, but for a total that was added to every row: that is one Z, and its
    coefficients add up.
    """
    squares = rest = 0.0
    for group in related(noises):
        wide = np.broadcast_to(_sum(n.wide_reach for n in group if n.width.size > 1), rows)
        common = sum(_once(n, rows).wide_reach[0] for n in group if n.width.size == 1)
        if _quadratic(group):
            squares += float(np.sqrt(np.sum(wide**2)) + common) ** 2
        else:
            rest += float(np.sum(wide) + common)
    return float(np.sqrt(squares) + rest)


def _once(noise: Noise, rows: int) -> Noise:
    total = np.sum(np.broadcast_to(noise.coefficient, rows))
    return replace(noise, coefficient=np.array([total]))


def related(noises: Sequence[Noise]) -> list[list[Noise]]:
    """Groups of noise that share a source, directly or through others of the group."""
    groups: list[list[Noise]] = []
    for noise in noises:
        near = [g for g in groups if any(other.sources & noise.sources for other in g)]
        groups = [g for g in groups if g not in near]
        groups.append([*(other for g in near for other in g), noise])
    return groups


def _quadratic(group: list[Noise]) -> bool:
    return all(noise.additive for noise in group)


def _sum(arrays: Iterable[FloatArray]) -> Any:
    return sum(arrays, start=np.zeros(1))
