"""How many reports each point meets: sums over hyperplanes, by Fourier transforms.

The points with leading digit at j are (w, 1, 0, …) with w in F_q^j. Such a point meets v, whose
first j digits are a and whose next one is b, where  ⟨w, a⟩ = −b. Let R(a, s) be the count of
reports with ⟨w, a⟩ = s. Its discrete Fourier transform in s is the transform of the counts
along the line through a (the Fourier slice theorem):

    Σ_s R(a, s)·ω^(cs) = Σ_w f(w)·ω^⟨w, ca⟩ = F(c·a).

With a = λ·â, â canonical, R(a, −b) = R(â, −b/λ). So it takes one transform of q^j numbers, one
gathering along lines, and one transform back of length q: memory grows with the number of
points, not with q times as many.

Rounding. All counts are whole numbers, so an error below ½ is no error. Let N = q^j, n the
number of reports and u = 2⁻⁵³. A fast Fourier transform is off by at most C·u·log₂N·√N·‖f‖₂ in
the Euclidean norm (Higham, Accuracy and Stability, theorem 24.2, with C below 10 for powers of
two). The transform back divides by √q. So every count is off by at most

    C·u·(log₂N + log₂q)·√(N/q)·‖f‖₂ + C·u·log₂q·n.

NumPy's transform of other lengths comes without a proof of its C. We take 64, and a test sees
that errors stay below a tenth of that, in small fields and large ones. Where the bound is above
1/16, the counts are split into their high and low binary digits, which are transformed one after
the other. What comes out is checked: every number is within 1/8 of a whole one, and every line
adds up to the number of reports; else nothing is returned.
"""

from __future__ import annotations

from math import log2, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.survey.randomizers.space import Integers, Space

_CONSTANT: Final = 64.0
_UNIT: Final = 2.0**-53


def meeting(counts: Integers, space: Space, categories: int) -> Integers:
    """How many of the reports counted meet each of the first points.

    >>> plane = Space(3, 3)
    >>> reports = np.zeros(13, np.int64)
    >>> reports[0] = 5                                   # five reports of the point (1, 0, 0)
    >>> meeting(reports, plane, 13)                      # which meets all points (0, ·, ·)
    array([0, 5, 0, 0, 5, 0, 0, 5, 0, 0, 5, 0, 0])
    """
    if space.prime == 2:
        return _walsh(counts, space, categories)
    codes = space.codes(np.arange(categories))
    total = np.zeros(categories, np.int64)
    for j, power in enumerate(space.powers.tolist()):
        start = int(space.starts[j])
        f = counts[start : start + power]
        digits = codes % (power * space.prime)
        if power * space.prime <= categories:  # all there are, and each of them once
            every = np.arange(power * space.prime)
            total += _met(f, Space(space.prime, j), every)[digits]
        else:
            total += _met(f, Space(space.prime, j), digits)
    return total


def _walsh(counts: Integers, space: Space, categories: int) -> Integers:
    """Over two elements: (n + those that meet − those that do not)/2, in whole numbers."""
    f = np.concatenate([[0], counts])
    for j in range(space.dimension):
        pairs = f.reshape(-1, 2, 1 << j)
        f = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
    flat = f.reshape(-1)
    met: Integers = (flat[0] + flat[1 : categories + 1]) // 2
    return met


def _met(f: Integers, lower: Space, digits: Integers) -> Integers:
    """Σ f(w) over the w with ⟨w, a⟩ = −b, for the vectors (a, b) with these codes."""
    q = lower.prime
    b, a = np.divmod(digits, q**lower.dimension)
    nowhere = np.where(b == 0, f.sum(), 0)  # where a is zero
    if lower.dimension == 0:
        return nowhere
    line = np.where(a == 0, 1, a)
    factor = lower.inverses[line // lower.powers[lower.leading(line)]]
    met = _lines(f, lower)[lower.numbers(line), -b * factor % q]
    return np.where(a == 0, nowhere, met)


def _lines(f: Integers, space: Space) -> Integers:
    """R(â, s) for every canonical â and every s."""
    q = space.prime
    if space.dimension == 1:  # â = 1 alone
        return f.reshape(1, q)
    if _error(f, space) > 1 / 16:
        half = int(f.max()).bit_length() // 2
        high = f >> half
        return (_lines(high, space) << half) + _lines(f - (high << half), space)
    transform = np.fft.fftn(f.reshape((q,) * space.dimension)).reshape(-1)
    points = space.codes(np.arange(space.points))
    slices = np.empty((space.points, q // 2 + 1), np.complex128)
    slices[:, 0], slices[:, 1] = transform[0], transform[points]
    for c in range(2, q // 2 + 1):
        slices[:, c] = transform[space.times(points, c)]
    return _whole(np.fft.irfft(slices, q, axis=1), int(f.sum()))


def _error(f: Integers, space: Space) -> float:
    """The bound above; 0 for what cannot be split any more."""
    q, bits = space.prime, space.dimension * log2(space.prime)
    norm = sqrt(float(np.dot(f.astype(float), f.astype(float))))
    if f.max() <= 1:
        return 0.0
    first = (bits + log2(q)) * sqrt(q ** (space.dimension - 1)) * norm
    return _CONSTANT * _UNIT * (first + log2(q) * float(f.sum()))


def _whole(values: NDArray[np.float64], total: int) -> Integers:
    rounded = np.rint(values)
    whole = rounded.astype(np.int64)
    if np.abs(values - rounded).max() > 1 / 8 or (whole.sum(axis=1) != total).any():
        raise InternalError("sums over hyperplanes are not whole numbers")
    return whole
