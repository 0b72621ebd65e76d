"""Where exact answers are computed: the only place that knows Ibis, DuckDB, Spark, PostgreSQL.

An engine gets a `Request` (what to compute) and gives an `Exact` (integers). It knows nothing of
noise, budgets or promises.
"""
