"""What a release asks its ledger to charge for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import Refused
from discreet.ledger import Claim, Entry
from discreet.numeric import canonical
from discreet.numeric.exact import Number, number
from discreet.query.document import (
    contribution_document,
    contribution_in_words,
    contribution_mechanism,
    mechanism_documents,
    query_in_words,
)
from discreet.query.plan import Plan
from discreet.session.bounds import ContributionChoice


def asked(query: Mapping[str, Any], **spend: object) -> str:
    """The digest of what was asked: the query and the spend, before anything is planned.

    What is planned may also depend on what is left, so it would differ on a second try.
    """
    given = {name: _exact(value, name) for name, value in spend.items() if value is not None}
    return canonical.digest({"query": dict(query), "spend": given})


def claim_for(plan: Plan, query: dict[str, Any], *, digest: str, key: str | None) -> Claim:
    """The claim of a query."""
    return Claim(
        question=query_in_words(plan.query),
        guarantee=plan.guarantee,
        digest=digest,
        mechanisms=tuple(mechanism_documents(plan)),
        query=query,
        key=key,
    )


def claim_for_choice(choice: ContributionChoice, *, rows: bool) -> Claim:
    """The claim of a bound on contributions."""
    coverage = choice.mechanism.probabilities[0]
    told: dict[str, Any] = {"rows": rows, "coverage": coverage, "most": choice.most}
    document = contribution_document(choice.grouped, **told)
    return Claim(
        question=contribution_in_words(choice.grouped, **told),
        guarantee=choice.guarantee,
        digest=asked(document, epsilon=choice.mechanism.epsilon),
        mechanisms=(contribution_mechanism(choice.mechanism, rows=rows, most=choice.most),),
        query=document,
    )


def check_same(found: Entry, digest: str, key: str) -> None:
    """A key stands for one question."""
    if found.digest != digest:
        raise Refused(
            f"the idempotency key {key!r} was used for another query or spend, in record "
            f"{found.number}: use a new key for a new question"
        )


def unanswered(found: Entry, key: str) -> Refused:
    """Charged, and cut off: to compute it now would be a second look for one price."""
    return Refused(
        f"the release under the idempotency key {key!r} was charged (record {found.number}) but "
        "its answer was never stored: it is still running, or was cut off. It is not computed "
        "again; wait for it, or ask under a new key, which is charged anew"
    )


def _exact(value: object, name: str) -> Any:
    if isinstance(value, Mapping):
        return {str(each): _exact(given, name) for each, given in value.items()}
    spent: Number = value  # type: ignore[assignment]
    return str(number(spent, name=name))
