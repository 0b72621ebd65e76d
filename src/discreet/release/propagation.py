"""How errors add up: sums of released columns as combinations of named noise.

A column is its truth plus noise, so a sum of columns is its truth plus Σ aᵢ·Zᵢ, where each Zᵢ has
a 95 % half-width wᵢ. Since the Zᵢ are kept by name, a − a has no error and a + a has twice that of
a. Different Zᵢ add up by one of two rules:

*Independent noise, added as it is* (counts, sums), in quadrature, each a step of its grid wider:

    w² = Σ aᵢ²·(wᵢ + gᵢ)²

For Gaussian laws that is exact without the steps. For Laplace laws it is not too small either:
|Z| has its 95 % point at 3.00 scales and |Z₁ + Z₂| at 4.11 ≤ √2·3.00. The step is needed because
the half-width of a law on the whole numbers is cut off at a whole number: discrete Laplace noise
of scale 0.27 is 0 in 95 of 100 cases, so its half-width is 0, but the sum of two is not 0 in 10 of
100. The tests convolve the exact laws, Laplace and Gaussian, for many scales and coefficients.

*Everything else* (means and other quotients, results of post-processing, noise that may depend on
other noise), by adding half-widths, each a step wider: w = Σ |aᵢ|·(wᵢ + gᵢ). For k arbitrary laws
this proves a coverage of 1 − 0.05·k and no more. For those that occur here it is 95 %:

- Combinations of the same noise: *proven* for continuous laws. Laplace and Gaussian noise is
  symmetric and log-concave, and the 95 % points of the combinations of such noise are a norm of
  their coefficients: that of a sum is at most the sum (Meyer and Reisner 1991 for convex bodies,
  Bobkov 2010 for log-concave laws). On the whole numbers *measured*, by convolution.
- Independent noise that was processed in a way that makes no error larger, such as clipping:
  *measured*. P(Σ|Zᵢ| ≤ Σ wᵢ) is 95 % or more for all laws that were convolved.
- Means and quotients that share noise: *measured*, by draws in many settings. Where they share
  nearly all of it, coverage is 95 %, and otherwise above.

If noise is cut off at a whole number, so is a quotient or a sum of rows that is made of it. Its
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
class NoiseTerm:
    """a·Z in each row, where Z has a name and a 95 % half-width w."""

    name: tuple[str, ...]
    coefficient: FloatArray  #: a
    width: FloatArray  #: w
    step: FloatArray  #: g, the grid of Z
    sources: frozenset[Source]  #: what Z was computed from; terms that share none are independent
    additive: bool  #: whether the rule of quadrature holds for Z

    def times(self, factor: FloatArray) -> NoiseTerm:
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


def added(noises: Iterable[NoiseTerm]) -> tuple[NoiseTerm, ...]:
    """The terms with each name once: the coefficients of equal noise are added."""
    terms: dict[tuple[str, ...], NoiseTerm] = {}
    for noise in noises:
        seen = terms.get(noise.name)
        total = noise.coefficient if seen is None else seen.coefficient + noise.coefficient
        terms[noise.name] = replace(noise, coefficient=np.asarray(total))
    return tuple(terms.values())


def half_width(noises: Sequence[NoiseTerm], *, wide: bool = False) -> FloatArray:
    """The 95 % half-width of Σ aᵢ·Zᵢ, row by row; if `wide`, with steps, as needed in a sum."""
    single, squares, rest, live = (np.zeros(1) for _ in range(4))
    for group in related(noises):
        reach = _sum(noise.wide_reach for noise in group)
        squares, rest = (squares + reach**2, rest) if _quadratic(group) else (squares, rest + reach)
        single = single + _sum(noise.reach for noise in group)
        live = live + _sum((noise.coefficient != 0).astype(float) for noise in group)
    # Where a row has one source of noise, its own half-width is the answer: nothing is combined.
    return np.where((live <= 1) & (not wide), single, np.sqrt(squares) + rest)


def half_width_of_sum(noises: Sequence[NoiseTerm], rows: int) -> float:
    """The 95 % half-width of the sum of Σ aᵢ·Zᵢ over all rows, with steps.

    Each row has its own Z, except for a total that was added to every row: that is one Z, and its
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


def _once(noise: NoiseTerm, rows: int) -> NoiseTerm:
    total = np.sum(np.broadcast_to(noise.coefficient, rows))
    return replace(noise, coefficient=np.array([total]))


