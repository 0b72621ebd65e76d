"""A reusable holdout in a ledger: charged once, before it answers, and used up for good."""

import numpy as np
import pytest

import discreet as dp

HELD, TRAINING = np.arange(4_000) % 2, np.arange(1, 4_001) % 2
WISH = {"queries": 20, "hits": 3, "epsilon": 1}


def made(**where: object) -> dp.adaptive.Thresholdout:
    return dp.adaptive.Thresholdout(TRAINING, HELD, **WISH, **where)  # type: ignore[arg-type]


def test_a_holdout_is_charged_once_and_never_made_again(tmp_path) -> None:
    """Catches a second holdout with hits of its own, in another object or after a crash."""
    path = tmp_path / "holdout.ledger"
    first = made(ledger=path, create=True)
    with dp.Ledger(path) as ledger:
        (entry,) = ledger.history("holdout")
        assert entry.guarantee == first.guarantee == dp.Pure(1)
        assert ledger.datasets[0].relation is dp.Relation.REPLACE
    with pytest.raises(dp.BudgetExceeded):
        made(ledger=path)
    with pytest.raises(dp.BudgetExceeded):
        made(ledger=path, create=True)
    assert first.ask(lambda rows: rows, vectorized=True).interval[0] <= 0.5
    validity = dp.adaptive.validity_of(path, dataset="holdout")
    assert validity.drift == dp.adaptive.drift(dp.Pure(1), failure="0.05")


def test_an_epsilon_of_our_own_choice_can_be_charged(tmp_path) -> None:
    """Catches a fraction that is too long for a ledger."""
    wish = {"queries": 20, "hits": 3, "error": 0.45}
    holdout = dp.adaptive.Thresholdout(
        TRAINING, HELD, **wish, ledger=tmp_path / "own.ledger", create=True
    )
    with dp.Ledger(tmp_path / "own.ledger") as ledger:
        assert ledger.history("own")[0].guarantee == holdout.guarantee


@pytest.mark.parametrize(("cap", "relation"), [(2, "replace"), (1, "add-remove")])
def test_a_dataset_that_others_may_use_is_refused(tmp_path, cap, relation) -> None:
    """Catches a bound that does not count what others release from the same records."""
    with dp.Ledger(tmp_path / "shared.ledger", create=True) as ledger:
        ledger.add_dataset("shared", budget=dp.Pure(cap), relation=relation)
        with pytest.raises(dp.Refused):
            made(ledger=ledger)
        assert not len(ledger.history())


def test_without_noise_there_is_nothing_to_charge(tmp_path) -> None:
    """Catches a ledger that says a holdout without noise were private; none is left behind."""
    wish = {"queries": 20, "hits": 3, "private": False}
    with pytest.raises(dp.Refused, match="nothing to charge"):
        dp.adaptive.Thresholdout(TRAINING, HELD, **wish, ledger=tmp_path / "no.ledger", create=True)
    assert not list(tmp_path.iterdir())
