"""Answers that hold on the population, however the questions were chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.adaptive.answer import PopulationAnswer, rounded
from discreet.adaptive.arguments import (
    percent,
    read_confidence,
    read_count,
    read_epsilon,
    read_error,
    read_sigma,
)
from discreet.adaptive.bounds import METHODS, BoundsTable, bounds, refusal, says_nothing
from discreet.adaptive.ledger_account import (
    NamedAccount,
    TurnsInLedger,
    TurnsInMemory,
    charged,
    stored,
)
from discreet.adaptive.noise_width import Noise, Shape
from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.guarantees import Guarantee
from discreet.hints import meant, spelled
from discreet.mechanisms.statistical_queries import (
    UNIT,
    Records,
    StatisticalQueries,
    check_query,
    read_sample,
    sum_of,
)
from discreet.noise.entropy import source
from discreet.numeric.exact import Number

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


_CHARGED = ("gaussian", "laplace")
_ASSUMED = (
    "It holds if the records are independent draws from the population, and the questions know "
    "them from these answers alone."
)


class Analyst:
    """Answers up to ``queries`` statistical queries, each with its distance to the *population*.

    The ``sample`` is n independent draws from a population. A query is a function φ from one record
    to [0, 1], and may depend on all earlier answers. With probability ``confidence``, *all*
    answers together are within ``error`` of the population's means, by the best of several
    methods: noise (Gaussian or Laplace), which also protects each record, or sample splitting or
    rounding, which do not. ``bounds`` shows them all and ``won`` names the one in use.

    By default it has the least error. With ``error`` it has the most noise within that error; if
    that is impossible it is refused before anything is asked, and the refusal says what would do.
    ``sigma`` (Gaussian noise on an answer) or ``epsilon`` (Laplace noise of scale 1/(n·ε)) sets the
    noise. ``method`` is one of
    "gaussian", "laplace", "jung" (the published constants), "splitting", "rounding" and "tv",
    several of them, or "best".

    With a ``ledger``, every question is charged to it first, so that a crash or another process
    cannot reset the count, and the dataset's cap is the promise of privacy and of validity.
    ``dataset`` and ``analyst`` name the account; a missing ledger or dataset is made only with
    ``create=True``, with the cap that these questions use up exactly.

    >>> import numpy as np
    >>> ages = np.array([23, 71, 42, 65, 38, 50, 19, 84, 33, 47] * 10_000)
    >>> analyst = Analyst(ages, queries=1000, confidence=0.95)
    >>> analyst.won, round(analyst.error, 4), round(analyst.bounds["splitting"].width, 4)
    ('gaussian', 0.1067, 0.2285)
    >>> answer = analyst.ask(lambda age: age > 60, vectorized=True)
    >>> answer.asked, answer.remaining, 0.2 < float(answer) < 0.4
    (1, 999, True)
    """

    @spelled
    def __init__(
        self,
        sample: Records,
        *,
        queries: int,
        confidence: Number,
        error: Number | None = None,
        sigma: Number | None = None,
        epsilon: Number | None = None,
        method: str | Sequence[str] = "best",
        ledger: str | PathLike[str] | Ledger | None = None,
        create: bool = False,
        dataset: str | None = None,
        analyst: str | None = None,
    ) -> None:
        queries = self._queries = read_count(queries, name="queries")
        failure = self._failure = 1 - read_confidence(confidence)
        wish = None if error is None else read_error(error)
        size = _size(wish, sigma, epsilon)
        methods = _methods(method, size, in_ledger=ledger is not None)
        if ledger is None and (create or dataset is not None or analyst is not None):
            raise InvalidArgument.conflict(
                "create, dataset and analyst", Phrase("given together with {ledger=}"), "without it"
            )
        self._n = StatisticalQueries(sample, sigma=1).n  # refuses what is not a sample
        self._nothing: Records = sample[:0] if isinstance(sample, np.ndarray) else ()
        noise = None if size is None else _noise(self._n, *size)
        self._bounds = bounds(
            self._n, queries=queries, failure=failure, error=wish, noise=noise, methods=methods
        )
        width = self._bounds.won.width
        if width >= 1 if wish is None else width > wish:  # refused before a ledger is opened
            if noise is None:
                raise refusal(methods, self._n, queries=queries, error=wish, failure=failure)
            raise says_nothing(noise, methods, queries=queries, failure=failure)
        self._turns: TurnsInLedger | TurnsInMemory = TurnsInMemory(queries)
        own = self._bounds.won.noise
        self._guarantee: Guarantee | None = None if own is None else own.total(queries)
        if ledger is not None:
            where = NamedAccount(ledger, create, dataset, analyst)
            self._bounds, self._turns, self._guarantee = charged(
                self._bounds, where, error=wish, noise=noise
            )
        self._ask = _asker(sample, self._bounds)

    # -- asking ----------------------------------------------------------------------------------

    @spelled
    def ask(self, phi: Callable[[Any], Any], *, vectorized: bool = False) -> PopulationAnswer:
        """The mean of φ, and how far the population's mean can be from it.

        ``phi`` is φ, a function of one record that returns a number in [0, 1] or a bool.
        With ``vectorized=True`` it takes an array of rows and returns a number for each; it must
        treat them one by one. What it returns is clamped to [0, 1], and anything that is not a
        number counts as 0; the population's mean is that of the same clamped φ. Refused after the
        last question.
        """
        check_query(phi, self._nothing, vectorized=vectorized, hint="make the sample an array")
        turn = self._turns.take()  # charged before any record is read, and never taken back
        value = float(self._ask(phi, vectorized, turn))
        answer = PopulationAnswer(
            value, self.error, self.confidence, asked=turn, remaining=self._queries - turn
        )
        self._turns.keep(turn, lambda: stored(answer, self._bounds))
        return answer

    # -- what is promised ------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The size of the sample, which is public."""
        return self._n

    @property
    def error(self) -> float:
        """How far any answer can be from the population, all answers at once."""
        return self._bounds.won.width

    @property
    def confidence(self) -> float:
        """The probability that all answers are within ``error``."""
        return float(1 - self._failure)

    @property
    def won(self) -> str:
        """The method in use: the name of a row of ``bounds``."""
        return self._bounds.won.method

    @property
    def bounds(self) -> BoundsTable:
        """The bounds of all methods; prints as a table."""
        return self._bounds

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return self._turns.taken

    @property
    def remaining(self) -> int:
        """How many may still be asked."""
        return self._turns.left

    @property
    def guarantee(self) -> Guarantee | None:
        """What all questions together promise to each record when it is replaced by another; None
        if answers have no noise. In a ledger it is the dataset's cap."""
        return self._guarantee

    def explain(self) -> str:
        """What is promised, by which bound, and what the others would give."""
        won = self._bounds.won
        promise = (
            "It promises nothing to the people in the sample: answers have no noise."
            if self._guarantee is None
            else f"To each record it promises {self._guarantee}, all questions together."
        )
        return "\n".join(
            [
                f"{self._queries:,} adaptive question{'s' * (self._queries > 1)} to "
                f"{self._n:,} records: all answers within "
                f"{won.width:.4g} of the population with {percent(self.confidence)} confidence, "
                f"by {won.words} ({won.change}).",
                _ASSUMED,
                promise,
                "",
                str(self._bounds),
            ]
        )

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: each copy would count its own questions")

    def __repr__(self) -> str:
        return (
            f"Analyst(n={self._n:,}, queries={self._queries:,}, asked={self.asked:,}, "
            f"error={self.error:.4g}, won={self.won!r})"
        )


