"""A session: plan → charge → run → noise → release.

Everything that can be refused is refused before the charge, and the charge comes before the data is
touched. After that the only outcomes are an answer or a failure with a fixed message, and the
charge stands either way: there are no refunds.

Only `run` and `ContributionChoice.choose` touch data. Whatever goes wrong in there may depend on
the data, so the message is always the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeVar

import numpy as np

from discreet.auditor.recorder import current
from discreet.errors import EngineError, Idiom, InvalidArgument, Phrase, Refused, RelationMismatch
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import Cost, Filter, in_words, price
from discreet.guarantees.notion import Notion
from discreet.hints import spelled, unknown
from discreet.ledger import Budget, Cap, Claim, Entry, History, MemoryBudget
from discreet.ledger.history import NamedFilter, read_key
from discreet.mechanisms.quantiles import Quantiles
from discreet.neighbors import protects
from discreet.noise.entropy import source as entropy
from discreet.numeric import canonical
from discreet.numeric.exact import Number, integer, number, probability, round_up
from discreet.numeric.numerals import CLAMPED, short
from discreet.query.aggregates.aggregate import ColumnLike, Output
from discreet.query.aggregates.ranges import Range
from discreet.query.document import (
    contribution_document,
    contribution_in_words,
    contribution_mechanism,
    mechanism_documents,
    query_document,
    query_in_words,
)
from discreet.query.explain import Explanation, explain
from discreet.query.keys import ListedKeys
from discreet.query.measures import Measure, Units
from discreet.query.plan import Plan, least_spend, make_plan
from discreet.query.purchase import Finder, Part, Spend
from discreet.query.request import Exact, Join, Request
from discreet.query.schema import Type
from discreet.query.table import Grouped, Query, Table, joined_in_words
from discreet.release import ColumnInfo, Result
from discreet.release.result import from_bytes, to_bytes
from discreet.signing import load_private

if TYPE_CHECKING:
    from discreet.certificate import Certificate
    from discreet.ledger.journal import LedgerBudget
    from discreet.ledger.ledger import Ledger


class Session:
    """Answers questions about one ``table``, made by ``dp.table``, within one budget.

    ``budget`` is the most that all answers together may cost one person: ``dp.Pure(3)``,
    ``dp.ZCDP(0.5)``, ``dp.GDP(1)`` or ``dp.Approx(1, 1e-6)``. The last is kept as the ρ of zCDP
    that implies it. ``slack`` is the part of δ that may go to mechanisms that fail outright with
    a small probability, such as discovered keys; half of an ``Approx`` budget's δ unless given.

    The budget is kept in the memory of this process, or, given ``ledger``, on disk: the path of a
    file, the address of a PostgreSQL database, or a `Ledger`. Then it outlives crashes and is
    shared by every session that opens it. A missing ledger or dataset is created only with
    ``create=True``, and an existing dataset keeps its cap: leave ``budget`` out, or give the same
    one. ``dataset`` names the dataset, unless it is the only one; ``analyst`` says who asks, whose
    own cap applies too; ``key`` is the private key that the ledger is sealed with and that
    certificates are signed with.

    >>> import discreet as dp, pyarrow as pa
    >>> people = dp.table(pa.table({"age": [34, 51, 28], "ward": ["A", "B", "A"]}))
    >>> session = dp.Session(people, budget=dp.Pure(1))
    >>> query = people.group_by("ward", keys=["A", "B"]).agg(n=dp.count())
    >>> result = session.release(query, epsilon=0.5)
    >>> result.to_arrow().column_names, session.spent
    (['ward', 'n', 'n_error'], Pure(epsilon=Fraction(1, 2)))
    """

    @spelled
    def __init__(
        self,
        table: Table,
        *,
        budget: Budget | None = None,
        slack: Number | None = None,
        ledger: str | PathLike[str] | Ledger | None = None,
        create: bool = False,
        dataset: str | None = None,
        analyst: str | None = None,
        key: str | PathLike[str] | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise InvalidArgument.of_data(
                "table",
                "what dp.table(...) returns",
                table,
                hint='as in dp.Session(dp.table("visits.csv"), budget=dp.Pure(3))',
            )
        self._table = table
        self._signer = None if key is None else load_private(key)
        self._purse = open_budget(
            table, budget, slack, ledger, create=create, dataset=dataset, analyst=analyst, key=key
        )

    if not TYPE_CHECKING:  # or else a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            known = [one for one in dir(Session) if one[0] != "_"]
            raise unknown("a session", name, known, _INSTEAD.get(name, ""))

    # -- asking ------------------------------------------------------------------------------------

    @spelled
    def explain(
        self,
        query: Query | Mapping[str, Any],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        error: Number | Mapping[str, Number] | None = None,
        group_size: int | None = None,
    ) -> Explanation:
        """What ``release`` would do for a ``query``, or for the document of one, its cost, and how
        large the errors would be. Reads no data and costs nothing.

        ``epsilon``, ``delta``, ``rho``, ``mu``, ``error`` and ``group_size`` are as in ``release``.
        """
        plan = self._plan(self._asked(query), (epsilon, delta, rho, mu), error, group_size)
        return explain(plan, account=accounts_in_words(self._purse.caps, plan))

    @spelled
    def release(
        self,
        query: Query | Mapping[str, Any],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        error: Number | Mapping[str, Number] | None = None,
        group_size: int | None = None,
        idempotency_key: str | None = None,
    ) -> Result:
        """Answer a ``query``, or the document of one, for a spend in ε, (ε, δ), ρ or μ, which is
        charged first.

        The spend is one of ``epsilon``, ``rho`` and ``mu``: the more is spent, the less noise.
        ``delta``, a small probability such as 1e-7, given with ``epsilon`` allows Gaussian noise,
        and is needed for discovered keys; there is none by default. On a ``dp.Pure`` budget only
        ``epsilon`` can be spent.

        With ``error=`` in place of a spend, the spend is the least one of four digits that keeps
        all columns (or, given a dict, those named) within that 95 % error. Columns whose error
        depends on the size of the group need ``group_size=``, the number of rows in a group for
        which it must hold.

        A release under an ``idempotency_key`` is made once: if it is asked again, the stored answer
        is returned, with the same noise and at no further cost. Another query under the same key is
        refused, and so is one that was charged and cut off before its answer was stored. Without a
        key, every call is charged.
        """
        from discreet.certificate.issue import check_verifiable

        query = self._asked(query)
        key = read_key(idempotency_key)
        spend = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "error": error}
        document = query_document(query)
        digest = request_digest(document, **spend, group_size=group_size)
        check_verifiable(document)
        if key is not None and (found := self._purse.find(key)) is not None:
            return self._again(found, digest, key)
        plan = self._plan(query, (epsilon, delta, rho, mu), error, group_size)
        for request in plan.requests:
            query.table.source.check(request)
        entry = self._purse.charge(claim_for(plan, document, digest=digest, key=key))
        result = run(plan, cost=entry.costs[0].words)
        self._purse.keep(entry, lambda: to_bytes(result))
        return self._certified(entry, result)

    @spelled
    def recall(self, entry: Entry | int) -> Result:
        """The answer of an earlier release, with the same noise, at no cost.

        ``entry`` is one of ``history``, or the number of its record. Refused without a stored
        answer.
        """
        own = self._purse.own(entry) if isinstance(entry, Entry) or type(entry) is int else None
        reply = None if own is None else self._purse.reply(own)
        if own is None or reply is None:
            raise InvalidArgument(
                "entry",
                "an entry of session.history whose answer was stored",
                "another",
                hint="a release that was cut off has none, nor has a charge made by hand",
            )
        return self._certified(own, from_bytes(reply))

    @spelled
    def release_bounds(
        self,
        table: Table,
        column: ColumnLike,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Bounds:
        """Buy bounds of a ``column``: powers of two between which nearly all of it lies.

        They are differentially private themselves, so they can be passed on as ``bounds=``, to
        which values outside are clamped. ``table`` is the session's table, with or without steps.
        ``epsilon``, ``delta``, ``rho`` and ``mu`` are as in ``release``, and are charged as for any
        query. Error: about 25·max_rows/ε rows between two powers of two may be overlooked (twice
        that under replace), and one time in a thousand an end is too far out.

        >>> import discreet as dp, pyarrow as pa
        >>> people = dp.table(pa.table({"income": [21_000, 34_500, 28_000] * 1000}))
        >>> session = dp.Session(people, budget=dp.Pure(2))
        >>> session.release_bounds(people, "income", epsilon=1)
        Bounds(lower=16384, upper=65536)
        """
        self._check_table(table)
        query = table.agg(bounds=Range(column))
        ((_, asked),) = query.aggregates
        assert isinstance(asked, Range)
        frame = self.release(query, epsilon=epsilon, delta=delta, rho=rho, mu=mu).to_arrow()
        lower, upper = (frame[end][0].as_py() for end in ("lower", "upper"))
        if getattr(asked.column, "type", None) is Type.INTEGER:
            return Bounds(int(lower), int(upper))
        return Bounds(lower, upper)

    @spelled
    def release_max_groups(
        self,
        groups: Grouped,
        *,
        coverage: Number = Fraction(95, 100),
        most: int = 100,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> int:
        """Buy a bound for ``max_groups``: about this share of people, ``coverage``, are in no more
        groups.

        ``groups`` is a table with a unit after ``group_by``. The bound is differentially private
        itself, and at most ``most``, by default 100; ``coverage`` is 0.95 by default. It is charged
        like any query: give one of ``epsilon``, ``rho`` and ``mu``. Error: the rank of the chosen
        bound among people, about 3·ln(most)/ε at 95 %, twice that under replace.
        """
        spend = Spend.read(epsilon=epsilon, rho=rho, mu=mu)
        return self._contribution(groups, spend, coverage, most, rows=False)

    @spelled
    def release_max_rows_per_group(
        self,
        groups: Grouped,
        *,
        coverage: Number = Fraction(95, 100),
        most: int = 100,
        epsilon: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> int:
        """Buy a bound for ``max_rows_per_group``: about this share of people, ``coverage``, have no
        more rows in any group.

        ``groups``, ``coverage``, ``most``, ``epsilon``, ``rho`` and ``mu`` are as in
        ``release_max_groups``.
        """
        spend = Spend.read(epsilon=epsilon, rho=rho, mu=mu)
        return self._contribution(groups, spend, coverage, most, rows=True)

    # -- the budget --------------------------------------------------------------------------------

    @property
    def spent(self) -> Guarantee:
        """What has been charged so far, in the notion of the budget."""
        return self._account.spent

    @property
    def remaining(self) -> Notion:
        """What is left, in the notion of the budget: of the dataset's cap, and of every other cap
        in that notion that applies to this session."""
        kind = type(self._account.limit)
        alike = [cap.filter for cap in self._purse.caps if isinstance(cap.filter.limit, kind)]
        least = min(account.limit.amount - account.total for account in alike)
        return self._account.limit.of_amount(least, down=True)

    @property
    def remaining_slack(self) -> Fraction:
        """What is left of the δ for mechanisms that fail outright with a small probability."""
        return min(cap.filter.slack - cap.filter.spent_slack for cap in self._purse.caps)

    @property
    def guarantee(self) -> Guarantee:
        """What the whole session promises, whatever else is asked."""
        return self._account.guarantee

    @property
    def history(self) -> History:
        """What was charged to the dataset, by everyone, in order; ``.replay()`` composes it."""
        return self._purse.entries

    # -- inside ------------------------------------------------------------------------------------

    def _plan(
        self,
        query: Query,
        given: tuple[Number | None, ...],
        error: Number | Mapping[str, Number] | None,
        group_size: int | None,
    ) -> Plan:
        epsilon, delta, rho, mu = given
        caps = self._purse.caps
        # For one that has no room for Gaussian noise, if any, since it refuses what needs a δ;
        # otherwise for that of the dataset.
        account = next((c.filter for c in caps if not c.filter.limit.gaussian), caps[0].filter)
        if error is None:
            spend = Spend.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu)
            return make_plan(query, spend, account=account)
        if (epsilon, rho, mu) != (None, None, None):
            raise InvalidArgument.conflict("error", "given instead of a spend", hint="drop one")
        return least_spend(query, error, account=account, delta=delta, group_size=group_size)

    def _contribution(
        self, groups: Grouped, spend: Spend, coverage: Number, most: int, *, rows: bool
    ) -> int:
        choice = ContributionChoice(groups, spend, coverage=coverage, most=most)
        self._check_table(groups.table)
        groups.table.source.check(choice.request(0), choice.most)
        entry = self._purse.charge(claim_for_choice(choice, rows=rows))
        chosen = choice.choose(rows=rows)
        result = choice.result(chosen, cost=entry.costs[0].words)
        self._purse.keep(entry, lambda: to_bytes(result))
        return chosen

    def _again(self, found: Entry, digest: str, key: str) -> Result:
        if found.digest != digest:
            raise Refused(
                f"the idempotency key {key!r} was used for another query or spend, in record "
                f"{found.number}",
                remedy="use a new key for a new question",
                code="key-reused",
            )
        reply = self._purse.reply(found)
        if reply is None:  # computing it now would look at the data a second time for one price
            raise Refused(
                f"the release under the idempotency key {key!r} was charged (record "
                f"{found.number}) but its answer was never stored: it is still running, or was cut "
                "off. It is not computed again; wait for it, or ask under a new key, which is "
                "charged anew",
                code="unanswered",
            )
        again = from_bytes(reply)
        note = f"this is the stored answer of record {found.number}: nothing was charged for it"
        return self._certified(found, replace(again, notes=(note, *again.notes)))

    def _certified(self, entry: Entry, result: Result) -> Result:
        """The result, with a certificate that is written when it is first asked for."""
        ledger, key = self._purse.ledger, self._signer
        issue = partial(certificate_of, entry=entry, result=result, ledger=ledger, key=key)
        return replace(result, issue=issue, record=entry.number)

    def _asked(self, query: Query | Mapping[str, Any]) -> Query:
        if isinstance(query, Mapping):
            return Query.from_document(query, self._table)
        if not isinstance(query, Query):
            raise InvalidArgument.of_data(
                "query",
                "what .agg(...) returns",
                query,
                hint='as in table.group_by("ward", keys=[...]).agg(n=dp.count())',
            )
        self._check_table(query.table)
        return query

    def _check_table(self, table: Table) -> None:
        if not isinstance(table, Table):
            raise InvalidArgument.of_data(
                "table", "the table of this session, with or without steps", table
            )
        if table.source is not self._table.source:
            raise InvalidArgument(
                "query",
                "about the table that this session was opened with",
                "one about another table",
                hint="build it from that very table, or open a session for the other one",
            )
        mine = (self._table.unit, self._table.relation)
        if (table.unit, table.relation) != mine:
            raise RelationMismatch(
                f"this session protects {self._table.unit} under {self._table.relation}, and the "
                f"query {table.unit} under {table.relation}",
                remedy="use one dp.table for both",
            )

    @property
    def _account(self) -> Filter:
        return self._purse.caps[0].filter

    def __repr__(self) -> str:
        rest, count = self.remaining, self._purse.releases
        made = f"{count:,} release{'s' * (count != 1)}"
        left = f"{rest.symbol} = {round_up(rest.value):.6g} left"
        return f"Session({self._purse.dataset}, {made}, {left})"


# -- where the budget is kept: in memory, or in a ledger -------------------------------------------


def open_budget(
    table: Table,
    budget: Budget | None,
    slack: Number | None,
    ledger: str | PathLike[str] | Ledger | None,
    *,
    create: bool,
    dataset: str | None,
    analyst: str | None,
    key: str | PathLike[str] | None,
) -> MemoryBudget | LedgerBudget:
    if ledger is None:
        if budget is None:
            raise _no_budget()
        if create:
            raise InvalidArgument.conflict(
                "create",
                Phrase("given together with {ledger=}"),
                "without it",
                hint=Phrase(
                    'as in {ledger="people.ledger"}; without one the budget is kept in memory'
                ),
            )
        return MemoryBudget(
            dataset or table.source.name,
            Cap.read(budget, slack).opened,
            relation=table.relation,
            unit=table.unit.column,
            analyst=analyst,
        )
    from discreet.ledger.ledger import Ledger, dataset_name

    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger, create=create, key=key)
    name = dataset_name(
        opened,
        dataset,
        create=create,
        expected="added first: the ledger has none yet",
        hint=Phrase('say {dataset="visits"}, {}', Idiom.NEW_DATASET),
    )
    if create and name not in {one.name for one in opened.datasets}:
        if budget is None:
            raise _no_budget()
        opened.add_dataset(
            name, budget=budget, slack=slack, unit=table.unit.column, relation=table.relation
        )
    purse = opened.purse(name, analyst)
    data = purse.data
    if (table.unit.column, table.relation) != (data.unit, data.relation):
        protected = "a row" if data.unit is None else f'all rows with one "{data.unit}"'
        raise RelationMismatch(
            f"the {data.words} protects {protected} under {data.relation}, and this table "
            f"{table.unit} under {table.relation}",
            remedy=Idiom.SAME_TABLE,
        )
    if budget is not None:
        assert data.cap is not None
        data.cap.check_stated_as(budget, slack, whose=data.words)
    return purse


def _no_budget() -> InvalidArgument:
    return InvalidArgument.missing(
        "budget",
        "given, as the most that all answers together may cost one person",
        hint=Phrase(
            "such as {}; it is left out only for a dataset that is in a ledger", Idiom.BUDGET
        ),
    )


# -- the budget in words ---------------------------------------------------------------------------


def accounts_in_words(caps: Sequence[NamedFilter], plan: Plan) -> tuple[str, ...]:
    """What a plan costs each account, with its name if there are several."""
    return tuple(
        _account_in_words(cap.filter, plan, cap.name if len(caps) > 1 else "") for cap in caps
    )


def _account_in_words(account: Filter, plan: Plan, name: str) -> str:
    kind = type(account.limit)
    charge = price(kind, plan.guarantee, 0)
    fits = _times(account, charge)
    part = charge.amount / account.limit.amount
    whose = f" to the {name}" if name else ""
    cost = f"Cost{whose}: {charge.words} ({short(100 * float(part))} % of all)"
    spent = in_words(kind, account.total, account.spent_slack)
    limit = in_words(kind, account.limit.amount, account.slack)
    so_far = f"{spent} of {limit} is spent"
    if not fits:
        return f"{cost}; {so_far}, so this does not fit."
    after = f"{fits - 1:,} more like it fit" if fits > 1 else "none like it fits"
    return f"{cost}; {so_far}, and after this {after}."


def _times(account: Filter, charge: Cost) -> int:
    """How many such charges fit."""
    rooms = [(account.limit.amount - account.total, charge.amount)]
    rooms += [(account.slack - account.spent_slack, charge.slack)]
    return int(min(room // size for room, size in rooms if size))


# -- what a release asks its ledger to charge for --------------------------------------------------


def request_digest(query: Mapping[str, Any], **spend: object) -> str:
    """The digest of what was asked: the query and the spend, before anything is planned.

    The plan may also depend on what is left of the budget, so it could differ on a second try.
    """
    given = {name: _exact(value, name) for name, value in spend.items() if value is not None}
    return canonical.digest({"query": dict(query), "spend": given})


def claim_for(plan: Plan, query: dict[str, Any], *, digest: str, key: str | None) -> Claim:
    return Claim(
        question=query_in_words(plan.query),
        guarantee=plan.guarantee,
        digest=digest,
        mechanisms=tuple(mechanism_documents(plan)),
        query=query,
        key=key,
    )


def claim_for_choice(choice: ContributionChoice, *, rows: bool) -> Claim:
    coverage = choice.mechanism.probabilities[0]
    told: dict[str, Any] = {"rows": rows, "coverage": coverage, "most": choice.most}
    document = contribution_document(choice.grouped, **told)
    return Claim(
        question=contribution_in_words(choice.grouped, **told),
        guarantee=choice.mechanism.guarantee,
        digest=request_digest(document, epsilon=choice.mechanism.epsilon),
        mechanisms=(contribution_mechanism(choice.mechanism, rows=rows, most=choice.most),),
        query=document,
    )


def _exact(value: object, name: str) -> Any:
    if isinstance(value, Mapping):
        return {str(each): _exact(given, name) for each, given in value.items()}
    spent: Number = value  # type: ignore[assignment]
    return str(number(spent, name=name))


# -- from a charged plan to a released table -------------------------------------------------------


T = TypeVar("T")

_FAILED = (
    "the query could not be answered after it was charged; what went wrong may depend on the "
    "data, so no more is said"
)


def guarded(work: Callable[[], T]) -> T:
    """What `work` returns; whatever it raises becomes an error with a fixed message."""
    try:
        return work()
    except EngineError:
        raise
    except Exception:
        pass  # its message may quote data
    raise EngineError(_FAILED)  # outside the except block: no context may remain


def salt() -> int:
    """64 random bits, which decide which rows are kept, and nothing else."""
    return record_released("salt", int(entropy().words(1)[0]))


def run(plan: Plan, *, cost: str) -> Result:
    """Measure, add noise, and put the answer together."""
    frame, outputs = guarded(lambda: _drawn(plan))
    return Result(
        _table(frame, outputs),
        tuple(_infos(plan, outputs)),
        guarantee=plan.guarantee,
        cost=cost,
        protects=protects(plan.query.table.relation, plan.query.table.unit.column),
        notes=tuple(_notes(plan)),
        suppressed=_suppressed(plan),
    )


def _drawn(plan: Plan) -> tuple[dict[str, Any], list[Output]]:
    source, keys = plan.query.table.source, plan.query.keys
    if plan.finder is not None:
        keys = _discovered(plan, source.measure(plan.request(salt())))
        # From here on the keys are public, and only rows with one of them are considered.
    listed = keys if isinstance(keys, ListedKeys) else None
    if listed is not None and not len(listed):
        columns: Any = {measure: _nothing(measure) for measure in plan.measures}
    else:
        columns = source.measure(plan.request(salt(), listed)).columns
    table = None if listed is None else listed.table
    frame = {} if table is None else {name: table[name] for name in table.column_names}
    return frame, plan.outputs(noisy_values(plan, columns))


def _discovered(plan: Plan, exact: Exact) -> ListedKeys:
    """The keys that enough people hold, sorted: their order in the data would reveal something."""
    assert plan.finder is not None and exact.keys is not None
    record_found_keys(plan.finder, exact)
    kept = np.flatnonzero(plan.finder.mechanism.release(exact.columns[Units()]))
    keys = exact.keys.take(kept)
    keys = keys.sort_by([(name, "ascending") for name in keys.column_names])
    return ListedKeys(record_released(plan.finder.part.words, keys))


def _nothing(measure: Measure) -> Any:
    size = getattr(measure, "size", None)
    return np.zeros(0 if size is None else (0, size), np.int64)


def _table(frame: dict[str, Any], outputs: list[Output]) -> Any:
    import pyarrow as pa

    columns = dict(frame)
    for output in outputs:
        columns[output.name] = _array(output)
        columns[output.error_name] = pa.array(np.asarray(output.error, np.float64))
    return pa.table(columns).combine_chunks()  # how it is cut into chunks could depend on data


def _array(output: Output) -> Any:
    """The values as an array whose type depends on the plan, never on the values."""
    import pyarrow as pa

    if output.listed is not None:
        return output.listed.take(pa.array(output.values))
    return pa.array(np.asarray(output.values, np.int64 if output.integer else np.float64))


def _infos(plan: Plan, outputs: list[Output]) -> list[ColumnInfo]:
    infos = [ColumnInfo(name, "key") for name, _ in plan.query.group]
    for output in outputs:
        infos.append(
            ColumnInfo(
                output.name,
                "value",
                of=output.of,
                kind=output.kind,
                bounds=output.bounds,
                sources=output.sources,
                integer=output.integer,
            )
        )
        infos.append(ColumnInfo(output.error_name, "error", of=output.name))
    return infos


def _notes(plan: Plan) -> Iterator[str]:
    """What ± does not cover, since it is only about noise."""
    limit, unit = plan.query.table.limit, plan.query.table.unit.column
    if limit is not None and limit.max_rows is not None:
        yield f"± is about noise: rows beyond {limit.max_rows:,} of one {unit} are left out"
    elif limit is not None:
        groups = (
            f"{limit.max_groups:,} group{'s' * (limit.max_groups > 1)} and "
            if limit.max_groups and plan.query.group
            else ""
        )
        yield (
            f"± is about noise: rows beyond {groups}{limit.max_rows_per_group:,} a group of one "
            f"{unit} are left out"
        )
    for step in plan.query.table.steps:
        if isinstance(step, Join):
            yield f"{joined_in_words(step)}; that table is public, and not protected"
    notes = {note for _, one in plan.query.aggregates for note in one.notes(plan.bought)}
    yield from sorted(notes, key=lambda note: (note == CLAMPED, note))


def _suppressed(plan: Plan) -> str | None:
    if plan.finder is None:
        return None
    least = plan.finder.mechanism.error()
    return (
        "keys held by few people are left out; one held by "
        f"{least:,} is shown with a probability of 95 %"
    )


# -- private bounds, where none are known ----------------------------------------------------------


_SURE = Fraction(95, 100)
_HAVE = "people by what they have"  # groups or rows


class Bounds(NamedTuple):
    """Powers of two between which most of a column lies: pass it as ``bounds=``."""

    lower: float
    upper: float


class ContributionChoice:
    """Chooses a bound on groups, or on rows in a group, under which most people lose no rows.

    Each person counts once, by how many groups or rows they have, so the choice is a quantile over
    people: the one for the share `coverage`, among 1, 2, ... `most`.
    """

    def __init__(self, grouped: Grouped, spend: Spend, *, coverage: Number, most: int) -> None:
        if not isinstance(grouped, Grouped) or grouped.table.unit.column is None:
            raise InvalidArgument.of_data(
                "groups",
                'a table with a unit, grouped, as in table.group_by("ward", keys=[...])',
                grouped,
                hint="where a row is a person, nothing needs to be bounded",
            )
        self.grouped = grouped
        self.most = integer(most, name="most", minimum=2)
        share = probability(coverage, name="coverage")
        # One person is one value; replacing a person removes one value and adds another.
        rows = grouped.table.relation.add_remove_steps
        self.mechanism = Quantiles(probabilities=[share], rows=rows, **spend.for_choice)
        self.mechanism.check(self.most)

    def request(self, salt: int) -> Request:
        """What the engine is asked; checking it touches no data."""
        table = self.grouped.table
        return Request(
            steps=table.steps,
            unit=table.unit.column,
            group=self.grouped.group,
            keys=self.grouped.keys,
            bound=None,
            measures=(),
            salt=salt,
        )

    def choose(self, *, rows: bool) -> int:
        """Touch the data and choose the bound."""

        def work() -> int:
            source = self.grouped.table.source
            counts: Any = source.spread(self.request(salt()), self.most)[rows]
            noise = self.mechanism
            if (recorder := current()) is not None:
                recorder.reached(_HAVE, counts, sensitivity={"l1": noise.rows}, noise=noise)
            return record_released(_HAVE, 1 + int(noise.release(counts)[0]))

        return guarded(work)

    def result(self, chosen: int, *, cost: str) -> Result:
        """The choice as a table, for the ledger to keep."""
        import pyarrow as pa

        table = self.grouped.table
        rank = float(self.mechanism.error(_SURE, candidates=self.most)[0])
        columns = (
            ColumnInfo("bound", "value", kind="quantile", bounds=(1, self.most), integer=True),
            ColumnInfo("bound_rank_error", "error", of="bound"),
        )
        return Result(
            pa.table({"bound": [chosen], "bound_rank_error": [rank]}),
            columns,
            guarantee=self.mechanism.guarantee,
            cost=cost,
            protects=protects(table.relation, table.unit.column),
        )


# -- what a release reports to the auditor when it is replayed -------------------------------------
# The exact values that reach each mechanism.
#
# Outside a replay nothing is recorded, and everything here returns what it was given. In a replay,
# exact values go to the recorder, in memory, and nowhere else.


_SALT = "salt"  # decides which rows are kept, and is drawn without looking at them


def record_released(name: str, output: T) -> T:
    """The output, which is recorded; in the second run of a replay, the output of the first run."""
    recorder = current()
    return output if recorder is None else recorder.released(name, output, drawn=name == _SALT)


def noisy_values(plan: Plan, columns: Mapping[Measure, Any]) -> dict[Part, Any]:
    """The noisy values of every part of a plan."""
    recorder = current()
    if recorder is None:
        return plan.draw(columns)
    question = query_document(plan.query)  # so that a question that depends on data is noticed
    for part, one in plan.bought.items():
        if not isinstance(one, Finder):  # recorded when the keys were found
            exact, noise = one.part.exact(columns), one.mechanism
            recorder.reached(
                part.words, exact, sensitivity=one.declared, noise=noise, question=question
            )
    values = plan.draw(columns)
    return {part: recorder.released(part.words, value) for part, value in values.items()}


def record_found_keys(finder: Finder, exact: Exact) -> None:
    """Record the number of people by key, before the keys that enough people hold are chosen."""
    recorder = current()
    if recorder is None or exact.keys is None:
        return
    keys = zip(*(column.to_pylist() for column in exact.keys.columns), strict=True)
    units = np.asarray(exact.columns[Units()]).tolist()
    recorder.reached(
        finder.part.words,
        dict(zip(keys, units, strict=True)),  # a key that nobody has is not in the table
        sensitivity=finder.declared,
        noise=finder.mechanism,
        absent=0,
    )


# -- the certificate, written when it is asked for -------------------------------------------------


def certificate_of(*, entry: Entry, result: Result, ledger: str | None, key: Any) -> Certificate:
    from discreet.certificate.issue import certify

    return certify(entry=entry, frame=result.frame, columns=result.columns, ledger=ledger, key=key)


# -- names that a session does not have ------------------------------------------------------------


_ASKS: Final = "say session.release(query, epsilon=0.5)"
_LEFT: Final = "session.remaining is what is left, session.spent what was charged"
_INSTEAD: Final = {
    **dict.fromkeys(("query", "run", "execute", "ask", "answer", "collect"), _ASKS),
    **dict.fromkeys(("budget", "left", "epsilon", "remaining_budget", "cost"), _LEFT),
    "entries": "session.history lists what was charged",
    "table": "keep the table that the session was opened with, and build queries from it",
    "close": "leave it out: a session holds nothing open",
}


# -- the module, in case it is called instead of the class -----------------------------------------


class _Module(ModuleType):
    """A module that, when it is called, points to the class that was meant."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "discreet has no 'session' to call; write dp.Session(table, budget=dp.Pure(3))"
        )


sys.modules[__name__].__class__ = _Module
