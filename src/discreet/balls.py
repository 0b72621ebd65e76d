"""Real numbers as intervals that are sure to hold them, by Arb (python-flint).

A ball is a midpoint and a radius; whatever is computed from balls holds the true result. This
module turns exact numbers into balls and balls into outward-rounded bounds. `flint` is imported
on first use, because `import discreet` stays light.

The working precision is a global of `flint`, shared by all threads. `precision` takes a lock, so
our own threads cannot disturb each other inside it. Other code that sets `flint.ctx.prec` in the
meantime can make balls wider, but never wrong: each operation bounds its own rounding.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import InternalError
from discreet.exact import round_up

if TYPE_CHECKING:
    import flint

    Arb: TypeAlias = flint.arb

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


def ball(x: Fraction | int) -> Arb:
    """A ball that holds x: x itself if its denominator is a power of two, else a rounded one.

    >>> ball(Fraction(3, 4)).is_exact(), ball(Fraction(1, 3)).is_exact()
    (True, False)
    """
    import flint

    numerator, denominator = x.numerator, x.denominator
    if denominator & (denominator - 1) == 0:
        return flint.arb((numerator, 1 - denominator.bit_length()))
    return flint.arb(flint.fmpq(numerator, denominator))


def upper(b: Arb) -> float:
    """The least float at or above every point of the ball; infinity if there is no finite one."""
    bound = _supremum(b)
    return float("inf") if bound is None else round_up(bound)


def lower(b: Arb) -> float:
    """The greatest float at or below every point of the ball; minus infinity likewise."""
    return 0.0 - upper(b.neg(exact=True))


def upper_fraction(b: Arb) -> Fraction:
    """The exact upper end of the ball; rounded up where it is finer than 2⁻⁶⁵⁵³⁶.

    >>> upper_fraction(ball(Fraction(3, 4)))
    Fraction(3, 4)
    """
    bound = _supremum(b)
    if bound is None:
        raise InternalError("a ball without a finite bound was asked for one")
    return bound


def lower_fraction(b: Arb) -> Fraction:
    """The exact lower end of the ball; rounded down where it is finer than 2⁻⁶⁵⁵³⁶."""
    return -upper_fraction(b.neg(exact=True))


def _supremum(b: Arb) -> Fraction | None:
    """A rational at or above every point; None where none of reasonable size is."""
    import flint

    if not b.is_finite():
        return None
    # The floor, −2⁶⁵⁵³⁶, as mantissa and exponent: written out, it would take most of the time.
    if b < flint.arb((-1, _MAX_EXPONENT)):  # true only if it holds for every point
        return Fraction(-(1 << _MAX_EXPONENT))
    # Midpoint and radius are dyadic, and are added as such: no further rounding.
    middle, radius = _dyadic_up(b.mid()), _dyadic_up(b.rad())
    return None if middle is None or radius is None else middle + radius


def _dyadic_up(exact: Arb) -> Fraction | None:
    """An exact ball as a fraction, rounded up if finer than 2⁻⁶⁵⁵³⁶; None if beyond ±2⁶⁵⁵³⁶."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if exponent + mantissa.bit_length() > _MAX_EXPONENT + 1:
        return None
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    dropped = max(0, -exponent - _MAX_EXPONENT)
    return Fraction(-(-mantissa >> dropped), 1 << min(-exponent, _MAX_EXPONENT))
