"""Statistical queries: what share of a sample has some property, asked one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import floor
from numbers import Real
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet import bounds, laws
from discreet.errors import Argument, InvalidArgument, Phrase, Refused
from discreet.guarantees import GDP, Guarantee, Pure
from discreet.hints import spelled
from discreet.inputs import BoundedMean
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import exactly_one
from discreet.numeric.exact import Number, number, positive, round_up, sqrt_up

# Sums of whole steps stay below 2^62, far from the edge of an int64.
LARGEST_SAMPLE: Final = 1 << 30

Records = Sequence[Any] | NDArray[Any]


class StatisticalQueries:
    """Answers means of functions φ: record → [0, 1] over a ``sample``, with noise.

    The sample is a list or array of n records. Give the noise on each answer as ``sigma``
    (Gaussian, the lecture's Algorithm 1), as ``epsilon`` (Laplace of scale 1/(n·ε), Algorithm 2)
    or as ``noise``, a mechanism of sensitivity 1/n.
    Its n is public, and replacing one record is what stays hidden.

    A query may depend on earlier answers. It must be a function of one record and nothing else:
    it is trusted code, run on the data. What it returns is clamped to [0, 1]; NaN, anything
    that is not a number, and an exception count as 0. Each value is rounded to a multiple of
    2^−32 before summing, so the mean moves by 1/n at most, exactly.

    Cost: ``guarantee`` per answer, ``total`` so far. Error: ``error(0.95)``.

    >>> ages = np.array([23, 71, 42, 65, 38, 50, 19, 84, 33, 47] * 100)
    >>> queries = StatisticalQueries(ages, sigma=0.01)
    >>> 0.1 < queries.ask(lambda age: age > 60) < 0.5                        # 30 % are
    True
    >>> 0.1 < queries.ask(lambda age: age < 30, vectorized=True) < 0.3       # 20 % are
    True
    >>> queries.asked, queries.guarantee, round(queries.total.epsilon(1e-6), 4)
    (2, GDP(mu=Fraction(1, 10)), 0.5751)
    """

    @spelled
    def __init__(
        self,
        sample: Records,
        *,
        noise: Laplace | Gaussian | None = None,
        sigma: Number | None = None,
        epsilon: Number | None = None,
    ) -> None:
        self._sample = read_sample(sample)
        self._n = len(self._sample)
        # In steps of 2^−32 of one record, so that all arithmetic on data is on whole numbers.
        self._noise = noise_on_sum(self._n, noise, sigma, epsilon)
        self._asked = 0
        self._lock = threading.Lock()

    def ask(self, phi: Callable[[Any], Any], *, vectorized: bool = False) -> float:
        """Return the mean of φ over the sample plus noise. Each call spends ``guarantee``.

        ``phi`` is φ, a function of one record that returns a number in [0, 1] or a bool. With
        ``vectorized=True`` it takes an array of rows and returns a number for each, which is much
        faster; it must treat them one by one, so that no row's number depends on another row.
        """
        check_query(phi, self._sample, vectorized=vectorized)
        with self._lock:  # counted before any record is read, and never taken back
            self._asked += 1
        total = sum_of(phi, self._sample, vectorized=vectorized)
        return float(self._noise.release(total) / (self._n * UNIT))

    def release(self, phi: Callable[[Any], Any], *, vectorized: bool = False) -> float:
        """The same as ``ask(phi)``, by the name that all mechanisms share."""
        return self.ask(phi, vectorized=vectorized)

    @property
    def n(self) -> int:
        """The size of the sample, which is public."""
        return self._n

    @property
    def asked(self) -> int:
        """How many queries have been asked so far."""
        return self._asked

    @property
    def guarantee(self) -> GDP | Pure:
        """The promise of one answer: GDP(1/(n·σ)) or Pure(ε)."""
        if isinstance(self._noise, Gaussian):
            return self._noise.guarantee
        return Pure(self._noise.epsilon)

    @property
    def total(self) -> Guarantee:
        """The promise of all answers so far, each query free to depend on those before it.

        k answers cost √k·μ (Dong, Roth and Su 2022, Corollary 3.3), or k times ε, composed.
        """
        asked = self._asked
        if isinstance(self._noise, Gaussian):
            return GDP(sqrt_up(asked * self._noise.mu**2))
        return self.guarantee.repeat(asked) if asked else Pure(0)

    @property
    def tv(self) -> float:
        """TV stability of one answer, exact: 2Φ(1/(2nσ)) − 1, or 1 − e^(−ε/2).

        For Laplace noise that is below the tanh(ε/2) of any ε-private mechanism.

        >>> round(StatisticalQueries([0] * 100, sigma=0.05).tv, 7)
        0.0796557
        """
        return self._noise.guarantee.tv

    @property
    def tv_bound(self) -> float:
        """The lecture's bound on ``tv``: 1/(√(2π)·n·σ), or (e^ε − 1)/2."""
        if isinstance(self._noise, Gaussian):
            return bounds.gaussian_tv(m=1, sigma=1 / self._noise.mu)  # σ of the sum: n·σ
        return bounds.tv_from_epsilon(self._noise.epsilon)

    def error(self, confidence: Number = Fraction(95, 100)) -> float:
        """Return w such that |answer − mean of φ| ≤ w with probability ``confidence`` at least.

        ``confidence`` is between 0 and 1; 0.95 if left out.
        """
        # Rounding each value adds half a step, rounding the answer to a float much less.
        steps = Fraction(self._noise.error(confidence)) / self._n + 1
        return round_up(steps / UNIT)

    @property
    def variance(self) -> float:
        """The variance of an answer, rounded up."""
        return round_up(Fraction(self._noise.variance) / (self._n * UNIT) ** 2)

    @property
    def inputs(self) -> BoundedMean:
        """One of n records is replaced."""
        return BoundedMean(self._n)

    def law(
        self, mean: Number
    ) -> laws.DiscreteLaplace | laws.RoundedLaplace | laws.RoundedGaussian:
        """Return the exact law of an answer times n·2^32, for a query with this mean."""
        return self._noise.law(floor(number(mean, name="mean") * self._n * UNIT + Fraction(1, 2)))

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: each copy would count its own answers")

    def __repr__(self) -> str:
        return f"StatisticalQueries(n={self._n}, guarantee={self.guarantee!r}, asked={self._asked})"


def read_sample(sample: Records, *, name: str = "sample") -> Records:
    """A copy that no query can write to, as far as the records themselves allow."""
    array = isinstance(sample, np.ndarray) and sample.ndim > 0
    array &= not isinstance(sample, np.ma.MaskedArray)  # a copy would drop the mask
    listed = isinstance(sample, Sequence) and not isinstance(sample, str | bytes)
    if not (array or listed) or not 0 < len(sample) <= LARGEST_SAMPLE:
        raise InvalidArgument.of_data(
            name,
            f"a sequence or an array of 1 to {LARGEST_SAMPLE} records",
            sample,
            hint="for a table, list its rows",
        )
    if not isinstance(sample, np.ndarray):
        return tuple(sample)
    rows = np.array(sample)
    rows.flags.writeable = False
    return rows


# -- query noise -----------------------------------------------------------------------------------
# How much noise a mean of n values in [0, 1] gets, as noise on their sum in whole steps.


# In steps of 2^−32: sums stay below 2^62, and beyond that 60 times this noise is out of reach.
MOST_NOISE: Final = 1 << 56


def noise_on_sum(
    n: int, noise: Laplace | Gaussian | None, sigma: Number | None, epsilon: Number | None
) -> Laplace | Gaussian:
    """Return the mechanism for the sum, which one record moves by 2^32 steps at most.

    >>> noise_on_sum(n=100, noise=None, sigma=0.05, epsilon=None).guarantee
    GDP(mu=Fraction(1, 5))
    """
    if noise is not None and sigma is None and epsilon is None:
        return _checked(_rescaled(noise, n))
    named = None if noise is None else type(noise).__name__
    chosen, given = exactly_one(epsilon=epsilon, noise=named, sigma=sigma)
    if chosen == "sigma":
        spread = n * positive(given, name="sigma")
        return _checked(Gaussian(sensitivity=UNIT, sigma=spread * UNIT, step=1))
    return _checked(Laplace(sensitivity=UNIT, epsilon=given, step=1))


def _checked(mechanism: Laplace | Gaussian) -> Laplace | Gaussian:
    """Refuse noise that could reach the edge of an int64, where answers would pile up."""
    size = mechanism.scale if isinstance(mechanism, Laplace) else mechanism.sigma
    if size <= MOST_NOISE:
        return mechanism
    raise InvalidArgument(
        "noise",
        "below 2^24 answers wide",
        "more",
        hint="answers lie between 0 and 1: choose a smaller sigma or a larger epsilon",
    )


def _rescaled(noise: Laplace | Gaussian, n: int) -> Laplace | Gaussian:
    """The same promise, for a sum in steps of 2^−32 instead of a mean."""
    if not isinstance(noise, Laplace | Gaussian):
        raise InvalidArgument.of("noise", "a Laplace or a Gaussian", noise)
    if noise.sensitivity != Fraction(1, n) or noise.step is not None:
        raise InvalidArgument(
            "noise",
            f"of sensitivity 1/{n}, by which one of {n} records moves a mean, and no step",
            f"sensitivity {noise.sensitivity} and step {noise.step}",
            hint=Phrase(
                "say {} or give {sigma=} or {epsilon=} instead", Argument("sensitivity", f"1/{n}")
            ),
        )
    if isinstance(noise, Laplace):
        return Laplace(sensitivity=UNIT, epsilon=noise.epsilon, step=1)
    return Gaussian(sensitivity=UNIT, mu=noise.mu, step=1)


# -- query values ----------------------------------------------------------------------------------
# What a statistical query says about each record, as whole numbers from 0 to 2^32.
#
# Every record has a value of its own, whatever the query does with it: what is not a number counts
# as 0, what is outside of [0, 1] is clamped, and a query that raises has the value 0 there. So
# nothing fails because of one record, and one record moves the sum by at most 2^32. Whole numbers
# have one sum, in whatever order they are added.


UNIT: Final = 1 << 32  # the value 1, in steps
_NUMBERS: Final[Any] = (Real, np.bool_)  # NumPy registers its own integers and floats as Real


def check_query(
    phi: Callable[[Any], Any],
    *samples: Records,
    vectorized: bool,
    expected: str = "False for a sample that is not a NumPy array",
    hint: str = "make the sample an array, of a dtype that does not depend on its records",
) -> None:
    """Refuse what can be refused without looking at the records: φ is shown none of them."""
    if not callable(phi):
        raise InvalidArgument.of("phi", "a function", phi, hint="as in lambda age: age > 60")
    for sample in samples if vectorized else ():
        if not isinstance(sample, np.ndarray):
            raise InvalidArgument("vectorized", expected, "True", hint=hint)
        check_column_function(phi, sample)


def sum_of(phi: Callable[[Any], Any], records: Records, *, vectorized: bool) -> int:
    """Return the sum for a function of one record, or of arrays of them."""
    if vectorized and isinstance(records, np.ndarray):
        return sum_of_column(phi, records)
    return sum_of_records(phi, records)


def sum_of_records(phi: Callable[[Any], Any], records: Iterable[Any]) -> int:
    """Return the sum of ⌊φ(record)·2^32 + ½⌋ over all records.

    >>> sum_of_records(lambda x: 1 / x, [2, 0, -3]) / UNIT      # ½, an error, below 0
    0.5
    """
    with np.errstate(all="ignore"):
        return sum(_steps(phi, record) for record in records)


def check_column_function(phi: Callable[[Any], Any], column: NDArray[Any]) -> None:
    """Refuse what is not a function of rows. It sees none of them, so a refusal reveals nothing."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(phi(column[:0]))
        given = f"a value of shape {values.shape} and dtype {values.dtype}"
        fits = _fits(values, column[:0])
    except Exception as failure:
        given, fits = f"a {type(failure).__name__}", False
    if not fits:
        raise InvalidArgument(
            "phi",
            "a function from an array of rows to as many numbers, none for no rows",
            f"{given} for no rows",
            hint=Phrase("leave out {vectorized=True} for a function of one record"),
        )


def sum_of_column(phi: Callable[[Any], Any], rows: NDArray[Any]) -> int:
    """Return the sum for a function of arrays, each row of which is a record.

    The function must treat rows one by one. Where it raises, or returns something other than a
    number for each, it is asked again about each half of the rows. So one bad row does not
    change what the others count for: each has the value that it has by itself.

    >>> sum_of_column(lambda x: x > 1, np.array([0, 1, 2, 3])) / UNIT
    2.0
    """
    values = _values(phi, rows)
    if values is not None:
        unit = np.fmin(np.fmax(values, 0.0), 1.0)  # fmax(NaN, 0) is 0
        return int(np.floor(unit * UNIT + 0.5).astype(np.int64).sum())
    if len(rows) == 1:
        return 0
    middle = len(rows) // 2
    return sum_of_column(phi, rows[:middle]) + sum_of_column(phi, rows[middle:])


def _values(phi: Callable[[Any], Any], rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return one number for each row, or None where the function gives none."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(phi(rows))
        return values.astype(np.float64) if _fits(values, rows) else None
    except Exception:
        return None


def _fits(values: NDArray[Any], rows: NDArray[Any]) -> bool:
    return values.shape == (len(rows),) and values.dtype.kind in "biuf"


def _steps(phi: Callable[[Any], Any], record: Any) -> int:
    try:
        value = phi(record)
        if not isinstance(value, _NUMBERS) or not value > 0:  # NaN is not above 0
            return 0
        return UNIT if value >= 1 else floor(float(value) * UNIT + 0.5)
    except Exception:
        return 0
