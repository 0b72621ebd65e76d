"""A session: plan → charge → run → noise → release.

Everything that can be refused is refused before the charge, and the charge comes before the
data. After that the only outcomes are an answer or a failure in a constant sentence, and the
charge stands either way: there are no refunds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, NoReturn

from discreet.errors import InvalidArgument, RelationMismatch
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import Filter, Notion, sum_of
from discreet.hints import spelled
from discreet.ledger import Budget, Entry, History
from discreet.ledger.accounts import read_key
from discreet.numeric.exact import Number
from discreet.query.aggregates.aggregate import ColumnLike
from discreet.query.aggregates.ranges import Range
from discreet.query.document import query_document
from discreet.query.explain import Explanation, explain
from discreet.query.plan import Plan, least_spend, make_plan
from discreet.query.spend import Spend
from discreet.query.table import Grouped, Query, Table
from discreet.release import Result
from discreet.release.storing import from_bytes, to_bytes
from discreet.session.bounds import Bounds, ContributionChoice, bounds_of
from discreet.session.budget import (
    accounts_in_words,
    left,
    notion_in_words,
    planning_account,
)
from discreet.session.certifying import certificate_of
from discreet.session.claims import (
    asked,
    check_same,
    claim_for,
    claim_for_choice,
    unanswered,
)
from discreet.session.opening import open_purse
from discreet.session.other_names import missing
from discreet.session.running import run
from discreet.signing import load_private

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class Session:
    """Questions to one ``table``, which ``dp.table`` made, within one budget.

    ``budget`` is the most that all answers together may cost one person: ``dp.Pure(3)``,
    ``dp.ZCDP(0.5)``, ``dp.GDP(1)`` or ``dp.Approx(1, 1e-6)``. The last is kept as the ρ of zCDP
    that implies it. ``slack`` is the part of δ that may go to mechanisms that fail outright with
    a small probability, such as discovered keys; half of an ``Approx`` budget's δ unless given.

    The budget is kept in the memory of this process, or, given ``ledger``, on disk: the path of a
    file, the address of a PostgreSQL database, or a `Ledger`. Then it outlives crashes and is
    shared by every session that opens it. A missing ledger or dataset is made only with
    ``create=True``, and a dataset that is there keeps its cap: leave ``budget`` out, or give the
    same. ``dataset`` names it, unless it is the only one; ``analyst`` says who asks, and their
    own cap binds too; ``key`` is the private key that the ledger is sealed with, and that
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
            raise InvalidArgument(
                name="table",
                expected="what dp.table(...) returns",
                given=InvalidArgument.describe_data(table),
                hint='as in dp.Session(dp.table("visits.csv"), budget=dp.Pure(3))',
            )
        self._table = table
        self._signer = None if key is None else load_private(key)
        self._purse = open_purse(
            table,
            budget=budget,
            slack=slack,
            ledger=ledger,
            create=create,
            dataset=dataset,
            analyst=analyst,
            key=key,
        )

    if not TYPE_CHECKING:  # a checker would take every name for known

        def __getattr__(self, name: str) -> NoReturn:
            raise missing(name, [known for known in dir(Session) if known[0] != "_"])

    # -- asking ------------------------------------------------------------------------------------

    @spelled
    def explain(
        self,
        query: Query,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        error: Number | Mapping[str, Number] | None = None,
        group_size: int | None = None,
    ) -> Explanation:
        """What ``release`` would do, cost and miss; reads no data and costs nothing.

        ``epsilon``, ``delta``, ``rho``, ``mu``, ``error`` and ``group_size`` are as there.
        """
        plan = self._plan(query, (epsilon, delta, rho, mu), error, group_size)
        return explain(plan, account=accounts_in_words(self._purse.caps, plan))

    @spelled
    def release(
        self,
        query: Query,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        error: Number | Mapping[str, Number] | None = None,
        group_size: int | None = None,
        idempotency_key: str | None = None,
    ) -> Result:
        """Answer a ``query``, for a spend in ε, (ε, δ), ρ or μ, which is charged first.

        The spend is one of ``epsilon``, ``rho`` and ``mu``: the more, the less noise. ``delta``, a
        small probability such as 1e-7, allows Gaussian noise beside ``epsilon``, and is needed for
        discovered keys; left out, it is none. On a ``dp.Pure`` budget only ``epsilon`` can be
        spent.

        With ``error=`` in place of a spend, the least one of four digits that keeps all columns
        (or, given a dict, those named) within that 95 % error; columns whose error depends on the
        size of the group need ``group_size=``, the number of rows of a group for which it must
        hold.

        A release under an ``idempotency_key`` is made once: asked again, the stored answer is
        returned, the same noise for no further cost. Another query under it is refused, and so is
        one that was charged and cut off before its answer was stored. Left out, every call charges.
        """
        self._check(query)
        key = read_key(idempotency_key)
        spend = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "error": error}
        document = query_document(query)
        digest = asked(document, **spend, group_size=group_size)
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
        """The answer of an earlier release: free, and the same noise.

        ``entry`` is one of ``history``, or the number of its record. Refused if it has no answer.
        """
        own = self._purse.own(entry) if isinstance(entry, Entry) or type(entry) is int else None
        reply = None if own is None else self._purse.reply(own)
        if own is None or reply is None:
            raise InvalidArgument(
                name="entry",
                expected="an entry of session.history whose answer was stored",
                given="another",
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

        They are private themselves, so they can be passed on as ``bounds=``; what lies outside
        is clamped there. ``epsilon``, ``delta``, ``rho`` and ``mu`` are as in ``release``: it is
        charged like any query. Error: about 25·max_rows/ε rows between two powers of two may be
        overlooked (twice that under replace), and one time in a thousand an end is too far out.

        >>> import discreet as dp, pyarrow as pa
        >>> people = dp.table(pa.table({"income": [21_000, 34_500, 28_000] * 1000}))
        >>> session = dp.Session(people, budget=dp.Pure(2))
        >>> session.release_bounds(people, "income", epsilon=1)
        Bounds(lower=16384, upper=65536)
        """
        self._check_table(table)
        query = table.agg(bounds=Range(column))
        return bounds_of(query, self.release(query, epsilon=epsilon, delta=delta, rho=rho, mu=mu))

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
        """Buy a bound for ``max_groups``: about ``coverage`` of people are in no more groups.

        ``groups`` is a table with a unit after ``group_by``. The bound is private itself, and at
        most ``most``, 100 if left out; ``coverage`` is 0.95 if left out. Charged like any query:
        give one of ``epsilon``, ``rho`` and ``mu``. Error: the rank of the chosen bound among
        people, about 3·ln(most)/ε at 95 %, twice that under replace.
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
        """Buy a bound for ``max_rows_per_group``: about ``coverage`` of people have no more rows
        in any group. As ``release_max_groups``, with the same ``groups``, ``most``, ``epsilon``,
        ``rho`` and ``mu``.
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
        """What is left, in the notion of the budget: of the dataset's cap, and of every other one
        in that notion that this session is bound by."""
        kind = type(self._account.limit)
        alike = [cap.filter for cap in self._purse.caps if isinstance(cap.filter.limit, kind)]
        return left(min(alike, key=lambda account: sum_of(account.limit) - account.total))

    @property
    def remaining_slack(self) -> Fraction:
        """What is left of the δ for mechanisms that fail outright with a small probability."""
        return min(cap.filter.slack - cap.filter.spent_slack for cap in self._purse.caps)

    @property
    def guarantee(self) -> Guarantee:
        """What the whole session promises, whatever is still asked."""
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
        self._check(query)
        epsilon, delta, rho, mu = given
        account = planning_account(self._purse.caps)
        if error is None:
            spend = Spend.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu)
            return make_plan(query, spend, account=account)
        if (epsilon, rho, mu) != (None, None, None):
            raise InvalidArgument(
                name="error", expected="given instead of a spend", given="both", hint="drop one"
            )
        return least_spend(query, error, account=account, delta=delta, group_size=group_size)

    def _contribution(
        self, groups: Grouped, spend: Spend, coverage: Number, most: int, *, rows: bool
    ) -> int:
        choice = ContributionChoice(groups, spend, coverage=coverage, most=most)
        self._check_table(groups.table)
        choice.check()
        entry = self._purse.charge(claim_for_choice(choice, rows=rows))
        chosen = choice.choose(rows=rows)
        result = choice.result(chosen, cost=entry.costs[0].words)
        self._purse.keep(entry, lambda: to_bytes(result))
        return chosen

    def _again(self, found: Entry, digest: str, key: str) -> Result:
        check_same(found, digest, key)
        reply = self._purse.reply(found)
        if reply is None:
            raise unanswered(found, key)
        again = from_bytes(reply)
        note = f"this is the stored answer of record {found.number}: nothing was charged for it"
        return self._certified(found, replace(again, notes=(note, *again.notes)))

    def _certified(self, entry: Entry, result: Result) -> Result:
        """The result, with a certificate when it is asked for."""
        work = partial(
            certificate_of,
            entry=entry,
            result=result,
            ledger=self._purse.ledger,
            key=self._signer,
        )
        return replace(result, issue=work, record=entry.number)

    def _check(self, query: Query) -> None:
        if not isinstance(query, Query):
            raise InvalidArgument(
                name="query",
                expected="what .agg(...) returns",
                given=InvalidArgument.describe_data(query),
                hint='as in table.group_by("ward", keys=[...]).agg(n=dp.count())',
            )
        self._check_table(query.table)

    def _check_table(self, table: Table) -> None:
        if not isinstance(table, Table):
            raise InvalidArgument(
                name="table",
                expected="the table of this session, with or without steps",
                given=InvalidArgument.describe_data(table),
            )
        if table.source is not self._table.source:
            raise InvalidArgument(
                name="query",
                expected="about the table that this session was opened with",
                given="one about another table",
                hint="build it from that very table, or open a session for the other one",
            )
        mine = (self._table.unit, self._table.relation)
        if (table.unit, table.relation) != mine:
            raise RelationMismatch(
                f"this session protects {self._table.unit} under {self._table.relation}, and the "
                f"query {table.unit} under {table.relation}: use one dp.table for both"
            )

    @property
    def _account(self) -> Filter:
        return self._purse.caps[0].filter

    def __repr__(self) -> str:
        rest = notion_in_words(self.remaining)
        count = self._purse.releases
        made = f"{count:,} release{'s' * (count != 1)}"
        return f"Session({self._purse.dataset}, {made}, {rest} left)"
