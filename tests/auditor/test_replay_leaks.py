"""Replays: leaks that hide behind the recorder are seen, and harmless code is not accused."""

import math
import random
import time
import uuid

import numpy as np
import pyarrow as pa
import pytest

from discreet.auditor.replay import replay
from discreet.errors import InvalidArgument

PAIR = ([1, 2, 3], [1, 2, 3, 40])
COIN = random.Random(1)


def count(rows, recorder, noise=None):
    """The honest part of every pipeline here."""
    recorder.reached("n", len(rows), sensitivity=1, noise=noise)
    return recorder.released("n", len(rows) + COIN.gauss(0, 1))


# -- leaks -----------------------------------------------------------------------------------------


def unheard_of(rows, recorder):
    """The exact total is handed to the recorder, which then repeats it in the second run."""
    return count(rows, recorder), recorder.released("total", sum(rows))


def twice(rows, recorder):
    """The name is known, and the second value of that name is exact."""
    return count(rows, recorder), recorder.released("n", float(len(rows)))


def without_noise(rows, recorder):
    recorder.reached("n", len(rows), sensitivity=1)
    return recorder.released("n", len(rows))


def only_released(rows, recorder):
    return recorder.released("n", len(rows))


def told_by_an_error(rows, recorder):
    recorder.reached("n", len(rows), sensitivity=1)
    raise ValueError(f"sum {sum(rows)}")


def exits_with_a_code(rows, recorder):
    recorder.reached("n", len(rows), sensitivity=1)
    raise SystemExit(sum(rows))


def way_to_an_error(rows, recorder):
    count(rows, recorder)
    if sum(rows) > 20:
        recorder.reached("b", 1, sensitivity=1)
        recorder.released("b", 1)
    raise ValueError("x")


def order_of_a_dict(rows, recorder):
    n = count(rows, recorder)
    return dict.fromkeys(["a", "b"] if sum(rows) < 20 else ["b", "a"], n)


def list_or_tuple(rows, recorder):
    n = count(rows, recorder)
    return [n] if sum(rows) < 20 else (n,)


def one_scale_of_many(rows, recorder):
    scales = np.ones(3000)
    scales[1500] += len(rows) == 4
    return count(rows, recorder, noise=scales)


def ninth_digit(rows, recorder):
    return count(rows, recorder, noise=np.array([1 + 1e-10 * len(rows)]))


class Scale:
    """No text and no equality of its own."""

    def __init__(self, scale):
        self.scale = scale


def scale_in_an_object(rows, recorder):
    return count(rows, recorder, noise=Scale(len(rows)))


def scale_in_a_closure(rows, recorder):
    many = len(rows)
    return count(rows, recorder, noise=lambda: many)


def beside_a_time_stamp(rows, recorder):
    return {"n": count(rows, recorder), "at": time.perf_counter_ns(), "total": sum(rows)}


LEAKS = [
    (unheard_of, "released"),
    (twice, "released"),
    (without_noise, "bare"),
    (only_released, "released"),
    (told_by_an_error, "error"),
    (exits_with_a_code, "error"),
    (way_to_an_error, "path"),
    (order_of_a_dict, "output"),
    (list_or_tuple, "output"),
    (one_scale_of_many, "noise"),
    (ninth_digit, "noise"),
    (scale_in_an_object, "noise"),
    (scale_in_a_closure, "noise"),
    (beside_a_time_stamp, "output"),
]


@pytest.mark.parametrize(("run", "kind"), LEAKS)
def test_a_leak_that_hides_is_seen(run, kind):
    """Catches a replay that a pipeline talks into silence: what it hands over is repeated, cut
    off, or not looked at, and each of these came out as "no violation found" once."""
    finding = replay(run, PAIR)
    assert {one.kind for one in finding.differences} == {kind}, str(finding)
    assert "46" not in str(finding)  # the sum of the data


# -- harmless code ---------------------------------------------------------------------------------


def stamp(rows, recorder):
    return {"n": count(rows, recorder), "at": time.perf_counter_ns(), "id": uuid.uuid4().hex}


