"""``discreet release`` and ``discreet explain``: the same options, the second reads no data."""

from __future__ import annotations

from dataclasses import replace

from discreet.app.cli.account import Account
from discreet.app.cli.answers import Answer
from discreet.app.cli.exits import Unwritten
from discreet.app.cli.options import flat
from discreet.app.cli.printing import AsJson, say, show_document
from discreet.app.cli.question import Question
from discreet.app.cli.receipts import receipt
from discreet.app.cli.spending import Cap, Spending

#: Of a release without a ledger.
_UNKEPT = {"record": None, "ledger": None, "stored": False, "charged": None, "remaining": None}


@flat
def release(
    question: Question,
    spending: Spending,
    account: Account,
    cap: Cap,
    answer: Answer,
    printed: AsJson,
) -> None:
    """Answer a question about a table of people, with noise that hides each of them.

    The cost is charged to the ledger before a row is read, and never given back.

    \b
    Example:
      discreet release people.csv --unit person --group-by city --keys A,B,C \\
        --count --mean income:0:200000 --epsilon 0.5 --ledger people.ledger
    """
    account.check()
    files = [question.data, *([question.public_keys] if question.public_keys else [])]
    answer.check(kept=[*files, *account.files], as_json=printed.json)
    question.check_delta(spending)
    arguments = spending.arguments()
    table = question.table()
    query = question.query(table)
    with account.session(query, table, cap, spending) as (session, ledger):
        with account.hinted():
            result = session.release(query, **arguments, idempotency_key=account.idempotency_key)
        paid = receipt(ledger, result) if ledger else None
    result = replace(result, notes=(*question.unsaid, *result.notes))
    facts = paid.document() if paid else _UNKEPT
    try:
        answer.deliver(
            result, facts=facts, beside=paid.lines() if paid else (), as_json=printed.json
        )
    except BrokenPipeError:
        raise  # nobody reads on
    except OSError as error:
        if account.ledger is None or account.no_ledger:
            raise
        kept = "the answer is kept: discreet ledger show lists it, --release shows it again"
        raise Unwritten(error, kept) from None


@flat
def explain(
    question: Question,
    spending: Spending,
    account: Account,
    cap: Cap,
    answer: Answer,
    printed: AsJson,
) -> None:
    """Say what a release with the same options would do, cost and miss.

    Reads no rows, charges nothing, and writes nothing.

    \b
    Example:
      discreet explain people.csv --unit person --group-by city --keys A,B,C \\
        --count --mean income:0:200000 --epsilon 0.5
    """
    account.check()
    answer.check_format(as_json=printed.json)
    question.check_delta(spending)
    table = question.table()
    query = question.query(table)
    told = account.explain(query, table, cap, spending)
    told = replace(told, warnings=(*(f"{note}." for note in question.unsaid), *told.warnings))
    if printed.json or answer.format == "json":
        errors = [
            {"name": e.name, "error": e.error, "unit": e.unit, "by_size": e.by_size}
            for e in told.errors
        ]
        sentences, warnings = list(told.sentences), list(told.warnings)
        show_document("explain", {"sentences": sentences, "warnings": warnings, "errors": errors})
    else:
        say(*str(told).splitlines())
