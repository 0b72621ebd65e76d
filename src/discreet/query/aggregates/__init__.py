"""What can be asked of each group: one file per aggregate, all of the same shape (`aggregate`)."""

from collections.abc import Mapping
from typing import Final

from discreet.query.aggregates.aggregate import Aggregate as Aggregate
from discreet.query.aggregates.commonest import Commonest
from discreet.query.aggregates.commonest import most_common as most_common
from discreet.query.aggregates.commonest import top_k as top_k
from discreet.query.aggregates.counts import Count, CountUnits
from discreet.query.aggregates.counts import count as count
from discreet.query.aggregates.counts import count_units as count_units
from discreet.query.aggregates.histograms import Histogram
from discreet.query.aggregates.histograms import histogram as histogram
from discreet.query.aggregates.means import Mean
from discreet.query.aggregates.means import mean as mean
from discreet.query.aggregates.quantiles import Quantile
from discreet.query.aggregates.quantiles import median as median
from discreet.query.aggregates.quantiles import quantile as quantile
from discreet.query.aggregates.ranges import Range
from discreet.query.aggregates.sums import Sum
from discreet.query.aggregates.sums import sum as sum
from discreet.query.aggregates.variances import StandardDeviation, Variance
from discreet.query.aggregates.variances import std as std
from discreet.query.aggregates.variances import variance as variance

#: All of them, by the kind that documents state, in the order of the command line.
KINDS: Final[Mapping[str, type[Aggregate]]] = {
    "count": Count,
    "count units": CountUnits,
    "sum": Sum,
    "mean": Mean,
    "quantile": Quantile,
    "variance": Variance,
    "std": StandardDeviation,
    "histogram": Histogram,
    "top k": Commonest,
    "range": Range,
}
