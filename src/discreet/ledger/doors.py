"""What is checked before a ledger is opened or an account added, and what is meant by a name."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, Refused, RelationMismatch
from discreet.ledger.caps import Budget
from discreet.ledger.kept import Kept
from discreet.ledger.state import State
from discreet.neighbors import Relation
from discreet.numeric.exact import Number

if TYPE_CHECKING:
    from discreet.ledger.transactions import Store


def open_store(location: str | PathLike[str], *, create: bool) -> Store:
    if not isinstance(location, str | PathLike) or not fspath(location):
        raise InvalidArgument(
            name="ledger",
            expected="a path, or an address such as postgresql://user@host/database",
            given=InvalidArgument.describe_data(location),
        )
    if isinstance(location, str) and "://" in location:
        from discreet.ledger.postgresql import PostgresStore

        return PostgresStore(location, create=create)
    from discreet.ledger.sqlite import SqliteStore

    return SqliteStore(Path(location).resolve(), create=create)  # one name, one lock


def find(state: State, kind: str, dataset: int | None, name: object) -> Kept:
    number = state.names.get((kind, dataset, name)) if isinstance(name, str) else None
    if number is not None:
        return state.accounts[number]
    there = [k.name for k in state.accounts.values() if (k.kind, k.dataset) == (kind, dataset)]
    raise InvalidArgument(
        name=kind,
        expected=f"one of {', '.join(there)}" if there else f"added first: there is no {kind} yet",
        given=InvalidArgument.describe_parameter(name),
        hint=f"ledger.add_{kind}(...), or discreet ledger, adds one",
    )


def find_analyst(state: State, dataset: int | None, name: str) -> None:
    """An analyst of this dataset, or of any."""
    people = [one for one in tuple(state.accounts.values()) if one.kind == "analyst"]
    there = [one.name for one in people if dataset in (None, one.dataset)]
    if name not in there:
        raise InvalidArgument(
            name="analyst",
            expected=f"one of {', '.join(dict.fromkeys(there))}"
            if there
            else "left out: none is added",
            given=InvalidArgument.describe_parameter(name),
        )


def check_group(group: Kept, state: State, relation: Relation, unit: str | None) -> None:
    """What is added up must be the same promise to the same people."""
    if group.relation is not relation:
        raise RelationMismatch(
            f"the {group.words} adds up promises under {group.relation}, and the dataset is "
            f"protected under {relation}: they cannot share a cap"
        )
    for other in tuple(state.accounts.values()):
        if group.number in other.groups and (other.unit is None) != (unit is None):
            raise RelationMismatch(
                f"in the {group.words}, the {other.words} protects "
                f"{'single rows' if other.unit is None else 'all rows of one person'}, and this "
                "one does not: they cannot share a cap"
            )


def check_same(
    kept: Kept, fields: dict[str, Any], budget: Budget | None, slack: Number | None
) -> None:
    if kept.cap is not None and budget is not None:
        kept.cap.check_stated_as(budget, slack, whose=kept.words)
    elif kept.cap is not None or budget is not None:
        given = f"the cap {kept.cap}" if kept.cap else "no cap of its own"
        raise Refused(f"the {kept.words} is there already, with {given}: a cap is never changed")
    if kept.relation.value != fields["relation"]:
        raise RelationMismatch(
            f"the {kept.words} is protected under {kept.relation}, not {fields['relation']}"
        )
    asked = (fields.get("unit"), tuple(fields.get("groups", ())))
    if asked != (kept.unit, kept.groups):
        unit = "a row" if kept.unit is None else f'all rows with one "{kept.unit}"'
        raise Refused(
            f"the {kept.words} is there already: a person is {unit}, and it is in "
            f"{len(kept.groups)} groups, which is never changed"
        )
