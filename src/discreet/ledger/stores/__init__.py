"""The databases that a ledger is kept in.

`store` is what they share: tables, one transaction, opening, failures, forks. `sqlite` keeps a
ledger in a file, `postgresql` in a database for teams. All of it is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Final

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.ledger.stores.store import Store

#: By the scheme of an address; a path has none.
STORES: Final = {
    "": "discreet.ledger.stores.sqlite:SqliteStore",
    "postgres": "discreet.ledger.stores.postgresql:PostgresStore",
    "postgresql": "discreet.ledger.stores.postgresql:PostgresStore",
}


def store_of(location: object) -> type[Store]:
    """The kind of store that keeps a ledger at this path or address."""
    if not isinstance(location, str | PathLike) or not fspath(location):
        raise not_a_location(InvalidArgument.describe_data(location))
    address = location if isinstance(location, str) and "://" in location else ""
    scheme = address.partition("://")[0].partition("+")[0]  # without the name of a driver
    if (address and not scheme) or scheme not in STORES:
        raise not_a_location("another address")
    module, _, name = STORES[scheme].partition(":")
    found: type[Store] = getattr(import_module(module), name)
    return found


def not_a_location(given: str) -> InvalidArgument:
    """The error for what is neither a path nor the address of a store."""
    return InvalidArgument(
        "ledger", "a path, or an address such as postgresql://user@host/database", given
    )
