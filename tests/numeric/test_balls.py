"""Balls hold what they should, and their bounds are outward, against mpmath and Fractions."""

import math
import os
import threading
from fractions import Fraction

import flint
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InternalError
from discreet.numeric import balls

fractions = st.builds(
    lambda n, d, e: Fraction(n, d) * Fraction(2) ** e,
    st.integers(-(2**80), 2**80),
    st.integers(1, 2**80),
    st.integers(-1200, 1200),
)


@given(fractions)
def test_ball_holds_its_number(x):
    """Catches a ball made from a rounded number without the radius for it."""
    b = balls.ball(x)
    assert balls.lower_fraction(b) <= x <= balls.upper_fraction(b)
    assert balls.lower(b) <= x <= balls.upper(b)


@given(st.integers(-(2**400), 2**400), st.integers(0, 400))
def test_ball_of_a_dyadic_number_is_exact(mantissa, exponent):
    """Catches random words that lose their low bits at low precision."""
    x = Fraction(mantissa, 2**exponent)
    with balls.precision(10):
        b = balls.ball(x)
        assert balls.lower_fraction(b) == balls.upper_fraction(b) == x
        assert balls.ball(mantissa).is_exact()


@given(fractions, st.integers(2, 200))
def test_float_bounds_are_tight(x, bits):
    """Catches bounds that are rounded twice: the next float inward is inside the ball's end."""
    with balls.precision(bits):
        b = balls.ball(x)
    up, down = balls.upper(b), balls.lower(b)
    assert math.nextafter(up, -math.inf) < balls.upper_fraction(b) <= up
    assert math.nextafter(down, math.inf) > balls.lower_fraction(b) >= down


@pytest.mark.parametrize("function", ["exp", "log", "sqrt", "erfc", "lgamma"])
def test_functions_agree_with_mpmath(function):
    """Catches bounds on the wrong side of an independent value at 100 digits."""
    oracle = {"lgamma": mpmath.loggamma}.get(function) or getattr(mpmath, function)
    with mpmath.workdps(100):
        for numerator in range(1, 200, 7):
            x = Fraction(numerator, 10)
            truth = oracle(mpmath.mpf(numerator) / 10)
            with balls.precision(80):
                b = getattr(balls.ball(x), function)()
            assert mpmath_of(balls.lower_fraction(b)) <= truth <= mpmath_of(balls.upper_fraction(b))
            assert balls.lower(b) <= truth <= balls.upper(b)
            assert balls.upper(b) <= math.nextafter(balls.lower(b), math.inf)


def mpmath_of(x):
    return mpmath.mpf(x.numerator) / x.denominator


def test_bounds_of_extreme_balls():
    """Catches overflow, underflow and an endless power where a Fraction cannot follow a ball."""
    largest = math.nextafter(math.inf, 0)
    huge, tiny = balls.ball(10**6).exp(), (-balls.ball(10**40)).exp()
    assert (balls.lower(huge), balls.upper(huge)) == (largest, math.inf)
    assert (balls.lower(-huge), balls.upper(-huge)) == (-math.inf, -largest)
    assert balls.upper(huge - huge) == math.inf
    assert (balls.lower(balls.ball(2**1024)), balls.upper(balls.ball(0))) == (largest, 0.0)
    assert 0 <= balls.upper(tiny) <= math.ulp(0.0)
    assert -math.ulp(0.0) <= balls.lower(tiny) <= 0
    assert 0 < balls.upper_fraction(tiny) <= Fraction(1, 2**65535)
    assert -Fraction(1, 2**65535) <= balls.lower_fraction(tiny) <= 0


@pytest.mark.parametrize("b", ["nan", "inf", "-inf", "[+/- inf]"])
def test_bounds_of_unbounded_balls(b):
    """Catches a failed computation that is read as a finite bound."""
    b = flint.arb(b)
    assert balls.upper(b) == math.inf
    assert balls.lower(b) == -math.inf
    for bound in (balls.upper_fraction, balls.lower_fraction):
        with pytest.raises(InternalError, match="finite bound"):
            bound(b)


def test_precision_nests_and_is_restored_after_errors():
    before = flint.ctx.prec
    with pytest.raises(KeyError), balls.precision(100):
        with balls.precision(300):
            assert flint.ctx.prec == 300
        assert flint.ctx.prec == 100
        raise KeyError
    assert flint.ctx.prec == before


def test_threads_do_not_share_a_precision_block():
    """Catches a block that runs on at the precision another thread has set meanwhile."""
    entered = threading.Event()

    def intrude():
        with balls.precision(300):
            entered.set()

    before = flint.ctx.prec
    intruder = threading.Thread(target=intrude)
    with balls.precision(100):
        intruder.start()
        assert not entered.wait(timeout=0.2)
        assert flint.ctx.prec == 100
    intruder.join()
    assert entered.is_set()
    assert flint.ctx.prec == before


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_forked_while_a_thread_computes_can_compute():
    """Catches a child that waits forever for a lock whose holder was not forked."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with balls.precision(100):
            inside.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        free = balls._lock.acquire(timeout=60)
        os._exit(0 if free else 1)
    leave.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
