"""A plan in numbered sentences: what is protected and bought, the noise, the errors to expect.

No data is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from discreet.errors import one_line
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.neighbors import Relation, protects
from discreet.numeric.numerals import short
from discreet.query.aggregates.aggregate import Expected
from discreet.query.keys import ListedKeys
from discreet.query.measures import AllRows, PresenceCounts, Present, Units
from discreet.query.plan import Plan
from discreet.query.purchase import AddedNoise, Chooser, Finder, Part, Purchase
from discreet.query.request import Join
from discreet.query.table import joined_in_words

SIZES = (100, 1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Explanation:
    """What a release would do and cost; printed as one numbered sentence per line."""

    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    errors: tuple[Expected, ...]  # at the first of `SIZES` where the size matters

    def __str__(self) -> str:
        lines = [f"{i}. {sentence}" for i, sentence in enumerate(self.sentences, 1)]
        start = len(lines) + 1
        lines += [f"{i}. Warning: {text}" for i, text in enumerate(self.warnings, start)]
        return "\n".join(map(one_line, lines))

    def __iter__(self) -> Iterator[str]:
        yield from self.sentences
        yield from self.warnings

    __repr__ = __str__


def explain(plan: Plan, *, account: tuple[str, ...] = ()) -> Explanation:
    """The plan in words; `account` adds what it means for a budget."""
    query = plan.query
    sentences = [
        f"Protected: {protects(query.table.relation, query.table.unit.column)}.",
        *_joins(plan),
        _contribution(plan),
        _groups(plan),
        *(_part(one) for one in plan.bought.values()),
        *_kind(plan),
        *_errors(plan),
        *account,
    ]
    told = tuple(filter(None, sentences))
    return Explanation(told, tuple(warnings_for(plan)), tuple(plan.expected(SIZES[0])))


def _joins(plan: Plan) -> list[str]:
    return [
        f"Joined: {joined_in_words(step)} of {step.table.num_rows:,} "
        f"row{'s' * (step.table.num_rows != 1)}. That table is public: it is not protected, and "
        "may hold nothing about these people."
        for step in plan.query.table.steps
        if isinstance(step, Join)
    ]


def _contribution(plan: Plan) -> str:
    query = plan.query
    unit, limit = query.table.unit.column, query.table.limit
    if unit is None:
        own = "No unit is named, so each row counts as a person of its own"
        return f"{own}, and is in one group." if query.group else f"{own}."
    one, in_all = query.contribution, limit is not None and limit.max_rows is not None
    most = one.total if in_all else one.rows
    rows = f"{most:,} row{'s' * (most > 1)}"
    if in_all or not query.group:
        return f"Kept of each {unit}: at most {rows}, chosen at random."
    groups = f"{one.groups:,} group{'s' * (one.groups > 1)}"
    return f"Kept of each {unit}: at most {groups}, and {rows} in each, chosen at random."


def _groups(plan: Plan) -> str:
    keys = plan.query.keys
    if keys is None:
        return ""
    if isinstance(keys, ListedKeys):
        return (
            f"{len(keys):,} key{'s are' if len(keys) > 1 else ' is'} listed: each appears in the "
            "answer, with noise also where it has no rows; rows with other keys are dropped."
        )
    finder = plan.finder
    assert finder is not None
    enough = finder.mechanism.error()
    sizes = sorted({max(enough * i // 4, 1) for i in (1, 2, 3, 4, 8)})
    shares = finder.mechanism.keep_probability(sizes)
    found = ", ".join(
        f"{size:,} people with {short(100 * float(share))} %"
        for size, share in zip(sizes, shares, strict=True)
    )
    return f"Keys are discovered by how many people hold them: a key of {found}."


def _part(one: Purchase) -> str:
    share = "all of the spend" if one.share == 1 else f"{one.share} of the spend"
    match one:
        case AddedNoise(part=part, mechanism=mechanism, sensitivity=moved):
            step = float(part.step)
            norm, size, law = "l1", moved.l1, "Laplace noise of scale"
            if one.noise == "gaussian":
                norm, size, law = "l2", moved.l2, "Gaussian noise of σ"
            return (
                f"Bought: {part.words}, with {share}. One person moves them by at most "
                f"{short(float(size) * step)} ({norm}), so each gets {law} "
                f"{short(float(one.size))} (sd {short(one.deviation)}).{_apart(part)}"
            )
        case Chooser(part=part, mechanism=mechanism, times=times):
            bears = f" One person bears on {times:,} such choices." if times > 1 else ""
            return (
                f"Bought: {part.words}, with {share}: in each group the exponential mechanism "
                f"chooses among {part.bins.size:,} candidates with ε = "
                f"{short(float(mechanism.epsilon))}.{bears}"
            )
        case Finder(mechanism=mechanism):
            return (
                f"Bought: discovered keys, with {share}: ε = {short(float(mechanism.epsilon))} "
                f"and δ = {short(float(mechanism.delta))}, over {mechanism.max_groups:,} "
                f"key{'s' * (mechanism.max_groups > 1)} a person."
            )


def _apart(part: Part) -> str:
    if not isinstance(part, Present):
        return ""
    return (
        f" {part.value.words} may be missing, so it has a count of its own; it would share the "
        "count of rows after where(...is_not_null()) or fill_null."
    )


def _kind(plan: Plan) -> list[str]:
    if not any(isinstance(one, AddedNoise) for one in plan.bought.values()):
        return []
    name = "Laplace" if plan.money.noise == "laplace" else "Gaussian"
    return [f"The noise is {name}: {plan.reason}."]


def _errors(plan: Plan) -> list[str]:
    by_size = [plan.expected(size) for size in SIZES]
    sentences = []
    for i, first in enumerate(by_size[0]):
        if first.by_size:
            sizes = ", ".join(
                f"± {short(errors[i].error)} with {size:,}"
                for size, errors in zip(SIZES, by_size, strict=True)
            )
            unit = " in ranks" if first.unit == "ranks" else ""
            sentences.append(f"Error of {first.name} (95 %){unit} by rows of the group: {sizes}.")
        else:
            sentences.append(
                f"Error of {first.name} (95 %): ± {short(first.error)} {first.unit}, in groups of "
                "any size."
            )
    return sentences


# -- when noise swamps an answer, and what would help ----------------------------------------------


_SWAMPED = 1_000  # rows: an error beyond this hides all but large groups
_COUNTS = (AllRows, Present, PresenceCounts, Units)


def warnings_for(plan: Plan) -> Iterator[str]:
    """What the analyst should know before paying."""
    for one in plan.bought.values():
        if isinstance(one, AddedNoise) and isinstance(one.part, _COUNTS) and one.error > _SWAMPED:
            yield _swamped(plan, one)
            return
    asked = (one for _, one in plan.query.aggregates)
    yield from islice((told for one in asked for told in one.warnings(plan.bought)), 1)
    for expected in plan.expected(1_000):
        if expected.unit == "ranks" and expected.error >= 500:
            yield (
                f"in a group of 1,000 rows the rank of {expected.name} is off by as much as half "
                "of them: ask for fewer quantiles at once, wider steps or a larger spend."
            )
            break
    for expected in plan.expected(1_000):
        bounds = getattr(dict(plan.query.aggregates).get(expected.name), "bounds", None)
        if expected.by_size and bounds and expected.error >= float(bounds[1] - bounds[0]) / 2:
            yield (
                f"the error of {expected.name} in a group of 1,000 rows is as wide as its bounds: "
                "use narrower bounds, coarser groups, fewer columns or a larger spend."
            )


def _swamped(plan: Plan, one: AddedNoise) -> str:
    count, groups = one.part, plan.query.contribution.touched
    text = (
        f"the noise swamps the answer: the error of {count.words} is ± {short(one.error)}, so "
        f"groups below {short(10 * one.error)} rows are known to 10 % at best."
    )
    helps = []
    if groups > 1:
        helps.append(
            f"fewer or coarser groups (one person moves {groups:,} of them; with 10 the error "
            f"would be ± {short(one.error * 10 / groups)})"
            if groups > 10 and one.noise == "laplace"
            else "fewer or coarser groups"
        )
    if len(plan.bought) > 1:
        helps.append("fewer columns")
    helps.append("more rows, or a larger spend")
    keys = plan.query.keys
    if isinstance(keys, ListedKeys) and groups > 1:
        helps.append(_selection(plan, one, len(keys)))
    return f"{text} What would help: {'; '.join(helps)}."


def _selection(plan: Plan, one: AddedNoise, keys: int) -> str:
    """Asking which group is largest costs the same however many groups there are (claim 20)."""
    epsilon = plan.money.share(Fraction(1)).pure
    monotone = plan.query.table.relation is Relation.ADD_REMOVE
    rows = plan.query.contribution.rows
    chosen = NoisyMax(sensitivity=rows, epsilon=epsilon, monotone=monotone)
    return (
        f"to ask which of the {keys:,} groups is largest (top_k) instead of {keys:,} counts: for "
        f"the same spend it is within {short(chosen.error(candidates=keys))} rows of the best"
    )
