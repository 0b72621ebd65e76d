"""Where exact answers are computed: the only place that knows Ibis, DuckDB, Spark, PostgreSQL.

An engine takes a `Request` (what to compute) and returns an `Exact` (integers). It knows nothing
about noise, budgets or promises. From the bottom up:

- `engine`: what all engines share: dialects, one pass over a table, the types of columns
- `calls`: functions that engines name differently
- `execution`: how a query runs: a thread, a progress bar, turns on a connection
- `duckdb`, `spark`, `postgres`, `portable`: one pass over a table on each of them
- `files`, `frames`: tables in files and in memory
- `public_tables`: public tables, read in full
- `translation`: row expressions as Ibis expressions
- `lookups`: long lists, looked up in a public table
- `rows`: rows of a table, with the steps of a query applied
- `cell_table`: the columns that an answer is computed from
- `key_index`: keys as their positions in a list
- `aggregation`: which rows of each person are kept, and sums by group, in SQL
- `row_sampling`: which rows of each person are kept, and sums by group, on arrays
- `sources`: opening a table, and answering requests about it
"""
