"""Replay of foreign pipelines: planted errors are caught by one run on each neighbour."""

import json
import math
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

from discreet.auditor.recorder import current
from discreet.auditor.replay import replay
from discreet.errors import InvalidArgument
from discreet.sensitivity import Sensitivity

NOISE = np.random.default_rng(0)
M = 2.0**50


@contextmanager
def same_noise():
    """What foreign code brings along: its generator, seeded anew."""
    global NOISE
    NOISE = np.random.default_rng(7)
    yield


def noisy(values, scale=1.0):
    return values + NOISE.laplace(scale=scale, size=np.shape(values) or None)


# -- pipelines with an error, each with neighbours that show it ------------------------------------


def no_clamp(rows, recorder):
    recorder.reached("sum", sum(rows), sensitivity=1)
    return noisy(sum(rows))


def no_contribution_bound(rows, recorder):
    """X29: one person in three groups, noise for one."""
    counts = np.bincount([group for _, group in rows], minlength=3)
    recorder.reached("counts", counts, sensitivity=Sensitivity.spread(cells=1, each=1))
    return noisy(counts)


def scale_of_private_n(rows, recorder):
    """X20, B6: the noise of a mean shrinks with the true number of rows."""
    n = len(rows)
    recorder.reached("mean", sum(rows) / n, sensitivity=1 / n, noise=1 / n)
    return noisy(sum(rows) / n, 1 / n)


def private_n_hidden_in_a_constant(rows, recorder):
    """B6: the sensitivity is declared for ten rows, and the divisor is the true number."""
    recorder.reached("mean", sum(rows) / len(rows), sensitivity=0.1)
    return noisy(sum(rows) / len(rows), 0.1)


def clip_passes_nan(rows, recorder):
    """X30, B5."""
    total = float(np.clip(rows, 0, 1).sum())
    recorder.reached("sum", total, sensitivity=1)
    return noisy(total)


def keys_from_data(rows, recorder):
    """X35, B14."""
    counts = {key: rows.count(key) for key in set(rows)}
    recorder.reached("counts", counts, sensitivity=1)
    return {key: noisy(n) for key, n in counts.items()}


def wraps(rows, recorder):
    """X36, B1."""
    total = np.array(rows, np.int64).sum()
    recorder.reached("sum", total, sensitivity=1)
    return noisy(float(total))


def rounds(rows, recorder):
    """B2: left to right, in floats."""
    total = 0.0
    for row in rows:
        total += row
    recorder.reached("sum", total, sensitivity=1)
    return noisy(total)


def clipped_copy_unused(rows, recorder):
    """B12: the clamped values are not the ones that are summed."""
    clipped = np.clip(rows, 0, 10)
    assert clipped.max() <= 10
    recorder.reached("sum", float(np.sum(rows)), sensitivity=10)
    return noisy(float(np.sum(rows)))


def branches(rows, recorder):
    """A cheap way for few rows, another for many."""
    if len(rows) > 3:
        recorder.reached("mean", 0.5, sensitivity=1)
    recorder.reached("count", len(rows), sensitivity=1)
    return noisy(len(rows))


def raises(rows, recorder):
    """E1: one row that cannot be cast."""
    total = sum(int(row) for row in rows)
    recorder.reached("sum", min(total, 10), sensitivity=10)
    return noisy(total)


def shape_of_data(rows, recorder):
    values = np.unique(rows)
    recorder.reached("values", values, sensitivity=1)
    return noisy(values)


def type_of_data(rows, recorder):
    """A sum of nothing is an integer, and then so is the answer."""
    recorder.reached("sum", sum(rows), sensitivity=1)
    return round(noisy(sum(rows))) if isinstance(sum(rows), int) else noisy(sum(rows))


def returns_the_size(rows, recorder):
    """Noise on the count, and a list as long as the data."""
    recorder.reached("count", len(rows), sensitivity=1)
    return [noisy(len(rows))] * len(rows)


