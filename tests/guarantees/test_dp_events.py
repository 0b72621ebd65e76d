"""dp_accounting's events: read, written without claiming less, and accounted alike."""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

import pytest
from dp_accounting import dp_event as events
from dp_accounting import privacy_accountant
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument, Refused
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Failing,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
)
from discreet.guarantees.dp_events import float_down, float_up, from_dp_event, to_dp_event
from discreet.guarantees.dp_events import to_dp_event as write

# What a dp_accounting accountant can print: numbers that are the decimals of floats.
decimals = st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))
rates = st.integers(1, 1000).map(lambda n: Fraction(n, 1000))
sizes = st.fractions(Fraction(1, 1000), 100, max_denominator=10**6)
unit = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)

REPLACE = privacy_accountant.NeighboringRelation.REPLACE_ONE
ADD_REMOVE = privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE


@dataclass(frozen=True)
class EpsilonDeltaDpEvent(events.DpEvent):
    epsilon: float
    delta: float


@dataclass(frozen=True)
class ExponentialMechanismDpEvent(events.DpEvent):
    epsilon: float


@dataclass(frozen=True)
class PermuteAndFlipDpEvent(events.DpEvent):
    epsilon: float


LATER = (EpsilonDeltaDpEvent, ExponentialMechanismDpEvent, PermuteAndFlipDpEvent)


@pytest.fixture
def later(monkeypatch):
    """A dp_accounting that has the events of its main branch."""
    for kind in LATER:
        monkeypatch.setattr(events, kind.__name__, kind, raising=False)


@pytest.fixture
def earlier(monkeypatch):
    """A dp_accounting without them, as 0.6."""
    for kind in LATER:
        monkeypatch.delattr(events, kind.__name__, raising=False)


def accounted(event, delta, relation):
    """ε by dp_accounting, an upper bound on a grid of 1e-4 for each event."""
    accountant = PLDAccountant(relation, value_discretization_interval=1e-4)
    return accountant.compose(event).get_epsilon(delta)


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "guarantee"),
    [
        (events.NoOpDpEvent(), Pure(0)),
        (events.NonPrivateDpEvent(), TotalVariation(1)),
        (events.GaussianDpEvent(0.1), GDP(10)),
        (events.GaussianDpEvent(0), TotalVariation(1)),
        (events.LaplaceDpEvent(0.3), LaplacePair("10/3")),
        (events.LaplaceDpEvent(0.0), TotalVariation(1)),
        (events.DiscreteLaplaceDpEvent(0.1, 3), LaplacePair("0.3", 3)),
        (events.DiscreteLaplaceDpEvent(0.1, 0), Pure(0)),
        (events.DiscreteLaplaceDpEvent(0.0, 3), TotalVariation(1)),
        (events.RandomizedResponseDpEvent(1.0, 5), ResponsePair(0, 5)),
        (events.RandomizedResponseDpEvent(0.0, 5), TotalVariation(1)),
        (events.RandomizedResponseDpEvent(0.0, 1), Pure(0)),
        (events.ZCDpEvent(0.1), ZCDP("0.1")),
        (events.ZCDpEvent(0.1, 0.2), ZCDP("0.3")),
        (
            events.PoissonSampledDpEvent(0.1, events.LaplaceDpEvent(2)),
            SampledPair(LaplacePair("1/2"), "0.1"),
        ),
        (
            events.PoissonSampledDpEvent(
                0.1, events.PoissonSampledDpEvent(0.2, events.GaussianDpEvent(1))
            ),
            SampledPair(GDP(1), "0.02"),
        ),
        (
            events.PoissonSampledDpEvent(
                0.1, events.SelfComposedDpEvent(events.GaussianDpEvent(1), 4)
            ),
            SampledPair(GDP(2), "0.1"),
        ),
        (events.SelfComposedDpEvent(events.GaussianDpEvent(1), 0), Pure(0)),
        (events.SelfComposedDpEvent(events.NoOpDpEvent(), 10**12), Pure(0)),
        (events.ComposedDpEvent([]), Pure(0)),
        (
            events.ComposedDpEvent([events.NoOpDpEvent(), events.GaussianDpEvent(1)]),
            GDP(1),
        ),
        (
            events.ComposedDpEvent([events.NonPrivateDpEvent(), events.GaussianDpEvent(1)]),
            TotalVariation(1),
        ),
        (
            events.SelfComposedDpEvent(
                events.ComposedDpEvent(
                    [
                        events.LaplaceDpEvent(1),
                        events.SelfComposedDpEvent(events.LaplaceDpEvent(1), 4),
                    ]
                ),
                100,
            ),
            LaplacePair(1).repeat(500),
        ),
    ],
    ids=str,
)
def test_what_events_promise(event, guarantee):
    """Catches a scale read as its inverse, a binary 0.1, and a forgotten count or rate."""
    assert from_dp_event(event) == guarantee


