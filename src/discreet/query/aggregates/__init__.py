"""What can be asked of each group: one file per aggregate, all of the same shape (`aggregate`)."""

from discreet.query.aggregates.aggregate import Aggregate as Aggregate
from discreet.query.aggregates.commonest import most_common as most_common
from discreet.query.aggregates.commonest import top_k as top_k
from discreet.query.aggregates.counts import count as count
from discreet.query.aggregates.counts import count_units as count_units
from discreet.query.aggregates.histograms import histogram as histogram
from discreet.query.aggregates.means import mean as mean
from discreet.query.aggregates.quantiles import median as median
from discreet.query.aggregates.quantiles import quantile as quantile
from discreet.query.aggregates.sums import sum as sum
from discreet.query.aggregates.variances import std as std
from discreet.query.aggregates.variances import variance as variance