BROKEN = {
    "clamp removed (X28)": (no_clamp, ([0], [0, 5]), "distance"),
    "contribution bound forgotten (X29)": (
        no_contribution_bound,
        ([(1, 0)], [(1, 0), (2, 0), (2, 1), (2, 2)]),
        "distance",
    ),
    "noise scaled by a private n (X20)": (scale_of_private_n, ([0], [0, 1]), "noise"),
    "a private n used as public (B6)": (
        private_n_hidden_in_a_constant,
        ([0.0], [0.0, 1.0]),
        "distance",
    ),
    "NaN passes the clip (X30)": (clip_passes_nan, ([0.0], [math.nan]), "nan"),
    "keys from data (X35)": (keys_from_data, (["a"], ["a", "b"]), "keys"),
    "int64 wraps (X36)": (wraps, ([2**63 - 1, 0], [2**63 - 1, 1]), "distance"),
    "floats round (B2)": (
        rounds,
        ([M] + [M + 0.25] * 4095, [M + 1] + [M + 0.25] * 4095),
        "distance",
    ),
    "row order (B3)": (rounds, ([2.0**53] + [1.0] * 1000, [1.0] * 1000 + [2.0**53]), "distance"),
    "clipped copy unused (B12)": (clipped_copy_unused, ([1.0], [1.0, 1e9]), "distance"),
    "control flow": (branches, ([1] * 3, [1] * 4), "path"),
    "an error on one side (E1)": (raises, (["1"], ["1", "x"]), "error"),
    "shape": (shape_of_data, ([1, 1], [1, 2]), "shape"),
    "type": (type_of_data, ([], [0.5]), "type"),
    "length of the output": (returns_the_size, ([1], [1, 1]), "output"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_planted_error_is_caught(name):
    """Catches a replay that does not look: each pipeline has one fault, of a kind of its own."""
    run, pair, kind = BROKEN[name]
    finding = replay(run, pair, same_noise=same_noise)
    assert finding.violated
    assert kind in {one.kind for one in finding.differences}
    assert json.loads(finding.to_json())["violated"] is True


def test_b2_and_x36_distances_are_exact():
    """Catches a distance computed in floats: 2^64 − 1 and 1024."""
    found = {}
    for name in ("int64 wraps (X36)", "floats round (B2)", "row order (B3)"):
        run, pair, _ = BROKEN[name]
        (one,) = replay(run, pair, same_noise=same_noise).differences
        found[name] = one.measured
    assert [*found.values()] == [2**64 - 1, 1024, 1000]


def right(rows, recorder):
    """Clamped, exact, with public keys; NaN adds nothing."""
    values = [min(max(row, 0.0), 1.0) if row == row else 0.0 for row in rows]
    recorder.reached("sum", math.fsum(values), sensitivity=1, noise=("laplace", 1))
    counts = {half: sum((v > 0.5) == half for v in values) for half in (False, True)}
    recorder.reached("halves", counts, sensitivity=Sensitivity.spread(cells=1, each=1))
    recorder.reached("width", 10, sensitivity=0)
    return {half: noisy(float(n)) for half, n in counts.items()}


def test_a_correct_pipeline_is_not_accused():
    """Catches an accusation for noise, for equal NaNs, or for order."""
    base = [0.25, 0.5, 7.0, math.nan]
    for one in (0.0, 1.0, -0.0, math.nan, math.inf, -math.inf, 1e308, 5e-324):
        for pair in ((base, [*base, one]), ([one, *base], base[::-1])):
            finding = replay(right, pair, same_noise=same_noise)
            assert not finding.violated, str(finding)
            assert "is not a proof" in str(finding) and finding.points == 3


def adaptive(leaky):
    """A second question that depends on the first answer; everything noisy is released."""

    def run(rows, recorder):
        recorder.reached("n", len(rows), sensitivity=1)
        n = recorder.released("n", noisy(len(rows)))
        name = "high" if n > 3.5 else "low"
        recorder.reached(name, sum(rows), sensitivity=1)
        total = recorder.released(name, noisy(sum(rows)))
        return {"n": n, "mean": total / (len(rows) if leaky else max(n, 1))}

    return run


def test_later_steps_are_compared_given_the_same_answers():
    """Catches adaptive control flow taken for a leak: each run draws noise of its own here, and
    only the released answers repeat. A size that is used as public shows in the output."""
    for _ in range(20):
        fine = replay(adaptive(leaky=False), ([1, 0, 1], [1, 0, 1, 1]))
        assert not fine.violated and fine.whole and fine.runs == 5, str(fine)
    (one,) = replay(adaptive(leaky=True), ([1, 0, 1], [1, 0, 1, 1])).differences
    assert one.kind == "output" and "beside the noise" in one.words


@pytest.mark.parametrize(
    "beside",
    [
        lambda rows: math.copysign(0.0, sum(rows)),
        lambda rows: pa.table({"x": pa.array([], pa.int32() if sum(rows) > 0 else pa.int64())}),
        lambda rows: {"noise": 1, "note": f"of {len(rows)} rows"},
        lambda rows: [None, float("nan") if sum(rows) > 0 else 0.0],
        lambda rows: ValueError(f"{len(rows)} rows are too few"),
    ],
)
def test_anything_that_comes_out_beside_the_noise_is_seen(beside):
    """Catches an output that is compared too loosely: the sign of a zero, the type of an empty
    column, a sentence, a NaN, the message of an error that both raise."""

    def run(rows, recorder):
        recorder.reached("n", len(rows), sensitivity=1)
        recorder.released("n", noisy(len(rows)))
        output = beside(rows)
        if isinstance(output, Exception):
            raise output
        return output

    kinds = {one.kind for one in replay(run, ([1], [1, -3])).differences}
    assert kinds and kinds <= {"output", "error"}


def test_keys_that_one_side_lacks_count_as_absent():
    """Catches key discovery that cannot be told from keys taken from the data."""

    def found(rows, recorder, groups=1):
        counts = {key: rows.count(key) for key in rows}
        recorder.reached(
            "keys", counts, sensitivity={"linf": 1, "l0": groups}, absent=0, noise="threshold 15"
        )
        return []

    assert not replay(found, (["a"], ["a", "b"])).violated
    (one,) = replay(found, (["a"], ["a", "b", "c"])).differences
    assert (one.norm, one.measured, one.declared) == ("l0", 2, 1)


def test_scores_are_compared_by_their_range():
    """Catches scores that all move together taken for a change of the choice (C2)."""

    def choose(scores, recorder):
        recorder.reached("scores", scores, sensitivity=1, norm="range")

    assert not replay(choose, ([[3, 1]], [[9, 7]])).violated
    assert replay(choose, ([[3, 1]], [[4, 0]])).violated


def test_nothing_recorded_is_not_nothing_found():
    """Catches a clean bill for a pipeline that never spoke, and for one that fails everywhere."""
    with pytest.raises(InvalidArgument, match="told it nothing"):
        replay(lambda rows: sum(rows), ([1], [2]))
    with pytest.raises(InvalidArgument, match="raised ZeroDivisionError"):
        replay(lambda rows: 1 / 0, ([1], [2]))
    (one,) = replay(lambda rows: 1 / sum(rows), ([1], [0])).differences
    assert one.words == "no error from pair[0] and ZeroDivisionError from pair[1]"


def test_no_value_of_the_data_is_told():
    """Catches a report that quotes a row, a key or an error's message."""
    secret = 915_733_202_177

    def run(rows, recorder):
        recorder.reached("keys", dict.fromkeys(rows, 1), sensitivity=1)
        if secret in rows:
            raise ValueError(secret)

    finding = replay(run, ([1], [1, secret]))
    assert len(finding.differences) == 2
    told = str(finding) + repr(finding) + finding.to_json()
    assert str(secret) not in told


def test_the_recorder_is_gone_afterwards():
    """Catches a recorder that stays in force and hears of real releases, also after an error."""
    seen = []

    def run(rows, recorder):
        seen.append(current())
        recorder.reached("n", 1, sensitivity=1)
        raise ValueError

    replay(run, ([], [1]))
    assert None not in seen and current() is None


@pytest.mark.parametrize("wrong", [{"pair": [1]}, {"run": 3}, {"pair": None}])
def test_bad_arguments_are_refused(wrong):
    with pytest.raises(InvalidArgument):
        replay(**{"run": right, "pair": ([], [1.0])} | wrong)
    with pytest.raises(InvalidArgument, match="norm"):
        replay(lambda x, r: r.reached("n", 1, sensitivity=1, norm="l3"), ([], [1])).violated  # noqa: B018
