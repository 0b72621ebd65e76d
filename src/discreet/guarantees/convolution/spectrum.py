"""Adding up privacy losses: products of Fourier transforms, with every error counted.

Losses of composed mechanisms add up, so their laws are convolved, and the transform of a
convolution is a product. A probability of 10⁻¹⁵ would drown in the rounding of an ordinary
transform. So the laws are *tilted* first: the mass at loss l is multiplied by e^(θ·l)/M with
M = E e^(θ·L). Tilted laws convolve to the tilted law of the sum, and with θ chosen well the
rare losses that decide δ are its most likely ones. Undoing the tilt is a factor.

Most coefficients of a long composition are as good as zero, and a factor more never makes one
larger. They are dropped for good, and what they could have been counts as an error.

How errors add up from one step to the next is proven. How far the transform itself rounds is not:
nothing is proven about SciPy's. It is *measured*, and charged with a margin (`TRANSFORM`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.bands import UNIT, FloatArray
from discreet.guarantees.convolution.grid_loss import GridLoss

# Measured, not proven: a transform of masses that sum to 1 errs by 5 units in a coefficient at
# N = 2²⁰ (a test measures it again); 8·log₂(N), 160 units there, are charged.
TRANSFORM = 8 * UNIT
NEGLIGIBLE = 50.0  # coefficients below e^(−50) are dropped

_LARGEST = 1e150  # its square is still a float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The transform of a tilted law of losses on the grid of multiples of `step`, modulo `size`.

    Only the coefficients `kept` are held; the others are at most e^(−50). Each held one is off
    by at most `error` times its bound, e^(log_bound), as far as `TRANSFORM` holds.
    """

    step: float
    tilt: float
    rates: tuple[float, float]  #: λ for the lower and the upper tail
    size: int
    kept: NDArray[np.intp]
    values: NDArray[np.complex128]
    log_bound: FloatArray
    error: FloatArray
    log_scale: float = 0.0  #: log of the product of the M
    log_size: float = 0.0  #: the sum of the sizes of what was added up to it
    mean: float = 0.0  #: of the tilted law
    above: tuple[float, ...] = (0.0, 0.0, 0.0)  #: log E e^(λ·L) of the tilted law, for λ, 2λ, 4λ
    below: tuple[float, ...] = (0.0, 0.0, 0.0)  #: log E e^(−λ·L)
    survival: float = 0.0  #: log of the probability that no loss is infinite, rounded down
    no_failure: float = 0.0  #: the same for failures alone, rounded up
    count: int = 0
    width: float = 0.0  #: what the widths of the profiles add up to, relative to the scale
    noise: float = 0.0  #: tilted mass that is there for rounding only

    @staticmethod
    def of(
        loss: GridLoss,
        count: int,
        *,
        step: float,
        tilt: float,
        rates: tuple[float, float],
        size: int,
    ) -> Spectrum:
        """The transform of `count` independent copies of one loss."""
        none = Spectrum(
            step,
            tilt,
            rates,
            size,
            np.arange(size // 2 + 1),
            np.ones(1, np.complex128),
            np.zeros(1),
            np.zeros(1),
        )
        return none.times(loss, count)

    def times(self, loss: GridLoss, count: int) -> Spectrum:
        """Add `count` independent copies of a loss."""
        from scipy import fft

        tilted, log_mass, width, noise = _tilted(loss, self.step, self.tilt)
        z = fft.rfft(_wrapped(tilted, loss.first, self.size))
        if self.kept.size < z.size:
            z = z[self.kept]
        slack = TRANSFORM * math.log2(self.size) + 8 * UNIT
        stays = _stays(z, self.log_bound, count, slack)
        z, points = z[stays], loss.points * self.step
        bound = np.abs(z) + slack
        # The first loss multiplies a constant 1, for which one number stands.
        before = [
            part if self.count == 0 else part[stays]
            for part in (self.values, self.log_bound, self.error)
        ]
        return replace(
            self,
            kept=self.kept[stays],
            values=before[0] * _power(z, count),
            log_bound=before[1] + count * np.log(bound),
            # (a + s)^k − a^k ≤ (a + s)^k·min(1, k·s/(a + s)); logarithms add units of k.
            error=np.minimum(before[2] + count * (slack / bound + 32 * UNIT), 1.0),
            log_scale=self.log_scale + count * log_mass,
            log_size=self.log_size + count * abs(log_mass),
            mean=self.mean + count * float(tilted @ points),
            above=_added(self.above, count, tilted, np.exp(self.rates[1] * points)),
            below=_added(self.below, count, tilted, np.exp(-self.rates[0] * points)),
            survival=self.survival + count * math.log1p(-min(loss.infinite, 1 - UNIT)),
            no_failure=self.no_failure + count * math.log1p(-min(loss.failing, 1 - UNIT)),
            count=self.count + count,
            width=self.width + count * width,
            noise=self.noise + count * noise,
        )


def _tilted(loss: GridLoss, step: float, tilt: float) -> tuple[FloatArray, float, float, float]:
    """The tilted law, log M, and its widths and noise relative to M."""
    factors = np.exp(tilt * step * loss.points)
    raised = loss.masses * factors
    mass = float(raised.sum())
    # Between two dots, the line may be e^(θ·h) times as far above, relative to the tilt.
    width = math.exp(tilt * step) * float(np.max(loss.widths * factors)) / mass
    noise = float(loss.noise @ factors) / mass
    return raised / mass, math.log(mass), width, noise


def _wrapped(masses: FloatArray, first: int, size: int) -> FloatArray:
    """The masses laid around a circle of `size` points."""
    row, start = np.zeros(size), first % size
    while masses.size:
        part = masses[: size - start]
        row[start : start + part.size] += part
        masses, start = masses[part.size :], 0
    return row


def _added(
    before: tuple[float, ...], count: int, masses: FloatArray, factors: FloatArray
) -> tuple[float, ...]:
    """Log moments of one more loss, k times; the factors e^(λ·l) are squared for 2λ and 4λ."""
    moments = []
    for moment in before:
        if max(factors[0], factors[-1]) < _LARGEST:
            moments.append(moment + count * math.log(float(masses @ factors)))
            factors = factors * factors
        else:
            moments.append(math.inf)  # no bound from this rate
    return tuple(moments)


def _stays(
    z: NDArray[np.complex128], log_bound: FloatArray, count: int, slack: float
) -> NDArray[np.bool_]:
    """Which coefficients are still above e^(−50): log_bound + k·log(|z| + slack) > −50."""
    least = np.maximum(np.exp(-(NEGLIGIBLE + log_bound) / count) - slack, 0.0)
    stays: NDArray[np.bool_] = z.real**2 + z.imag**2 >= least * least
    return stays


def _power(z: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    if count == 1:
        return z
    result: NDArray[np.complex128] = np.exp(count * np.log(np.where(z == 0, 1e-300, z)))
    return result
