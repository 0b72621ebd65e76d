"""Questions counted in memory or charged to a ledger, and what its caps say about the population.

Each question is counted before a record is read, and is never taken back.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.adaptive.answer import PopulationAnswer
from discreet.adaptive.arguments import percent, read_confidence, same_process
from discreet.adaptive.bounds import Bound, BoundsTable, bounds
from discreet.adaptive.noise_width import (
    ROUNDING,
    Noise,
    Shape,
    excess_of_largest,
    rounded_down,
    rounded_up,
    width_of,
)
from discreet.adaptive.validity import drift, superquantile
from discreet.errors import InvalidArgument, Phrase, Refused, RelationMismatch
from discreet.guarantees import GDP, Guarantee, Pure, compose
from discreet.hints import spelled
from discreet.neighbors import Relation
from discreet.numeric import balls, canonical
from discreet.numeric.exact import Number, round_up, sqrt_up
from discreet.release import ColumnInfo, Result
from discreet.release.result import to_bytes

if TYPE_CHECKING:
    from discreet.adaptive.thresholdout import Settings
    from discreet.ledger.account import Account
    from discreet.ledger.history import Entry
    from discreet.ledger.journal import LedgerBudget
    from discreet.ledger.ledger import Ledger


# -- turns: counting questions ---------------------------------------------------------------------


class TurnsInMemory:
    """Questions counted in this process; the count ends with it. To an analyst it is the same as
    `TurnsInLedger`."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def taken(self) -> int:
        """How many were asked."""
        return self._taken

    @property
    def left(self) -> int:
        """How many may still be asked."""
        return self._most - self._taken

    def take(self) -> int:
        """The number of the next question, from 1; refused after the last."""
        same_process(
            self._process,
            hint=Phrase("ask from the process that made the analyst, or give {ledger=}"),
        )
        with self._lock:
            if self._taken == self._most:
                raise no_more(self._most)
            self._taken += 1
            return self._taken

    def keep(self, turn: int, reply: Callable[[], bytes]) -> None:
        """Do nothing: answers are not kept in memory."""

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: each copy would count its own questions")


class TurnsInLedger:
    """Questions counted by the charges of a ledger, which every process that opens it sees.

    The j-th question is charged under a key of its own, and a key is charged once. So the count
    goes on where it stopped, even after a crash, and no two askers get the same turn.
    """

    def __init__(
        self, purse: LedgerBudget, *, most: int, cost: Guarantee, told: dict[str, Any]
    ) -> None:
        self._purse, self._most, self._cost = purse, most, cost
        self._told, self._digest = told, canonical.digest(told)
        self._known = 0  # at least this many were asked

    @property
    def taken(self) -> int:
        """How many were asked. Keys are used in order: search in growing steps, then bisect."""
        low, step = self._known, 1
        while low + step <= self._most and self._is_taken(low + step):
            low, step = low + step, 2 * step
        left = range(low + 1, min(low + step - 1, self._most) + 1)
        low += bisect_left(left, True, key=lambda turn: not self._is_taken(turn))
        self._known = max(self._known, low)
        return low

    @property
    def left(self) -> int:
        """How many may still be asked: by this count, and by every cap."""
        rooms = [cap.filter.remaining(self._cost) for cap in self._purse.caps]
        return min(self._most - self.taken, *rooms)

    def take(self) -> int:
        """The number of the next question, from 1; refused after the last, or by a cap."""
        from discreet.ledger.history import Claim

        turn = self.taken + 1
        while turn <= self._most:
            claim = Claim(
                question=f"statistical query {turn:,} of {self._most:,}",
                guarantee=self._cost,
                digest=self._digest,
                mechanisms=(self._told,),
                key=self._key(turn),
            )
            try:
                self._purse.charge(claim)
                self._known = max(self._known, turn)
                return turn
            except Refused:
                if not self._is_taken(turn):  # a cap refused it; nobody else took the turn
                    raise
            turn += 1
        raise no_more(self._most)

    def keep(self, turn: int, reply: Callable[[], bytes]) -> None:
        """Keep what was answered beside its charge, for ``Ledger.recall``."""
        entry = self._purse.find(self._key(turn))
        assert entry is not None
        self._purse.keep(entry, reply)

    def _key(self, turn: int) -> str:
        return f"adaptive {self._digest[:32]} {turn}"

    def _is_taken(self, turn: int) -> bool:
        return self._purse.find(self._key(turn)) is not None

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: open the ledger again instead")


