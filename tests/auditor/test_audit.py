"""dp.audit at its doors, and on functions whose fault is of every kind."""

import json
import math
import time
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.testing import seeded

NOISE = dp.Laplace(sensitivity=1, epsilon=1)
CONFIDENCE = 1 - 1e-9


def laplace(value, size):
    return NOISE.release(np.full(size, int(value)))


def half_the_noise(value, size):
    return dp.Laplace(sensitivity=1, epsilon=2).release(np.full(size, int(value)))


@pytest.fixture(autouse=True)
def _repeatable():
    with seeded(20261115):
        yield


def test_an_honest_claim_is_not_accused_and_nearly_reached():
    """False-alarm rate 1e-9; catches a bound that exceeds the truth, and a weak choice."""
    finding = dp.audit(laplace, (0, 1), dp.Pure(1), samples=400_000, batched=True)
    assert not finding.violated
    assert 0.95 < finding.lower_bound <= 1
    assert "not a proof" in str(finding) and "No violation" in str(finding)
    assert "proof" not in str(finding).replace("That is not a proof", "")


def test_half_the_noise_is_caught_with_its_epsilon():
    """The planted error."""
    finding = dp.audit(half_the_noise, (0, 1), dp.Pure(1), samples=400_000, batched=True)
    assert finding.violated and 1.8 < finding.lower_bound <= 2
    assert finding.parameter == "epsilon" and finding.confidence == CONFIDENCE
    assert finding.samples <= 400_000 and finding.seconds > 0
    assert finding.lower_bound <= finding.within_reach <= 2.1
    assert str(finding).startswith("Violated: Pure(epsilon=1) is false, with confidence 1 − 1e-09.")


