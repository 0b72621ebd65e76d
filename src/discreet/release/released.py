"""A released column to calculate with: every result knows its own error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.lazy import cached_property
from discreet.release import operands
from discreet.release.combining import (
    FINE,
    FloatArray,
    Noise,
    added,
    half_width,
    half_width_of_sum,
)
from discreet.release.numbers import with_error
from discreet.release.ratios import quotient

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Released:
    """The values of a column with their 95 % errors, and what can be calculated from them.

    Columns are added, subtracted and divided, by each other and by public numbers (one, or one
    a row); the errors follow. Noise is known by name: ``a - a`` has no error, ``a + a`` has twice
    that of ``a``, and independent noise adds up in quadrature. Where a divisor may be 0 the
    quotient is unknown: its value is nan and its error infinite.

    >>> a = Released.independent("a", [100, 40], [6, 6])
    >>> b = Released.independent("b", [50, 2], [6, 6])
    >>> a - b, a - a, (a - 10) / 2
    (a - b: 50.0 ± 9.9, 38.0 ± 9.9, a - a: 0 ± 0, 0 ± 0, (a - 10) / 2: 45.0 ± 3.0, 15.0 ± 3.0)
    >>> a / b
    a / b: 2.00 ± 0.36, unknown ± ∞
    >>> a.sum()
    sum of a: 140.0 ± 9.9
    """

    name: str
    values: NDArray[Any]
    noises: tuple[Noise, ...] = ()
    kind: str = ""
    keys: pa.Table | None = field(default=None)  #: the group of each row; None for a total

    __array_ufunc__ = None  # NumPy leaves ``array * released`` to us

    @classmethod
    def independent(cls, name: str, values: Any, errors: Any) -> Released:
        """Numbers from anywhere with independent errors, of Laplace or Gaussian noise.

        ``name`` is what they are called when printed, ``values`` one number or several, and
        ``errors`` the 95 % error of each, or one for all.
        """
        values = np.atleast_1d(values)
        width = np.broadcast_to(np.asarray(errors, dtype=float), values.shape)
        step = np.ones(1) if values.dtype.kind in "iu" else FINE * width
        source = (uuid4().hex, name)
        noise = Noise(source, np.ones(1), width, step, frozenset({source}), additive=True)
        return cls(name, values, (noise,))

    # -- what it holds -------------------------------------------------------------------------

    @cached_property
    def errors(self) -> FloatArray:
        """The 95 % error of each value: of ranks for a quantile, of counts for a choice."""
        return np.broadcast_to(half_width(self.noises), self.values.shape)

    @property
    def low(self) -> FloatArray:
        """value − error, row by row"""
        return self._numbers() - self.errors

    @property
    def high(self) -> FloatArray:
        """value + error, row by row"""
        return self._numbers() + self.errors

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        shown = zip(self.values[:_SHOWN].tolist(), self.errors[:_SHOWN].tolist(), strict=True)
        more = [f"… and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return f"{self.name}: " + ", ".join([*(with_error(v, e) for v, e in shown), *more])

    # -- arithmetic ----------------------------------------------------------------------------

    def sum(self) -> Released:
        """The sum over all rows, as one row."""
        total = np.array([np.sum(self._numbers())])
        wide = np.array([half_width_of_sum(self.noises, len(self))])
        width = half_width(self.noises) if len(self) == 1 else wide
        name = f"sum of {self.name}"
        return self._derived(name, total, width, wide, self.noises, self._additive)

    def __add__(self, other: Any) -> Released:
        return self._plus(other, f"{self.name} + {_called(other)}", +1.0)

    def __radd__(self, other: Any) -> Released:
        return self._plus(other, f"{_called(other)} + {self.name}", +1.0)

    def __sub__(self, other: Any) -> Released:
        return self._plus(other, f"{self.name} - {_called(other, tight=True)}", -1.0)

    def __rsub__(self, other: Any) -> Released:
        return (-self)._plus(other, f"{_called(other)} - {_called(self, tight=True)}", +1.0)

    def __neg__(self) -> Released:
        return self._times(np.array([-1.0]), f"-{_called(self, tight=True)}")

    def __mul__(self, other: Any) -> Released:
        if isinstance(other, Released):
            raise operands.product()
        factor = operands.public(other, len(self), name="the factor")
        return self._times(factor, f"{_called(self, tight=True)} * {_called(other)}")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Released:
        name = f"{_called(self, tight=True)} / {_called(other, tight=True)}"
        if isinstance(other, Released):
            return self._over(other, name)
        divisor = operands.public(other, len(self), name="the divisor")
        if np.any(divisor == 0):
            raise InvalidArgument(name="the divisor", expected="other than 0", given="0")
        noises = tuple(noise.times(1 / divisor) for noise in self.noises)
        return Released(name, self._numbers() / divisor, noises, self.kind, self.keys)

    def __rtruediv__(self, other: Any) -> Released:
        top = Released(
            _called(other), operands.public(other, len(self), name="the dividend"), keys=self.keys
        )
        return top._over(self, f"{_called(other)} / {_called(self, tight=True)}")

    # -- how -----------------------------------------------------------------------------------

    def _plus(self, other: Any, name: str, sign: float) -> Released:
        if not isinstance(other, Released):
            values = self._numbers() + sign * operands.public(
                other, len(self), name="the other term"
            )
            return Released(name, values, self.noises, self.kind, self.keys)
        keys = operands.common_keys(self.keys, len(self), other.keys, len(other))
        values = self._numbers() + sign * other._numbers()
        theirs = (noise.times(np.array([sign])) for noise in other.noises)
        return Released(name, values, added([*self.noises, *theirs]), keys=keys)

    def _times(self, factor: FloatArray, name: str) -> Released:
        scaled = tuple(noise.times(factor) for noise in self.noises)
        return Released(name, self._numbers() * factor, scaled, self.kind, self.keys)

    def _over(self, other: Released, name: str) -> Released:
        keys = operands.common_keys(self.keys, len(self), other.keys, len(other))
        both = (self._numbers(), self.noises, other._numbers(), other.noises)
        values, width = quotient(*both)
        wide = quotient(*both, wide=True)[1]
        noises = (*self.noises, *other.noises)
        return self._derived(name, values, width, wide, noises, additive=False, keys=keys)

    def _derived(
        self,
        name: str,
        values: FloatArray,
        width: FloatArray,
        wide: FloatArray,
        noises: Sequence[Noise],
        additive: bool,
        keys: pa.Table | None = None,
    ) -> Released:
        """New noise with a half-width of its own, made of the same sources; `wide` with steps."""
        sources = frozenset(source for noise in noises for source in noise.sources)
        label = (uuid4().hex, name)
        step = np.subtract(wide, width, out=np.zeros(width.shape), where=np.isfinite(width))
        noise = Noise(label, np.ones(1), width, step, sources, additive)
        return Released(name, values, (noise,), keys=keys)

    @property
    def _additive(self) -> bool:
        return all(noise.additive for noise in self.noises)

    def _numbers(self) -> FloatArray:
        operands.check_arithmetic(self.name, self.kind)
        return np.asarray(self.values, dtype=float)

    # -- comparison ----------------------------------------------------------------------------

    def _compared(self, other: object) -> NoReturn:
        raise operands.comparison()

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __eq__ = __ne__ = _compared
    __hash__ = object.__hash__


def _called(thing: Any, *, tight: bool = False) -> str:
    if isinstance(thing, Released):
        loose = tight and " " in thing.name and not thing.name.startswith("sum of ")
        return f"({thing.name})" if loose else thing.name
    if isinstance(thing, int | float) and abs(thing) <= sys.float_info.max:
        return f"{thing:g}"
    return "numbers"