def test_multiplicity_of_randomized_response():
    """Ten randomized responses in a SelfComposedDpEvent are ten, not one: dp_accounting 0.6
    forgets the count. Accounted one by one, it says the same ε as we do."""
    one = events.RandomizedResponseDpEvent(0.5, 3)
    ten = from_dp_event(events.SelfComposedDpEvent(one, 10))
    assert ten == from_dp_event(one).repeat(10) == from_dp_event(events.ComposedDpEvent([one] * 10))
    theirs = accounted(events.ComposedDpEvent([one] * 10), 1e-6, REPLACE)
    lower, upper = ten.bracket("1e-6")
    assert lower <= theirs <= upper + 10 * 1e-3
    assert upper > 5 * from_dp_event(one).epsilon("1e-6")


def test_randomized_response_is_written_in_copies():
    """Catches an event that is right but that the accountant of dp_accounting takes for one."""
    written = write(ResponsePair(1, 4).repeat(10))
    assert isinstance(written, events.ComposedDpEvent) and len(written.events) == 10
    assert accounted(written, 1e-6, REPLACE) >= ResponsePair(1, 4).repeat(10).bracket("1e-6")[0]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (events.GaussianDpEvent(0.7), ADD_REMOVE),
        (events.SelfComposedDpEvent(events.GaussianDpEvent(3.0), 20), ADD_REMOVE),
        (events.SelfComposedDpEvent(events.LaplaceDpEvent(4.0), 30), ADD_REMOVE),
        (events.SelfComposedDpEvent(events.DiscreteLaplaceDpEvent(0.1, 3), 30), ADD_REMOVE),
        (events.RandomizedResponseDpEvent(0.2, 10), REPLACE),
        (
            events.SelfComposedDpEvent(
                events.PoissonSampledDpEvent(0.05, events.GaussianDpEvent(1.1)), 100
            ),
            ADD_REMOVE,
        ),
        (
            events.SelfComposedDpEvent(
                events.PoissonSampledDpEvent(0.2, events.LaplaceDpEvent(2.0)), 20
            ),
            ADD_REMOVE,
        ),
        (
            events.ComposedDpEvent(
                [
                    events.GaussianDpEvent(2.0),
                    events.SelfComposedDpEvent(events.LaplaceDpEvent(5.0), 7),
                    events.PoissonSampledDpEvent(0.1, events.GaussianDpEvent(1.0)),
                ]
            ),
            ADD_REMOVE,
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("delta", ["1e-3", "1e-8"])
def test_accounted_alike(event, relation, delta):
    """An independent accountant, pessimistic on a grid of 1e-4: never below our lower bound, and
    above our upper bound only by its grid. Catches any wrong parameter, at either end."""
    lower, upper = from_dp_event(event).bracket(delta)
    theirs = accounted(event, float(delta), relation)
    assert lower * (1 - 1e-9) <= theirs <= upper * 1.001 + 0.02


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (events.UnsupportedDpEvent(), "UnsupportedDpEvent has no guarantee here: say what was run"),
        (events.DpEvent(), "DpEvent has no guarantee here"),
        (
            events.SampledWithReplacementDpEvent(100, 10, events.GaussianDpEvent(1)),
            "SampledWithReplacementDpEvent has no guarantee here: only Poisson",
        ),
        (
            events.SampledWithoutReplacementDpEvent(100, 10, events.GaussianDpEvent(1)),
            "SampledWithoutReplacementDpEvent has no guarantee here: only Poisson",
        ),
        (events.SingleEpochTreeAggregationDpEvent(1.0, 5), "square root of the number of levels"),
        (events.RepeatAndSelectDpEvent(events.GaussianDpEvent(1), 2, 1), "claims no less"),
        (events.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0]), "largest sensitivity"),
        (events.TruncatedSubsampledGaussianDpEvent(9, 0.1, 5, 1.0), "claims no less"),
        (EpsilonDeltaDpEvent(1.0, 0.0), "EpsilonDeltaDpEvent has no guarantee here"),
        (
            events.PoissonSampledDpEvent(0.1, events.RandomizedResponseDpEvent(0.5, 2)),
            "randomized response on a Poisson sample is not amplified",
        ),
        (
            events.PoissonSampledDpEvent(
                0.1, events.SelfComposedDpEvent(events.LaplaceDpEvent(1), 2)
            ),
            "several mechanisms on one Poisson sample",
        ),
        (
            events.ComposedDpEvent([events.GaussianDpEvent(1), events.UnsupportedDpEvent()]),
            "UnsupportedDpEvent has no guarantee here",
        ),
    ],
    ids=lambda value: str(value)[:70],
)
def test_refused_by_name(earlier, event, words):
    """Catches an event that is skipped, guessed or refused without a way out. A class of the
    right name that is not dp_accounting's may mean anything, so it is refused as well."""
    with pytest.raises(Refused, match=words):
        from_dp_event(event)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (None, "event"),
        (GDP(1), "event"),
        (events.GaussianDpEvent(-1.0), "GaussianDpEvent.noise_multiplier"),
        (events.GaussianDpEvent(math.nan), "GaussianDpEvent.noise_multiplier"),
        (events.LaplaceDpEvent(math.inf), "LaplaceDpEvent.noise_multiplier"),
        (events.LaplaceDpEvent("many"), "LaplaceDpEvent.noise_multiplier"),
        (events.DiscreteLaplaceDpEvent(1.0, 1.5), "DiscreteLaplaceDpEvent.sensitivity"),
        (events.RandomizedResponseDpEvent(1.5, 2), "RandomizedResponseDpEvent.noise_parameter"),
        (events.RandomizedResponseDpEvent(0.5, 0), "RandomizedResponseDpEvent.num_buckets"),
        (events.ZCDpEvent(1.0, -0.5), "ZCDpEvent.xi"),
        (
            events.PoissonSampledDpEvent(1.1, events.GaussianDpEvent(1)),
            "PoissonSampledDpEvent.sampling_probability",
        ),
        (events.SelfComposedDpEvent(events.GaussianDpEvent(1), -1), "SelfComposedDpEvent.count"),
        (events.SelfComposedDpEvent(events.GaussianDpEvent(1), 1.5), "SelfComposedDpEvent.count"),
        (events.ComposedDpEvent(None), "ComposedDpEvent.events"),
        (events.ComposedDpEvent([7]), "event"),
    ],
    ids=str,
)
def test_bad_numbers_are_named(event, name):
    """Events check nothing themselves: catches a negative noise that becomes a guarantee."""
    with pytest.raises(InvalidArgument) as caught:
        from_dp_event(event)
    assert caught.value.name == name


