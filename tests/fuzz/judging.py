"""What the fuzzer demands of each pair of neighbours; whatever does not hold is a finding.

(a) exact answers differ by at most what was declared; (b) both are refused, or none, in the same
words; (c) the shape of an answer is the same, whatever the numbers in it are; (d) what is kept of
everybody else is the same; (e) `dp.replay` finds nothing; (f) the engine agrees with plain Python.
"""

import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.errors import DiscreetError
from discreet.query.keys import DiscoveredKeys, ListedKeys
from discreet.query.measures import Measure, Units
from discreet.query.plan import Plan, make_plan
from discreet.query.purchase import AddedNoise, Chooser, Finder, Spend
from discreet.query.request import Exact, Request
from tests.fuzz.case import Case, Neighbour
from tests.fuzz.expecting import disagreement
from tests.fuzz.shapes import extremes, shape, unlike
from tests.fuzz.world import World

Columns = dict[Measure, Any]


@dataclass(frozen=True)
class Finding:
    """Something that does not hold: of which demand, of what, and in words."""

    demand: str  # "a" to "f"
    what: str
    words: str
    case: Case
    other: Neighbour | None = None
    extra: Any = None  # for the script: two sets of measured columns, or what was expected

    @property
    def kind(self) -> tuple[str, str]:
        """What a smaller case must still show, of one part or another."""
        return self.demand, self.what.split(" of ")[0]


@dataclass(frozen=True)
class Failed:
    """An error, as the caller sees it."""

    name: str
    words: str
    bare: bool = False  # raised in our code, and none of our errors

    def __str__(self) -> str:
        return f"{self.name}: {self.words}"


def outcome(work: Callable[[], Any]) -> Any:
    """What it returns, or how it fails."""
    try:
        return work()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = any("/src/discreet/" in frame.filename for frame in frames)
        return Failed(
            type(error).__name__, str(error), bare=ours and not isinstance(error, DiscreetError)
        )


@dataclass
class Result:
    """What became of a case."""

    pairs: int = 0
    refused: int = 0
    findings: tuple[Finding, ...] = ()


def judge(case: Case, world: World, *, demands: str = "abcdf", thorough: bool = False) -> Result:
    """The demands on all pairs of a case; what takes long on one of them only, unless thorough."""
    try:
        return _Trial(case, world, demands, thorough).result()
    finally:
        world.forget()


