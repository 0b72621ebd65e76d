"""An analyst whose questions are charged to a ledger: one account, two promises.

The dataset's cap is the most that everything released from it may tell about one record. That is
the promise of privacy; and by the theorem of `validity` the same cap bounds how far whatever the
releases suggest can drift from the population. So the drift is that of the *cap*, not of what was
spent so far: charges may depend on answers, and only the cap was fixed before.

Markov's inequality at the end of the proof is for one threshold, which must not depend on what was
released. Whoever made the dataset, or asks before anything was released, has announced its noise
and its number of questions in time. Anybody else may have chosen them by earlier releases, so the
two terms get a half of the failure probability each: the drift's half is for a number that the cap
decides, and the noise's half holds given everything released before the noise was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet import canonical
from discreet.adaptive.answer import Answer
from discreet.adaptive.bounds_table import Bound, Bounds, bounds
from discreet.adaptive.noise_widths import Noise, rounded_down, rounded_up, width_of
from discreet.adaptive.population import whole_of
from discreet.adaptive.turns import TurnsInLedger
from discreet.adaptive.validity import drift
from discreet.errors import InvalidArgument, Refused, RelationMismatch
from discreet.exact import sqrt_up
from discreet.guarantees import GDP, Guarantee, Pure
from discreet.guarantees.accounts.notions import sum_of
from discreet.neighbors import Relation
from discreet.release import ColumnInfo, Result
from discreet.release.storing import to_bytes

if TYPE_CHECKING:
    from discreet.ledger.accounts import Account
    from discreet.ledger.ledger import Ledger


@dataclass(frozen=True)
class Charged:
    """Where questions are charged, with which noise, and the bound that follows."""

    turns: TurnsInLedger
    bounds: Bounds
    whole: Guarantee  #: of everything that is ever released from the dataset


def charged(
    planned: Bounds,
    *,
    error: Fraction | None,
    noise: Noise | None,
    ledger: str | PathLike[str] | Ledger,
    create: bool,
    dataset: str | None,
    analyst: str | None,
) -> Charged:
    """Open the account that these arguments mean; made, with the cap that k questions fill, if
    it is missing and ``create`` says so."""
    from discreet.ledger.ledger import Ledger

    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger, create=create)
    name = dataset_name(opened, dataset)
    there = {one.name: one for one in opened.datasets}
    own = planned.won.noise
    assert own is not None
    n, queries, failure = planned.n, planned.queries, planned.failure
    if name not in there and create:
        opened.add_dataset(name, budget=own.cap(queries), relation=Relation.REPLACE)
        there = {one.name: one for one in opened.datasets}
    purse = opened.purse(name, analyst)  # refuses a name that is not there
    account = there[name]
    check_account(account)
    whole = whole_of(opened, account)
    part = failure
    if noise is None and account.budget != own.cap(queries):
        part = failure / 2
        noise = _noise_for(account, whole, n=n, queries=queries, failure=part, error=error)
    used = noise or own
    told = told_of(used, queries=queries, failure=failure)
    if account.budget != own.cap(queries) and not _in_time(opened, account, canonical.digest(told)):
        part = failure / 2
    width = width_of(used, queries=queries, failure=part, whole=whole)
    mean = width_of(used, queries=queries, failure=Fraction(1), whole=whole)
    won = Bound(used.shape, width, used, expected=mean)
    turns = TurnsInLedger(
        purse, most=queries, cost=used.one, digest=canonical.digest(told), told=told
    )
    if not turns.taken and turns.left < queries:
        raise Refused(
            f"the caps of the dataset {name!r} have room for {turns.left:,} of {queries:,} "
            f"questions with this noise ({used}): ask fewer, or each with more noise"
        )
    if error is not None and width > error:
        raise Refused(
            f"with the cap of the dataset {name!r} the least error is {width:.4g}, above the "
            f"{float(error):.4g} asked for: releases may drift that far from the population "
            "until the cap is spent. Use a dataset with a smaller cap, or a larger error"
        )
    if width >= 1:
        raise Refused(
            f"with the cap of the dataset {name!r} and this noise ({used}) nothing can be said "
            f"about {queries:,} questions to {n:,} records, for every share is within 1 of every "
            "other: ask fewer, or use a dataset with a smaller cap"
        )
    others = bounds(n, queries=queries, failure=failure, noise=used).rows
    rows = (won, *(row for row in others if row.method != won.method))
    return Charged(turns, Bounds(n, queries, failure, rows, won), whole)


def stored(answer: Answer, found: Bounds) -> bytes:
    """An answer as a ledger keeps it, for ``Ledger.recall``."""
    import pyarrow as pa

    noise = found.won.noise
    assert noise is not None
    columns = (
        ColumnInfo("share", "value", kind="mean", bounds=(0.0, 1.0)),
        ColumnInfo("share_error", "error", of="share"),
    )
    frame = pa.table({"share": [answer.value], "share_error": [answer.error]})
    return to_bytes(
        Result(
            frame,
            columns,
            guarantee=noise.one,
            cost=str(noise.one),
            protects="one row, replaced",
            notes=(f"± is the distance to the population: {answer}",),
        )
    )


def told_of(noise: Noise, *, queries: int, failure: Fraction) -> dict[str, str | int]:
    """What the ledger says of each question."""
    return {
        "for": "statistical query",
        "mechanism": "Gaussian" if noise.shape == "gaussian" else "Laplace",
        "scale": str(noise.size),
        "records": noise.n,
        "queries": queries,
        "confidence": str(1 - failure),
    }


def _noise_for(
    account: Account,
    whole: Guarantee,
    *,
    n: int,
    queries: int,
    failure: Fraction,
    error: Fraction | None,
) -> Noise:
    """For a cap that somebody else has set: the most noise within the error, else the least that
    k questions can have."""
    assert account.filter is not None
    limit = account.filter.limit
    if isinstance(limit, Pure):
        least = queries / (n * sum_of(limit))
        noise = Noise("laplace", least, n)
    else:
        square = limit.mu**2 if isinstance(limit, GDP) else 2 * limit.rho
        noise = Noise("gaussian", rounded_up(sqrt_up(queries / square) / n), n)
    if error is None:
        return noise
    spare = error - Fraction(drift(whole, failure=failure)) - noise.own_error(queries, failure)
    if spare <= 0:
        return noise
    more = 1 + spare / noise.own_error(queries, failure)
    return Noise(noise.shape, max(noise.size, rounded_down(float(noise.size * more))), n)


def _in_time(ledger: Ledger, account: Account, digest: str) -> bool:
    """Whether nothing was released about these records before these questions were announced."""
    released = ledger.history(None if account.groups else account.name)  # a group has others too
    return not len(released) or released[0].digest == digest


def check_account(account: Account) -> None:
    """Refuse an account whose promise says nothing about one record of a sample of known size."""
    if account.relation is not Relation.REPLACE or account.unit is not None:
        raise RelationMismatch(
            f"the dataset {account.name!r} protects "
            f"{'a row' if account.unit is None else 'all rows of a person'} under "
            f"{account.relation}, and a bound for the population needs that one record is "
            'replaced: add one with relation="replace" and no unit'
        )


def dataset_name(ledger: Ledger, dataset: str | None) -> str:
    """The dataset that is meant: the one that is named, the only one, or that of the file."""
    if dataset is not None:
        return dataset
    there = [one.name for one in ledger.datasets]
    if len(there) == 1:
        return there[0]
    if not there and "://" not in ledger.location:
        return Path(ledger.location).stem
    raise InvalidArgument(
        name="dataset",
        expected=f"one of {', '.join(there)}" if there else "given",
        given="nothing",
        hint='say which, as in dataset="visits"',
    )
