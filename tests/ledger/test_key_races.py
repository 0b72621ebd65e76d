"""One idempotency key, two releases at once."""

import pytest

import discreet as dp
from discreet.ledger.history import Claim


def test_two_releases_at_once_under_one_key(tmp_path):
    """Both looked the key up before either was charged. Catches a second charge, and words of
    the database in place of ours."""
    with dp.Ledger(tmp_path / "x.ledger", create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        purse = ledger.purse("visits", None)
        claim = Claim("how many", dp.Pure("0.1"), "0" * 64, key="k")
        purse.charge(claim)
        with pytest.raises(dp.Refused, match="in use by another release"):
            purse.charge(claim)
        assert purse.caps[0].filter.spent == dp.Pure("0.1")
