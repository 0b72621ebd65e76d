"""Which groups an answer has: publicly listed, or discovered at a price."""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.lazy import cached_property
from discreet.numeric.table_digest import table_digest
from discreet.query.expressions import literal_type
from discreet.query.limits import KEYS, TEXT, check, taken
from discreet.query.public import PublicTable, arrow_type, copied, type_of
from discreet.query.schema import Type

if TYPE_CHECKING:
    import pyarrow as pa

KEY_TYPES: Final = (Type.BOOLEAN, Type.INTEGER, Type.TEXT, Type.DATE)
_AS_KEYS: Final = {
    Type.DATE: Phrase("write {}", Idiom.DAY),
    Type.BOOLEAN: "write True and False",
    Type.INTEGER: "write whole numbers, without quotes or decimals",
}
_FEWER: Final = "ask for fewer groups at a time, or for wider ones"
_HINT: Final = Phrase(
    'list them, as in {keys=["A", "B"]}, or say {keys="discover"}, which needs a delta'
)


@dataclass(frozen=True, eq=False, repr=False)
class ListedKeys:
    """Public keys: one row each, distinct, none missing, in the order of the answer."""

    table: pa.Table
    origin: PublicTable | None = None  # where they came from, if not from a list

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def digest(self) -> str:
        """A hash of the whole list, by which two lists can be told apart."""
        return table_digest(self.table)


@dataclass(frozen=True)
class DiscoveredKeys:
    """Keys that enough people hold: found with a threshold, and charged separately."""


Keys: TypeAlias = ListedKeys | DiscoveredKeys


def read_keys(columns: tuple[str, ...], keys: Any, *, types: tuple[Type, ...]) -> Keys:
    """Keys as given by the caller: a list, lists to be crossed, an Arrow table, "discover".

    `types` are those of the group columns; a RAW one takes the type of its keys.

    >>> read_keys(("ward",), ["A", "B"], types=(Type.TEXT,)).table.to_pydict()
    {'ward': ['A', 'B']}
    >>> both = {"ward": ["A", "B"], "sex": ["f", "m"]}
    >>> len(read_keys(("ward", "sex"), both, types=(Type.TEXT, Type.TEXT)))
    4
    """
    import pyarrow as pa

    if isinstance(keys, str) and keys == "discover":
        return DiscoveredKeys()
    origin = keys if isinstance(keys, PublicTable) else None
    if origin is not None:
        keys = origin.table
    if isinstance(keys, pa.Table):
        check(keys.num_rows, KEYS, name="keys", what="keys", hint=_FEWER)
        lists = [_column(keys, name) for name in columns]
    elif isinstance(keys, Mapping):
        lists = _crossed(columns, keys)
    elif isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise InvalidArgument.of("keys", "a list of keys", keys, hint=_HINT)
    else:
        lists = _from_list(columns, keys)
    arrays = None
    with contextlib.suppress(pa.ArrowException, OverflowError, TypeError, UnicodeError):
        arrays = [*map(_array, lists, types, columns)]
    if arrays is None:  # in a message that quotes no key
        raise InvalidArgument(
            "keys",
            "a list of booleans, integers of 64 bits, texts or dates",
            "values that are something else",
            hint=_HINT,
        )
    table = pa.table(arrays, names=list(columns))
    _check(table)
    return ListedKeys(copied(table), origin)


def any_key(kinds: Iterable[Type]) -> ListedKeys:
    """A key of these types, to stand for those that are not known yet."""
    import pyarrow as pa

    values = {Type.BOOLEAN: False, Type.INTEGER: 0, Type.DATE: datetime.date(1970, 1, 1)}
    columns = {f"key {i}": pa.array([values.get(kind, "")]) for i, kind in enumerate(kinds)}
    return ListedKeys(pa.table(columns))


def check_key_type(kind: Type, name: str) -> None:
    """Refuse reals and timestamps as keys: most of their values belong to one person only."""
    if kind not in (*KEY_TYPES, Type.RAW):
        raise InvalidArgument(
            f'group_by("{name}")',
            "a column of booleans, integers, text or dates",
            str(kind),
            hint="make groups with mutate first, as in lambda row: row.income // 1000"
            if kind is Type.REAL
            else 'make groups with mutate first, as in lambda row: row.seen.cast("date")',
        )


def key_types(keys: ListedKeys) -> tuple[Type, ...]:
    """The types of the key columns."""
    return tuple(type_of(field.type) for field in keys.table.schema)


# -- reading ---------------------------------------------------------------------------------------


def _column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        raise InvalidArgument(
            "keys",
            f'a table with a column "{name}"',
            f"one with {', '.join(table.column_names[:20])}",
        )
    return table[name]


