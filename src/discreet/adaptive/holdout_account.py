"""A reusable holdout in a ledger: charged once, as a whole, and used up for good.

Its bounds count what its own answers tell about the holdout, and nothing else may tell of it. So
it wants a dataset of its own, with a cap that is just its guarantee. Whoever makes the holdout a
second time, after a crash or in another process, finds the cap spent and is refused: the answers
of the first one may have been seen.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from discreet import canonical
from discreet.adaptive.charging import check_account, dataset_name
from discreet.errors import Refused
from discreet.guarantees import Pure
from discreet.neighbors import Relation

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


def charge_holdout(
    promise: Pure,
    *,
    told: dict[str, Any],
    ledger: str | PathLike[str] | Ledger,
    create: bool,
    dataset: str | None,
    analyst: str | None,
) -> None:
    """Charge all answers of a holdout before the first one."""
    from discreet.ledger.entry import Claim
    from discreet.ledger.ledger import Ledger

    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger, create=create)
    name = dataset_name(opened, dataset)
    if create and name not in {one.name for one in opened.datasets}:
        opened.add_dataset(name, budget=promise, relation=Relation.REPLACE)
    purse = opened.purse(name, analyst)  # refuses a name that is not there
    (account,) = (one for one in opened.datasets if one.name == name)
    check_account(account)
    if account.budget != promise or account.groups:
        raise Refused(
            f"the dataset {name!r} has another cap than the {promise} of this holdout, or belongs "
            "to a group, so others may release from the same records, which its bound does not "
            "count: give the holdout a dataset of its own, made with create=True"
        )
    purse.charge(Claim("a reusable holdout", promise, canonical.digest(told), mechanisms=(told,)))
