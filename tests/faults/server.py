"""A PostgreSQL for ledgers that are raced for and damaged."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.engines.postgres_server import postgres_server


def url_of(address: dict[str, str]) -> str:
    """Where a ledger may be, on a server of the tests."""
    return f"postgresql://{address['user']}@/{address['database']}?host={address['host']}"


@contextmanager
def postgres_url() -> Iterator[str]:
    """The address of an empty database; the server stops with the context."""
    with postgres_server() as address:
        yield url_of(address)


def empty(url: str) -> None:
    """Remove whatever is in the database."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
