"""What is promised: upper bounds on the privacy profile δ(ε). No data, no randomness here.

>>> from discreet.guarantees import GDP, Pure
>>> Pure(epsilon=1).delta(0), GDP(mu=1).epsilon(1e-6)
(0.4621171572600098, 4.886554117462213)
"""

from discreet.guarantees.approx import Approx
from discreet.guarantees.calibration import classic_sigma, gaussian_sigma
from discreet.guarantees.gdp import GDP
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.protocol import Guarantee
from discreet.guarantees.pure import Pure
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP

__all__ = [
    "GDP",
    "ZCDP",
    "Approx",
    "Guarantee",
    "LaplacePair",
    "Pure",
    "TotalVariation",
    "classic_sigma",
    "gaussian_sigma",
]
