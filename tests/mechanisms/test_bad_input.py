"""Every mistake a caller can make with additive noise gets one sentence that names it."""

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp

PARAMETERS: list[tuple[str, Callable[[], object], str]] = [
    ("epsilon 0", lambda: dp.Laplace(sensitivity=1, epsilon=0), "epsilon"),
    ("epsilon negative", lambda: dp.Laplace(sensitivity=1, epsilon=-1), "epsilon"),
    ("epsilon NaN", lambda: dp.Laplace(sensitivity=1, epsilon=float("nan")), "epsilon"),
    ("epsilon infinite", lambda: dp.Laplace(sensitivity=1, epsilon=float("inf")), "epsilon"),
    ("epsilon bool", lambda: dp.Laplace(sensitivity=1, epsilon=True), "epsilon"),
    ("epsilon text", lambda: dp.Laplace(sensitivity=1, epsilon="one"), "epsilon"),
    ("epsilon huge text", lambda: dp.Laplace(sensitivity=1, epsilon="1e999999999"), "epsilon"),
    ("epsilon and scale", lambda: dp.Laplace(sensitivity=1, epsilon=1, scale=1), "epsilon"),
    ("neither", lambda: dp.Laplace(sensitivity=1), "epsilon or scale"),
    ("scale 0", lambda: dp.Laplace(sensitivity=1, scale=0), "scale"),
    ("scale beyond floats", lambda: dp.Laplace(sensitivity=1, scale="1e400"), "scale"),
    ("sensitivity 0", lambda: dp.Laplace(sensitivity=0, epsilon=1), "sensitivity"),
    ("sensitivity negative", lambda: dp.Laplace(sensitivity=-1, epsilon=1), "sensitivity"),
    ("sensitivity NaN", lambda: dp.Gaussian(sensitivity=float("nan"), sigma=1), "sensitivity"),
    ("sensitivity infinite", lambda: dp.Laplace(sensitivity=np.inf, epsilon=1), "sensitivity"),
    ("infinite as text", lambda: dp.Laplace(sensitivity="inf", epsilon=1), "sensitivity"),
    ("infinite Decimal", lambda: dp.Gaussian(sensitivity=Decimal("inf"), sigma=1), "sensitivity"),
    ("sensitivity None", lambda: dp.Laplace(sensitivity=None, epsilon=1), "sensitivity"),  # type: ignore[arg-type]
    ("step 3", lambda: dp.Laplace(sensitivity=1, epsilon=1, step=3), "step"),
    ("step 0", lambda: dp.Laplace(sensitivity=1, epsilon=1, step=0), "step"),
    ("step tiny", lambda: dp.Laplace(sensitivity=1, scale=1, step=Fraction(1, 2**1000)), "step"),
    ("step huge", lambda: dp.Gaussian(sensitivity=1, sigma=1, step=2**1000), "step"),
    (
        "step far from scale",
        lambda: dp.Laplace(sensitivity=1, scale=2**900, step=Fraction(1, 2**150)),
        "step",
    ),
    ("step coarse", lambda: dp.Laplace(sensitivity=1, epsilon=1, step="coarse"), "step"),
    ("delta missing", lambda: dp.Gaussian(sensitivity=1, epsilon=1), "delta"),
    ("delta 0", lambda: dp.Gaussian(sensitivity=1, epsilon=1, delta=0), "delta"),
    ("delta 1", lambda: dp.Gaussian(sensitivity=1, epsilon=1, delta=1), "delta"),
    ("delta above 1", lambda: dp.Gaussian(sensitivity=1, epsilon=1, delta=1.5), "delta"),
    ("delta negative", lambda: dp.Gaussian(sensitivity=1, epsilon=1, delta=-1e-6), "delta"),
    ("delta with sigma", lambda: dp.Gaussian(sensitivity=1, sigma=1, delta=1e-6), "delta"),
    ("rho and mu", lambda: dp.Gaussian(sensitivity=1, rho=1, mu=1), "rho"),
    ("rho 0", lambda: dp.Gaussian(sensitivity=1, rho=0), "rho"),
    ("mu negative", lambda: dp.Gaussian(sensitivity=1, mu=-1), "mu"),
    ("no noise", lambda: dp.Gaussian(sensitivity=1), "epsilon"),
    ("confidence 1", lambda: dp.Laplace(sensitivity=1, epsilon=1).error(1), "confidence"),
    ("confidence 0", lambda: dp.Gaussian(sensitivity=1, sigma=1).error(0), "confidence"),
]

VALUES: list[tuple[str, object]] = [
    ("NaN", float("nan")),
    ("infinity", float("inf")),
    ("NaN in an array", np.array([1.0, np.nan, 2.0])),
    ("minus infinity in a list", [1.0, float("-inf")]),
    ("empty list", []),
    ("empty array", np.array([])),
    ("object array", np.array([1, 2], dtype=object)),
    ("ragged list", [[1, 2], [3]]),
    ("bool", True),
    ("bool array", np.array([True, False])),
    ("bools in a list", [True, 1]),
    ("text", "7531"),
    ("text in a list", ["7531", "7532"]),
    ("None", None),
    ("complex", 1j),
    ("complex array", np.array([1j])),
    ("long double", np.array([1.0], np.longdouble)),
    ("dates", np.array(["2026-01-01"], "datetime64[D]")),
    ("Fraction", Fraction(1, 3)),
    ("dict", {"a": 1}),
    ("masked array", np.ma.MaskedArray([7531, 2], mask=[True, False])),
]


