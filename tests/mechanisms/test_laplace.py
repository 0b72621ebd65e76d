"""The Laplace mechanism: its law, its promise, its edges."""

from collections import UserList, deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import discreet as dp
from discreet.guarantees import LaplacePair
from discreet.numeric.balls import ball, lower, precision, upper
from discreet.testing import seeded


def test_claim_10_vector_laplace_is_private_in_l1() -> None:
    """Claim 10: scale Δ₁/ε per coordinate bounds every density ratio by e^ε. Catches a scale
    that is calibrated to one coordinate instead of the sum of their moves."""
    epsilon, move = Fraction(1, 2), (2, -1, 3)
    mechanism = dp.Laplace(sensitivity=sum(map(abs, move)), epsilon=epsilon)
    laws = [(mechanism.law(0), mechanism.law(step)) for step in move]
    with precision(128):
        worst = sum(
            (max((p.mass(k) / q.mass(k)).log() for k in range(-40, 40)) for p, q in laws),
            start=ball(0),
        )
    assert abs(upper(worst) - 0.5) < 1e-12  # reached, and not exceeded
    narrow = dp.Laplace(sensitivity=3, epsilon=epsilon)  # the largest single move
    with precision(128):
        loss = sum((narrow.law(0).mass(0) / narrow.law(step).mass(0)).log() for step in move)
    assert lower(loss) > 0.9  # twice what was promised


def test_claim_10_mean_size_and_variance_of_the_noise() -> None:
    """Claim 10: E|Z| = b and Var Z = 2b². Six standard errors: false alarms below 1e-8."""
    mechanism = dp.Laplace(sensitivity=1, scale=3)
    with seeded(10):
        noise = mechanism.release(np.zeros(10**6))
    assert abs(np.abs(noise).mean() - 3) < 6 * 3 / 1e3
    assert abs((noise**2).mean() - 18) < 6 * np.sqrt(20 * 3.0**4) / 1e3  # Var Z² = 20·b⁴
    assert mechanism.variance == pytest.approx(18, rel=1e-3)


def test_a5_rounding_adds_less_than_a_thousandth_of_the_variance() -> None:
    """A5: the grid costs no sensitivity and hardly any variance, at any scale."""
    for scale in (Fraction(1, 1000), Fraction(1), Fraction(10**9, 7)):
        law = dp.Laplace(sensitivity=1, scale=scale).law(0.3)
        assert law.variance <= float(2 * scale**2) * 1.001


def test_profile_depends_on_the_grid() -> None:
    """The known answers of the design: scale 2, Δ = 4 at ε = 0.5, on integers and on reals.
    Without a stated grid it is the larger one. Catches a float's profile for integers."""
    whole = dp.Laplace(sensitivity=4, scale=2, step=1).guarantee
    fine = dp.Laplace(sensitivity=4, scale=2, step="fine").guarantee
    assert whole.delta(0.5) == pytest.approx(0.542020018171024, abs=1e-12)
    assert fine.delta(0.5) == pytest.approx(0.527633447258985, abs=1e-12)
    assert isinstance(whole, LaplacePair)
    assert dp.Laplace(sensitivity=4, scale=2).guarantee == whole
    assert dp.Laplace(sensitivity="4.5", scale=2).guarantee == dp.Pure("2.25")
    assert dp.Laplace(sensitivity=1, epsilon="1/3").guarantee == dp.Pure(Fraction(1, 3))


def test_integers_give_integers_and_floats_give_floats_in_the_same_shape() -> None:
    """Catches a type or a shape that depends on anything but the type and shape of the input."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    assert type(mechanism.release(3)) is int
    assert type(mechanism.release(3.0)) is float
    assert type(mechanism.release(np.int32(3))) is int
    assert type(mechanism.release(np.float32(3))) is float
    assert mechanism.release([[1, 2], [3, 4]]).shape == (2, 2)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        assert mechanism.release(np.zeros((2, 3), dtype)).dtype == np.int64
    for dtype in (np.float16, np.float32, np.float64):
        assert mechanism.release(np.zeros((2, 3, 1), dtype)).dtype == np.float64
    assert mechanism.release(np.zeros((4, 4))[::2, ::2]).shape == (2, 2)


def test_unusual_arrays_are_read_as_the_numbers_they_hold() -> None:
    """Catches byte order, memory order, zero dimensions, read-only memory, int subclasses."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=100)  # hardly any noise

    class Whole(int):
        pass

    grid = np.arange(6).reshape(2, 3) * 1000
    frozen = grid.copy()
    frozen.flags.writeable = False
    for value in (grid.astype(">i8"), np.asfortranarray(grid), grid[::-1][::-1], frozen):
        assert np.abs(mechanism.release(value) - grid).max() <= 1
    assert mechanism.release(np.array(5)).shape == ()
    assert type(mechanism.release(Whole(7))) is int
    assert mechanism.release(Whole(2**80)) > 2**62


def test_a_fine_step_makes_floats_of_integers() -> None:
    """A profile stated for reals must not be claimed for the discrete law on integers."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1, step="fine")
    assert type(mechanism.release(3)) is float
    assert mechanism.release([1, 2, 3]).dtype == np.float64


def test_results_are_multiples_of_the_step() -> None:
    """Catches noise that is added after rounding, on either side of the path that was taken."""
    for step in (Fraction(1, 4), Fraction(8)):
        mechanism = dp.Laplace(sensitivity=1, epsilon=0.1, step=step)
        released = mechanism.release(np.linspace(-1000, 1000, 3001))
        assert np.all(released / float(step) == np.rint(released / float(step)))
        assert (mechanism.release(0.3) / float(step)).is_integer()


@pytest.mark.parametrize("edge", [2**63 - 1, -(2**63), 2**64, 10**40, -(10**40)])
def test_integers_saturate_at_the_edge(edge: int) -> None:
    """Nothing wraps: beyond int64 the result stays within a few scales of the edge."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    limit = max(-(2**63), min(2**63 - 1, edge))
    for value in (edge, [edge] * 100, [edge] * 5000):
        released = np.atleast_1d(mechanism.release(value)).tolist()
        assert all(-(2**63) <= r <= 2**63 - 1 and abs(r - limit) < 100 for r in released)
        assert limit in released or len(released) == 1  # half of them hit the edge


