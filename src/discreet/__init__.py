"""discreet: statistics about people with differential privacy that you can check.

>>> import discreet as dp
>>> count = dp.Laplace(sensitivity=1, epsilon=0.5)       # a promise ...
>>> released = count.release(1234)                       # ... kept: an int, near 1234
>>> count.error(confidence=0.95), count.guarantee        # how near, and what it cost
(6.0, Pure(epsilon=Fraction(1, 2)))

Names are loaded when they are first used, so that `import discreet` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet import adaptive as adaptive
    from discreet import bounds as bounds
    from discreet import sensitivity as sensitivity
    from discreet import survey as survey
    from discreet.auditor.audit import audit as audit
    from discreet.auditor.check_sensitivity import check_sensitivity as check_sensitivity
    from discreet.auditor.finding import Finding as Finding
    from discreet.auditor.replay import replay as replay
    from discreet.auditor.verify import verify as verify
    from discreet.certificate.certificate import Certificate as Certificate
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import EngineError as EngineError
    from discreet.errors import EntropyFailed as EntropyFailed
    from discreet.errors import InternalError as InternalError
    from discreet.errors import InvalidArgument as InvalidArgument
    from discreet.errors import LedgerDamaged as LedgerDamaged
    from discreet.errors import LooseBound as LooseBound
    from discreet.errors import Refused as Refused
    from discreet.errors import RelationMismatch as RelationMismatch
    from discreet.errors import UnboundedSensitivity as UnboundedSensitivity
    from discreet.guarantees import GDP as GDP
    from discreet.guarantees import ZCDP as ZCDP
    from discreet.guarantees import Approx as Approx
    from discreet.guarantees import BoundedRange as BoundedRange
    from discreet.guarantees import Composition as Composition
    from discreet.guarantees import Filter as Filter
    from discreet.guarantees import Guarantee as Guarantee
    from discreet.guarantees import LaplacePair as LaplacePair
    from discreet.guarantees import Least as Least
    from discreet.guarantees import LossDistribution as LossDistribution
    from discreet.guarantees import Pure as Pure
    from discreet.guarantees import ResponsePair as ResponsePair
    from discreet.guarantees import TotalVariation as TotalVariation
    from discreet.guarantees import compose as compose
    from discreet.guarantees import from_dp_event as from_dp_event
    from discreet.guarantees import to_dp_event as to_dp_event
    from discreet.ledger.ledger import Ledger as Ledger
    from discreet.mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from discreet.mechanisms.calibrate import calibrate as calibrate
    from discreet.mechanisms.exponential import Exponential as Exponential
    from discreet.mechanisms.gaussian import Gaussian as Gaussian
    from discreet.mechanisms.key_threshold import KeyThreshold as KeyThreshold
    from discreet.mechanisms.laplace import Laplace as Laplace
    from discreet.mechanisms.noisy_max import Chosen as Chosen
    from discreet.mechanisms.noisy_max import NoisyMax as NoisyMax
    from discreet.mechanisms.poisson_sampled import PoissonSampled as PoissonSampled
    from discreet.mechanisms.quantiles import Quantiles as Quantiles
    from discreet.mechanisms.randomized_response import Estimate as Estimate
    from discreet.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from discreet.mechanisms.sparse_vector import SparseVector as SparseVector
    from discreet.mechanisms.statistical_queries import StatisticalQueries as StatisticalQueries
    from discreet.mechanisms.top_k import TopK as TopK
    from discreet.neighbors import Relation as Relation
    from discreet.query.aggregates import count as count
    from discreet.query.aggregates import count_units as count_units
    from discreet.query.aggregates import histogram as histogram
    from discreet.query.aggregates import mean as mean
    from discreet.query.aggregates import median as median
    from discreet.query.aggregates import most_common as most_common
    from discreet.query.aggregates import quantile as quantile
    from discreet.query.aggregates import std as std
    from discreet.query.aggregates import sum as sum
    from discreet.query.aggregates import top_k as top_k
    from discreet.query.aggregates import variance as variance
    from discreet.query.row import case as case
    from discreet.query.table import Query as Query
    from discreet.query.table import Table as Table
    from discreet.release import Answer as Answer
    from discreet.release import Released as Released
    from discreet.release import Result as Result
    from discreet.session import Session as Session
    from discreet.tables import public as public
    from discreet.tables import table as table

__version__ = "0.1.0"

# Where each public name lives, under discreet. The block above tells type checkers the same;
# a test compares the two.
_HOMES = {
    "auditor.audit": "audit",
    "auditor.check_sensitivity": "check_sensitivity",
    "auditor.finding": "Finding",
    "auditor.replay": "replay",
    "auditor.verify": "verify",
    "certificate.certificate": "Certificate",
    "errors": "BudgetExceeded DiscreetError EngineError EntropyFailed InternalError "
    "InvalidArgument LedgerDamaged LooseBound Refused RelationMismatch "
    "UnboundedSensitivity",
    "guarantees": "Approx BoundedRange Composition Filter GDP Guarantee LaplacePair Least "
    "LossDistribution Pure ResponsePair TotalVariation ZCDP compose "
    "from_dp_event to_dp_event",
    "ledger.ledger": "Ledger",
    "mechanisms.above_threshold": "AboveThreshold",
    "mechanisms.calibrate": "calibrate",
    "mechanisms.exponential": "Exponential",
    "mechanisms.gaussian": "Gaussian",
    "mechanisms.key_threshold": "KeyThreshold",
    "mechanisms.laplace": "Laplace",
    "mechanisms.noisy_max": "Chosen NoisyMax",
    "mechanisms.poisson_sampled": "PoissonSampled",
    "mechanisms.quantiles": "Quantiles",
    "mechanisms.randomized_response": "Estimate RandomizedResponse",
    "mechanisms.sparse_vector": "SparseVector",
    "mechanisms.statistical_queries": "StatisticalQueries",
    "mechanisms.top_k": "TopK",
    "neighbors": "Relation",
    "query.aggregates": "count count_units histogram mean median most_common quantile std sum "
    "top_k variance",
    "query.row": "case",
    "query.table": "Query Table",
    "release": "Answer Released Result",
    "session": "Session",
    "tables": "public table",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = ("adaptive", "bounds", "sensitivity", "survey")

__all__ = ["__version__", *sorted([*_HOME_OF, *_MODULES])]


def __getattr__(name: str) -> object:
    if name in _MODULES or name == "testing":  # never by `from discreet import *`
        return import_module(f"discreet.{name}")
    if name not in _HOME_OF:
        from discreet.hints import INSTEAD, unknown

        raise unknown("discreet", name, __all__, INSTEAD.get(name, ""))
    found = getattr(import_module(f"discreet.{_HOME_OF[name]}"), name)
    globals()[name] = found  # found at once from now on
    return found


def __dir__() -> list[str]:
    return __all__