def no_more(most: int) -> Refused:
    """The refusal after the last question."""
    return Refused(
        f"all {most:,} questions have been asked, and the bound on their errors holds for "
        "that many and no more",
        remedy="draw a new sample, or plan for more questions from the start",
        code="exhausted",
    )


# -- what a ledger says about the population -------------------------------------------------------
# Validity as it follows from the ledger's caps.


@dataclass(frozen=True)
class Validity:
    """How far releases from one dataset can be from the population it was drawn from."""

    dataset: str
    confidence: float
    whole: Guarantee  #: of all releases, past and future, when one record is replaced
    drift: float  #: from the sample's mean of any query the releases suggest to the population's
    asked: int  #: statistical queries answered so far
    width: float | None  #: of all these answers at once, noise included; None if there are none
    unit: str | None = None  #: all rows of one unit are one record; None if a record is one row

    def __str__(self) -> str:
        sure = percent(self.confidence)
        lines = [
            f'dataset "{self.dataset}", one record replaced: {self.whole}'
            if self.unit is None
            else f'dataset "{self.dataset}", where a record is all rows of one {self.unit}, '
            f"replaced: {self.whole}",
            f"with {sure} confidence, the mean of every query that its releases suggest is within "
            f"{self.drift:.4g} of the population's",
        ]
        if self.width is not None:
            several = f"all {self.asked:,} statistical answers"
            answers = "the one statistical answer" if self.asked == 1 else several
            lines.append(
                f"and {answers} so far, noise included, within {self.width:.4g}, if "
                "how many would be asked, with which noise, did not depend on what was released"
            )
        lines.append(
            "if its records are independent draws, and nobody looked at them but through this "
            "ledger"
        )
        return "\n".join(lines)


@spelled
def validity_of(
    ledger: str | PathLike[str] | Ledger, *, dataset: str, confidence: Number = Fraction(95, 100)
) -> Validity:
    """What the charges of a dataset say about the population, from the ledger alone.

    The same cap gives both promises: to each record, that releases reveal little about it, and to
    readers, that whatever the releases suggest holds on the population up to the drift. The
    drift holds however charges were chosen. The width also counts the noise of all questions
    that analysts had announced, and holds if their numbers did not depend on answers.

    ``ledger`` is a path, an address or a `Ledger`, and ``dataset`` a name in it. ``confidence`` is
    how sure the numbers are, between 0 and 1; 0.95 if left out.

    >>> import discreet as dp, tempfile
    >>> ledger = dp.Ledger(tempfile.mkdtemp() + "/sample.ledger", create=True)
    >>> sample = ledger.add_dataset("sample", budget=dp.GDP(0.02), relation="replace")
    >>> round(validity_of(ledger, dataset="sample").drift, 4)
    0.0419
    """
    from discreet.ledger.ledger import Ledger

    failure = 1 - read_confidence(confidence)
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    found = [one for one in opened.datasets if one.name == dataset]
    if not found:
        raise InvalidArgument.of(
            "dataset",
            f"one of {', '.join(one.name for one in opened.datasets) or 'none yet'}",
            dataset,
        )
    whole = whole_of(opened, found[0])
    moved = drift(whole, failure=failure)
    answers = [(entry, plan) for entry in opened.history(dataset) if (plan := _plan_of(entry))]
    plans = {(entry.analyst, entry.digest): plan for entry, plan in answers}
    width = None
    if plans:
        own = _own_error(list(plans.values()), failure)
        width = round_up(Fraction(own) + ROUNDING + Fraction(moved))
    unit = found[0].unit
    return Validity(dataset, float(1 - failure), whole, moved, len(answers), width, unit)


