"""What `import discreet` loads, and the shape of the tree."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent

# Each costs tens of milliseconds or more, or belongs to a part that a user may never call.
HEAVY = {
    "numerical": {"scipy", "flint", "mpmath", "pandas", "polars", "pyarrow"},
    "engines": {"ibis", "duckdb", "pyspark", "sqlalchemy", "sqlite3", "discreet.engines"},
    "front doors": {"fastapi", "uvicorn", "typer", "click", "rich", "discreet.cli"},
    "plots": {"altair", "matplotlib", "vl_convert"},
    "tests": {"pytest", "hypothesis", "discreet.testing"},
}


@pytest.fixture(scope="module")
def loaded():
    """The modules that a fresh interpreter has after importing every public name."""
    code = "import sys; from discreet import *; print(*sys.modules, sep='\\n')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("kind", HEAVY)
def test_import_discreet_is_light(kind, loaded):
    """Catches an engine, server or plotting library imported at the top of a module, and a
    seedable source of randomness that comes within reach of `import discreet`."""
    assert "discreet" in loaded
    assert not loaded & HEAVY[kind]


GOLDEN = SOURCE.parents[1] / "tests" / "golden" / "1"
VERIFY = """
import json, sys
from discreet.cli.main import main
codes = [main(["verify", path, *sys.argv[2:]]) for path in json.loads(sys.argv[1])]
print(json.dumps([codes, sorted(sys.modules)]), file=sys.stderr)
"""


def forbidden(name):
    """The packages that a contract of pyproject.toml forbids."""
    told = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())
    contracts = {one["name"]: one for one in told["tool"]["importlinter"]["contracts"]}
    return tuple(contracts[f"Certificates are verified without {name}"]["forbidden_modules"])


@pytest.mark.parametrize("with_ledger", [False, True])
def test_verify_loads_nothing_of_what_it_checks(with_ledger, tmp_path):
    """Catches an import that a contract does not see: of a package's `__init__`, or by a name that
    is computed. The whole command runs, on every kind of certificate that there is."""
    paths = sorted((GOLDEN / "certificates").glob("plain-visits-*"))
    given, contracts = [], ["planning, mechanisms and noise"]
    if with_ledger:
        for file in GOLDEN.glob("plain.ledger*"):
            Path(shutil.copy(file, tmp_path)).chmod(0o600)
        given = ["--ledger", str(tmp_path / "plain.ledger")]
    else:
        paths += sorted((GOLDEN / "certificates").glob("no-ledger-*"))
        contracts.append("guarantees")
    code = [sys.executable, "-c", VERIFY, json.dumps([str(path) for path in paths]), *given]
    run = subprocess.run(code, capture_output=True, text=True, check=True)
    codes, loaded = json.loads(run.stderr.splitlines()[-1])
    assert len(codes) > 5 and not any(codes), run.stdout
    assert "discreet.auditor.certificate.verification" in loaded
    refused = tuple(one for name in contracts for one in forbidden(name))
    assert not [one for one in loaded if f"{one}.".startswith(tuple(f"{r}." for r in refused))]