def related(noises: Sequence[NoiseTerm]) -> list[list[NoiseTerm]]:
    """Groups of noise that share a source, directly or through others of the group."""
    groups: list[list[NoiseTerm]] = []
    for noise in noises:
        near = [g for g in groups if any(other.sources & noise.sources for other in g)]
        groups = [g for g in groups if g not in near]
        groups.append([*(other for g in near for other in g), noise])
    return groups


def _quadratic(group: list[NoiseTerm]) -> bool:
    return all(noise.additive for noise in group)


def _sum(arrays: Iterable[FloatArray]) -> Any:
    return sum(arrays, start=np.zeros(1))


# -- the error of a quotient of two released columns -----------------------------------------------
# If N and D are released for the truths n and d, then N − r·D with r = n/d is pure noise, so the
# 95 % set of r is where that difference is within its own half-width (Fieller 1954):
#
#     {r : |N − r·D| ≤ w(r)},    w(r)² = Σ (aᵢ − r·bᵢ)²·wᵢ²
#
# with the coefficients aᵢ of N and bᵢ of D on the same noise. No approximation for small noise is
# made, and noise that both share is counted once: a/a is 1 with no error. Where half-widths are
# added instead (see above), w(r) = w(N) + |r|·w(D), and the set is the range of (N ± w(N)) /
# (D ± w(D)).
#
# Where D may be 0, that is |D| ≤ w(D), the set is unbounded. There the quotient is *unknown*: its
# value is nan and its error infinite. It is nan nowhere else.


def quotient(
    top: FloatArray,
    above: Sequence[NoiseTerm],
    bottom: FloatArray,
    below: Sequence[NoiseTerm],
    *,
    wide: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Values and 95 % half-widths of top/bottom, row by row; `wide` as in `half_width`."""
    groups = related(added([*above, *below]))
    apart = all(len(group) == 1 and group[0].additive for group in groups)
    with np.errstate(all="ignore"):  # rows without an answer are set to nan at the end
        value = top / bottom
        if apart:
            low, high = _fieller(top, above, bottom, below, wide=wide)
        else:
            up, down = half_width(above, wide=wide), half_width(below, wide=wide)
            low, high = _box(top, up, bottom, down)
        error = np.maximum(high - value, value - low)
    known = (np.abs(bottom) > half_width(below, wide=wide)) & ~np.isnan(error)
    return np.where(known, value, np.nan), np.where(known, np.maximum(error, 0.0), np.inf)


def _fieller(
    top: FloatArray,
    above: Sequence[NoiseTerm],
    bottom: FloatArray,
    below: Sequence[NoiseTerm],
    *,
    wide: bool,
) -> tuple[FloatArray, FloatArray]:
    # (D² − Σb²w²)·r² − 2·(N·D − Σab·w²)·r + (N² − Σa²w²) ≤ 0
    a = {noise.name: noise for noise in above}
    b = {noise.name: noise for noise in below}
    names = {**a, **b}
    # How many sources of noise a row has: a single one is not combined with anything.
    live = sum(((_of(a, name) != 0) | (_of(b, name) != 0)).astype(int) for name in names)
    second, first, zeroth = bottom * bottom, top * bottom, top * top
    for name, noise in names.items():
        width = np.where((live > 1) | wide, noise.width + noise.step, noise.width)
        up, down = scaled(_of(a, name), width), scaled(_of(b, name), width)
        sign = np.sign(_of(a, name)) * np.sign(_of(b, name))
        second = second - down * down
        first = first - np.where(sign == 0, 0.0, sign * up * down)
        zeroth = zeroth - up * up
    root = np.sqrt(np.maximum(first * first - second * zeroth, 0.0))
    # Where second ≤ 0 the set is unbounded: D, a step of its grid wider, may be 0.
    ends = np.where(second > 0, second, np.nan)
    return (first - root) / ends, (first + root) / ends


def _of(terms: dict[tuple[str, ...], NoiseTerm], name: tuple[str, ...]) -> FloatArray:
    return terms[name].coefficient if name in terms else np.zeros(1)


def _box(
    top: FloatArray, up: FloatArray, bottom: FloatArray, down: FloatArray
) -> tuple[FloatArray, FloatArray]:
    corners = [(top + i * up) / (bottom + j * down) for i in (-1, 1) for j in (-1, 1)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)
