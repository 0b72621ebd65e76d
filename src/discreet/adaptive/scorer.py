"""A scorer for scikit-learn's loops over models, by a holdout that they cannot overfit.

``cross_val_score``, ``GridSearchCV`` and ``RandomizedSearchCV`` of scikit-learn take any
function of (estimator, X, y) as ``scoring=``. This one asks a protected holdout of its own.
scikit-learn is not imported here: whatever has a ``predict`` can be scored.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from fractions import Fraction
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive.arguments import read_count
from discreet.adaptive.thresholdout import Thresholdout
from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.hints import meant, spelled
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE, UNIT, sum_of_column
from discreet.numeric.exact import Number

if TYPE_CHECKING:
    from discreet.adaptive.analyst import Analyst

Score = Callable[[Any, Any, Any], Any]


class Scorer:
    """Scores an estimator by a protected holdout; runs out when its budget does.

    ``X`` and ``y`` are the holdout: records that no model is fitted to, in whatever form the
    models take. A record's score is in [0, 1]: ``score(estimator, X, y)`` returns one for each
    row, and treats rows one by one; if left out, the score is whether ``predict`` is right.

    Given ``hits``, the holdout is a `Thresholdout`: what the loop passes as X and y (the part
    of a fold that the model was not fitted to) is scored first, and the holdout steps in where
    it disagrees. ``fold`` is about how many rows that will be, or the size of the holdout if left
    out: the fewer, the further they may be off before the holdout steps in. Without ``hits``, the
    holdout is an `Analyst`, which answers every time, and X and y are only checked for mistakes.
    Further ``parameters`` go to whichever is used; it is available as ``holdout``, with its
    guarantee and what remains. Each call is one of its ``queries``. ``confidence`` is how sure the
    error of all scores together is, between 0 and 1; 0.95 if left out.

    When the budget is spent the scorer refuses. With ``error_score="raise"`` that ends the
    search; by default scikit-learn warns, scores the rest as NaN and ranks it last.
    It works in threads. It cannot be sent to other processes, which would count the budget from
    the start; a copy in the same process, as nested searches make one, is the scorer itself.

    >>> class Always:
    ...     def predict(self, X):
    ...         return np.ones(len(X))
    >>> X, y = np.zeros((10_000, 1)), np.arange(10_000) % 2
    >>> scorer = Scorer(X, y, queries=100, hits=5, private=False)
    >>> scorer(Always(), X[:500], y[:500]), scorer.holdout.remaining
    (0.5, 99)
    """

    @spelled
    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        queries: int,
        hits: int | None = None,
        fold: int | None = None,
        confidence: Number = Fraction(95, 100),
        score: Score | None = None,
        **parameters: Any,
    ) -> None:
        self._score = correct if score is None else score
        if not callable(self._score):
            raise InvalidArgument.of("score", "a function", score)
        if hits is None and fold is not None:
            raise InvalidArgument.conflict(
                "fold",
                Phrase("given together with {hits=}"),
                "without it",
                hint="without hits every score comes from the holdout, whatever the fold says",
            )
        _check_parameters(parameters, hits=hits)
        rows = _rows(X, np.asarray(y))
        self.holdout: Analyst | Thresholdout
        if hits is None:
            from discreet.adaptive.analyst import Analyst

            self.holdout = Analyst(rows, queries=queries, confidence=confidence, **parameters)
        else:
            size = len(rows) if fold is None else read_count(fold, name="fold", most=LARGEST_SAMPLE)
            self.holdout = Thresholdout(
                size, rows, queries=queries, hits=hits, confidence=confidence, **parameters
            )
        self._data = copy.deepcopy(X), np.array(y)  # so that later changes to them have no effect

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the estimator's score, as the holdout vouches for it.

        If the estimator fails, it fails on X and y, before the holdout is asked.
        """
        self._check_columns(X)
        guess = self._mean(estimator, X, np.asarray(y))
        if isinstance(self.holdout, Thresholdout):
            return self.holdout.ask(self._on(estimator), guess=guess, vectorized=True).value
        return float(self.holdout.ask(self._on(estimator), vectorized=True).value)

    def _check_columns(self, X: Any) -> None:
        """Refuse a model of columns that the holdout does not have; its columns are public."""
        held, given = _columns(self._data[0]), _columns(X)
        if held is not None and given is not None and held != given:
            raise InvalidArgument(
                "X",
                "of the columns that the holdout has",
                "others",
                hint="a loop that chooses columns, such as RFECV, needs a scorer of its own for "
                "each choice; or choose within a pipeline, whose models take all columns",
            )

    def _mean(self, estimator: Any, X: Any, y: NDArray[Any]) -> Fraction:
        rows = _rows(X, y)
        values = np.asarray(self._score(estimator, X, y))
        if values.shape != y.shape or values.dtype.kind not in "biuf":
            raise InvalidArgument(
                "score",
                "a function that returns a number for each row",
                f"one that returned dtype {values.dtype} in shape {values.shape}",
            )
        return Fraction(sum_of_column(lambda some: values[some], rows), len(rows) * UNIT)

    def _on(self, estimator: Any) -> Callable[[NDArray[Any]], Any]:
        """The scores of some rows of the holdout, as a function of their numbers."""
        X, y = self._data

        def phi(rows: NDArray[Any]) -> Any:
            if not len(rows):  # estimators refuse an empty array
                return np.zeros(0)
            some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
            return np.asarray(self._score(estimator, some, y[rows]))

        return phi

    def explain(self) -> str:
        """What is promised about all scores, in words."""
        return self.holdout.explain()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise Refused(
            Phrase(
                "a scorer cannot be sent to another process, which would count its budget again; "
                'use {n_jobs=1}, or threads: joblib.parallel_config(backend="threading")'
            )
        )

    def __repr__(self) -> str:
        return f"Scorer({self.holdout!r})"


def _check_parameters(parameters: Mapping[str, Any], *, hits: int | None) -> None:
    """Refuse further parameters that the kind of holdout in use does not take."""
    from discreet.adaptive.analyst import Analyst

    made, other = (Analyst, Thresholdout) if hits is None else (Thresholdout, Analyst)
    known, elsewhere = signature(made).parameters, signature(other).parameters
    for name in parameters:
        if name not in known:
            change = "give " if hits is None else "leave out "
            raise InvalidArgument(
                name,
                Phrase(
                    "left out {} {hits=}: the holdout is then {}, which does not take it",
                    "without" if hits is None else "with",
                    made.__name__,
                ),
                "a value",
                hint=Phrase("{}{hits=} for {}, which does", change, other.__name__)
                if name in elsewhere
                else meant(name, known, form="{}="),
            )


def correct(estimator: Any, X: Any, y: NDArray[Any]) -> Any:
    """1 where the prediction is right, 0 where it is not."""
    return np.asarray(estimator.predict(X)) == y


def _rows(X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    shape = getattr(X, "shape", None)  # a sparse matrix has no length
    size = shape[0] if shape else len(X)
    if y.ndim == 1 and len(y) == size > 0:
        return np.arange(size)
    raise InvalidArgument(
        "y",
        "an array with one label for each row of X, and at least one row",
        f"an array of shape {y.shape}",
    )


def _columns(X: Any) -> tuple[Any, ...] | None:
    """The columns' names if they have any, else their number; None for records without columns."""
    if hasattr(X, "columns"):
        return tuple(X.columns)
    shape = getattr(X, "shape", None)
    return None if shape is None else tuple(shape[1:])