def test_deep_trees_end():
    """Catches a RecursionError, and a list that holds itself."""
    event = events.GaussianDpEvent(1)
    for _ in range(5000):
        event = events.ComposedDpEvent([event])
    with pytest.raises(InvalidArgument, match="nested at most 100 deep"):
        from_dp_event(event)
    loop = events.ComposedDpEvent([])
    loop.events.append(loop)
    with pytest.raises(InvalidArgument, match="nested at most 100 deep"):
        from_dp_event(loop)


# -- writing ---------------------------------------------------------------------------------------

leaves = st.one_of(
    st.builds(Pure, sizes),
    st.builds(ZCDP, sizes),
    st.builds(GDP, sizes),
    st.builds(LaplacePair, sizes, st.none() | st.integers(1, 1000)),
    st.builds(BoundedRange, sizes),
    st.builds(ResponsePair, sizes, st.integers(2, 1000)),
)
pairs = leaves | st.builds(SampledPair, leaves, unit)


@pytest.mark.no_cover
@settings(max_examples=60)
@given(pairs, st.lists(st.fractions(-20, 100, max_denominator=100), min_size=3, max_size=3))
def test_never_claims_less(g, places):
    """Catches noise rounded up, a rate rounded down, or an event of a better mechanism: what is
    read back has a profile at least as high, everywhere."""
    back = from_dp_event(to_dp_event(g))
    for x in [*places, Fraction(0)]:
        assert back.delta(x) >= g.delta(x) * (1 - 1e-11)


