"""What a ledger says about the population: the validity that follows from its caps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any

from discreet import balls
from discreet.adaptive.doors import percent, read_confidence
from discreet.adaptive.noise_tails import Shape, excess_of_largest
from discreet.adaptive.noise_widths import ROUNDING
from discreet.adaptive.validity import drift, superquantile
from discreet.errors import InvalidArgument
from discreet.exact import Number, round_up
from discreet.guarantees import Guarantee, compose
from discreet.neighbors import Relation
from discreet.spelling import spelled

if TYPE_CHECKING:
    from discreet.ledger.accounts import Account
    from discreet.ledger.entry import Entry
    from discreet.ledger.ledger import Ledger


@dataclass(frozen=True)
class Validity:
    """How far releases from one dataset can be from the population it was drawn from."""

    dataset: str
    confidence: float
    whole: Guarantee  #: of all releases there will ever be, when one record is replaced
    drift: float  #: from the sample's mean of any query the releases suggest to the population's
    asked: int  #: statistical queries answered so far
    width: float | None  #: of all these answers at once, noise included; none if there are none
    unit: str | None = None  #: whose rows are one record, where they are more than one

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
            lines.append(
                f"and {_answers(self.asked)} so far, noise included, within {self.width:.4g}, if "
                "how many would be asked, with which noise, did not depend on what was released"
            )
        lines.append(
            "if its records are independent draws, and nobody looked at them but through this "
            "ledger"
        )
        return "\n".join(lines)


@spelled
def validity_of(
    ledger: str | PathLike[str] | Ledger,
    *,
    dataset: str,
    confidence: Number = Fraction(95, 100),
) -> Validity:
    """What the charges of a dataset say about the population, from the ledger alone.

    The same cap gives both promises: to each record, that releases tell little about it, and to
    readers, that whatever the releases suggest holds on the population up to the drift. The
    drift holds however charges were chosen. The width also counts the noise of all questions
    that analysts had announced, and holds if who announced how many did not depend on answers.

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
        raise InvalidArgument(
            name="dataset",
            expected=f"one of {', '.join(one.name for one in opened.datasets) or 'none yet'}",
            given=InvalidArgument.describe_parameter(dataset),
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


def _answers(count: int) -> str:
    return "the one statistical answer" if count == 1 else f"all {count:,} statistical answers"


def whole_of(ledger: Ledger, account: Account) -> Guarantee:
    """What everything released about these records may tell, when one of them is replaced.

    In a group, the same people's records are in other datasets too, and its cap counts them all.
    """
    above = [one for one in ledger.groups if one.name in account.groups]
    caps = [one.filter.guarantee for one in above or [account] if one.filter is not None]
    whole = caps[0] if len(caps) == 1 else compose(caps)
    # To replace a record is to remove one and add another.
    return whole if account.relation is Relation.REPLACE else whole.group(2)


_Plan = tuple[Shape, Fraction, int]


def _plan_of(entry: Entry) -> _Plan | None:
    """The noise and the number of questions of an analyst, as every charge says it."""
    told: dict[str, Any] = entry.mechanisms[0] if entry.mechanisms else {}
    if told.get("for") != "statistical query" or "queries" not in told:
        return None
    shape: Shape = "gaussian" if told["mechanism"] == "Gaussian" else "laplace"
    return shape, Fraction(told["scale"]), int(told["queries"])


def _own_error(plans: list[_Plan], failure: Fraction) -> float:
    """The largest noise of all answers, in its worst cases: E(max − s)₊ is at most the sum."""

    def excess(s: float) -> float:
        with balls.precision(128):
            parts = (
                size * balls.upper_fraction(excess_of_largest(shape, k, Fraction(s) / size))
                for shape, size, k in plans
            )
            return round_up(sum(parts, Fraction(0)))

    largest = max(size for _, size, _ in plans)
    return superquantile(excess, failure=failure, upper=float(40 * largest))
