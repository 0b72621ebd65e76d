"""Calibration: the least noise that fits, and no less; the most that an error allows."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.mechanisms.calibrate import calibrate, least_noise
from discreet.mechanisms.poisson_sampled import PoissonSampled


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1, "1e-6", "4.22467888932684"),
        ("0.1", "1e-5", "30.7495661319775"),
        (10, "1e-5", "0.499888619709009"),
    ],
)
def test_known_answers_of_the_gaussian(epsilon, delta, sigma):
    """σ for one run to 1e-11, on the safe side, and for 100 runs ten times that. Catches a
    search that stops early, and one that rounds down."""
    for count, factor in ((1, 1), (100, 10)):
        found = calibrate(dp.Gaussian, sensitivity=1, count=count, target=dp.Approx(epsilon, delta))
        assert float(found.sigma) == pytest.approx(factor * float(sigma), rel=1e-11)
        assert found.sigma >= factor * (Fraction(sigma) - Fraction(1, 10**13))
        assert found.guarantee.repeat(count).delta(epsilon) <= float(Fraction(delta))


TARGETS = [
    (dp.Laplace, {"sensitivity": 1}, dp.Approx(2, "1e-6"), 1000),
    (dp.Laplace, {"sensitivity": 3, "step": "fine"}, dp.Approx(1, "1e-6"), 50),
    (dp.Laplace, {"sensitivity": 1}, dp.TotalVariation("0.1"), 30),
    (dp.Laplace, {"sensitivity": 1}, dp.ZCDP("0.5"), 7),
    (dp.Laplace, {"sensitivity": 1, "step": 1}, dp.GDP("0.5"), 7),
    (dp.Laplace, {"sensitivity": 1}, dp.Pure("0.3"), 7),
    (dp.Gaussian, {"sensitivity": 2}, dp.ZCDP("0.5"), 3),
    (dp.Gaussian, {"sensitivity": 2}, dp.GDP("0.5"), 3),
    (dp.Gaussian, {"sensitivity": 2}, dp.TotalVariation("0.2"), 3),
    (dp.RandomizedResponse, {"categories": 4}, dp.Approx(1, "1e-5"), 20),
    (dp.RandomizedResponse, {}, dp.Pure(1), 1),
    (dp.Exponential, {"sensitivity": 1}, dp.Approx(1, "1e-6"), 40),
    (dp.NoisyMax, {"sensitivity": 1, "monotone": True}, dp.ZCDP(1), 5),
    (dp.SparseVector, {"sensitivity": 1, "threshold": 5, "hits": 2}, dp.Approx(1, "1e-6"), 9),
    (dp.AboveThreshold, {"sensitivity": 1, "threshold": 5}, dp.Pure(1), 2),
]


def with_less_noise(mechanism, factor, given):
    """The same mechanism with its noise divided by a factor."""
    name = {dp.Laplace: "scale", dp.Gaussian: "sigma"}.get(type(mechanism), "epsilon")
    value = getattr(mechanism, name)
    less = value * factor if name == "epsilon" else value / factor
    return type(mechanism)(**given, **{name: less})


def fits(mechanism, target, count):
    """Whether all runs are within the target, and also say so when asked for their ε."""
    run = mechanism.guarantee
    match target:  # where one number adds up, each run has its share
        case dp.ZCDP(rho):
            return run.within(dp.ZCDP(rho / count))
        case dp.GDP(mu):
            return run.within(dp.GDP(mu / Fraction(count**0.5)))
        case dp.Approx(epsilon, delta):
            total = run.repeat(count)
            return total.within(target) and total.epsilon(delta) <= epsilon
    return run.repeat(count).within(target)


@pytest.mark.parametrize(("family", "given", "target", "count"), TARGETS)
def test_the_least_noise_that_fits(family, given, target, count):
    """All runs fit, and with a part in 10⁵ less noise they do not. Catches a search that is
    satisfied too early, and one whose answer does not hold when it is asked again."""
    mechanism = calibrate(family, **given, target=target, count=count)
    assert fits(mechanism, target, count)
    assert not fits(with_less_noise(mechanism, 1 + Fraction(1, 10**5), given), target, count)


def test_pure_targets_are_exact():
    """Scale = count·Δ/ε without a rounding. Catches a float on the way."""
    found = calibrate(dp.Laplace, sensitivity="1/3", count=7, target=dp.Pure("0.3"))
    assert found.scale == Fraction(7, 9) * 10
    assert calibrate(dp.Exponential, sensitivity=1, count=7, target=dp.Pure(1)).epsilon == Fraction(
        1, 7
    )


@pytest.mark.no_cover
def test_runs_on_samples():
    """The runs of a small training fit and hardly less noise would; the first guess was another.
    Catches a rate that is ignored, and a direction of the neighbours that is."""
    target = dp.Approx(2, "1e-6")
    found = calibrate(dp.Gaussian, sensitivity=1, rate="0.01", count=1000, target=target)
    total = PoissonSampled(found, rate="0.01").guarantee.repeat(1000)
    assert total.epsilon("1e-6") <= 2
    less = dp.Gaussian(sensitivity=1, sigma=found.sigma * Fraction(9999, 10000))
    assert PoissonSampled(less, rate="0.01").guarantee.repeat(1000).bracket("1e-6")[0] > 2
    alone = calibrate(dp.Gaussian, sensitivity=1, count=1000, target=target)
    assert found.sigma < alone.sigma / 30
    one = calibrate(dp.Laplace, sensitivity=1, rate="0.1", target=dp.Pure(1))
    assert float(one.epsilon) == pytest.approx(2.9012, abs=1e-3)  # log(1 + (e − 1)/q)


def test_a_fact_with_many_cells_needs_less_noise():
    """Ten counts by one each, not one number by ten. Catches a calibration that forgets it."""
    ten = dp.sensitivity.counts(k=10, relation="add-remove")
    target = dp.Approx(1, "1e-6")
    spread = calibrate(dp.Laplace, sensitivity=ten, count=10, target=target)
    at_once = calibrate(dp.Laplace, sensitivity=10, count=10, target=target)
    assert spread.scale < at_once.scale / 2
    assert spread.guarantee.repeat(10).within(target)


ERRORS = [
    (dp.Laplace, {"sensitivity": 1}, {}),
    (dp.Laplace, {"sensitivity": 1, "step": 1}, {}),
    (dp.Gaussian, {"sensitivity": 1}, {}),
    (dp.Exponential, {"sensitivity": 1}, {"candidates": 100}),
    (dp.NoisyMax, {"sensitivity": 1, "noise": "exponential"}, {"candidates": 100}),
    (dp.SparseVector, {"sensitivity": 1, "threshold": 5, "hits": 2}, {"queries": 10}),
]


@pytest.mark.no_cover
@pytest.mark.parametrize(("family", "given", "asks"), ERRORS)
@pytest.mark.parametrize("confidence", ["0.95", "0.99"])
def test_plus_minus_fifty(family, given, asks, confidence):
    """At most 50, and with 3 % more noise above it. Catches least noise where most is asked."""
    found = calibrate(family, **given, **asks, error=50, confidence=confidence)
    assert found.error(confidence, **asks) <= 50
    more = with_less_noise(found, Fraction(100, 103), given)
    assert more.error(confidence, **asks) > 50


def test_an_error_of_an_estimate():
    """Two per cent from ten thousand answers; 0.95 is the default."""
    found = calibrate(dp.RandomizedResponse, error="0.02", respondents=10_000)
    assert 0.01999 < found.error(respondents=10_000) <= 0.02


@pytest.mark.parametrize(
    ("family", "given", "name"),
    [
        (dp.KeyThreshold, {"target": dp.Pure(1)}, "family"),
        ("Laplace", {"target": dp.Pure(1)}, "family"),
        (dp.Laplace, {"sensitivity": 1}, "target or error"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "error": 5}, "target or error"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "scale": 5}, "scale"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "epsilon": 5}, "epsilon"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "confidence": 0.9}, "confidence"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "count": 0}, "count"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "rate": 0}, "rate"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1), "rate": 2}, "rate"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(0)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.ZCDP(0)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Approx(1, 1)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.TotalVariation(1)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "target": dp.Pure(1).repeat(2)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "target": 1}, "target"),
        (dp.Gaussian, {"sensitivity": 1, "target": dp.Pure(1)}, "target"),
        (dp.Gaussian, {"sensitivity": 1, "target": dp.Approx(1, 0)}, "target"),
        (dp.Laplace, {"sensitivity": 1, "error": 5, "count": 2}, "count and rate"),
        (dp.Laplace, {"sensitivity": 1, "error": 5, "rate": 0.1}, "count and rate"),
        (dp.Laplace, {"sensitivity": 1, "error": 0}, "error"),
        (dp.Laplace, {"sensitivity": 1, "error": 5, "confidence": 1}, "confidence"),
        (dp.Laplace, {"sensitivity": 0, "target": dp.Pure(1)}, "sensitivity"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(family, given, name):
    """Each names what to change. Catches a search that never ends on what no noise can keep."""
    with pytest.raises(dp.InvalidArgument) as refusal:
        calibrate(family, **given)
    assert refusal.value.name == name


def test_the_search_needs_few_trials():
    """A power law in six trials, a step in some fifty; none where nothing, or everything, is
    enough. Catches a search that creeps up from one side."""
    for exponent in (0.5, 1.0, 2.0, 20.0):
        trials = []

        def excess(size, exponent=exponent, trials=trials):
            trials.append(size)
            return (123.456 / size) ** exponent

        found = least_noise(excess, start=100.0, tolerance=1e-9)
        assert 123.456 <= found.size <= 123.456 * (1 + 2e-9)
        assert len(trials) <= 7
    step = least_noise(
        lambda size: 0.0 if size >= 1e9 else float("inf"), start=1.0, tolerance=2**-46
    )
    assert step.size == pytest.approx(1e9, rel=1e-13)
    assert least_noise(lambda size: 0.0, start=1.0, tolerance=1e-3) is None
    assert least_noise(lambda size: float("inf"), start=1.0, tolerance=1e-3) is None