def test_uint64_saturates_too() -> None:
    """Catches a cast that wraps 2^64 − 1 to −1."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    released = mechanism.release(np.full(10, 2**64 - 1, np.uint64))
    assert np.all(released > 2**62)


@pytest.mark.no_cover
@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324, 1e-300, 2.0**60 + 0.0, 0.1, -0.0])
@pytest.mark.parametrize("scale", ["1e-200", "1e-3", 1, 10**6, "1e200"])
def test_floats_of_any_magnitude_work(value: float, scale: str | int) -> None:
    """Nothing raises, warns, overflows or turns into NaN because of a data value."""
    mechanism = dp.Laplace(sensitivity=1, scale=scale)
    for released in (mechanism.release(value), *mechanism.release([value] * 2000)):
        assert np.isfinite(released)
        assert abs(Fraction(float(released)) - Fraction(value)) <= Fraction(scale) * 60 + Fraction(
            2
        ) ** -52 * abs(Fraction(value))


def test_a_huge_scale_still_gives_exact_integers() -> None:
    """Scales beyond what a double resolves go through the slow path and saturate at the edge."""
    mechanism = dp.Laplace(sensitivity=1, scale=2**70)
    released = [mechanism.release(0) for _ in range(50)]
    assert all(type(r) is int for r in released)
    assert 2**63 - 1 in released
    assert -(2**63) in released


def test_error_holds_with_the_stated_confidence_and_is_the_least_on_integers() -> None:
    """Catches a half-width off by one: too narrow breaks the promise, too wide wastes it."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=Fraction(1, 2), step=1)
    width = int(mechanism.error(0.95))
    law = mechanism.law(0)
    with precision(128):
        inside, tighter = (sum(law.mass(k) for k in range(-w, w + 1)) for w in (width, width - 1))
    assert lower(inside) >= 0.95 > upper(tighter)


def test_law_is_what_release_does() -> None:
    """Small known answer: P(0) = tanh(1/(2t)); a full fit is in tests/noise. False alarms 1e-9."""
    mechanism = dp.Laplace(sensitivity=1, scale=2)
    with seeded(1):
        zeros = np.mean(mechanism.release(np.zeros(10**6, np.int64)) == 0)
    p = mechanism.law(0).pmf(0)
    assert abs(zeros - p) < 6.2 * np.sqrt(p * (1 - p) / 10**6)


def test_equal_parameters_make_equal_mechanisms() -> None:
    """Frozen values: equality, hashing and a repr that shows what was decided."""
    first, second = dp.Laplace(sensitivity=1, epsilon="0.1"), dp.Laplace(sensitivity=1, scale=10)
    assert first == second
    assert hash(first) == hash(second)
    assert "scale=Fraction(10, 1)" in repr(first)
    with pytest.raises(AttributeError):
        first.scale = Fraction(1)  # type: ignore[misc]


def test_error_grows_with_confidence() -> None:
    """Monotone in the confidence."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    widths = [mechanism.error(c) for c in (0.5, 0.9, 0.95, 0.999, 0.999999)]
    assert all(a <= b for a, b in pairwise(widths))


@pytest.mark.parametrize(
    ("sensitivity", "scale"), [("1.01", 1), ("1.5", "1/3"), ("3.01", "1/2"), (3, 2), ("0.4", 1)]
)
def test_the_profile_on_integers_is_never_below_the_truth(sensitivity: str, scale: str) -> None:
    """From the laws of neighbouring integers alone, also where the sensitivity is no integer.
    Catches a rate that is read off a rounded number of steps."""
    mechanism = dp.Laplace(sensitivity=sensitivity, scale=scale, step=1)
    p, q = mechanism.law(0), mechanism.law(int(mechanism.sensitivity))
    with precision(128):
        masses = [(p.mass(k), q.mass(k)) for k in range(-60, 60)]
        for epsilon in (0.0, 0.3, 1.0):
            parts = [a - b * float(np.exp(epsilon)) for a, b in masses]
            true = sum((part for part in parts if part > 0), start=ball(0))
            assert lower(true) <= mechanism.guarantee.delta(epsilon) + 1e-15


@pytest.mark.parametrize("step", [None, "fine", Fraction(1, 4), Fraction(4)])
def test_the_error_holds_for_values_off_the_grid(step: object) -> None:
    """Catches a half-width that is right on the grid and too narrow beside it."""
    for mechanism in (
        dp.Laplace(sensitivity=1, scale=1, step=step),  # type: ignore[arg-type]
        dp.Gaussian(sensitivity=1, sigma="37.3", step=step),  # type: ignore[arg-type]
    ):
        width = Fraction(mechanism.error(0.95))
        for value in (0.1, 0.5, 1 / 3, 7.75):
            law, exact = mechanism.law(value), Fraction(value)
            inside = law.interval_mass(exact - width, exact + width)
            assert lower(inside) >= 0.95


def test_sequences_of_every_kind_keep_their_type_at_any_value() -> None:
    """A deque of ints stays ints, however large one of them is."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    for value in (deque([-1, 2**63]), UserList([1, 2**64]), deque([1, 2])):
        assert mechanism.release(value).dtype == np.int64  # type: ignore[arg-type]
    assert mechanism.law(np.int64(3)) == mechanism.law(3)
