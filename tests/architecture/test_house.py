"""The rules of the house: which files there are, what they are called, and how deep imports go.

The counts that they came from are in docs/decisions/0013-the-house.md.
"""

import ast
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import discreet
from discreet import adaptive, survey

SOURCE = Path(discreet.__file__).parent
ROOT = SOURCE.parent.parent

# Packages whose modules are members of a set: one file each, of one shape.
SETS = {
    "auditor.certificate": "one check for each part of a certificate",
    "cli": "one file per command",
    "engines": "one file per engine",
    "laws": "one file per family of laws",
    "ledger.stores": "one file per database",
    "mechanisms": "one file per mechanism",
    "noise": "one file per sampler",
    "query.aggregates": "one file per aggregate",
    "survey.questions": "one file per kind of question",
    "survey.randomizers": "one file per randomizer",
}
# Modules with one importer, or none, that are still files of their own.
APART = {
    "auditor.domains": "what a caller of check_sensitivity imports: records and neighbours",
    "auditor.exact.neighbours": "which neighbours, and proofs: twice as long as its importer",
    "certificate.issue": "what a session calls, by its package",
    "certificate.registry": "what the command line calls, by its package",
    "cli.main": "the console script",
    "cli.reference": "run by hand: writes the reference",
    "guarantees.bounded_range": "a kind of guarantee, one file each",
    "guarantees.convolution": "the transforms: a thought of its own, as long as its importer",
    "guarantees.dp_events": "from_dp_event and to_dp_event, by its package",
    "guarantees.key_discovery": "a kind of guarantee, one file each",
    "query.document": "questions as data: what ledgers, certificates and servers read",
    "survey.readers": "file formats: a thought of its own, as long as its importer",
    "testing": "public",
}
# Stems that several modules share because they are the same thing in parallel places.
PARALLEL = {
    "a law, its sampler, its guarantee and its mechanism": {
        "gaussian",
        "laplace",
        "randomized_response",
        "sparse_vector",
    },
    "a mechanism and the aggregate that uses it, or two kinds of means": {"quantiles", "means"},
    "a command and what it calls": {"audit", "demo", "ledger", "verify"},
    "the same job in several packages": {"document", "plot", "text"},
    "the notes' bounds and those of adaptive analysis, both public": {"bounds"},
}
LONGEST_CHAIN = 20


class Tree:
    """All modules, and which imports which: at once, or late, inside a function."""

    def __init__(self, source: Path) -> None:
        self.paths = {name_of(path, source): path for path in sorted(source.rglob("*.py"))}
        self.packages = {name for name, path in self.paths.items() if path.stem == "__init__"}
        self.trees = {name: ast.parse(path.read_text()) for name, path in self.paths.items()}
        self.at_once: dict[str, set[str]] = defaultdict(set)
        self.importers: dict[str, set[str]] = defaultdict(set)
        self.early: dict[str, set[str]] = defaultdict(set)  # importers that do not wait
        for name, tree in self.trees.items():
            self.look(name, tree, late=False, typing=False)

    def look(self, name: str, node: ast.AST, *, late: bool, typing: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inner = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            typed = typing or (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            )
            if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("discreet"):
                for target in self.targets(child):
                    self.importers[target].add(name)
                    if not inner:
                        self.early[target].add(name)
                        if not typed:
                            self.at_once[name].add(target)
            self.look(name, child, late=inner, typing=typed)

    def targets(self, node: ast.ImportFrom) -> set[str]:
        base = (node.module or "").removeprefix("discreet").removeprefix(".")
        below = {f"{base}.{one.name}".removeprefix(".") for one in node.names}
        return {one if one in self.paths else base for one in below}


def name_of(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def public_homes() -> set[str]:
    """Where public names live: modules that users import from."""
    homes = {*discreet._HOMES, *discreet._MODULES}
    return homes | {
        f"{package.__name__.removeprefix('discreet.')}.{home}"
        for package in (adaptive, survey)
        for home in package._HOMES
    }


@pytest.fixture(scope="module")
def tree():
    return Tree(SOURCE)


def test_a_module_has_two_importers_or_a_reason(tree):
    """Catches a section that became a file: two importers, a member of a set, an entry point, or
    what is loaded late, because it is heavy or stands above its importer. Otherwise merge it into
    its importer, or say in APART why it is a thought of its own."""
    alone = {
        name
        for name in tree.paths.keys() - tree.packages - public_homes()
        if len(tree.importers[name] - tree.packages) < 2
        and name.rpartition(".")[0] not in SETS
        and (tree.early[name] - tree.packages or not tree.importers[name] - tree.packages)
    }
    assert alone <= APART.keys(), f"merge into their importers: {sorted(alone - APART.keys())}"
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"discreet": "discreet.cli.main:main"}
    assert APART.keys() <= tree.paths.keys(), "APART names modules that are gone"
    assert SETS.keys() <= tree.packages, "SETS names packages that are gone"


def test_the_chain_of_imports_is_short(tree):
    """Catches layers on layers: a reader should be able to keep all that is below a module in mind.
    Import what is needed from where it is defined, or merge two links that are one thought."""

    @cache
    def below(name: str) -> tuple[str, ...]:
        return (name, *max((below(one) for one in tree.at_once[name]), key=len, default=()))

    chain = max((below(name) for name in tree.paths), key=len)
    assert len(chain) <= LONGEST_CHAIN, " > ".join(chain)


def test_a_class_name_has_one_home(tree):
    """Catches a second class of the same name: one of the two needs a more specific name."""
    homes = defaultdict(list)
    for name, module in tree.trees.items():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    assert not {name: where for name, where in homes.items() if len(where) > 1}


def test_stems_are_shared_on_purpose_only(tree):
    """Catches two files of one name on different subjects: a search finds the wrong one. Choose
    another noun, or name the parallel in PARALLEL."""
    homes = defaultdict(list)
    for name in tree.paths.keys() - tree.packages:
        homes[name.rpartition(".")[2]].append(name)
    shared = {stem for stem, where in homes.items() if len(where) > 1}
    assert shared == set().union(*PARALLEL.values())


def test_names_of_files_are_nouns(tree):
    """Catches `placing` and `keeping`: a file is named after what is in it. At most one in twenty
    may end like a gerund, as `signing` and `testing` do."""
    stems = [name.rpartition(".")[2] for name in tree.paths]
    gerunds = [stem for stem in stems if stem.endswith("ing")]
    assert len(gerunds) < len(stems) / 20, gerunds


def test_the_rules_are_able_to_fail(tmp_path):
    """Catches a reader of imports that misses some: late ones, and those of a module or a name."""
    (tmp_path / "low.py").write_text("class Low: ...\n")
    (tmp_path / "late.py").write_text("")
    (tmp_path / "high.py").write_text(
        "from discreet import low\nfrom discreet.low import Low\n\n\n"
        "def f():\n    from discreet.late import g\n"
    )
    tree = Tree(tmp_path)
    assert tree.at_once["high"] == {"low"}
    assert tree.importers["late"] == {"high"} and not tree.early["late"]
