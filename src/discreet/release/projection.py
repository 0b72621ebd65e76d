"""The nearest non-negative counts with a given total, and how to make them whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.release.combining import FloatArray


def nearest_with_total(x: FloatArray, spread: FloatArray, total: float) -> FloatArray:
    """The y ≥ 0 with Σ y = total ≥ 0 that is least far: Σ ((yᵢ − xᵢ)/sᵢ)² is smallest.

    The answer is yᵢ = max(0, xᵢ − λ·sᵢ²) for the one λ that gives the total. With counts sorted
    by xᵢ/sᵢ², those above 0 are the first k, and λ = (Σ xᵢ − total)/Σ sᵢ² over them; k is the
    last place whose own count stays above 0 (Held, Wolfe and Crowder 1974).

    >>> nearest_with_total(np.array([5.0, 3.0, -2.0]), np.ones(3), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    if total == 0:
        return np.zeros_like(x)
    squares = spread**2
    order = np.argsort(-x / squares, kind="stable")
    shifts = (np.cumsum(x[order]) - total) / np.cumsum(squares[order])
    last = np.flatnonzero(x[order] > shifts * squares[order])[-1]
    nearest: FloatArray = np.maximum(x - shifts[last] * squares, 0.0)
    return nearest


def whole_with_total(y: FloatArray, total: int) -> NDArray[np.int64]:
    """Round y ≥ 0 to whole numbers with this sum: the largest remainders are rounded up.

    >>> whole_with_total(np.array([1.5, 2.25, 1.25]), 5).tolist()
    [2, 2, 1]
    """
    whole = np.floor(y).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - y, kind="stable")  # the largest remainder first
    if missing < 0:  # sums of floats beyond 2^53 may be off by more than 1
        order = np.array([i for i in order[::-1] if whole[i] > 0])
    # Each gets missing/n, rounded down, and the first ones 1 more.
    each, extra = divmod(abs(missing), len(order))
    gain = np.full(len(order), each)
    gain[:extra] += 1
    whole[order] += np.sign(missing) * gain
    return whole
