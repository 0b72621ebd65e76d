"""The scorer: any model-selection loop may use it, until its budget is spent."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score

from discreet.adaptive.scorer import Scorer
from discreet.adaptive.thresholdout import Thresholdout
from discreet.errors import InvalidArgument, Refused

N = 2_000
X = np.linspace(0, 1, N)[:, None]
Y = (X[:, 0] > 0.5).astype(int)


class Step(ClassifierMixin, BaseEstimator):
    """1 above `at`: right for all but |at − ½| of the records."""

    def __init__(self, at: float = 0.5) -> None:
        self.at = at

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.at).astype(int)


class Liar(Step):
    """Knows the fold it is scored on, which is small, and nothing else."""

    def predict(self, X):
        right = (np.asarray(X)[:, 0] > 0.5).astype(int)
        return right if len(X) < N else 1 - right


def scorer(**changes) -> Scorer:
    good = {"queries": 50, "hits": 5, "fold": 400, "private": False}
    return Scorer(X, Y, **(good | changes))


def shuffled() -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(3).permutation(N)
    return X[order], Y[order]


def test_every_loop_finds_the_best_model_and_spends_one_query_a_score() -> None:
    data = shuffled()
    scoring = scorer()
    scores = cross_val_score(Step(0.5), *data, scoring=scoring, cv=4)
    assert scores.tolist() == [1.0] * 4
    assert scoring.holdout.remaining == 46
    grid = GridSearchCV(Step(), {"at": [0.1, 0.5, 0.9]}, scoring=scoring, cv=3).fit(*data)
    assert grid.best_params_ == {"at": 0.5}
    assert scoring.holdout.remaining == 37
    search = RandomizedSearchCV(Step(), {"at": [0.4, 0.5]}, n_iter=2, scoring=scoring, cv=2)
    assert search.fit(*data).best_params_ == {"at": 0.5}
    assert scoring.holdout.remaining == 33


def test_by_an_analyst_scores_are_those_of_the_holdout_with_noise() -> None:
    scoring = Scorer(X, Y, queries=10, sigma=0.01)
    scores = cross_val_score(Step(0.3), *shuffled(), scoring=scoring, cv=4)
    assert np.abs(scores - 0.8).max() < 0.08  # eight standard deviations
    assert len(set(scores)) > 1
    assert scoring.holdout.remaining == 6


def test_the_holdout_steps_in_where_a_fold_is_overfitted() -> None:
    """Catches a scorer that believes the fold: the liar is right there and nowhere else."""
    scoring = scorer()
    data = shuffled()
    assert scoring(Liar(), data[0][:400], data[1][:400]) < 0.05
    assert isinstance(scoring.holdout, Thresholdout)
    assert scoring.holdout.remaining_hits == 4


def test_when_the_budget_is_spent_the_search_stops_or_scores_nan() -> None:
    data = shuffled()
    with pytest.raises(Refused, match="all 3 questions have been asked"):
        cross_val_score(Step(), *data, scoring=scorer(queries=3, hits=1), cv=5, error_score="raise")
    with pytest.warns(UserWarning, match="Scoring failed"):
        scores = cross_val_score(Step(), *data, scoring=scorer(queries=3, hits=1), cv=5)
    assert np.isnan(scores).tolist() == [False] * 3 + [True] * 2


def test_threads_share_one_budget_and_processes_are_refused() -> None:
    scoring = scorer()
    with joblib.parallel_config(backend="threading"):
        cross_val_score(Step(), *shuffled(), scoring=scoring, cv=4, n_jobs=2)
    assert scoring.holdout.remaining == 46
    with pytest.raises(Refused, match=r"cannot be sent to another process.*threading"):
        pickle.dumps(scoring)


def test_a_copy_is_the_scorer_itself_so_nested_searches_share_the_budget() -> None:
    scoring = scorer()
    assert copy.copy(scoring) is copy.deepcopy(scoring) is scoring
    inner = GridSearchCV(Step(), {"at": [0.5, 0.6]}, scoring=scoring, cv=2)
    cross_val_score(inner, *shuffled(), scoring=scoring, cv=2)
    assert scoring.holdout.remaining == 50 - 2 * (2 * 2 + 1)


def test_other_scores_in_frames_and_sparse_matrices() -> None:
    import pandas
    import scipy.sparse as scipy_sparse

    def near(model: Step, X, y) -> np.ndarray:
        first = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        return 1 - np.abs(first[:, 0] - y)

    for form in (pandas.DataFrame, scipy_sparse.csr_matrix):
        held = form(X)
        scoring = Scorer(held, Y, queries=9, hits=1, private=False, score=near)
        part = held.iloc[::2] if hasattr(held, "iloc") else held[::2]
        assert scoring(Step(), part, Y[::2]) == pytest.approx(0.75, abs=1e-3)


def test_mistakes_are_refused_before_the_holdout_is_asked() -> None:
    for changes, words in [({"score": "accuracy"}, "score"), ({"queries": 0}, "queries")]:
        with pytest.raises(InvalidArgument, match=words):
            scorer(**changes)
    with pytest.raises(InvalidArgument, match="one label for each row"):
        Scorer(X, Y[:5], queries=9, hits=1)
    scoring = scorer(score=lambda model, X, y: 0.5)
    with pytest.raises(InvalidArgument, match="returns a number for each row"):
        scoring(Step(), X, Y)
    with pytest.raises(ZeroDivisionError):
        scorer(score=lambda model, X, y: 1 / 0)(Step(), X, Y)
    assert scoring.holdout.remaining == 50
    assert "Thresholdout" in repr(scoring)


def test_models_of_other_columns_are_refused_before_the_holdout_is_asked() -> None:
    """Catches a broken pipeline that looks like a bad model: every row would count as 0."""
    import pandas

    scoring = Scorer(np.hstack([X, X]), Y, queries=9, hits=1, private=False)
    with pytest.raises(InvalidArgument, match="the columns that the holdout has"):
        scoring(Step(), X, Y)
    named = Scorer(pandas.DataFrame(X, columns=["a"]), Y, queries=9, hits=1, private=False)
    with pytest.raises(InvalidArgument, match="the columns that the holdout has"):
        named(Step(), pandas.DataFrame(X, columns=["b"]), Y)
    assert scoring.holdout.remaining == named.holdout.remaining == 9
    assert "9 adaptive questions" in scoring.explain()
    with pytest.raises(InvalidArgument, match="fold must be given together with hits="):
        Scorer(X, Y, queries=9, fold=10)
    with pytest.raises(InvalidArgument, match="fold must be from 1"):
        Scorer(X, Y, queries=9, hits=1, fold=0)


def test_the_package_does_not_import_scikit_learn() -> None:
    """Catches an import of sklearn by the scorer, which must work without it."""
    code = (
        "import sys; from discreet.adaptive.scorer import Scorer; "
        "Scorer([[0]] * 200, [0] * 200, queries=2, hits=1, private=False); "
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
