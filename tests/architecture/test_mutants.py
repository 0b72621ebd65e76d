"""The list of mutants is up to date: each still fits the code, and its tests still exist.

``make mutants``, which takes minutes, shows that the tests kill them.
"""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import PACKAGE, ROOT, Mutant

# Kinds of which there must be some; there may be others.
NAMED = {
    "sign",
    "scale",
    "off by one",
    "bound swapped",
    "clamp removed",
    "noise reused",
    "count forgotten",
    "seed fixed",
    "salt dropped",
}


@cache
def functions(file: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.id for mutant in MUTANTS])
def test_each_mutant_still_fits(mutant: Mutant) -> None:
    """Catches code that moved on: then the mutant changes nothing, or something else."""
    changed = mutant.apply((ROOT / PACKAGE / mutant.file).read_text())
    ast.parse(changed)
    assert mutant.tests and mutant.harm and mutant.old != mutant.new
    for test in mutant.tests:
        file, _, function = test.split("[")[0].partition("::")
        assert not function or function in functions(ROOT / file), test
        assert (ROOT / file).is_file(), test


def test_there_are_enough_of_every_kind() -> None:
    """Catches mutants that are dropped because they are in the way."""
    kinds = Counter(mutant.kind for mutant in MUTANTS)
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert sum(kinds[kind] for kind in NAMED) >= 60
    assert all(kinds[kind] for kind in NAMED)
    assert {mutant.file.split("/")[0] for mutant in MUTANTS} >= {
        *("noise", "mechanisms", "guarantees", "query", "engines", "ledger"),
        *("certificate", "numeric", "neighbors.py", "sensitivity.py", "session.py"),
    }


def test_a_mutant_that_does_not_fit_is_refused() -> None:
    """The planted error: text that occurs twice, or not at all, is not replaced somewhere."""
    for text in ("no such words", "twice twice"):
        planted = Mutant(
            id="planted", file="x.py", old="twice", new="", kind="sign", harm="", tests=()
        )
        with pytest.raises(ValueError, match=r"planted: its text occurs [02] times"):
            planted.apply(text)