def coins(rows, recorder):
    """Two runs are alike now and then."""
    return {"n": count(rows, recorder), "coin": COIN.random() < 0.5, "side": COIN.choice(["a", 1])}


def sampled(rows, recorder):
    """What reaches the noise is random, too, and nobody told the recorder."""
    kept = [row for row in rows if COIN.random() < 0.5]
    recorder.reached("kept", sum(kept) * 100, sensitivity=1)
    return recorder.released("kept", sum(kept) + COIN.gauss(0, 1))


def flaky(rows, recorder):
    n = count(rows, recorder)
    if COIN.random() < 0.5:
        raise TimeoutError(f"after {time.perf_counter_ns()} ns")
    return n


def noise_without_text(rows, recorder):
    return count(rows, recorder, noise=Scale(1.0))


def noise_of_arrays(rows, recorder):
    return count(rows, recorder, noise={"scales": np.arange(5.0), "law": len})


def message_with_an_address(rows, recorder):
    count(rows, recorder)
    raise ValueError(f"not for {object()!r}")


def other_name(rows, recorder):
    recorder.reached("n", len(rows), sensitivity=1)
    return recorder.released("noisy n", len(rows) + COIN.gauss(0, 1))


def changes_its_input(rows, recorder):
    while rows and rows[-1] > 3:
        rows.pop()
    return count(rows, recorder)


def mostly_zero(rows, recorder):
    """Noise for ε = 4 that is rounded to whole numbers is 0 in 86 of 100 runs."""
    scale = 1 / 4
    noise = round(COIN.expovariate(1 / scale) - COIN.expovariate(1 / scale))
    recorder.reached("n", len(rows), sensitivity=1)
    return recorder.released("n", len(rows) + noise)


def drawn(rows, recorder):
    """A shuffle that the recorder knows of."""
    seed = recorder.released("seed", COIN.getrandbits(64), drawn=True)
    first = random.Random(seed).choice([3, 5])
    recorder.reached("first", min(len(rows), first), sensitivity=1)
    return recorder.released("first", len(rows) + COIN.gauss(0, 1))


HARMLESS = {
    stamp: "part 2 of what is returned; part 3",
    coins: "",
    sampled: "what reaches kept",
    flaky: "",
    noise_without_text: "",
    noise_of_arrays: "",
    message_with_an_address: "",
    other_name: "noisy n, which was released without anything having reached its noise",
    changes_its_input: "",
    mostly_zero: "",
    drawn: "",
}


@pytest.mark.parametrize("run", HARMLESS)
def test_harmless_code_is_not_accused(run):
    """Catches an accusation for what is random by itself, and silence about what was then not
    compared. Coins: 2·20 more runs before an accusation, so a false alarm below 1e-9."""
    for _ in range(5):
        finding = replay(run, PAIR)
        assert not finding.violated, str(finding)
        assert HARMLESS[run] in str(finding)
        if run in (noise_without_text, noise_of_arrays, changes_its_input, drawn):
            assert not finding.notes and finding.whole


def test_random_outputs_with_the_same_noise_are_compared():
    """Catches a generator that is seeded anew taken for a leak, and one that is not, for noise."""

    def run(rows, recorder):
        return count(rows, recorder), COIN.random()

    def same_noise():
        COIN.seed(3)
        return pa.BufferReader(b"")  # any context manager

    finding = replay(run, PAIR, same_noise=same_noise)
    assert not finding.violated and finding.whole and not finding.notes
    free = replay(run, PAIR)
    assert not free.violated and not free.whole and "part 2" in str(free)


def test_noise_that_is_declared_by_a_law_and_never_seen_is_noted():
    """Catches a mechanism with little noise on a grid accused, and none at all passed over."""

    def run(rows, recorder):
        recorder.reached("n", len(rows), sensitivity=1, noise=Scale(0.01))
        return recorder.released("n", len(rows))

    finding = replay(run, PAIR)
    assert not finding.violated
    assert "the noise is almost always zero, or there is none" in str(finding)


