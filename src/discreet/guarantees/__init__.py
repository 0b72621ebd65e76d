"""What is promised: upper bounds on the privacy profile δ(ε). No data, no randomness here.

>>> from discreet.guarantees import GDP, Pure
>>> Pure(epsilon=1).delta(0), GDP(mu=1).epsilon(1e-6)
(0.4621171572600098, 4.886554117462213)

From the bottom up:

- `guarantee`: what every guarantee answers: δ at ε, ε at δ, and what an attacker can do;
- `document`: guarantees as JSON, from the fields that each class names;
- `notion`: what accounts are kept in, with one file for each: `pure`, `zcdp`, `gdp`;
- other promises that people state: `approx`, `total_variation`, `bounded_range`;
- exact pairs of mechanisms: `laplace`, `randomized_response`, `sampled`, `key_discovery`,
  `loss_distribution` (any two laws);
- what is derived from others: `grouped` (several people), `failure` (a small chance of no promise);
- `convolution`: sums of privacy losses on a grid, with both bounds;
- `composition`: several mechanisms together, and several facts about one;
- `tabulated`: the profile of a composition as a table, for searches;
- `filters`: accounts for sessions in which budgets depend on earlier answers;
- `dp_events`: guarantees as events of Google's dp_accounting;
- `description` and `plot`: guarantees in sentences and in pictures.
"""

from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition, Least, compose
from discreet.guarantees.dp_events import from_dp_event, to_dp_event
from discreet.guarantees.failure import Failing
from discreet.guarantees.filters import Filter
from discreet.guarantees.gdp import GDP, classic_sigma, gaussian_sigma
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.loss_distribution import LossDistribution
from discreet.guarantees.pure import Pure
from discreet.guarantees.randomized_response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP

to_pure, to_zcdp, to_gdp = Pure.of, ZCDP.of, GDP.of
zcdp_cap, gdp_cap = ZCDP.greatest, GDP.greatest

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
