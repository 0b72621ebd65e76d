"""Names that a table does not have, and the step that was probably meant."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from discreet.errors import InvalidArgument
from discreet.hints import unknown

_STEPS: Final = ("where", "mutate", "select", "join", "bound", "group_by", "agg")
_GROUPED: Final = ("bound", "agg")
_RELEASED: Final = "rows never leave; ask for what is wanted, as in table.agg(n=dp.count())"
#: What other libraries call a step, and what to write here.
_INSTEAD: Final = {
    "filter": "say where(lambda row: row.age >= 18)",
    "query": "say where(lambda row: row.age >= 18)",
    "assign": "say mutate(name=lambda row: ...)",
    "with_columns": "say mutate(name=lambda row: ...)",
    "aggregate": "say agg(n=dp.count())",
    "group_by": 'name all columns at once: group_by("ward", "sex", keys={...})',
    "where": "filter before group_by: table.where(...).group_by(...)",
    "mutate": "add columns before group_by: table.mutate(...).group_by(...)",
    "join": "join before group_by: table.join(...).group_by(...)",
    "select": "select before group_by: table.select(...).group_by(...)",
    "merge": 'say join(public_table, on="ward")',
    "release": "a session releases: dp.Session(table, budget=dp.Pure(3)).release(query, epsilon=1)",
    "columns": "table.schema.names has them",
    **dict.fromkeys(("head", "collect", "to_pandas", "to_arrow", "iloc", "loc"), _RELEASED),
    **{
        name: f'say agg({name}=dp.{name}("days", bounds=(0, 30)))'
        for name in ("sum", "mean", "median", "std", "variance")
    },
    "count": "say agg(n=dp.count())",
}

#: Our names for what must come before `group_by`.
_EARLIER: Final = {
    "filter": "where",
    "query": "where",
    "assign": "mutate",
    "with_columns": "mutate",
    "merge": "join",
    "groupby": "group_by",
}

#: Operations of Python that a cell does not offer, and what to write instead.
CELL_INSTEAD: Final = {
    "len": "say .length()",
    "[]": "say .substring(start, length)",
    "%": "say row.x - row.x // 10 * 10",
    "**": "say row.x * row.x",
    "int": 'say .floor() or .cast("integer")',
    "float": 'say .cast("real"); functions of math and NumPy are not offered',
    "round": "say (row.x + 0.5).floor()",
    "str": 'say .cast("text") and .concat(...)',
    "in": "say .contains(text) or .is_in([...])",
    "iteration": "say .is_in([...])",
}


def missing_step(name: str, columns: Container[str], *, grouped: bool = False) -> AttributeError:
    """The error where a table, or a grouped one, has no such step.

    >>> print(missing_step("groupby", ()))
    a table has no 'groupby'; did you mean group_by?
    >>> print(missing_step("days", ["days"]))
    a table has no 'days'; name the column "days" in a step, or say lambda row: row.days
    >>> print(missing_step("filter", (), grouped=True))
    a grouped table has no 'filter'; filter before group_by: table.where(...).group_by(...)
    """
    if name in columns:
        hint = f'name the column "{name}" in a step, or say lambda row: row.{name}'
    else:
        hint = _INSTEAD.get(_EARLIER.get(name, name) if grouped else name, "")
    owner, steps = ("a grouped table", _GROUPED) if grouped else ("a table", _STEPS)
    return unknown(owner, name, steps, hint)


def no_rows() -> InvalidArgument:
    """The error where rows themselves are asked for."""
    return InvalidArgument(
        "a table",
        f"asked by its steps, {', '.join(_STEPS)}",
        "an index, or a loop over its rows",
        hint=_RELEASED,
    )
