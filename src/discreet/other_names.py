"""What other libraries call it: names that discreet does not have, and what was meant."""

from __future__ import annotations

from typing import Final

_READ: Final = 'say dp.table("visits.csv"), or give it a data frame'
_ENDS: Final = (
    "one row decides the least and the largest value, so ask for a quantile near the end: "
    'dp.quantile("days", 0.99, bounds=(0, 30))'
)
_BUDGET: Final = "say dp.Pure(1) for ε, dp.Approx(1, 1e-6) for ε and δ"
INSTEAD: Final = {
    **dict.fromkeys(("avg", "average"), 'say dp.mean("days", bounds=(0, 30))'),
    **dict.fromkeys(("max", "min", "maximum", "minimum"), _ENDS),
    **dict.fromkeys(("nunique", "n_unique", "count_distinct"), "say dp.count_units() for people"),
    **dict.fromkeys(("var", "stddev"), "say dp.variance or dp.std, with bounds="),
    **dict.fromkeys(("read_csv", "read_parquet", "read_table", "scan_parquet", "load"), _READ),
    **dict.fromkeys(("Epsilon", "epsilon", "Budget", "budget"), _BUDGET),
}
