"""Accounts for fully adaptive sessions: exact sums, two caps, no trace of what was refused."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, DiscreetError, InvalidArgument, Refused
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
    to_gdp,
    to_pure,
    to_zcdp,
)
from discreet.guarantees.filters import Filter
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.numeric.short_fractions import short_up
from discreet.sensitivity import counts

ACCOUNTS = [Filter(limit=Pure(3)), Filter(limit=ZCDP(1)), Filter(limit=GDP(2))]
small = st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6)
costs = st.one_of(
    st.builds(Pure, small),
    st.builds(LaplacePair, small, st.none() | st.integers(1, 50)),
    st.builds(BoundedRange, small),
    st.builds(ResponsePair, small, st.integers(2, 9)),
)


def charged(account: Filter, *guarantees: object, slack: object = 0) -> Filter:
    for g in guarantees:
        account = account.charge(g, slack=slack)
    return account


# -- sums ----------------------------------------------------------------------------------------


@pytest.mark.no_cover
@given(st.lists(small, max_size=12))
def test_sums_are_exact(sizes):
    """Σε, Σρ and Σμ². Catches floats, a lost multiplicity, and μ added instead of its square."""
    big = 10**4
    pure = charged(Filter(limit=Pure(big)), *map(Pure, sizes))
    zcdp = charged(Filter(limit=ZCDP(big)), *map(ZCDP, sizes))
    gdp = charged(Filter(limit=GDP(big)), *map(GDP, sizes))
    tolerance = len(sizes) * Fraction(1, 2**128)  # denominators may pass 256 bits
    assert 0 <= pure.total - sum(sizes) <= tolerance
    assert 0 <= zcdp.total - sum(sizes) <= tolerance
    assert 0 <= gdp.total - sum(x * x for x in sizes) <= tolerance


def test_a_cap_can_be_spent_to_the_last_bit():
    """Ten tenths are one, as are three thirds; with floats one of the two overshoots."""
    for parts in (10, 3, 7):
        full = charged(Filter(limit=Pure(1)), *[Pure(Fraction(1, parts))] * parts)
        assert full.spent == Pure(1)
        with pytest.raises(BudgetExceeded):
            full.charge(Pure(Fraction(1, 10**9)))
    assert charged(Filter(limit=GDP(1)), *[GDP("1/5")] * 25).spent == GDP(1)


@pytest.mark.parametrize("rho", ["0.1", "1/3", "1e-9", 2])
def test_a_cap_can_be_spent_by_gaussian_noise(rho):
    """σ = √(1/(2ρ)) is rounded up at 100 bits, and its ρ is up to 64: the two must not add up to
    more than ρ, or the last release that fits on paper is refused."""
    noise = Gaussian(sensitivity=1, rho=rho).guarantee
    account = Filter(limit=ZCDP(10 * Fraction(rho)))
    assert account.remaining(noise) == 10
    assert charged(account, *[noise] * 10).total == account.limit.rho
    assert Filter(limit=GDP(short_up(noise.mu))).remaining(noise) == 1


@pytest.mark.no_cover
@given(costs, costs, st.sampled_from(ACCOUNTS))
def test_order_does_not_matter(a, b, account):
    big = Filter(limit=type(account.limit)(100))
    assert charged(big, a, b) == charged(big, b, a)


@pytest.mark.no_cover
@given(costs)
def test_costs_enter_by_their_own_theorem(g):
    """Catches every cost being taken for the worst pure one."""
    tight = Filter(limit=to_zcdp(g))
    assert tight.remaining(g) == 1
    assert Filter(limit=to_gdp(g)).remaining(g) == 1


@settings(max_examples=50)
@given(
    st.lists(st.builds(Pure, st.builds(Fraction, st.just(1), st.integers(10**9, 2**64 - 1)))),
    st.builds(Fraction, st.integers(1, 2**50), st.integers(2**58, 2**64 - 1)),
    st.sampled_from([Fraction(1), Fraction(1, 3)]),
)
def test_remaining_is_how_many_fit(before, size, cap):
    """Also when earlier charges have brought the total to 256 bits and beyond: exactly that many
    fit in the end, and not one more."""
    account = charged(Filter(limit=Pure(cap)), *before)
    n = account.remaining(Pure(size))
    for k in {0, 1, 2, n} & set(range(min(n, 50) + 1)):
        assert charged(account, *[Pure(size)] * k).remaining(Pure(size)) == n - k
    first = charged(account, Pure(size)).total if n else account.total
    end = first + max(0, n - 1) * size
    assert end <= cap < end + size


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
def test_nothing_remains_of_a_full_account(account):
    assert account.charge(account.limit).remaining(Pure("1/10")) == 0
    assert account.remaining(Pure(100)) == 0


# -- slack -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
def test_a_point_is_split_between_cost_and_slack(account):
    """(ε, δ₀) is "fails outright with probability δ₀, else pure ε"."""
    point, pure = Approx("0.1", "1e-7"), Pure("0.1")
    open_account = Filter(limit=account.limit, slack="1e-6")
    assert open_account.charge(point) == open_account.charge(pure, slack="1e-7")
    assert open_account.charge(point).total == account.charge(pure).total
    assert open_account.charge(point).spent_slack == Fraction(1, 10**7)
    assert open_account.remaining(Approx("1e-9", "1e-7")) == 10
    assert open_account.remaining(TotalVariation("2e-7")) == 5
    assert open_account.charge(TotalVariation("2e-7")).total == 0
    assert open_account.charge(point, slack="1e-7").spent_slack == Fraction(2, 10**7)


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
@pytest.mark.parametrize("point", [Approx("0.1", "1e-7"), TotalVariation("1e-7")], ids=repr)
def test_without_slack_a_point_is_refused(account, point):
    with pytest.raises(Refused, match="has no slack for it") as caught:
        account.charge(point)
    assert not isinstance(caught.value, BudgetExceeded)  # a reason, not a matter of how much
    with pytest.raises(Refused, match="has no slack for it"):
        account.remaining(point)


def test_both_caps_bind():
    account = Filter(limit=Pure(1), slack="1e-6")
    with pytest.raises(BudgetExceeded, match="δ₀ = 2e-06, but ε = 0 of ε = 1 with δ₀ = 1e-06"):
        account.charge(Approx("0.1", "2e-6"))
    with pytest.raises(BudgetExceeded, match="needs ε = 2, but ε = 0 of ε = 1"):
        account.charge(Pure(2))


def test_a_pure_account_refuses_what_needs_delta():
    for g in (GDP("1e-9"), ZCDP("1e-9"), SampledPair(GDP(1), "0.01")):
        with pytest.raises(Refused, match="no finite epsilon"):
            Filter(limit=Pure(1), slack="0.1").charge(g)


sizes = st.fractions(Fraction(1, 100), 2, max_denominator=100)
chances = st.fractions(0, Fraction(1, 5), max_denominator=1000)
points = st.builds(Approx, sizes, chances)


def outputs(point: Approx) -> list[tuple[float, float]]:
    """The worst pair: tell all, two answers of randomized response, tell all."""
    d, truth = float(point.delta0), 1 / (1 + math.exp(-point.epsilon0))
    p = [d, (1 - d) * truth, (1 - d) * (1 - truth), 0.0]
    return list(zip(p, p[::-1], strict=True))


@pytest.mark.no_cover
@given(points, st.tuples(points, points, points, points), st.fractions(-3, 5, max_denominator=100))
def test_a_fully_adaptive_session_keeps_its_cap(first, second, x):
    """The second release and *its budget* depend on the first answer. All 16 transcripts, both
    laws: the session's profile is at most what the account promises. The caps are those of the
    most expensive path. Catches a slack that is not added, or added with too small a weight."""
    transcripts = [
        (p * s, q * t)
        for (p, q), then in zip(outputs(first), second, strict=True)
        for s, t in outputs(then)
    ]
    truth = sum(max(0.0, p - math.exp(x) * q) for p, q in transcripts)
    slack = first.delta0 + max(then.delta0 for then in second)
    for kind, convert in ((Pure, to_pure), (ZCDP, to_zcdp), (GDP, to_gdp)):
        cost = [convert(Pure(point.epsilon0)).amount for point in (first, *second)]
        cap = kind.of_amount(cost[0] + max(cost[1:]))
        account = Filter(limit=cap, slack=slack)
        for then in second:
            charged(account, first, then)  # every path fits
        assert account.delta(x) >= truth - 1e-12


WHOLE = [
    *(Pure("0.7"), GDP("1/3"), ZCDP("1/9"), Approx("0.5", "1e-3"), TotalVariation("1e-3")),
    *(LaplacePair("0.3"), BoundedRange("0.4"), SampledPair(LaplacePair(2), "1/10")),
    compose([Pure("0.2"), Approx("0.1", "1e-4"), GDP("1/5")]),
    Least([Approx("0.1", "1e-3"), BoundedRange("0.4")]),
    LossDistribution.from_laws([0.5, 0.5], [0.25, 0.75]),
    Laplace(sensitivity=counts(k=10, relation="add-remove"), epsilon=1).guarantee,
    *(KeyThreshold(epsilon=1, delta="1e-4", max_groups=m).guarantee for m in (1, 3)),
    KeyThreshold(epsilon=1, delta="1e-4", rule="gaussian").guarantee,
    KeyThreshold(epsilon=1, delta="1e-4", rule="laplace").guarantee,
]


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
@pytest.mark.parametrize("g", WHOLE, ids=repr)
def test_a_charge_covers_the_whole_profile(account, g):
    """What was charged, taken as a cap, promises no less than the release did, at any ε. Catches
    a part of a list left out, its count lost, and a δ₀ that is not charged."""
    try:
        used = Filter(limit=type(account.limit)(50), slack="1/2").charge(g)
    except Refused as reason:
        assert "finite" in str(reason)
        assert isinstance(account.limit, Pure) or isinstance(g, ZCDP)
        return
    cap = used.spent if used.total else type(account.limit)("1e-9")
    session = Filter(limit=cap, slack=used.spent_slack)
    for x in (-1, 0, "0.1", "0.5", 1, 2, 5):
        assert session.delta(x) >= g.delta(x) * (1 - 1e-9)


def test_a_list_costs_what_its_parts_cost():
    """Pricing a plan at once and its releases one by one must agree, but for the last bits."""
    parts = [Approx("0.1", "1e-4"), LaplacePair("0.3", 2), LaplacePair("0.3", 2), GDP("1/5")]
    for limit in (ZCDP(1), GDP(2)):
        account = Filter(limit=limit, slack="1e-3")
        once, each = account.charge(compose(parts)), charged(account, *parts)
        assert float(once.total) == pytest.approx(float(each.total), rel=1e-14)
        assert once.spent_slack == each.spent_slack


def test_of_several_facts_the_one_without_slack_is_charged():
    facts = Least([Approx("0.1", "1e-3"), Pure("0.5"), BoundedRange("0.4")])
    assert Filter(limit=Pure(1)).charge(facts).spent == Pure("0.4")
    assert Filter(limit=ZCDP(1)).charge(facts) == Filter(limit=ZCDP(1)).charge(BoundedRange("0.4"))
    with pytest.raises(Refused, match="no finite epsilon"):
        Filter(limit=Pure(1)).charge(Least([GDP(1), ZCDP("0.4")]))


# -- what it promises ------------------------------------------------------------------------------


@pytest.mark.no_cover
@given(sizes, chances, st.fractions(0, 1, max_denominator=1000))
def test_pure_with_slack_is_approximate(epsilon, slack, delta):
    account = Filter(limit=Pure(epsilon), slack=slack)
    twin = Approx(epsilon, slack)
    assert account.epsilon(delta) == twin.epsilon(delta)
    assert account.delta(1) == pytest.approx(twin.delta(1), rel=1e-15)
    assert Fraction(account.delta(1)) >= slack
    assert account.guarantee == (twin if slack else Pure(epsilon))


@pytest.mark.parametrize("limit", [Pure(1), ZCDP(1), GDP(1)], ids=repr)
def test_without_slack_the_cap_is_the_guarantee(limit):
    account = Filter(limit=limit).charge(Pure("0.1"))
    assert account.guarantee == limit
    assert account.epsilon("1e-6") == limit.epsilon("1e-6")
    assert account.delta(1) == limit.delta(1)


@pytest.mark.parametrize("limit", [ZCDP("1/2"), GDP(1)], ids=repr)
def test_slack_is_paid_first(limit):
    """Below the slack no ε holds; above it what is left goes to the cap."""
    account = Filter(limit=limit, slack="1e-6")
    assert account.epsilon("0.9e-6") == math.inf
    assert limit.epsilon("1e-5") < account.epsilon("1e-5") < limit.epsilon("0.899999e-5")
    assert account.delta(4) > limit.delta(4)
    assert account.guarantee.delta(4) == pytest.approx(account.delta(4), rel=1e-3)


@settings(max_examples=25)
@given(
    st.fractions(Fraction(1, 100), 10, max_denominator=1000),
    st.fractions(Fraction(1, 10**6), Fraction(1, 10), max_denominator=10**6),
    st.fractions(0, Fraction(99, 100), max_denominator=100),
)
def test_an_epsilon_delta_cap_holds_with_its_slack(epsilon, delta, share):
    """Read back, the session is (ε, δ)-private. Catches δ used twice, once for each purpose."""
    account = Filter.from_epsilon_delta(epsilon=epsilon, delta=delta, slack=share * delta)
    assert isinstance(account.limit, ZCDP)
    assert account.slack == share * delta
    assert Fraction(str(account.epsilon(delta))) <= epsilon
    assert account.delta(epsilon) <= float(delta) * (1 + 1e-12)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
def test_a_filter_is_a_value(account):
    used = Filter(limit=account.limit, slack="0.1").charge(Approx("1/7", "0.01"))
    assert eval(repr(used)) == used == pickle.loads(pickle.dumps(used)) == copy.deepcopy(used)
    assert hash(eval(repr(used))) == hash(used)
    assert used.charge(Pure("0.1")) == eval(repr(used)).charge(Pure("0.1"))
    with pytest.raises(AttributeError):
        used.total = Fraction(0)


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: type(a.limit).__name__)
@pytest.mark.parametrize(
    "bad",
    [Pure(100), Pure("1e-30"), Approx("0.1", "0.5"), TotalVariation(1), Pure(0), "0.1", None],
    ids=repr,
)
def test_a_refused_charge_leaves_no_trace(account, bad):
    """Another library booked the parts of an event before it refused the whole."""
    used = Filter(limit=account.limit, slack="0.1").charge(Approx("0.1", "0.01"))
    before = copy.deepcopy(used)
    if not (account.limit != Pure(3) and bad == Pure("1e-30")):  # converted, it is rounded up
        with pytest.raises(DiscreetError):
            used.charge(bad)
    assert used == before
    assert used.charge(Pure("0.1")) == before.charge(Pure("0.1"))


def test_a_price_is_not_remembered_for_another_object():
    """Prices are known by address. Catches an address used again after its object is gone, and
    a float taken for the fraction it equals."""
    account = Filter(limit=Pure(10**6), slack="0.9")
    for n in range(1, 3000):
        assert account.charge(Pure(Fraction(1, n))).total == Fraction(1, n)
    for slack, exact in [(0.1, Fraction(1, 10)), (Fraction(0.1), Fraction(0.1))]:
        assert account.charge(Pure(1), slack=slack).spent_slack == exact


@pytest.mark.no_cover
def test_a_hundred_thousand_charges_keep_a_short_total():
    """Catches a sum that grows, and so slows down, with every charge; `make bench` times it."""
    account = Filter(limit=GDP(200))
    costs = [LaplacePair(Fraction(1, n)) for n in range(1000, 1100)]
    for i in range(10**5):
        account = account.charge(costs[i % 100])
    assert account.total.denominator.bit_length() <= 256


# -- the door --------------------------------------------------------------------------------------

TOO_LONG = Fraction(1, 2**64 + 1)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: Filter(limit=Approx(1, "1e-6")), "limit"),
        (lambda: Filter(limit=Pure(0)), "limit"),
        (lambda: Filter(limit=3), "limit"),
        (lambda: Filter(limit=Pure(1), slack=-1), "slack"),
        (lambda: Filter(limit=Pure(1), slack=1), "slack"),
        (lambda: Filter(limit=Pure(1), total=2), "total"),
        (lambda: Filter(limit=Pure(1), spent_slack="0.1"), "total"),
        (lambda: Filter(limit=Pure(1), total=-1), "total"),
        (lambda: Filter(limit=Pure(1)).charge(Pure(0)), "cost"),
        (lambda: Filter(limit=Pure(1)).charge(Approx(0, 0)), "cost"),
        (lambda: Filter(limit=Pure(1)).charge(0.1), "cost"),
        (lambda: Filter(limit=Pure(1)).remaining(GDP), "cost"),
        (lambda: Filter(limit=Pure(1)).charge(Pure(TOO_LONG)), "epsilon"),
        (lambda: Filter(limit=ZCDP(1)).charge(ZCDP(TOO_LONG)), "rho"),
        (lambda: Filter(limit=GDP(1)).charge(GDP(TOO_LONG)), "mu"),
        (lambda: Filter(limit=ZCDP(1)).charge(GDP("1e30")), "rho"),
        (lambda: Filter(limit=Pure(1), slack="0.1").charge(Pure(1), slack=TOO_LONG), "slack"),
        (lambda: Filter(limit=Pure(1), slack="0.1").charge(Pure(1), slack=-1), "slack"),
        (lambda: Filter(limit=Pure(1), slack="0.1").charge(Pure(1), slack=math.nan), "slack"),
        (lambda: Filter(limit=Pure(1), slack="0.1").charge(Pure(1), slack=True), "slack"),
        (lambda: Filter(limit=Pure(1), slack="0.1").charge(Approx(1, "0.6"), slack=0.5), "slack"),
        (lambda: Filter.from_epsilon_delta(epsilon=1, delta="1e-6", slack="1e-6"), "slack"),
        (lambda: Filter.from_epsilon_delta(epsilon=1, delta=0), "delta"),
        (lambda: Filter(limit=Pure(1)).epsilon(2), "delta"),
    ],
)
def test_refused_at_the_door(build, name):
    with pytest.raises(InvalidArgument) as caught:
        build()
    assert caught.value.name == name


def test_too_long_says_what_would_do():
    """The hint is a fraction that can be charged instead, on the safe side."""
    with pytest.raises(InvalidArgument) as caught:
        Filter(limit=Pure(1)).charge(Pure(TOO_LONG))
    hint = Fraction(caught.value.hint.rsplit(" ", 1)[1])
    assert hint > TOO_LONG
    assert Filter(limit=Pure(1)).charge(Pure(hint)).total == hint