@pytest.mark.parametrize(
    "claim, truth",
    [
        (dp.Pure(1), 2.0),
        (dp.Approx(1, 1e-6), 2.0),
        (dp.ZCDP(0.5), math.inf),  # of ρ only that it is above
        (dp.GDP(1), math.inf),
        (dp.TotalVariation(0.46), math.tanh(1)),
        (dp.Laplace(sensitivity=1, epsilon=1, step=1).guarantee, 2.0),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_claim_in_any_notion_can_be_refuted(claim, truth):
    """Discrete Laplace noise of scale ½ claimed as scale 1; catches a notion that is not read."""
    finding = dp.audit(half_the_noise, (0, 1), claim, samples=100_000, batched=True)
    assert finding.violated
    assert finding.lower_bound <= truth


def test_the_witness_is_replayed_and_a_repaired_function_passes():
    """Catches a witness that shows nothing on new samples, or that accuses the repaired one."""
    finding = dp.audit(half_the_noise, (0, 1), dp.Pure(1), samples=100_000, batched=True)
    again = finding.witness.replay(half_the_noise, samples=50_000, batched=True)
    assert again.violated and again.lower_bound > 1.5
    assert not finding.witness.replay(laplace, samples=50_000, batched=True).violated
    event = finding.witness.event
    outputs = half_the_noise(finding.witness.first, 2000)
    share = np.mean([event(output) for output in outputs])
    assert share > finding.witness.probability - 0.05  # 2,000 draws: 4.5 standard errors


def wrong_type(value):
    return 0 if value else 0.0


def wrong_length(value):
    return [1] * (3 + (value and int(laplace(0, 1)[0]) > 2))


def sometimes_raises(value):
    if value and laplace(0, 1)[0] > 1:
        raise ValueError(f"cannot handle {value}")
    return 1


def tells_in_a_message(value):
    if laplace(0, 1)[0] > 0:
        raise ValueError(f"bad row: {value}")
    return 1


def sometimes_nan(value):
    return math.nan if value and laplace(0, 1)[0] > 1 else 1.0


def another_key(value):
    return {"a": 1, "b": 2} if value and laplace(0, 1)[0] > 1 else {"a": 1}


def another_word(value):
    return "yes" if value and laplace(0, 1)[0] > 1 else "no"


def float_bits(value):
    return value + math.ldexp(int(laplace(0, 1)[0]), -54) if value else float(laplace(0, 1)[0])


def same_noise_twice(value, size):
    noise = laplace(0, size)
    return np.column_stack([noise, noise + value])


@pytest.mark.parametrize(
    "run",
    [
        wrong_type,
        wrong_length,
        sometimes_raises,
        tells_in_a_message,
        sometimes_nan,
        another_key,
        another_word,
        float_bits,
    ],
    ids=lambda run: run.__name__,
)
def test_what_one_input_gives_and_the_other_never_is_seen_at_once(run):
    """One feature each: type, length, error, NaN, key, text, bits."""
    finding = dp.audit(run, (0, 1), dp.Pure(1), samples=6000)
    assert finding.violated and finding.one_sided
    assert math.isfinite(finding.lower_bound)  # a black box cannot show more
    assert "never seen under" in str(finding)


def test_noise_used_twice_cancels_in_a_difference():
    """Catches features that look at one coordinate at a time only."""
    finding = dp.audit(same_noise_twice, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    assert finding.violated and finding.samples < 20_000  # and it stops early


def test_errors_of_single_outputs_are_told_apart_in_batches():
    """A batch that raises is drawn one by one: the share that raises is what counts."""

    def run(value, size):
        noise = laplace(0, size)
        if value and (noise > 1).any():
            raise ArithmeticError
        return np.minimum(noise, 1)

    finding = dp.audit(run, (0, 1), dp.Pure(1), samples=4000, batched=True)
    assert finding.violated and "ArithmeticError" in str(finding.witness.event)
    assert finding.errors[0] == 0 < finding.errors[1] < 0.2 and "ended in an error" in str(finding)


def test_a_leak_in_one_of_many_coordinates_is_found():
    """Neither a mean nor a spread changes: a parity in the 40th, and two bits that agree."""

    def parity(value, size):
        y = dp.Laplace(sensitivity=1, scale=1000).release(np.zeros((size, 50), np.int64))
        y[:, 40] = 2 * y[:, 40] + value
        return y

    def agree(value, size):
        bits = dp.RandomizedResponse(truth="1/1000000").release(np.zeros((size, 20), np.int64))
        bits[:, 11] = bits[:, 3] ^ value
        return bits

    for run in (parity, agree):
        assert dp.audit(run, (0, 1), dp.Pure(1), samples=8000, batched=True).violated


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still but for what a test adds: ``clock[0] += seconds``."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_a_slow_function_gets_half_of_its_calls_to_test(clock):
    """Catches an audit that uses its few outputs up before it tests, and says nothing of it."""

    def slow(value):
        clock[0] += 0.002
        return value

    finding = dp.audit(slow, (0, 1), dp.Pure(1), seconds=1.5)
    assert finding.violated and finding.witness.counts.n >= finding.samples // 3
    few = dp.audit(slow, (0, 1), dp.Pure(1), seconds=0.1)
    assert few.too_few and "could not have shown" in str(few)
    assert 24 < few.least_tests < 80


def test_mechanisms_are_audited_as_they_are():
    mechanism = dp.Laplace(sensitivity=1, epsilon=1)
    finding = dp.audit(mechanism, (0, 1), samples=4000)
    assert not finding.violated and finding.claim == mechanism.guarantee
    assert not dp.audit(mechanism, samples=4000).violated
    assert dp.audit(mechanism, claim=dp.Pure("1/2"), samples=8000).violated
    again = dp.audit(mechanism, claim=dp.Pure("1/2"), samples=20_000)
    assert again.witness.replay(mechanism, samples=20_000).violated


def test_a_confidence_of_any_length_is_kept():
    finding = dp.audit(
        laplace, (0, 1), dp.Pure(1), samples=400, batched=True, confidence=1 - Fraction(1, 10**30)
    )
    assert "confidence 1 − 1e-30" in str(finding)


def test_many_pairs_of_a_slow_function_keep_to_the_samples():
    """Catches a search for pairs whose samples do not count."""
    calls = [0]

    def run(value):
        calls[0] += 1
        return value // 10

    dp.audit(run, neighbors=[(i, i + 1) for i in range(40)], claim=dp.Pure(1), samples=2000)
    assert calls[0] <= 2 * 2000 * 1.2


def test_batches_that_raise_bias_nothing():
    """A correct function whose errors are likelier under one input, by less than e. Throwing away
    the batches that raise, and keeping the others, would count p² against q²: an accusation."""

    def run(value, size):
        noise = laplace(0, size)
        rare = noise > (4 if value else 5)  # one step further, so e times as likely
        if rare.any():
            raise ArithmeticError
        return np.zeros((size, 600))  # wide outputs come in small batches

    finding = dp.audit(run, (0, 1), dp.Pure(1), samples=20_000, batched=True)
    assert not finding.violated and finding.errors[1] > 0


def test_two_equal_inputs_are_refused():
    """A test that can never fail is the worst an audit can give."""
    for pair in ((1, 1), ("a", "a"), (np.zeros(3), np.zeros(3)), ([1, 2], [1, 2])):
        with pytest.raises(InvalidArgument, match="two equal ones"):
            dp.audit(laplace, pair, dp.Pure(1), samples=100, batched=True)


def test_the_worst_of_many_pairs_is_found():
    """Catches a search that settles for any pair; half of them show nothing."""

    def run(value, size):
        return laplace(min(value, 3), size)

    pairs = [(i, i + 1) for i in range(5, 13)] + [(0, 1), (0, 3), (0, 2)]
    finding = dp.audit(run, neighbors=pairs, claim=dp.Pure(1), samples=100_000, batched=True)
    assert finding.violated and finding.lower_bound > 2.5
    assert finding.pairs_tried == 11 and "among 11" in str(finding)
    drawn = iter(pairs * 10)
    again = dp.audit(
        run, neighbors=lambda: next(drawn), claim=dp.Pure(3), samples=50_000, batched=True
    )
    assert not again.violated and again.lower_bound > 2.5


def test_the_best_pair_is_found_in_a_long_list_in_little_time(clock):
    """Catches a search that ends with the first of many pairs because none stands out yet."""

    def run(value):
        clock[0] += 2e-4
        return [0.0] * 8 if value < 60 else None

    pairs = [(-1, i) for i in range(64)]
    finding = dp.audit(run, neighbors=pairs, claim=dp.Pure(1), seconds=2)
    assert finding.violated


def test_a_finding_is_plain_json_without_inputs_or_outputs():
    """Catches a value of the audited data in a report."""
    secret = "Ada Lovelace, 1815"

    def run(value):
        return (value == secret) + int(laplace(0, 1)[0])

    finding = dp.audit(run, (secret, "nobody"), dp.Pure(0.1), samples=3000)
    document = json.loads(finding.to_json())
    assert document["violated"] is True and document["witness"]["hits"][1] > 0
    assert "Ada" not in finding.to_json() + str(finding) + repr(finding)


def test_progress_is_told():
    told = []
    dp.audit(
        laplace,
        (0, 1),
        dp.Pure(1),
        samples=50_000,
        batched=True,
        progress=lambda d, w: told.append((d, w)),
    )
    shares = [done for done, _ in told]
    assert shares == sorted(shares) and shares[-1] > 0.9 and told[0][1] == "a first look"


def test_seconds_are_kept_roughly(clock):
    """It ends, and it drew as long as it could."""

    def timed(value, size):
        clock[0] += 1e-5 * size
        return laplace(value, size)

    finding = dp.audit(timed, (0, 1), dp.Pure(1), seconds=0.3, batched=True)
    assert finding.samples > 1000 and not finding.violated
    assert 0.15 < clock[0] < 3


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"run": 3}, "run"),
        ({"pair": (1, 2, 3)}, "pair"),
        ({"pair": None}, "neighbors"),
        ({"neighbors": [(0, 1)]}, "neighbors"),
        ({"claim": 1}, "claim"),
        ({"claim": None}, "claim"),
        ({"samples": 3}, "samples"),
        ({"samples": 100, "seconds": 1}, "both"),
        ({"seconds": -1, "samples": None}, "seconds"),
        ({"confidence": 1}, "confidence"),
        ({"run": lambda value, size: [0]}, "first axis"),
        ({"run": lambda value, size: 0}, "first axis"),
        ({"run": lambda value, size: 1 / 0}, "ZeroDivisionError"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(arguments, words):
    given = {"run": laplace, "pair": (0, 1), "claim": dp.Pure(1), "samples": 1000, "batched": True}
    with pytest.raises(InvalidArgument, match=words):
        dp.audit(**{**given, **arguments})


def test_a_constant_and_an_empty_output_can_be_audited():
    for output in (7, None, "", [], np.zeros(0)):
        finding = dp.audit(lambda value, output=output: output, (0, 1), dp.Pure(0), samples=500)
        assert not finding.violated and finding.lower_bound == 0


def test_infinite_and_huge_outputs_do_not_break_it():
    values = [math.inf, -math.inf, 1e308, -1e308, 0.0, 5e-324, 10**400]

    def run(value, size):
        return [values[int(x) % len(values)] for x in laplace(value, size)]

    assert not dp.audit(run, (0, 1), dp.Pure(1), samples=5000, batched=True).violated
