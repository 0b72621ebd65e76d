"""Probability laws as values: what an output can be, and how likely, for verification.

Probabilities are balls (Arb): intervals sure to hold the exact value, at least 80 bits sharp.

>>> from discreet.laws import DiscreteLaplace
>>> DiscreteLaplace(center=0, scale=2).pmf(0)
0.24491866240370913
"""

from discreet.laws.discrete_laplace import DiscreteLaplace
from discreet.laws.finite import Finite
from discreet.laws.gibbs import Gibbs
from discreet.laws.noisy_argmax import NoisyArgmax
from discreet.laws.real_gaussian import CutGaussian, RealGaussian
from discreet.laws.real_laplace import RealLaplace
from discreet.laws.rounded_gaussian import RoundedGaussian
from discreet.laws.rounded_laplace import RoundedLaplace

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
