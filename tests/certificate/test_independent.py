"""The second route: right on its own, near the first one, and knowing nothing of it."""

import ast
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import discreet.auditor.certificate as independent
from discreet.auditor.certificate.guarantee_check import charged_enough, discovery, key_chances
from discreet.auditor.certificate.law_pairs import (
    BinaryResponse,
    ComposedLaws,
    LossRange,
    Normal,
    Shift,
)
from discreet.auditor.certificate.query_check import look_at
from discreet.auditor.certificate.verification import _point
from discreet.guarantees import GDP, ZCDP, Approx, BoundedRange, LaplacePair, Pure, compose
from discreet.guarantees.filters import price
from discreet.laws import DiscreteLaplace
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.query.aggregates import KINDS
from discreet.query.document import mechanism_documents, query_document
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

from .releases import EVERYTHING, visits

ALLOWED = {"auditor", "errors", "laws", "lazy", "neighbors", "numeric", "signing"}
REFUSED = ("numeric.bands", "numeric.short_fractions", "numeric.balls.least_float")  # of accounts
F = Fraction


def test_it_imports_nothing_of_what_it_checks():
    """Catches an import of guarantees, mechanisms, queries or noise, which would make the check
    repeat a mistake instead of finding it."""
    folder = Path(str(independent.__file__)).parent
    files = list(folder.glob("*.py"))
    assert len(files) > 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, "relative imports hide where they lead"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                package, _, rest = name.partition(".")
                if package != "discreet":
                    continue
                assert rest.partition(".")[0] in ALLOWED, f"{file.name} imports {name}"
                assert not rest.startswith(REFUSED), f"{file.name} imports {name}"


# Pairs, and what the rest of the library says they are.
CASES = [
    (
        [(Shift(F(1, 2), 1), 2), (Shift(F(1, 4), 7), 1)],
        [LaplacePair("1/2", 1)] * 2 + [LaplacePair("1/4", 7)],
    ),
    ([(Shift(F(1, 20), 5), 20)], [LaplacePair("1/20", 5)] * 20),
    ([(Shift(F(3), 3579139415), 1)], [LaplacePair(3, 3579139415)]),
    ([(Normal(F(1, 4)), 1), (Normal(F(1, 9)), 2)], [GDP("1/2"), GDP("1/3"), GDP("1/3")]),
    ([(LossRange(F(1, 2)), 4), (Normal(F(1, 9)), 1)], [BoundedRange("1/2")] * 4 + [GDP("1/3")]),
    ([(BinaryResponse(F(1), F(1, 10**6)), 1), (Normal(F(1)), 1)], [Approx(1, "1e-6"), GDP(1)]),
    ([(BinaryResponse(F(1, 10)), 3)], [Pure("1/10")] * 3),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_compositions_lie_between_the_bounds(case):
    """Two programs, one profile: catches a tail, a rounding or a grid on the wrong side."""
    pairs, guarantees = CASES[case]
    together, whole = ComposedLaws(Counter(dict(pairs))), compose(guarantees)
    responses = any(isinstance(pair, BinaryResponse) for pair, _ in pairs)
    for x in ("0", "1/2"):
        exact = whole.delta(x)
        low, high = together.bounds(F(x))
        assert high >= F(exact) * (1 - F(1, 10**6))
        assert high <= F(exact) * F(11, 10) + F(1, 10**3)
        assert low <= F(exact)
        assert responses or low >= F(exact) * F(9, 10) - F(1, 10**3)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize(("notion", "name"), [(Pure, "pure"), (ZCDP, "zcdp"), (GDP, "gdp")])
def test_charges_are_enough_and_a_trillionth_less_is_not(case, notion, name):
    """The formulas of ρ and μ agree to twelve digits, in the safe direction."""
    pairs, guarantees = Counter(dict(CASES[case][0])), CASES[case][1]
    if notion is Pure and any(isinstance(pair, Normal) for pair in pairs):
        assert not charged_enough(name, F(10**6), F(1), pairs)
        return
    cost = price(notion, compose(guarantees), 0)
    assert charged_enough(name, cost.amount, cost.slack, pairs)
    assert not charged_enough(name, cost.amount * (1 - F(1, 10**12)), cost.slack, pairs)
    if cost.slack:
        assert not charged_enough(name, cost.amount, cost.slack * F(999, 1000), pairs)


@pytest.mark.parametrize(("scale", "steps"), [(F(2), 1), (F(1, 2), 3), (F(10), 4), (F(1), 20)])
def test_rho_of_a_shift_from_the_law_itself(scale, steps):
    """Sums over all outputs: the divergence of order 1 is ρ, and no order has more. Catches a
    wrong closed form, and would catch a wrong theorem."""
    shift = Shift(steps / scale, steps)
    here, there = DiscreteLaplace(center=0, scale=scale), DiscreteLaplace(center=steps, scale=scale)
    reach = int(60 * scale) + steps
    masses = [(here.mass(k), there.mass(k)) for k in range(-reach, reach + steps + 1)]
    rho = shift.rho()
    kl = sum(p * (p / q).log() for p, q in masses)
    assert abs(float(kl - rho)) < 1e-12
    for order in (F(101, 100), F(3, 2), F(2), F(8), F(50), F(1000)):
        power = float(order) - 1
        total = sum(p * ((p / q).log() * power).exp() for p, q in masses)
        assert float(total.log()) / power / float(order) <= float(rho) * (1 + 1e-12)


@pytest.mark.parametrize("steps", [1, 4, 5])
def test_tails_of_a_shift_from_the_law_itself(steps):
    """Every loss with its mass, added up: catches a floor where a ceiling belongs."""
    shift = Shift(F(steps, 2), steps)
    law = DiscreteLaplace(center=0, scale=2)
    losses = {k: (abs(steps - k) - abs(k)) * F(1, 2) for k in range(-200, 200)}
    for x in {*losses.values(), F(1, 3), F(-1, 7), F(steps), F(-steps)}:
        found = sum((law.mass(k) for k, loss in losses.items() if loss >= x), start=law.mass(10**6))
        assert abs(float(shift.tail(x)) - float(found)) < 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("1/10", "1e-6"), ("5", "1/3")])