def _crossed(columns: tuple[str, ...], keys: Mapping[str, Iterable[Any]]) -> list[list[Any]]:
    if set(keys) != set(columns):
        raise InvalidArgument(
            "keys",
            f"a list for each of {', '.join(columns)}",
            f"lists for {', '.join(map(str, keys))}",
        )
    lists = [_listed(keys[name]) for name in columns]
    sizes = [len(values) for values in lists]
    check(math.prod(sizes), KEYS, name="keys", what="keys, crossed", hint=_FEWER)
    crossed = []
    for i, values in enumerate(lists):  # the last column varies fastest
        after, before = math.prod(sizes[i + 1 :]), math.prod(sizes[:i])
        crossed.append([value for value in values for _ in range(after)] * before)
    return crossed


def _listed(keys: Iterable[Any]) -> tuple[Any, ...]:
    return taken(keys, KEYS, name="keys", what="keys", hint=_FEWER)


def _from_list(columns: tuple[str, ...], keys: Iterable[Any]) -> list[Any]:
    import numpy as np
    import pyarrow as pa

    if isinstance(keys, range):
        keys = np.fromiter(_listed(keys[: KEYS + 1]), np.int64)
    if len(columns) == 1 and isinstance(keys, np.ndarray | pa.Array | pa.ChunkedArray):
        check(len(keys), KEYS, name="keys", what="keys", hint=_FEWER)
        return [keys]
    rows = _listed(keys)
    if len(columns) == 1:
        return [rows]
    if any(not isinstance(row, Sequence) or len(row) != len(columns) for row in rows):
        raise InvalidArgument(
            "keys",
            f"tuples of {len(columns)} values, one for each of {', '.join(columns)}",
            "something else in the list",
            hint="for all combinations pass a dict of lists, one for each column",
        )
    return [[row[i] for row in rows] for i in range(len(columns))]


def _array(values: Any, kind: Type, name: str) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    check_key_type(kind, name)
    if isinstance(values, pa.ChunkedArray | pa.Array):
        array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    elif isinstance(values, np.ndarray):
        array = pa.array(values)
    else:
        array = _from_values(list(values), name)
    found = type_of(array.type)
    if len(array) and (found not in KEY_TYPES or (kind is not Type.RAW and found is not kind)):
        raise InvalidArgument(
            "keys",
            f'values of type {kind} for the column "{name}"',
            f"values of type {found}",
            hint=_AS_KEYS.get(kind, "")
            or f'or cast it first: .mutate({name}=lambda row: row.{name}.cast("{found}"))',
        )
    return array.cast(arrow_type(found if kind is Type.RAW and len(array) else kind))


def _from_values(values: list[Any], name: str) -> pa.Array:
    import pyarrow as pa

    # Most lists are long and of one type: look at the types first, not at each value.
    if set(map(type, values)) <= {str, int, bool}:
        plain = values
    else:
        plain = [value.item() if hasattr(value, "item") else value for value in values]
    if type(None) in set(map(type, plain)):
        raise _missing()
    kinds = {literal_type(next(v for v in plain if type(v) is t)) for t in set(map(type, plain))}
    if len(kinds) > 1:
        raise InvalidArgument(
            "keys", f'of one type for the column "{name}"', " and ".join(sorted(map(str, kinds)))
        )
    if datetime.datetime in map(type, plain) or Type.REAL in kinds:
        raise InvalidArgument(
            "keys", "booleans, integers, text or dates", " and ".join(sorted(map(str, kinds)))
        )
    try:
        return pa.array(plain)
    except (pa.ArrowInvalid, OverflowError):
        raise InvalidArgument("keys", "integers of at most 64 bits", "larger ones") from None


def _check(table: Any) -> None:
    import pyarrow.compute as pc

    if not table.num_rows:
        raise InvalidArgument("keys", "at least one key", "none", hint=_HINT)
    if any(column.null_count for column in table.columns):
        raise _missing()
    for column in table.columns:
        if type_of(column.type) is Type.TEXT:
            longest = pc.max(pc.utf8_length(column)).as_py()
            check(longest, TEXT, name="keys", what="characters each", hint="use shorter keys")
    one = table.num_columns == 1  # which is faster
    groups = table.column(0).unique() if one else table.group_by(table.column_names).aggregate([])
    if len(groups) != table.num_rows:
        raise InvalidArgument("keys", "distinct", "a list with a key twice", hint="list each once")


def _missing() -> InvalidArgument:
    return InvalidArgument(
        "keys",
        "without missing values",
        "a list with None or null in it",
        hint='rows without a key are dropped; give them one with row.ward.fill_null("unknown")',
    )
