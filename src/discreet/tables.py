"""``dp.table`` and ``dp.public``: where a question starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.neighbors import Relation, Unit
from discreet.query.keys import KEY_TYPES
from discreet.query.public import PublicTable
from discreet.query.schema import Type
from discreet.query.table import Table

#: What to do about a column that cannot say whose row it is.
_UNITS: Final = {
    Type.REAL: "write whole numbers as integers, in pandas by "
    'frame["id"].astype("Int64"), which also has missing ones',
    Type.OTHER: 'read it as text, in Ibis by table["id"].cast("string"), in SQL by CAST',
}


@spelled
def table(
    source: Any,
    *,
    unit: str | None = None,
    relation: Relation | str = Relation.ADD_REMOVE,
    schema: Mapping[str, str | Mapping[str, Any]] | None = None,
    delimiter: str = ",",
    untested: bool = False,
) -> Table:
    """A table of people to ask questions about.

    ``source`` is a path or glob (Parquet, CSV), a pandas, Polars or Spark DataFrame, an Arrow
    table, a DuckDB relation or any Ibis table. ``unit`` names the column that says whose row it
    is; without it, each row is a person. ``relation`` says what stays hidden: whether a person is
    there at all ("add-remove"), or what their rows say ("replace", where the number of people is
    public).

    Types come from the file or table. The cells of a CSV file are text, which takes the type it
    is used as; ``schema`` fixes types, as in ``schema={"age": "integer"}``, and ``delimiter`` is
    the character between cells. Rows are read when something is released, and now only if the
    schema declares a domain, as in ``schema={"age": {"type": "integer", "domain": (0, 120)}}``: a
    table with a value outside it is refused, and sums with bounds around it are faster. Of the
    engines that Ibis supports, those other than DuckDB, Spark and PostgreSQL need
    ``untested=True``.

    >>> import pyarrow as pa
    >>> people = table(pa.table({"id": [1, 1, 2], "days": [3, 5, 8]}), unit="id")
    >>> people.schema["days"].type, str(people.unit)
    (<Type.INTEGER: 'integer'>, 'all rows with one id')
    """
    from discreet.engines.sources import open_source

    person, neighbours = Unit(unit), Relation.parse(relation)
    if schema is not None and not isinstance(schema, Mapping):
        raise InvalidArgument.of_data("schema", 'a dict of types, as in {"age": "integer"}', schema)
    opened = open_source(source, schema=schema, delimiter=delimiter, untested=untested)
    if unit is not None:
        if unit not in opened.schema and unit in getattr(getattr(source, "index", ()), "names", ()):
            raise InvalidArgument(
                "unit",
                f"one of {', '.join(opened.schema.names)}",
                "the index of the data frame",
                hint="make a column of it: say frame.reset_index()",
            )
        kind = opened.schema.field(unit, argument="unit").type
        if kind not in (*KEY_TYPES, Type.RAW, Type.TIMESTAMP):
            raise InvalidArgument(
                "unit",
                "a column of integers, text or dates",
                f"a column of type {kind}",
                hint=_UNITS.get(kind, ""),
            )
    return Table(opened, person, neighbours, opened.schema)


@spelled
def public(table: Any) -> PublicTable:
    """Declare that a table is public: anybody may see all of it, and it holds nothing about people.

    ``table`` is a path or glob (Parquet, CSV), a data frame, an Arrow or Ibis table, or a dict of
    lists. What ``join`` looks up, and keys that are not listed one by one, must be declared public
    here: such a table is read now, as it is, and is not protected.

    >>> wards = public({"ward": ["A", "B"], "floor": [1, 2]})
    >>> wards
    PublicTable(2 rows; ward, floor)
    """
    from discreet.engines.sources import read_public

    return read_public(table)