@pytest.mark.parametrize(
    ("make", "name"), [(m, n) for _, m, n in PARAMETERS], ids=[i for i, _, _ in PARAMETERS]
)
def test_bad_parameter_is_refused_by_name(make: Callable[[], object], name: str) -> None:
    """One sentence that names the parameter; B10: sensitivity 0 is not a licence for no noise."""
    with pytest.raises(dp.DiscreetError, match=name) as refusal:
        make()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) > 20


@pytest.mark.parametrize("value", [v for _, v in VALUES], ids=[i for i, _ in VALUES])
@pytest.mark.parametrize(
    "mechanism",
    [dp.Laplace(sensitivity=1, epsilon=1), dp.Gaussian(sensitivity=1, sigma=1)],
    ids=["Laplace", "Gaussian"],
)
def test_bad_value_is_refused_without_being_shown(mechanism: dp.Laplace, value: object) -> None:
    """The message names what was expected and holds no value from the data."""
    with pytest.raises(dp.InvalidArgument, match="value must be") as refusal:
        mechanism.release(value)  # type: ignore[arg-type]
    assert "753" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_parameters_are_keyword_only() -> None:
    """Nobody swaps sensitivity and ε by position."""
    with pytest.raises(TypeError):
        dp.Laplace(1, 1)  # type: ignore[misc]


@pytest.mark.parametrize(
    "spelling", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float32(0.1)]
)
def test_a_tenth_is_a_tenth(spelling: object) -> None:
    """The decimal that was typed, not the binary fraction nearest to it."""
    assert dp.Laplace(sensitivity=1, epsilon=spelling).scale == 10  # type: ignore[arg-type]


def test_a_sensitivity_fact_gives_each_mechanism_its_norm() -> None:
    """Laplace takes L1, Gaussian L2, selection the largest single move; catches L1 for L2."""
    fact = dp.sensitivity.counts(k=9, relation="add-remove")
    assert dp.Laplace(sensitivity=fact, epsilon=1).sensitivity == 9
    assert dp.Gaussian(sensitivity=fact, sigma=1).sensitivity == 3
    assert dp.NoisyMax(sensitivity=fact, epsilon=1).sensitivity == 1
    assert dp.Exponential(sensitivity=fact, epsilon=1).sensitivity == 1
    assert dp.SparseVector(sensitivity=fact, epsilon=1, threshold=0, hits=1).sensitivity == 1


def test_odd_inputs_of_the_other_mechanisms_are_refused_in_our_words() -> None:
    """Masked answers and samples, a count without an axis, arrays of different shapes, noise
    that would pile up at the edge of an int64, a promise too small to estimate anything."""
    masked = np.ma.MaskedArray([0, 1], mask=[False, True])
    for attempt in (
        lambda: dp.RandomizedResponse(epsilon=1).release(masked),
        lambda: dp.StatisticalQueries(masked, sigma=1),
        lambda: dp.KeyThreshold(epsilon=1, delta=1e-6).release(np.array(5)),
        lambda: dp.Laplace(sensitivity=1, epsilon=1).release([np.zeros((2, 3)), np.zeros((2, 4))]),
        lambda: dp.Laplace(sensitivity=1, epsilon=1, step=np.array([1, 2])),  # type: ignore[arg-type]
        lambda: dp.StatisticalQueries([0] * 1000, sigma=10**8),
        lambda: dp.RandomizedResponse(epsilon="1e-310"),
    ):
        with pytest.raises(dp.InvalidArgument):
            attempt()


def test_text_is_refused_without_its_length() -> None:
    """NumPy's dtype of text says how long the longest cell is."""
    short, long = np.array(["a"]), np.array(["a long name"])
    messages = set()
    for value in (short, long, short.astype("S"), long.astype("S")):
        with pytest.raises(dp.InvalidArgument) as refusal:
            dp.Laplace(sensitivity=1, epsilon=1).release(value)
        messages.add(str(refusal.value))
    assert len(messages) == 1


def test_an_oracle_is_not_copied() -> None:
    """Two copies would each count their own answers and report half of what was spent."""
    queries = dp.StatisticalQueries([0, 1, 1], epsilon=1)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(dp.Refused):
            duplicate(queries)
    assert queries.release(lambda x: x) == pytest.approx(2 / 3, abs=30)
    assert queries.asked == 1


def test_anything_that_is_an_array_of_bools_can_be_answered_with() -> None:
    """Columns of data frames offer ``__array__`` and nothing else."""

    class Column:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.array([True, False, True])

    released = dp.RandomizedResponse(epsilon=50).release(Column())  # type: ignore[arg-type]
    assert released.tolist() == [True, False, True]