@pytest.mark.parametrize("run", [beside_a_time_stamp, without_noise, scale_in_an_object])
def test_slow_pipelines_are_run_a_few_times(run, monkeypatch):
    """Catches an accusation that is made sure of for hours. Each run takes an hour here."""
    now = [0.0]

    def slow(rows, recorder):
        now[0] += 3600
        return run(rows, recorder)

    monkeypatch.undo()  # the patience of other tests
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    finding = replay(slow, PAIR)
    assert finding.runs <= 5 + 2 * 4 and (finding.violated or "there is none" in str(finding))


@pytest.mark.parametrize("what", [lambda rows: lambda: rows, iter, Scale])
def test_outputs_that_cannot_be_compared_are_said_so(what):
    """Catches an object that holds the data and counts as equal in silence."""
    finding = replay(lambda rows, recorder: (count(rows, recorder), what(rows)), PAIR)
    assert not finding.whole and "has no equality" in str(finding)


def test_data_frames_are_compared():
    """Catches a frame whose equality has no one answer: not accused, and not passed over."""
    import pandas as pd

    def run(rows, recorder, leaky=False):
        n = count(rows, recorder)
        return pd.DataFrame({"n": [n], "text": [f"{len(rows)} rows" if leaky else "rows"]})

    fine = replay(run, PAIR)
    assert not fine.violated and fine.whole
    assert replay(lambda rows, recorder: run(rows, recorder, True), PAIR).violated


# -- words -----------------------------------------------------------------------------------------


def test_one_cause_is_one_line():
    """Catches the same change printed in each norm, and no word of wrong inputs."""

    def run(rows, recorder):
        declared = {"linf": 1, "l1": 1, "l2": 1}
        recorder.reached("n", [len(rows)], sensitivity=declared)
        recorder.reached("m", [len(rows), len(rows)], sensitivity=declared)

    finding = replay(run, ([1], [1, 2, 3]))
    assert len(finding.differences) == 6
    assert str(finding).split("\n") == [
        "violated: 2 differences between pair[0] and pair[1] that the noise does not hide",
        "- n: pair[0] and pair[1] are 2 apart in linf, l1 and l2, and 1 was declared (or the two "
        "inputs are not neighbours)",
        "- m: pair[0] and pair[1] are 2 apart in linf, and 1 was declared; 4 apart in l1, and 1 "
        "was declared; 2.82843 apart in l2, and 1 was declared (or the two inputs are not "
        "neighbours)",
    ]


def test_answers_that_do_not_fit_raise_no_second_alarm():
    """Catches errors that only the replay itself makes: an answer of three groups, repeated for
    data that has two, cannot be put together; the groups are the leak."""

    def run(rows, recorder):
        keys = sorted(set(rows))
        recorder.reached("by key", [rows.count(key) for key in keys], sensitivity=1)
        noisy = recorder.released("by key", [rows.count(key) + COIN.gauss(0, 1) for key in keys])
        return dict(zip(keys, noisy, strict=True))

    finding = replay(run, PAIR)
    assert [one.kind for one in finding.differences] == ["shape"]


@pytest.mark.parametrize(
    "pair",
    [
        None,
        ([1, 2], [1, 2]),
        (np.arange(3), np.arange(3)),
        (pa.table({"x": [math.nan]}), pa.table({"x": [math.nan]})),
        ("rows.csv", "rows.csv"),
        (1, 2, 3),
    ],
)
def test_inputs_that_can_show_nothing_are_refused(pair):
    """Catches "no violation found" for a dataset and itself, and a bare TypeError for none."""
    with pytest.raises(InvalidArgument, match="pair must be two"):
        replay(count, pair)


def test_inputs_that_look_alike_are_run():
    """Catches neighbours refused since their equality is not known."""
    finding = replay(lambda rows, recorder: count(list(rows), recorder), (iter([1]), iter([1])))
    assert finding.points == 1
    assert not replay(count, ([1], [1.0])).violated  # other types, so other inputs
