"""A table that has columns and no rows: all that plans need."""

from discreet.neighbors import Relation, Unit
from discreet.query.schema import Field, Schema, Type
from discreet.query.table import Table

SCHEMA = Schema(
    (
        Field("id", Type.INTEGER, nullable=False),
        Field("ward", Type.TEXT),
        Field("sex", Type.TEXT),
        Field("days", Type.INTEGER, nullable=False),
        Field("stay", Type.INTEGER),
        Field("income", Type.REAL),
        Field("smoker", Type.BOOLEAN),
        Field("born", Type.DATE),
        Field("seen", Type.TIMESTAMP),
        Field("cell", Type.RAW),
        Field("blob", Type.OTHER),
    )
)


class Columns:
    """Metadata alone: whoever asks for rows gets an error."""

    schema = SCHEMA
    name = "columns"

    def measure(self, request):
        raise AssertionError("a plan touched data")

    def holds(self, public):
        return False


def people(*, unit=None, relation="add-remove") -> Table:
    """A table of people."""
    return Table(Columns(), Unit(unit), Relation.parse(relation), SCHEMA)