class _Trial:
    def __init__(self, case: Case, world: World, demands: str, thorough: bool) -> None:
        self.case, self.world, self.demands, self.thorough = case, world, demands, thorough
        self.functions = world.functions(case)
        self.tables: dict[Neighbour, Any] = {}

    def result(self) -> Result:
        case = self.case
        folder = self.world.side()
        table = outcome(lambda: self.functions["table"](case.table(case.base), folder))
        query = self.asked(table, folder)
        plan = query
        if not isinstance(query, Failed):
            plan = outcome(lambda: make_plan(query, Spend.read(**dict(case.spend))))
        found = list(self.early(table, plan))
        if isinstance(plan, Failed):
            if plan.bare:
                found.append(self.finding("b", f"bare {plan.name}", str(plan), None))
            refused = len(case.others)
            return Result(refused, refused, tuple(found))
        if self.demands != "e":
            found += self.measured(table, plan)
        if "e" in self.demands:
            found += self.replayed()
        return Result(len(case.others), 0, tuple(found))

    def asked(self, table: Any, folder: Any) -> Any:
        if isinstance(table, Failed):
            return table
        return outcome(lambda: self.functions["ask"](table, folder))

    # -- before data is touched --------------------------------------------------------------------

    def early(self, table: Any, plan: Any) -> Iterator[Finding]:
        """(b) Opening and asking end in the same way; plans are functions of what is compared."""
        for i, other in enumerate(self.case.others):
            folder = self.world.side()
            there = outcome(lambda o=other, f=folder: self.open(o, f))
            query = self.asked(there, folder)
            if isinstance(plan, Failed) and not isinstance(query, Failed):
                query = outcome(lambda q=query: make_plan(q, Spend.read(**dict(self.case.spend))))
            ends = [self.told(x) for x in (plan, query)]
            if ends[0] != ends[1]:
                words = f"{ends[0] or 'no error'} | {ends[1] or 'no error'}"
                yield self.finding("b", "refusal", words, other)
                continue
            if isinstance(plan, Failed):
                continue
            mine, theirs = table.source, there.source
            if (mine.schema, mine.kinds, mine.name) != (theirs.schema, theirs.kinds, theirs.name):
                yield self.finding("c", "schema", "the columns of the tables differ", other)
                continue
            # Translating a question takes most of the time: all but one have it from the first.
            shared = theirs if i == 0 else replace(theirs, prepared=mine.prepared)
            self.tables[other] = shared

    def told(self, end: Any) -> str:
        """An error in words, without the folder, which is another one for each table."""
        return re.sub(rf"{self.world.folder}/\d+/", "", str(end)) if isinstance(end, Failed) else ""

    def open(self, other: Neighbour, folder: Any) -> Any:
        return self.functions["table"](self.case.table(other.rows), folder)

    def ask(self, source: Any, request: Request) -> Any:
        """What the engine measures, or how it fails; a server must then be ready for more."""
        answer = outcome(lambda: source.measure(request))
        if isinstance(answer, Failed):
            self.world.recover()
        return answer

    # -- exact answers -----------------------------------------------------------------------------

    def measured(self, table: Any, plan: Plan) -> Iterator[Finding]:
        case, source, keys = self.case, table.source, plan.query.keys
        request = plan.request(case.salt)
        first = self.ask(source, request)
        if isinstance(first, Exact) and isinstance(keys, DiscoveredKeys):
            yield from self.agree(request, first)
            firsts = {o: self.ask(there, request) for o, there in self.tables.items()}
            for other, there in firsts.items():
                if isinstance(there, Failed):
                    yield self.finding("b", "answer", f"no error | {there}", other)
                else:
                    yield from self.discovered(plan.finder, first, there, other)
            keys = _union([first, *(e for e in firsts.values() if isinstance(e, Exact))])
            if keys is None:
                return
            request = plan.request((case.salt + 1) % 2**64, keys)
            first = self.ask(source, request)
        if isinstance(first, Failed):
            yield from self.failed(first, table, plan)
            return
        yield from self.agree(request, first)
        listed = keys if isinstance(keys, ListedKeys) else None
        drawn = outcome(lambda: shape(plan, first.columns, listed))
        if isinstance(drawn, Failed):
            yield self.finding("b", "release", f"after the charge: {drawn}", None)
            return
        for i, (other, there) in enumerate(self.tables.items()):
            second = self.ask(there, request)
            if isinstance(second, Failed):
                yield self.finding("b", "answer", f"no error | {second}", other)
                continue
            yield from self.moved(plan, first.columns, second.columns, other)
            if "d" in self.demands and (self.thorough or i == 0):
                yield from self.kept(source, request, first.columns, second.columns, other)
            if "c" in self.demands and (self.thorough or i == 0):
                yield from self.alike(plan, listed, drawn, second.columns, other)
        for end, columns in extremes(plan, first.columns) if "c" in self.demands else ():
            there = outcome(lambda c=columns: shape(plan, c, listed))
            for what, words in unlike(drawn, there):
                pair = (dict(first.columns), columns)
                yield self.finding("c", what, f"{words} (at the {end} end)", None, extra=pair)

    def failed(self, error: Failed, table: Any, plan: Plan) -> Iterator[Finding]:
        """An answer that fails on the table: because of a row, or of the question?"""
        checked = [outcome(lambda r=r: table.source.check(r)) for r in plan.requests]
        if any(isinstance(one, Failed) for one in checked):
            return  # refused before the charge
        folder = self.world.side()
        empty = outcome(lambda: self.functions["table"]([], folder).source)
        again = self.ask(empty, plan.request(self.case.salt))
        what = "fails on any table" if isinstance(again, Failed) else "fails on some rows"
        yield self.finding("b", what, f"after the charge: {error}", None)

    def discovered(
        self, finder: Finder | None, a: Exact, b: Exact, other: Neighbour
    ) -> Iterator[Finding]:
        assert finder is not None
        here, there = _people(a), _people(b)
        change = {k: here.get(k, 0) - there.get(k, 0) for k in {*here, *there}}
        sizes = [abs(n) for n in change.values() if n]
        most = 0 if other.kind == "nobody" else finder.mechanism.max_groups
        if len(sizes) > most or max(sizes, default=0) > 1:
            words = f"discovered keys: {len(sizes)} move by {max(sizes)}, declared {most} by 1"
            yield self.finding("a", "discovery", words, other)

    def moved(self, plan: Plan, a: Columns, b: Columns, other: Neighbour) -> Iterator[Finding]:
        """(a) Part by part, in every norm."""
        for part, one in plan.bought.items():
            if isinstance(one, Finder):
                continue
            here, there = (_reached(one, columns) for columns in (a, b))
            if here.shape != there.shape:
                yield self.finding(
                    "c", "length", f"{part.words}: {here.shape}, {there.shape}", other
                )
                continue
            change = here - there
            told = {"l1": 0} if other.kind == "nobody" else {**one.declared}
            if isinstance(one, AddedNoise) and other.kind != "nobody":
                moves = one.sensitivity
                told = {"l0": moves.l0, "linf": moves.linf, "l1": moves.l1, "l2": moves.l2}
            if "l2" in told:  # compared by their squares
                told["l2"] = told["l2"] ** 2
            over = {
                norm: f"{norm} moves by {size}, declared {float(most):g}"
                for norm, most in told.items()
                if (size := length(change, norm)) > most
            }
            if over:
                alone = f"{next(iter(over))} alone" if len(over) == 1 else "distance"
                words = f"{part.words}: {'; '.join(over.values())}"
                yield self.finding("a", f"{alone} of {type(part).__name__}", words, other)

    def kept(
        self, source: Any, request: Request, a: Columns, b: Columns, other: Neighbour
    ) -> Iterator[Finding]:
        """(d) The difference is what the changed rows give alone, so no other row changed."""
        left, came = self.case.difference(other)
        alone: list[Columns] = []
        for numbers in (left, came):
            if not numbers:
                alone.append({measure: np.zeros_like(x) for measure, x in a.items()})
                continue
            folder = self.world.side()
            opened = self.functions["table"](self.case.table(numbers), folder).source
            made = self.ask(replace(opened, prepared=source.prepared), request)
            if isinstance(made, Failed):
                yield self.finding("b", "answer", f"of one person alone: {made}", other)
                return
            alone.append(made.columns)
        for measure in a:
            change = _whole(a[measure]) - _whole(b[measure])
            own = _whole(alone[0][measure]) - _whole(alone[1][measure])
            if (change != own).any():
                name = type(measure).__name__
                words = f"{name}: tables differ by {change.tolist()}, own rows are {own.tolist()}"
                yield self.finding("d", f"others' rows of {name}", words, other)

    def alike(
        self, plan: Plan, listed: ListedKeys | None, drawn: Any, b: Columns, other: Neighbour
    ) -> Iterator[Finding]:
        """(c) Types, names, order and notes."""
        there = outcome(lambda: shape(plan, b, listed))
        for what, words in unlike(drawn, there):
            yield self.finding("c", what, words, other)

    def agree(self, request: Request, answer: Exact) -> Iterator[Finding]:
        """(f) As in plain Python."""
        if "f" not in self.demands:
            return
        rows = self.case.table(self.case.base)
        for words in disagreement(self.case, rows, request, answer):
            what = words.split(":")[0]
            yield self.finding("f", what, words, None)

    # -- whole releases ----------------------------------------------------------------------------

    def replayed(self) -> Iterator[Finding]:
        """(e) The same by the auditor, through a session."""
        other = self.case.others[0] if self.case.others else None
        if other is None or other.kind == "nobody":
            return
        kinds = dict(self.case.spend)
        budget: Any = dp.ZCDP(10**4) if "rho" in kinds else dp.GDP(10**4)
        if "epsilon" in kinds:
            budget = dp.Approx(10**4, 0.5) if "delta" in kinds else dp.Pure(10**4)
        slack = {"slack": 0.5} if "delta" in kinds and "epsilon" not in kinds else {}

        def run(numbers: tuple[int, ...]) -> Any:
            folder = self.world.side()
            table = self.functions["table"](self.case.table(numbers), folder)
            query = self.functions["ask"](table, folder)
            return dp.Session(table, budget=budget, **slack).release(query, **kinds).table

        found = outcome(lambda: dp.replay(run, pair=(self.case.base, other.rows)))
        if isinstance(found, Failed):
            if "two equal ones" not in found.words and "told it nothing" not in found.words:
                yield self.finding("e", "error", str(found), other)
            return
        for one in found.differences:
            yield self.finding("e", one.kind, str(one), other)

    def finding(
        self, demand: str, what: str, words: str, other: Neighbour | None, extra: Any = None
    ) -> Finding:
        return Finding(demand, what, words, self.case, other, extra)


