"""The error of a quotient of two released columns.

If N and D are released for the truths n and d, then N − r·D with r = n/d is pure noise, so the
95 % set of r is where that difference is within its own half-width (Fieller 1954):

    {r : |N − r·D| ≤ w(r)},    w(r)² = Σ (aᵢ − r·bᵢ)²·wᵢ²

with the coefficients aᵢ of N and bᵢ of D on the same noise. No approximation for small noise is
made, and noise that both share is counted once: a/a is 1 with no error. Where half-widths are
added instead (see `combining`), w(r) = w(N) + |r|·w(D), and the set is the range of (N ± w(N)) /
(D ± w(D)).

Where D may be 0, that is |D| ≤ w(D), the set has no end. There the quotient is *unknown*: its
value is nan and its error infinite, and nowhere else is it nan.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.release.combining import FloatArray, Noise, added, half_width, related, scaled


def quotient(
    top: FloatArray,
    above: Sequence[Noise],
    bottom: FloatArray,
    below: Sequence[Noise],
    *,
    wide: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Values and 95 % half-widths of top/bottom, row by row; `wide` as in `half_width`."""
    groups = related(added([*above, *below]))
    apart = all(len(group) == 1 and group[0].additive for group in groups)
    with np.errstate(all="ignore"):  # rows without an answer are told apart at the end
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
    above: Sequence[Noise],
    bottom: FloatArray,
    below: Sequence[Noise],
    *,
    wide: bool,
) -> tuple[FloatArray, FloatArray]:
    # (D² − Σb²w²)·r² − 2·(N·D − Σab·w²)·r + (N² − Σa²w²) ≤ 0
    a = {noise.name: noise for noise in above}
    b = {noise.name: noise for noise in below}
    names = {**a, **b}
    # How many sources of noise a row has: one alone is not combined with anything.
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
    # At second ≤ 0 the set has no end: D, a step of its grid wider, may be 0.
    ends = np.where(second > 0, second, np.nan)
    return (first - root) / ends, (first + root) / ends


def _of(terms: dict[tuple[str, ...], Noise], name: tuple[str, ...]) -> FloatArray:
    return terms[name].coefficient if name in terms else np.zeros(1)


def _box(
    top: FloatArray, up: FloatArray, bottom: FloatArray, down: FloatArray
) -> tuple[FloatArray, FloatArray]:
    corners = [(top + i * up) / (bottom + j * down) for i in (-1, 1) for j in (-1, 1)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)