def test_discovery_is_the_mechanisms_own_table(epsilon, delta):
    """Written twice from one sentence: the same probabilities, bit by bit."""
    chances = key_chances(F(epsilon), F(delta))
    mechanism = KeyThreshold(epsilon=epsilon, delta=delta)
    for n, p in enumerate(chances):
        assert F(p, chances[-1]) == mechanism._rule.probability(n)
    found = discovery(chances)
    assert found.failing <= F(delta) and found.epsilon <= F(epsilon) + F(1, 2**200)
    assert found.coins == mechanism.guarantee.coins


BOUNDED = [
    {"max_groups": 3, "max_rows_per_group": 5},
    {"max_groups": 1, "max_rows_per_group": 1},
    {"max_rows": 4},
]
KEYS = [None, ["A"], ["A", "B", "C", "D"], "discover"]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("bound", [None, *BOUNDED])
def test_sensitivities_are_the_planners_and_no_less(relation, keys, bound):
    """Two programs, one rule: every norm is reached, and none may be smaller. Catches a case of
    relation, keys and bounds that one of the two gets wrong."""
    table = visits(unit=None if bound is None else "id", relation=relation)
    table = table if bound is None else table.bound(**bound)
    asked = table if keys is None else table.group_by("ward", keys=keys)
    plan = make_plan(asked.agg(**EVERYTHING), Spend.read(epsilon=1, delta="1e-6"))
    tree, mechanisms = query_document(plan.query), mechanism_documents(plan)
    assert not look_at(tree, mechanisms).faults
    for place, one in enumerate(mechanisms):
        for norm, size in one["sensitivity"].items():
            less = {**one["sensitivity"], norm: str(F(size) * F(999, 1000))}
            changed = [*mechanisms]
            changed[place] = {**one, "sensitivity": less}
            assert look_at(tree, changed).faults, (one["for"], norm)
        if one["times"] > 1:
            changed = [*mechanisms]
            changed[place] = {**one, "times": one["times"] - 1}
            assert look_at(tree, changed).faults


def point(epsilon, delta, pairs):
    found = Counter(dict(pairs))
    return _point(epsilon, delta, found, ComposedLaws(found)).heading


def test_every_aggregate_is_among_the_releases():
    """Catches a new aggregate that no test of certificates asks for; bounds are bought without
    groups, and have tests of their own."""
    assert {type(one) for one in EVERYTHING.values()} == {*KINDS.values()} - {KINDS["range"]}


def test_points_between_two_bounds_are_told_as_such():
    """Proved, refuted, or neither with numbers: catches a claim that passes as proved."""
    pairs = [(LossRange(F(1, 2)), 4), (Normal(F(1, 9)), 1)]
    exact = F(compose([*([BoundedRange("1/2")] * 4), GDP("1/3")]).delta(2))
    headings = [point(F(2), exact * share, pairs) for share in (F(1, 2), F(1), F(2))]
    assert headings == ["failed", "trusted", "proved"]
    many = [(LossRange(F(1, 1000)), 2000), (Normal(F(1)), 1)]
    assert point(F(2), F(1, 10**6), many) == "trusted"
    assert point(F(2), F(1, 10**9), [(Normal(F(1)), 1)]) == "failed"
