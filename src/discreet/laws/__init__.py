"""Probability laws as values: what an output can be, and how likely, for verification.

Probabilities are balls (Arb): intervals sure to hold the exact value, at least 80 bits sharp.

>>> from discreet.laws import DiscreteLaplace
>>> DiscreteLaplace(center=0, scale=2).pmf(0)
0.24491866240370913

From the bottom up: `value` reads points on the scale of the data; `laplace`, `gaussian` and
`finite` are the simple laws; `rounded` puts noise on a grid; `noisy_argmax` and `sparse_vector`
are what selections give; `mixture` tosses a coin between two laws.
"""

from discreet.laws.finite import Finite, Gibbs
from discreet.laws.gaussian import CutGaussian, RealGaussian
from discreet.laws.laplace import DiscreteLaplace, RealLaplace
from discreet.laws.noisy_argmax import NoisyArgmax
from discreet.laws.rounded import RoundedGaussian, RoundedLaplace

__all__ = [
    "CutGaussian",
    "DiscreteLaplace",
    "Finite",
    "Gibbs",
    "NoisyArgmax",
    "RealGaussian",
    "RealLaplace",
    "RoundedGaussian",
    "RoundedLaplace",
]
