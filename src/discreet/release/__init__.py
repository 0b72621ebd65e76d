"""Results that carry their uncertainty: tables, columns to calculate with, single answers.

From the bottom up: `text` writes numbers, `propagation` combines errors, `column` is one column of
a released table, `exports` writes CSV, Parquet and data frames, `result` is the table itself;
`adjustment` rounds it and makes it consistent, `plot` draws it.
"""

from discreet.release.column import ColumnInfo, Released
from discreet.release.result import Answer, Result

__all__ = ["Answer", "ColumnInfo", "Released", "Result"]
