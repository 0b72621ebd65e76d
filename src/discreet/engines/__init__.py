"""Where exact answers are computed: the only place that knows Ibis, DuckDB, Spark, PostgreSQL.

An engine takes a `Request` (what to compute) and returns an `Exact` (integers). It knows nothing
about noise, budgets or promises. From the bottom up:

- `execution`: how a query runs: a thread, a progress bar, turns on a connection
- `engine`: the types of columns; what an engine is, where a table is kept, one pass over it, with
  portable defaults
- `translation`: row expressions as Ibis expressions
- `rows`: rows of a table, the steps of a query on them, long lists looked up
- `cell_table`: the columns that an answer is computed from
- `aggregation`: keys, which rows of each person are kept, and sums by group, in SQL
- `row_sampling`: which rows of each person are kept, and sums by group, on arrays
- `duckdb`, `spark`, `postgres`: the engines, each with all that is peculiar to it
- `files`, `frames`: tables in files and in memory
- `sources`: opening a table, and answering requests about it; public tables
"""

from discreet.engines.duckdb import DuckDb
from discreet.engines.engine import Engine
from discreet.engines.postgres import Postgres
from discreet.engines.spark import Spark

#: the engines of the conformance suite, by the names of their Ibis backends
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (DuckDb(), Spark(), Postgres())}
