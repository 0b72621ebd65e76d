"""What is true of a pair of inputs: the two output laws, as masses of the same cells.

Continuous outputs are cut into cells fine enough for the digits that are asserted. Every number
that is called the truth is read from these masses, and none from the mechanism's own formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

Floats = NDArray[np.float64]
Tail = Callable[[Floats], Floats]

SAME = 1e-7  # losses this near to the largest belong to the same witness
FIRM = 1e-3  # a witness at least this likely on both sides can be measured well


@dataclass(frozen=True)
class Laws:
    """The masses of the same cells under pair[0] and under pair[1].

    ``limit`` is the pair's ε where it is a supremum that no cell reaches, from theory.
    """

    p: Floats
    q: Floats
    limit: float | None = None

    def directions(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        return (self.p, self.q), (self.q, self.p)

    def delta(self, epsilon: float) -> float:
        """The larger of the two hockey-stick divergences."""
        return max(_hockey_stick(p, q, epsilon) for p, q in self.directions())

    def epsilon(self, delta: float = 0.0) -> float:
        """The least ε at which δ(ε) ≤ delta."""
        if delta == 0:
            return self.largest_loss if self.limit is None else self.limit
        least = delta * (1 + 1e-9)  # a δ that is met exactly is met
        if self.delta(0.0) <= least:
            return 0.0
        if self.delta(200.0) > least:
            return inf
        return float(optimize.brentq(lambda e: self.delta(e) - least, 0.0, 200.0, xtol=1e-13))

    @property
    def largest_loss(self) -> float:
        return max(float(_losses(p, q).max()) for p, q in self.directions())

    @property
    def tv(self) -> float:
        return self.delta(0.0)

    @property
    def mu(self) -> float:
        """The least μ whose profile lies above this one (at 61 points, both directions)."""
        points = np.linspace(-6.0, 6.0, 61)
        return max(
            _least_mu(e, _hockey_stick(p, q, e)) for e in points for p, q in self.directions()
        )

    @property
    def rho(self) -> float:
        """The supremum over orders α > 1 of D_α/α, on a fine grid of orders."""
        orders = 1 + np.geomspace(1e-4, 60.0, 80)
        return max(_renyi(p, q, a) / a for a in orders for p, q in self.directions())

    def witness(self) -> tuple[float, float]:
        """(p, q) of the event that shows the pair's ε: every cell of the largest loss."""
        top = self.largest_loss
        for p, q in self.directions():
            loss = _losses(p, q)
            if loss.max() == top:
                best = loss >= top - SAME if top < inf else loss == inf
                return float(p[best].sum()), float(q[best].sum())
        raise AssertionError("one direction has the largest loss")

    def hockey_stick_event(self, epsilon: float) -> tuple[float, float]:
        """(p, q) of the event on which P − e^ε·Q is largest."""
        p, q = max(self.directions(), key=lambda pair: _hockey_stick(*pair, epsilon))
        best = p > exp(epsilon) * q
        return float(p[best].sum()), float(q[best].sum())

    @property
    def firm(self) -> bool:
        """Is ε finite, reached, and its witness likely enough on both sides to be measured?"""
        if self.limit is not None or self.largest_loss == inf:
            return False
        return min(self.witness()) >= FIRM


def laws(p: ArrayLike, q: ArrayLike, *, limit: float | None = None) -> Laws:
    """Two lists of masses that sum to one."""
    first, second = np.asarray(p, float).ravel(), np.asarray(q, float).ravel()
    assert first.shape == second.shape
    assert abs(first.sum() - 1) < 1e-9 and abs(second.sum() - 1) < 1e-9
    return Laws(first, second, limit)


def masses(cdf: Tail, sf: Tail, edges: Floats) -> Floats:
    """The masses of the cells between ``edges`` and beyond, exact in both tails."""
    below, above = cdf(edges), sf(edges)
    inner = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return np.concatenate([below[:1], inner, above[-1:]])


def laplace_masses(mean: float, scale: float, edges: Floats) -> Floats:
    law = stats.laplace(mean, scale)
    return masses(law.cdf, law.sf, edges)


def normal_masses(mean: float, sigma: float, edges: Floats) -> Floats:
    law = stats.norm(mean, sigma)
    return masses(law.cdf, law.sf, edges)


def cells(low: float, high: float, per_unit: int = 256) -> Floats:
    """Edges from ``low`` to ``high``, whole numbers among them."""
    return np.linspace(low, high, round((high - low) * per_unit) + 1)


def product(*pairs: Laws) -> Laws:
    """Independent outputs beside one another."""
    p, q = pairs[0].p, pairs[0].q
    for pair in pairs[1:]:
        p, q = np.outer(p, pair.p).ravel(), np.outer(q, pair.q).ravel()
    return laws(p / p.sum(), q / q.sum())


def nodes(kinks: ArrayLike, scale: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on ℝ for densities that fall like e^(−|z|/scale).

    The line is cut at ``kinks``, so that the integrand is smooth on every piece.
    """
    at = np.unique(np.asarray(kinks, float))
    reach = scale * np.concatenate([np.arange(1, 8), np.arange(10, 60, 5)])
    cuts = np.unique(np.concatenate([at, at[0] - reach, at[-1] + reach]))
    x, w = np.polynomial.legendre.leggauss(40)
    half, middle = np.diff(cuts) / 2, (cuts[1:] + cuts[:-1]) / 2
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def gaussian_delta(mu: float, epsilon: float) -> float:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle and Wang 2018)."""
    second = np.exp(epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu))
    return float(stats.norm.cdf(mu / 2 - epsilon / mu) - second)


def loss_order(p: Floats, q: Floats) -> NDArray[np.intp]:
    """Cells from the largest ratio p/q to the least."""
    return np.argsort(-_losses(p, q), kind="stable")


def _losses(p: Floats, q: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        loss = np.log(p, where=p > 0, out=np.full_like(p, -inf))
        other = np.log(q, where=q > 0, out=np.full_like(q, -inf))
    out = np.full_like(p, -inf)
    some = p > 0
    out[some] = loss[some] - other[some]
    return out


def _hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.maximum(p - exp(epsilon) * q, 0.0).sum())


def _least_mu(epsilon: float, delta: float) -> float:
    # Deltas that double arithmetic cannot tell from the trivial max(0, 1 − e^ε) say nothing.
    if delta <= max(0.0, 1 - exp(epsilon)) + 1e-9:
        return 0.0
    if delta >= 1 - 1e-12:
        return inf
    return float(optimize.brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-9, 50.0))


def _renyi(p: Floats, q: Floats, order: float) -> float:
    if (q[p > 0] == 0).any():
        return inf
    some = p > 0
    terms = order * np.log(p[some]) + (1 - order) * np.log(q[some])
    top = terms.max()
    return (top + log(float(np.exp(terms - top).sum()))) / (order - 1)