def whole_of(ledger: Ledger, account: Account) -> Guarantee:
    """The guarantee of everything released about these records, when one of them is replaced.

    In a group, the same people's records are in other datasets too, and its cap counts them all.
    """
    above = [one for one in ledger.groups if one.name in account.groups]
    caps = [one.filter.guarantee for one in above or [account] if one.filter is not None]
    whole = caps[0] if len(caps) == 1 else compose(caps)
    # Replacing a record is removing one and adding another.
    return whole if account.relation is Relation.REPLACE else whole.group(2)


_Plan = tuple[Shape, Fraction, int]


def _plan_of(entry: Entry) -> _Plan | None:
    """The noise and the number of questions of an analyst, as recorded with every charge."""
    told: dict[str, Any] = entry.mechanisms[0] if entry.mechanisms else {}
    if told.get("for") != "statistical query" or "queries" not in told:
        return None
    shape: Shape = "gaussian" if told["mechanism"] == "Gaussian" else "laplace"
    return shape, Fraction(told["scale"]), int(told["queries"])


def _own_error(plans: list[_Plan], failure: Fraction) -> float:
    """The largest noise of all answers in the worst cases, as E(max − s)₊ is at most the sum."""

    def excess(s: float) -> float:
        with balls.precision(128):
            parts = (
                size * balls.upper_fraction(excess_of_largest(shape, k, Fraction(s) / size))
                for shape, size, k in plans
            )
            return round_up(sum(parts, Fraction(0)))

    largest = max(size for _, size, _ in plans)
    return superquantile(excess, failure=failure, upper=float(40 * largest))


# -- an analyst whose questions are charged to a ledger --------------------------------------------
# One account, two promises.
#
# The dataset's cap is the most that all releases from it may reveal about one record. That is
# the promise of privacy; and by the theorem of `validity` the same cap bounds how far whatever the
# releases suggest can drift from the population. So the drift is that of the *cap*, not of what was
# spent so far: charges may depend on answers, and only the cap was fixed before.
#
# Markov's inequality at the end of the proof is for one threshold, which must not depend on what
# was released. An analyst who made the dataset, or who asks before anything was released, has
# announced the noise and the number of questions in time. Any other may have chosen them after
# earlier releases, so each term gets half of the failure probability: the drift's half is for a
# number that the cap decides, and the noise's half holds given everything released before the noise
# was drawn.


@dataclass(frozen=True)
class NamedAccount:
    """The arguments that name a dataset of a ledger, and perhaps one of its analysts."""

    ledger: str | PathLike[str] | Ledger
    create: bool
    dataset: str | None
    analyst: str | None

    def opened(self, budget: GDP | Pure) -> tuple[Ledger, Account, LedgerBudget]:
        """The ledger and the account. If the dataset is missing and ``create`` is true, it is made
        with this budget."""
        from discreet.ledger.ledger import Ledger, dataset_name

        given = self.ledger
        ledger = given if isinstance(given, Ledger) else Ledger(given, create=self.create)
        which = Phrase('say which, as in {dataset="visits"}')
        name = dataset_name(ledger, self.dataset, create=True, expected="given", hint=which)
        if self.create and name not in {one.name for one in ledger.datasets}:
            ledger.add_dataset(name, budget=budget, relation=Relation.REPLACE)
        purse = ledger.purse(name, self.analyst)  # refuses an unknown name
        (account,) = (one for one in ledger.datasets if one.name == name)
        if account.relation is not Relation.REPLACE or account.unit is not None:
            raise RelationMismatch(
                f"the dataset {account.name!r} protects "
                f"{'a row' if account.unit is None else 'all rows of a person'} under "
                f"{account.relation}, and a bound for the population needs that one record is "
                "replaced",
                remedy=Phrase('add one with {relation="replace"} and no unit'),
            )
        return ledger, account, purse


