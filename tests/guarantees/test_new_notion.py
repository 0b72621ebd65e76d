"""The recipe for a new notion in CONTRIBUTING.md, followed: a toy in a package of its own.

Nothing of discreet names the toy. Catches code that knows the notions there are instead of asking.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.guarantees.guarantee import KINDS
from discreet.ledger.ledger import Ledger

TOY = '''
"""Privacy in bits: no event is more than 2ᵇ times as likely on a neighbour."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import group_size
from discreet.guarantees.notion import Notion
from discreet.guarantees.pure import pure_band, pure_profile
from discreet.numeric.balls import ball, sharp
from discreet.numeric.short_fractions import ball_up


@dataclass(frozen=True, init=False, repr=False)
class Bits(Notion):
    """b bits, which are ε = b·log 2: bits add up as ε does."""

    kind = "bits"
    fields = named(bits=NUMBER)
    parameter, symbol, sum_symbol = "bits", "b", "b"

    bits: Fraction

    def __init__(self, bits):
        super().__init__(bits)

    def group(self, k):
        return Bits(self.bits * group_size(k))

    @property
    def _epsilon(self):
        return ball_up(sharp(lambda: ball(self.bits) * ball(2).log()))

    @classmethod
    def _of_pure(cls, epsilon):
        return cls(ball_up(sharp(lambda: ball(epsilon) / ball(2).log())))

    def _to(self, notion):
        return notion._of_pure(self._epsilon)

    def _over(self, x, *, swapped=False):
        return pure_profile(self._epsilon, x)

    def _band(self, x, *, swapped=False):
        return pure_band(self._epsilon, x)
'''


@pytest.fixture
def Bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:  # noqa: N802
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").write_text("from toy.bits import Bits\n")
    (package / "bits.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("toy").Bits
    KINDS.pop("bits", None)
    for name in ("toy", "toy.bits"):
        del sys.modules[name]


@pytest.fixture
def people() -> dp.Table:
    return dp.table(pa.table({"ward": ["A", "B"] * 50, "id": range(100)}), unit="id")


def wards(people: dp.Table) -> dp.Query:
    bound = people.bound(max_groups=1, max_rows_per_group=1)
    return bound.group_by("ward", keys=["A", "B"]).agg(n=dp.count())


def test_it_converts_and_compares(Bits):
    """Both ways, through every guarantee that is made of others, and by the order of profiles."""
    assert 1.4426950408 < Bits.of(dp.Pure(1)).bits < 1.4426950409
    assert 0.6931471805 < dp.Pure.of(Bits(1)).epsilon0 < 0.6931471806
    assert dp.ZCDP.of(Bits(1)) == dp.ZCDP.of(dp.Pure.of(Bits(1)))
    for guarantee in (
        dp.LaplacePair(1),
        dp.ResponsePair(1, 3),
        dp.Least([dp.Pure(1), dp.GDP(1)]),
        dp.LossDistribution.from_laws([0.7, 0.3], [0.3, 0.7]),
        dp.compose([dp.Pure("1/2"), dp.LaplacePair("1/2")]),
    ):
        assert Bits.of(guarantee).bits <= Bits.of(dp.Pure(1)).bits
    assert dp.Pure(1).within(Bits("1.45")) and not dp.Pure(1).within(Bits("1.44"))
    with pytest.raises(dp.Refused, match="no finite bits"):
        Bits.of(dp.Approx(1, 1e-6))
    with pytest.raises(dp.Refused, match="no finite bits"):
        Bits.of(dp.GDP(1))


def test_it_composes_and_is_written_down(Bits):
    """In the place of the ε that it is; and JSON brings it back."""
    ours, pure = (dp.compose([g, dp.GDP(1)]).epsilon(1e-6) for g in (Bits(1), dp.Pure.of(Bits(1))))
    assert ours == pytest.approx(pure, rel=2e-3)
    assert Bits.of(Bits(1).repeat(3)) == Bits(3)
    assert dp.Guarantee.from_json(Bits("1/3").to_json()) == Bits("1/3")
    assert str(Bits("1/2")) == "Bits(bits=0.5)" and "your data" in Bits(1).describe()


def test_it_is_the_budget_of_a_session(Bits, people):
    """Charges are converted to it, its words are its own, and its cap holds."""
    session = dp.Session(people, budget=Bits(2))
    assert "b = 1.44" in str(session.explain(wards(people), epsilon=1))
    result = session.release(wards(people), epsilon=1)
    assert result.to_pandas()["ward"].tolist() == ["A", "B"]
    assert session.spent == Bits.of(dp.Pure(1))
    assert session.remaining.bits == 2 - session.spent.bits
    with pytest.raises(dp.BudgetExceeded, match="b = 2"):
        session.release(wards(people), epsilon=1)
    with pytest.raises(dp.Refused, match="Gaussian noise has none"):
        session.release(wards(people), rho=1)
    session.release(wards(people), error=50)


def test_it_is_the_budget_of_a_ledger(Bits, people, tmp_path):
    """Stored with its cap and its charges, and read again from the file."""
    place = str(tmp_path / "people.ledger")
    with Ledger(place, create=True) as ledger:
        ledger.add_dataset("people", budget=Bits(3), slack="1e-6", unit="id")
        ledger.charge(dp.Pure(1), dataset="people", question="by hand")
    with Ledger(place) as ledger:
        (account,) = ledger.datasets
        assert account.budget == Bits(3) and account.filter.spent == Bits.of(dp.Pure(1))
        assert 'dataset "people": b = 1.44' in str(account)
        assert ledger.verify().charges == 1
    session = dp.Session(people, ledger=place, dataset="people")
    session.release(wards(people), epsilon="1/2")
    assert len(session.history) == 2 and session.spent.bits > Bits.of(dp.Pure(1)).bits


def test_who_does_not_know_it_says_so(Bits, people, tmp_path):
    """Catches a certificate that our own verifier would call forged, and a sound ledger that is
    called damaged, to be restored from a backup."""
    place = str(tmp_path / "people.ledger")
    session = dp.Session(people, ledger=place, create=True, dataset="people", budget=Bits(3))
    result = session.release(wards(people), epsilon=1)
    with pytest.raises(dp.Refused, match='does not know accounts in "bits"'):
        result.certificate()
    del KINDS["bits"]
    with pytest.raises(dp.Refused, match="a cap in bits, a notion of privacy that is not loaded"):
        Ledger(place)