def _union(answers: list[Exact]) -> ListedKeys | None:
    """All keys that somebody has, as if they had been discovered."""
    tables = [answer.keys for answer in answers if answer.keys is not None]
    whole = pa.concat_tables(tables)
    whole = whole.group_by(whole.column_names).aggregate([])
    whole = whole.sort_by([(name, "ascending") for name in whole.column_names])
    return ListedKeys(whole) if whole.num_rows else None


def _people(answer: Exact) -> dict[Any, int]:
    assert answer.keys is not None
    keys = zip(*(column.to_pylist() for column in answer.keys.columns), strict=True)
    return dict(zip(keys, answer.columns[Units()].tolist(), strict=True))


def _reached(one: AddedNoise | Chooser[Any], columns: Columns) -> Any:
    """The integers that a mechanism is given."""
    return _whole(one.part.exact(columns))


def _whole(values: Any) -> Any:
    return np.array(values, dtype=object)


def length(change: Any, norm: str) -> Any:
    """How long a change is; the square of it for l2."""
    sizes = [abs(int(x)) for x in change.reshape(-1)]
    match norm:
        case "l0":
            return sum(size != 0 for size in sizes)
        case "linf":
            return max(sizes, default=0)
        case "l2":
            return sum(size**2 for size in sizes)
        case "range":  # how far the counts of a group move apart
            rows = change.reshape(len(change), -1) if change.size else []
            return sum(max(row) - min(row) for row in rows)
    return sum(sizes)
