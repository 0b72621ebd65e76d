"""Results that carry their uncertainty: tables, columns to calculate with, single answers."""

from discreet.release.answer import Answer
from discreet.release.columns import ColumnInfo
from discreet.release.released import Released
from discreet.release.result import Result

__all__ = ["Answer", "ColumnInfo", "Released", "Result"]