# -- arguments -----------------------------------------------------------------------------------


def _size(
    error: Fraction | None, sigma: Number | None, epsilon: Number | None
) -> tuple[Shape, Fraction] | None:
    """The σ or ε that was given."""
    sizes = {"error": error, "sigma": sigma, "epsilon": epsilon}
    given = [name for name, value in sizes.items() if value is not None]
    if len(given) > 1:
        raise InvalidArgument(
            "error, sigma and epsilon",
            "at most one of them",
            " and ".join(given),
            hint="the noise decides the error, and the error the noise",
        )
    if sigma is not None:
        return "gaussian", read_sigma(sigma)
    return None if epsilon is None else ("laplace", read_epsilon(epsilon))


def _noise(n: int, shape: Shape, size: Fraction) -> Noise:
    return Noise(shape, size if shape == "gaussian" else 1 / (n * size), n)


def _methods(
    method: str | Sequence[str], size: tuple[Shape, Fraction] | None, *, in_ledger: bool
) -> tuple[str, ...]:
    listed = isinstance(method, list | tuple)
    names = tuple(method) if listed else (method,) if isinstance(method, str) else ()
    if names == ("best",):
        names = tuple(name for name in METHODS if not in_ledger or name in _CHARGED)
    wrong = [name for name in names if not isinstance(name, str) or name not in METHODS]
    if not names or wrong:
        raise InvalidArgument.of(
            "method",
            f'"best", or one or several of {", ".join(METHODS)}',
            wrong[0] if wrong else method,
            hint=meant(str(wrong[0]) if wrong else "", METHODS, '"{}"'),
        )
    if in_ledger and not set(names) <= set(_CHARGED):
        raise InvalidArgument(
            "method",
            Phrase('"gaussian" or "laplace" together with {ledger=}'),
            ", ".join(names),
            hint="without noise an answer promises nothing to the people in the sample, so there "
            "is nothing that a ledger could charge",
        )
    if in_ledger and names == ("laplace",) and size is None:
        raise InvalidArgument.of(
            "epsilon",
            Phrase("given for Laplace noise together with {ledger=}"),
            None,
            hint="in a ledger ε adds up, so Gaussian noise serves nearly always better",
        )
    return names if size is not None or not in_ledger else ("gaussian",)


def _asker(
    sample: Records, found: BoundsTable
) -> Callable[[Callable[[Any], Any], bool, int], float | Fraction]:
    """The function that answers a question, given its number."""
    won = found.won
    if won.noise is not None:
        gaussian = won.noise.shape == "gaussian"
        loss = 1 / (won.noise.n * won.noise.size)
        noisy = StatisticalQueries(
            sample, sigma=won.noise.size if gaussian else None, epsilon=None if gaussian else loss
        )
        return lambda phi, vectorized, _: noisy.ask(phi, vectorized=vectorized)
    # Without noise: each question on a part of its own, or on all records and coarsely rounded.
    levels, parts = won.levels, found.queries if won.levels is None else 1
    rows, size = _shuffled(sample) if parts > 1 else read_sample(sample), len(sample) // parts

    def exact(phi: Callable[[Any], Any], vectorized: bool, turn: int) -> Fraction:
        part = rows if levels else rows[(turn - 1) * size : turn * size]
        mean = Fraction(sum_of(phi, part, vectorized=vectorized), size * UNIT)
        return rounded(mean, levels) if levels else mean

    return exact


def _shuffled(sample: Records) -> Records:
    """The records in a random order, so that a file that somebody has sorted is split as well as
    one in the order of the draws."""
    # Records with equal 64-bit words keep their order; among 10⁹ records there may be a few.
    order = np.argsort(source().words(len(sample)), kind="stable")
    if not isinstance(sample, np.ndarray):
        return tuple(sample[place] for place in order)
    rows = sample[order]
    rows.flags.writeable = False
    return rows
