"""What is promised: upper bounds on the privacy profile δ(ε). No data, no randomness here.

>>> from discreet.guarantees import GDP, Pure
>>> Pure(epsilon=1).delta(0), GDP(mu=1).epsilon(1e-6)
(0.4621171572600098, 4.886554117462213)
"""

from discreet.guarantees.accounts.caps import gdp_cap, zcdp_cap
from discreet.guarantees.accounts.filters import Filter
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.calibration import classic_sigma, gaussian_sigma
from discreet.guarantees.compose import compose
from discreet.guarantees.composition import Composition
from discreet.guarantees.conversions import to_gdp, to_pure, to_zcdp
from discreet.guarantees.failing import Failing
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.interchange.events import from_dp_event, to_dp_event
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.least import Least
from discreet.guarantees.loss_distribution import LossDistribution
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP

__all__ = [
    "GDP",
    "ZCDP",
    "Approx",
    "BoundedRange",
    "Composition",
    "Failing",
    "Filter",
    "Guarantee",
    "LaplacePair",
    "Least",
    "LossDistribution",
    "Pure",
    "ResponsePair",
    "SampledPair",
    "TotalVariation",
    "classic_sigma",
    "compose",
    "from_dp_event",
    "gaussian_sigma",
    "gdp_cap",
    "to_dp_event",
    "to_gdp",
    "to_pure",
    "to_zcdp",
    "zcdp_cap",
]