def charged(
    planned: BoundsTable, where: NamedAccount, *, error: Fraction | None, noise: Noise | None
) -> tuple[BoundsTable, TurnsInLedger, Guarantee]:
    """The bounds that follow from the noise of the questions, where they are charged, and the
    guarantee of everything that is ever released from the dataset. If that is made here, it has the
    cap that k questions use up exactly."""
    own = planned.won.noise
    assert own is not None
    n, queries, failure = planned.n, planned.queries, planned.failure
    opened, account, purse = where.opened(own.cap(queries))
    name = account.name
    whole = whole_of(opened, account)
    part = failure
    if noise is None and account.budget != own.cap(queries):
        part = failure / 2
        noise = _noise_for(account, whole, n=n, queries=queries, failure=part, error=error)
    used = noise or own
    told = told_of(used, queries=queries, failure=failure)
    if account.budget != own.cap(queries):
        released = opened.history(None if account.groups else name)  # groups have more datasets
        if len(released) and released[0].digest != canonical.digest(told):  # announced too late
            part = failure / 2
    width = width_of(used, queries=queries, failure=part, whole=whole)
    mean = width_of(used, queries=queries, failure=Fraction(1), whole=whole)
    won = Bound(used.shape, width, used, expected=mean)
    turns = TurnsInLedger(purse, most=queries, cost=used.one, told=told)
    if not turns.taken and turns.left < queries:
        raise Refused(
            f"the caps of the dataset {name!r} have room for {turns.left:,} of {queries:,} "
            f"questions with this noise ({used})",
            remedy="ask fewer, or each with more noise",
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
    return BoundsTable(n, queries, failure, rows, won), turns, whole


def stored(answer: PopulationAnswer, found: BoundsTable) -> bytes:
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
    """What the ledger records about each question."""
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
    """The noise under a cap that somebody else has set: the most within the error if one is given,
    else the least that k questions can have."""
    assert account.filter is not None
    limit = account.filter.limit
    if limit.gaussian:
        # The sum of μ² that the limit allows.
        square = limit.amount / limit.of(GDP(1)).amount
        noise = Noise("gaussian", rounded_up(sqrt_up(queries / square) / n), n)
    else:
        noise = Noise("laplace", queries / (n * Pure.of(limit).epsilon0), n)
    if error is None:
        return noise
    spare = error - Fraction(drift(whole, failure=failure)) - noise.own_error(queries, failure)
    if spare <= 0:
        return noise
    more = 1 + spare / noise.own_error(queries, failure)
    return Noise(noise.shape, max(noise.size, rounded_down(float(noise.size * more))), n)


# -- a reusable holdout in a ledger ----------------------------------------------------------------
# It is charged once, as a whole, and used up for good.
#
# Its bounds count what its own answers reveal about the holdout, and nothing else may reveal
# anything about it. So it needs a dataset of its own, whose cap is exactly its guarantee. Whoever
# makes the holdout a second time, after a crash or in another process, finds the cap spent and is
# refused: the answers of the first one may have been seen.


def charge_holdout(settings: Settings, where: NamedAccount) -> None:
    """Charge all answers of a holdout before the first one is given."""
    from discreet.ledger.history import Claim

    assert settings.epsilon is not None
    promise, terms = Pure(settings.epsilon), settings.terms
    told = {
        "for": "a reusable holdout",
        "mechanism": "SparseVector",
        "epsilon": str(settings.epsilon),
        "records": terms.n,
        "queries": terms.queries,
        "hits": terms.hits,
    }
    _, account, purse = where.opened(promise)
    if account.budget != promise or account.groups:
        raise Refused(
            f"the dataset {account.name!r} has another cap than the {promise} of this holdout, or "
            "belongs to a group, so others may release from the same records, which its bound does "
            "not count",
            remedy=Phrase("give the holdout a dataset of its own, made with {create=True}"),
        )
    purse.charge(Claim("a reusable holdout", promise, canonical.digest(told), mechanisms=(told,)))
