"""The public names: sorted, complete, keyword-only, and without a seed."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import discreet as dp
from discreet import mechanisms

MECHANISMS = [
    dp.AboveThreshold,
    dp.Exponential,
    dp.Gaussian,
    dp.KeyThreshold,
    dp.Laplace,
    dp.NoisyMax,
    dp.RandomizedResponse,
    dp.SparseVector,
]


def test_names_exist_and_type_checkers_see_the_same() -> None:
    """Catches a name that is listed and missing, or hidden from type checkers."""
    for name in dp.__all__:
        assert getattr(dp, name) is not None
    source = Path(str(dp.__file__)).read_text()
    seen = set(re.findall(r"import (\w+) as \1\b", source))
    assert seen == set(dp.__all__) - {"__version__"}
    assert set(dir(dp)) == set(dp.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """hasattr and its like rely on it."""
    assert not hasattr(dp, "Nonsense")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_mechanisms_are_keyword_only_without_default_promise(mechanism: type) -> None:
    """Catches parameters whose order can be mixed up, and an ε or δ that nobody chose."""
    for parameter in inspect.signature(mechanism).parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if parameter.name in {"epsilon", "delta", "rho", "mu", "sigma", "scale", "truth"}:
            assert parameter.default in (None, inspect.Parameter.empty)


@pytest.mark.parametrize("mechanism", [*MECHANISMS, dp.StatisticalQueries])
def test_every_mechanism_answers_the_same_questions(mechanism: type) -> None:
    """release, guarantee, error and law, each with a docstring."""
    for name in ("release", "guarantee", "error", "law"):
        member = getattr(mechanism, name, None)
        assert member is not None, f"{mechanism.__name__} has no {name}"
    assert ">>>" in (mechanism.__doc__ or "")


def test_nothing_public_takes_a_seed() -> None:
    """A9: repeatable noise exists in discreet.testing alone."""
    for module in pkgutil.walk_packages(dp.__path__, "discreet."):
        if module.name.startswith("discreet.testing"):
            continue
        for name, thing in vars(import_module(module.name)).items():
            if callable(thing) and getattr(thing, "__module__", "").startswith("discreet."):
                if thing.__module__.startswith("discreet.testing"):
                    raise AssertionError(f"{module.name} reaches {name} of discreet.testing")
                try:
                    parameters = inspect.signature(thing).parameters
                except (TypeError, ValueError):
                    continue
                assert not {"seed", "random_state", "rng", "generator"} & set(parameters)


def test_one_mechanism_a_file() -> None:
    """The tree is the table of contents: the module is named like the class in it."""
    files = {module.name for module in pkgutil.iter_modules(mechanisms.__path__)}
    for mechanism in MECHANISMS:
        assert mechanism.__module__.rsplit(".", 1)[1] in files
        assert mechanism.__module__.rsplit(".", 1)[1].replace("_", "") == mechanism.__name__.lower()