@pytest.mark.no_cover
@given(sizes)
def test_parameters_never_shrink(size):
    """Catches a last digit on the wrong side, which no profile in floats would show."""
    assert from_dp_event(to_dp_event(GDP(size))).mu >= size
    assert from_dp_event(to_dp_event(ZCDP(size))).rho >= size
    for g in (Pure(size), LaplacePair(size), LaplacePair(size, 7), ResponsePair(size, 3)):
        assert from_dp_event(to_dp_event(g)).epsilon0 >= size
    rate = size / 100
    assert from_dp_event(to_dp_event(SampledPair(GDP(1), rate))).rate >= rate


lossless = st.one_of(
    st.builds(lambda s: GDP(1 / s), decimals),
    st.builds(lambda s: LaplacePair(1 / s), decimals),
    st.builds(lambda a, n: LaplacePair(a * n, n), decimals, st.integers(1, 10**6)),
    st.builds(ZCDP, decimals),
)


@given(lossless | st.builds(SampledPair, lossless, rates))
def test_round_trip(g):
    """What floats can print comes back equal: catches a needless ulp, such as 0.09999999999999999
    for 1/10."""
    assert from_dp_event(to_dp_event(g)) == g


@pytest.mark.no_cover
@given(
    st.lists(
        st.tuples(
            st.builds(lambda s: LaplacePair(1 / s), decimals)
            | st.builds(lambda s, q: SampledPair(GDP(1 / s), q), decimals, rates),
            st.integers(1, 10**6),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_round_trip_of_compositions(parts):
    """Catches counts that are lost on the way, and parts in another order."""
    g = compose([part.repeat(count) for part, count in parts])
    assert from_dp_event(to_dp_event(g)) == g


def test_round_trip_with_later_events(later):
    """The three classes of dp_accounting's main branch are used where they exist."""
    for g in (Pure("0.1"), Approx("0.1", "1e-6"), BoundedRange("0.1")):
        assert from_dp_event(to_dp_event(g)) == g
    assert to_dp_event(TotalVariation("0.1")) == EpsilonDeltaDpEvent(0.0, 0.1)
    assert to_dp_event(Approx("1/3", "1/3")) == EpsilonDeltaDpEvent(*[0.33333333333333337] * 2)
    failing = Failing(GDP(1), "0.1")
    parts = [events.GaussianDpEvent(1.0), EpsilonDeltaDpEvent(0.0, 0.1)]
    assert to_dp_event(failing) == events.ComposedDpEvent(parts)
    back = from_dp_event(to_dp_event(failing))
    assert failing.delta(1) == pytest.approx(back.delta(1), rel=1e-3)
    # Nothing better than pure is proved: it is not of bounded range.
    assert from_dp_event(PermuteAndFlipDpEvent(0.1)) == Pure("0.1")


def test_without_later_events(earlier):
    """Catches an event that does not exist, and (ε, δ) written as something without a δ."""
    assert to_dp_event(Pure(2)) == events.DiscreteLaplaceDpEvent(2.0, 1)
    assert to_dp_event(Approx(2, 0)) == events.DiscreteLaplaceDpEvent(2.0, 1)
    assert to_dp_event(BoundedRange(2)) == events.DiscreteLaplaceDpEvent(2.0, 1)
    for g in (Approx(1, "1e-6"), TotalVariation("0.1"), compose([GDP(1), Approx(1, "1e-6")])):
        with pytest.raises(Refused, match="has no EpsilonDeltaDpEvent"):
            to_dp_event(g)


@pytest.mark.parametrize(
    ("g", "event"),
    [
        (Pure(0), events.NoOpDpEvent()),
        (GDP(0), events.NoOpDpEvent()),
        (LaplacePair(0, 5), events.NoOpDpEvent()),
        (TotalVariation(1), events.NonPrivateDpEvent()),
        (Approx(1, 1), events.NonPrivateDpEvent()),
        (Pure("1e400"), events.NonPrivateDpEvent()),
        (ZCDP("1e400"), events.NonPrivateDpEvent()),
        (GDP("1e400"), events.GaussianDpEvent(0.0)),
        (GDP("1e-400"), events.GaussianDpEvent(sys.float_info.max)),
        (ResponsePair(1000, 3), events.RandomizedResponseDpEvent(0.0, 3)),
        (
            SampledPair(GDP(1), "0.1").add,
            events.PoissonSampledDpEvent(0.1, events.GaussianDpEvent(1)),
        ),
        (
            SampledPair(ResponsePair(1, 3), "0.1"),
            events.PoissonSampledDpEvent(0.1, events.DiscreteLaplaceDpEvent(1.0, 1)),
        ),
        (Least([Pure(9), GDP(1), ZCDP(1)]), events.GaussianDpEvent(1.0)),
        (Least([TotalVariation("0.1"), ZCDP(1)]), events.ZCDpEvent(1.0)),
        (
            ResponsePair(1, 3).repeat(1001),
            events.SelfComposedDpEvent(events.DiscreteLaplaceDpEvent(1.0, 1), 1001),
        ),
    ],
    ids=str,
)
def test_limits(earlier, g, event):
    """Catches division by zero, infinite noise, a sampling claim that does not hold, and an event
    for the wrong one of several facts."""
    assert to_dp_event(g) == event


@given(st.fractions(0, 10**6))
def test_floats_on_the_safe_side(x):
    """Catches a float that is safe in binary and not in print, or the other way round; only one
    that prints x itself may be off in binary."""
    for found, sign in ((float_up(x), 1), (float_down(x), -1)):
        printed = Fraction(repr(found))
        assert printed == x or sign * printed > sign * x <= sign * Fraction(found)
        assert abs(printed - x) <= x * Fraction(1, 2**51)


def test_guarantees_without_an_event():
    """Catches a silent loss, and an error that does not say what to do."""
    with pytest.raises(Refused, match="no DpEvent for LossDistribution: write the event of"):
        to_dp_event(LossDistribution.from_laws([0.5, 0.5], [0.4, 0.6]))
    with pytest.raises(InvalidArgument, match="guarantee must be a guarantee"):
        to_dp_event("GDP")


def test_without_the_package(monkeypatch):
    """Catches an ImportError from inside, and a message that does not name what to install."""
    for name in [name for name in sys.modules if name.split(".")[0] == "dp_accounting"]:
        monkeypatch.setitem(sys.modules, name, None)
    for call in (lambda: to_dp_event(GDP(1)), lambda: from_dp_event(None)):
        with pytest.raises(DiscreetError, match="pip install dp-accounting"):
            call()
