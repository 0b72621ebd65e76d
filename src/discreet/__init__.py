"""discreet: statistics about people with differential privacy that you can check.

>>> import discreet as dp
>>> count = dp.Laplace(sensitivity=1, epsilon=0.5)       # a promise ...
>>> released = count.release(1234)                       # ... kept: an int, near 1234
>>> count.error(confidence=0.95), count.guarantee        # how near, and what it cost
(6.0, Pure(epsilon=Fraction(1, 2)))
"""

from discreet import bounds, sensitivity
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineError,
    EntropyFailed,
    InternalError,
    InvalidArgument,
    LedgerDamaged,
    Refused,
    RelationMismatch,
    UnboundedSensitivity,
)
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, LaplacePair, Pure, TotalVariation
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.statistical_queries import StatisticalQueries
from discreet.neighbors import Relation

__version__ = "0.1.0"

__all__ = [
    "GDP",
    "ZCDP",
    "AboveThreshold",
    "Approx",
    "BudgetExceeded",
    "DiscreetError",
    "EngineError",
    "EntropyFailed",
    "Exponential",
    "Gaussian",
    "Guarantee",
    "InternalError",
    "InvalidArgument",
    "KeyThreshold",
    "Laplace",
    "LaplacePair",
    "LedgerDamaged",
    "NoisyMax",
    "Pure",
    "RandomizedResponse",
    "Refused",
    "Relation",
    "RelationMismatch",
    "SparseVector",
    "StatisticalQueries",
    "TotalVariation",
    "UnboundedSensitivity",
    "__version__",
    "bounds",
    "sensitivity",
]
