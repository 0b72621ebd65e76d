"""Real numbers as intervals that are sure to hold them, by Arb (python-flint).

A ball is a midpoint and a radius; whatever is computed from balls holds the true result. This
module turns exact numbers into balls and balls into outward-rounded bounds, evaluates formulas
until their balls are small, and finds the least number for which something is certain. `flint`
is imported on first use, so that `import discreet` stays light.

The working precision is a global of `flint`, shared by all threads. `precision` takes a lock, so
our own threads cannot disturb each other inside it. Other code that sets `flint.ctx.prec` in the
meantime can make balls wider, but never wrong: each operation bounds its own rounding.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import InternalError
from discreet.numeric.exact import number, round_up

if TYPE_CHECKING:
    import flint

    arb: TypeAlias = flint.arb
else:
    arb = Any  # in annotations only

# Bounds are kept between 2**-65536 and 2**65536: a ball may hold exp(-10**40), a Fraction may not.
_MAX_EXPONENT = 65536

_lock = threading.RLock()


def _renew_lock() -> None:
    """In a forked child, the thread that held the lock no longer exists to release it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with `bits` bits inside the block, one thread at a time; blocks nest.

    >>> with precision(200):
    ...     width = upper_fraction(ball(2).sqrt()) - lower_fraction(ball(2).sqrt())
    >>> 0 < width < Fraction(1, 2**190)
    True
    """
    import flint

    with _lock:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def ball(x: Fraction | int) -> arb:
    """A ball that holds x: x itself if its denominator is a power of two, else a rounded one.

    >>> ball(Fraction(3, 4)).is_exact(), ball(Fraction(1, 3)).is_exact()
    (True, False)
    """
    import flint

    numerator, denominator = x.numerator, x.denominator
    if denominator & (denominator - 1) == 0:
        return flint.arb((numerator, 1 - denominator.bit_length()))
    return flint.arb(flint.fmpq(numerator, denominator))


def upper(b: arb) -> float:
    """The least float at or above every point of the ball; infinity if there is no finite one."""
    bound = _supremum(b)
    return float("inf") if bound is None else round_up(bound)


def lower(b: arb) -> float:
    """The greatest float at or below every point of the ball; minus infinity likewise."""
    return 0.0 - upper(b.neg(exact=True))


def upper_fraction(b: arb) -> Fraction:
    """The exact upper end of the ball; rounded up where it is finer than 2⁻⁶⁵⁵³⁶.

    >>> upper_fraction(ball(Fraction(3, 4)))
    Fraction(3, 4)
    """
    bound = _supremum(b)
    if bound is None:
        raise InternalError("a ball without a finite bound was asked for one")
    return bound


def lower_fraction(b: arb) -> Fraction:
    """The exact lower end of the ball; rounded down where it is finer than 2⁻⁶⁵⁵³⁶."""
    return -upper_fraction(b.neg(exact=True))


def _supremum(b: arb) -> Fraction | None:
    """A rational at or above every point; None if there is none of reasonable size."""
    import flint

    if not b.is_finite():
        return None
    # The floor, −2⁶⁵⁵³⁶, as mantissa and exponent: written out, it would take most of the time.
    if b < flint.arb((-1, _MAX_EXPONENT)):  # true only if it holds for every point
        return Fraction(-(1 << _MAX_EXPONENT))
    # Midpoint and radius are dyadic, and are added as such: no further rounding.
    middle, radius = _dyadic_up(b.mid()), _dyadic_up(b.rad())
    return None if middle is None or radius is None else middle + radius


def _dyadic_up(exact: arb) -> Fraction | None:
    """An exact ball as a fraction, rounded up if finer than 2⁻⁶⁵⁵³⁶; None if beyond ±2⁶⁵⁵³⁶."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if exponent + mantissa.bit_length() > _MAX_EXPONENT + 1:
        return None
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    dropped = max(0, -exponent - _MAX_EXPONENT)
    return Fraction(-(-mantissa >> dropped), 1 << min(-exponent, _MAX_EXPONENT))


# -- formulas, evaluated until their answer is sharp -----------------------------------------------
# Subtracting nearly equal numbers costs digits, and how many depends on the parameters. So a
# formula is evaluated with more and more bits until enough digits are left.


_ACCURATE_BITS = 80
_PRECISIONS = tuple(128 << doubling for doubling in range(9))  # 128 to 32768 bits
_NEGLIGIBLE = Fraction(1, 1 << 1200)  # far below the least float, 2⁻¹⁰⁷⁴


def sharp(formula: Callable[[], arb]) -> arb:
    """The formula's value as a ball with at least 80 correct bits, or one within 2⁻¹²⁰⁰ of 0.

    Should even 32768 bits not suffice, the last ball is returned: wide, but it holds the value.

    >>> tiny = Fraction(1, 10**30)
    >>> print(sharp(lambda: ball(tiny).cosh() - 1).str(10, radius=False))   # tiny²/2
    5.000000000e-61
    """
    for bits in _PRECISIONS:
        with precision(bits):
            value = formula()
        if value.rel_accuracy_bits() >= _ACCURATE_BITS or abs(value) < ball(_NEGLIGIBLE):
            break
    return value


def certainly_at_most(formula: Callable[[], arb], limit: Fraction) -> bool:
    """Whether the formula's value is at most `limit`; an undecided tie counts as no.

    >>> certainly_at_most(lambda: ball(2).sqrt(), Fraction(3, 2))
    True
    """
    for bits in _PRECISIONS:
        with precision(bits):
            value, bound = formula(), ball(limit)
        if value <= bound:
            return True
        if value > bound:
            return False
    return False


# -- the tail of the standard normal law -----------------------------------------------------------


def upper_normal(z: Fraction) -> arb:
    """1 − Φ(z) = erfc(z/√2)/2, accurate however far out z is.

    >>> print(upper_normal(Fraction(40)).str(10, radius=False))
    3.655893541e-350
    """
    return (ball(z) / ball(2).sqrt()).erfc() / 2


# -- the least float for which something is certain ------------------------------------------------


_LARGEST = 2.0**1000  # the search ends here


def least_float(fits: Callable[[Fraction], bool]) -> float:
    """The least float that fits, where every number above one that fits does too.

    0 is tried first; infinity is returned where nothing up to 2¹⁰⁰⁰ fits.

    >>> least_float(lambda x: x * x >= 2)
    1.4142135623730951
    """

    def keeps(candidate: float) -> bool:
        # A float may be read as a binary number or as the decimal it prints: satisfy both.
        return fits(min(Fraction(candidate), number(candidate, name="candidate")))

    if keeps(0.0):
        return 0.0
    high = 1.0
    while not keeps(high):
        high *= 2
        if high > _LARGEST:
            return math.inf
    while keeps(high / 2):
        high /= 2
    # From here on high fits and low does not.
    low = high / 2
    while math.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


# -- the least half-width that holds a given confidence --------------------------------------------


def least_half_width(outside: Callable[[int], arb], confidence: Fraction) -> int:
    """The least whole w ≥ 0 with outside(w) ≤ 1 − confidence, for a decreasing `outside`.

    >>> least_half_width(lambda w: ball(-w).exp(), Fraction(99, 100))   # e^(−w) ≤ 0.01
    5
    """

    def holds(w: int) -> bool:
        return certainly_at_most(lambda: outside(w), 1 - confidence)

    if holds(0):
        return 0
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2  # from here on high holds and low does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
