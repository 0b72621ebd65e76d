"""What `import discreet` loads, and the shape of the tree."""

import subprocess
import sys
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
