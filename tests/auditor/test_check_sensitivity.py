"""The search for a broken sensitivity: known bugs are found, correct functions are not accused."""

import json
import math
from decimal import Decimal
from itertools import islice

import numpy as np
import pytest

from discreet.auditor.check_sensitivity import check_sensitivity
from discreet.auditor.domains import neighbours
from discreet.errors import InvalidArgument
from discreet.neighbors import distance
from discreet.sensitivity import bounded_mean

M = 2.0**50


def left_to_right(x):
    total = 0.0
    for value in x:
        total += value
    return total


def squares_about_the_mean(x):
    return float(((x - np.mean(x)) ** 2).sum())


def tree(x):
    """Counts in a binary tree over four leaves: each record is in three of them."""
    leaves = np.bincount(x, minlength=4)
    return np.concatenate([leaves, leaves.reshape(2, 2).sum(1), [leaves.sum()]])


def resized(x):
    """To three records; rising, unless there are three already."""
    rows = sorted(x, reverse=len(x) == 3)
    return np.array((rows + [0] * 3)[:3])


def kept_by_branch(x):
    return float(np.clip(x, 0, 10).sum()) if x.max(initial=0.0) < 9e9 else 0.0


# f, domain, claimed, relation, options, least distance that must be found
BROKEN = {
    "X36, B1: int64 wraps": (np.sum, np.int64, 2**63, "add-remove", {}, 2**64 - 1),
    "B1: int8 wraps": (lambda x: x.sum(dtype=np.int8), np.int8, 128, "add-remove", {}, 255),
    "B1: under replace": (np.sum, (0, 2**63 - 1), 2**63 - 1, "replace", {}, 2**64 - 1),
    "B2: left to right, n = 4096": (
        left_to_right, (M, M + 1), 1, "replace", {"size": 4096, "tries": 120}, 1024,
    ),
    "B2: any size": (left_to_right, (M, M + 1), 1, "replace", {"tries": 400}, 16),
    "B2: NumPy's pairwise sum": (np.sum, (M, M + 1), 1, "replace", {"tries": 600}, 4),
    "B2: squares about the mean": (
        squares_about_the_mean, (M, M + 1), 4, "replace", {"size": (1, 128)}, 8,
    ),
    "B3: order": (left_to_right, (2.0**53, 2.0**53 + 2), 2, "replace", {"tries": 600}, 8),
    "B3: order, without tolerance": (
        left_to_right, (0.0, 2.0**53), 2**53, "add-remove", {"tolerance": 0}, 2**53,
    ),
    "B4: half of an odd width": (
        lambda x: np.abs(np.clip(x, 0, 7) - 7 // 2).sum(), (0, 7), 7 // 2, "add-remove", {}, 4,
    ),
    "B5, X30: NaN passes clip": (
        lambda x: np.clip(x, 0, 1).sum(), np.float64, 1, "add-remove", {}, math.inf,
    ),
    "B5: in singles": (
        lambda x: np.clip(x, 0, 1).sum(), np.float32, 1, "replace", {}, math.inf,
    ),
    "B6, X20: a private n": (np.mean, (0.0, 1.0), 0.1, "add-remove", {"size": (1, 50)}, 0.5),
    "B6: the mean of nobody": (np.mean, (0.0, 1.0), 1, "add-remove", {}, math.inf),
    "B7: a size that is treated differently": (resized, (0, 2), 2, "add-remove", {}, 3),
    "B8: [0, 1, 2] and [1, 2, 3]": (np.sort, (0, 3), 1, "replace", {"norm": "l0", "size": 3}, 3),
    "B9: a tree in l2": (tree, [0, 1, 2, 3], 1.7, "add-remove", {"norm": "l2"}, 1.732),
    "B9: a tree in l2, replaced": (tree, [0, 1, 2, 3], 1.9, "replace", {"norm": "l2"}, 2),
    "B10: one bound used twice": (
        lambda x: (np.clip(x, 0, 100) ** 2).sum(), (0, 100), 0, "add-remove", {}, 10_000,
    ),
    "X28: no clamp": (math.fsum, (-5.0, 5.0), 1, "add-remove", {}, 4.999),
    "X35: keys from data": (
        lambda x: {key: x.count(key) for key in set(x)}, ["a", "b"], 1, "add-remove", {}, math.inf,
    ),
    "C2: a histogram, replaced": (
        lambda x: np.bincount(x, minlength=3), [0, 1, 2], 1, "replace", {}, 2,
    ),
    "E1: an error on one side": (
        lambda x: sum(int(v) for v in x), ["1", "2", "x"], 5, "add-remove", {}, math.inf,
    ),
    "shape": (np.unique, [0, 1, 2], 1, "replace", {}, math.inf),
    "a branch on the size": (lambda x: 100 * (len(x) > 4), (0, 1), 1, "add-remove", {}, 100),
    "a branch on an outlier": (kept_by_branch, np.float64, 10, "add-remove", {}, 20),
    "rows of two columns": (
        lambda rows: math.fsum(v for k, v in rows if k == "A"),
        (["A", "B"], (0.0, 60.0)), 10, "add-remove", {}, 59,
    ),
    "records that a function makes": (
        lambda x: x.sum(), lambda u: 3 * u, 2, "add-remove", {}, 2.9,
    ),
    "given datasets": (max, [[1, 2, 3], [4, 50]], 10, "add-remove", {"size": (1, 9)}, 49),
    "the variance of five": (np.var, (0.0, 1.0), 0.1, "replace", {"size": 5}, 0.159),
    "B1: a sum in 16 bits": (
        lambda x: x.sum(dtype=np.int16), (0, 100), 100, "add-remove", {"tries": 300}, 65_000,
    ),
    "B1: a sum in 16 bits, replaced": (
        lambda x: x.sum(dtype=np.int16), (0, 100), 100, "replace", {"tries": 300}, 65_000,
    ),
    "B1: a sum in 32 bits": (
        lambda x: x.sum(dtype=np.int32), (0, 10**6), 10**6, "add-remove", {"tries": 100}, 2**31,
    ),
    "B1: below zero": (
        lambda x: x.sum(dtype=np.int32), (-(10**6), 0), 10**6, "replace", {"tries": 100}, 2**31,
    ),
    "B1: a sum modulo 97": (lambda x: x.sum() % 97, (0, 1), 1, "add-remove", {}, 96),
    "a jump at a sum": (
        lambda x: 100.0 * (x.sum() > 200.5), (0.0, 1.0), 1, "add-remove", {"tries": 300}, 100,
    ),
    "a jump at a sum, replaced": (
        lambda x: 100.0 * (x.sum() > 200.5), (0.0, 1.0), 1, "replace", {"tries": 300}, 100,
    ),
    "a jump at a size": (
        lambda x: len(x) // 1000 * 50, (0.0, 1.0), 1, "add-remove", {"tries": 300}, 50,
    ),
    "a jump at a size from 5,000 on": (
        lambda x: len(x) // 777 * 50, (0, 1), 1, "add-remove",
        {"size": (5000, 6000), "tries": 180}, 50,
    ),
    "values in a thousandth of the range": (
        lambda x: 3 * ((x > 0.4142) & (x < 0.4152)).sum(), (0.0, 1.0), 1, "add-remove", {}, 3,
    ),
    "two values in a hundredth of it": (
        lambda x: 3 * int(((x > 0.41) & (x < 0.42)).sum() >= 2), (0.0, 1.0), 1, "replace", {}, 3,
    ),
    "one integer in 256": (
        lambda x: 3 * int((x * 2654435761 % 256 == 7).sum()), (0, 10**6), 1, "add-remove", {}, 3,
    ),
    "one row in 1331": (
        lambda rows: 3 * rows.count((7, 7, 7)), (list(range(11)),) * 3, 1, "add-remove",
        {"tries": 2000}, 3,
    ),
    "a median in half of its range": (np.median, (0.0, 1.0), 0.5, "replace", {"size": 7}, 0.999),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_claim_is_refuted(name):
    """Catches a search that overlooks a kind of error, and a pair that does not show it."""
    f, domain, claimed, relation, options, least = BROKEN[name]
    finding = check_sensitivity(f, domain, claimed, relation, **{"tries": 600, **options})
    assert finding.violated and finding.found >= least
    x, y = (finding.worst[0], finding.worst[1])
    assert distance(map(repr, list(x)), map(repr, list(y)), relation) <= 1
    if isinstance(finding.found, float) or options.get("norm", "l1") != "l1":
        return
    with np.errstate(all="ignore"):  # the worst pair alone shows what was found
        change = np.asarray(f(x), object) - np.asarray(f(y), object)
    if type(f(x)) in (float, np.float64):
        assert abs(change) >= float(finding.found) * (1 - 1e-9)


def clamped_fsum(x):
    return math.fsum(min(max(value, 0.0), 1.0) if value == value else 0.0 for value in x)


CORRECT = {
    "an exact sum, clamped": (clamped_fsum, np.float64, 1, "add-remove", {}),
    "an exact sum, replaced": (math.fsum, (0.0, 1.0), 1, "replace", {}),
    "a float sum of small values": (np.sum, (0.0, 1.0), 1, "add-remove", {}),
    "integers of any length": (
        lambda x: sum(int(v) for v in x), np.int64, 2**63, "add-remove", {},
    ),
    "a count": (len, np.float64, 1, "add-remove", {}),
    "a histogram": (lambda x: np.bincount(x, minlength=3), [0, 1, 2], 1, "add-remove", {}),
    "a histogram, replaced": (lambda x: np.bincount(x, minlength=3), [0, 1, 2], 2, "replace", {}),
    "the same in l2": (
        lambda x: np.bincount(x, minlength=3), [0, 1, 2], math.sqrt(2), "replace", {"norm": "l2"},
    ),
    "a tree in l2": (tree, [0, 1, 2, 3], math.sqrt(3), "add-remove", {"norm": "l2"}),
    "a mean of ten": (np.mean, (0.0, 1.0), 0.1, "replace", {"size": 10}),
    "a mean of a hundred in [0, 60]": (
        np.mean, (0.0, 60.0), bounded_mean(bounds=(0, 60), n=100, relation="replace").l1,
        "replace", {"size": 100},
    ),
    "a median": (np.median, (0.0, 1.0), 1, "replace", {}),
    "decimals": (
        lambda x: Decimal(len(x)) / 8, (0, 1), 0.125, "add-remove", {},
    ),
    "a sum in 64 bits": (lambda x: x.sum(), (0, 10**6), 10**6, "add-remove", {}),
    "a maximum": (lambda x: max(x, default=0), (0, 7), 7, "add-remove", {}),
    "rows of two columns": (
        lambda rows: math.fsum(v for k, v in rows if k == "A"),
        (["A", "B"], (0.0, 60.0)), 60, "add-remove", {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORRECT)
def test_a_right_claim_is_not_accused(name):
    """Catches a distance that is measured wrong, or neighbours that are none; the search reaches
    what is claimed, so a claim that is 5 % smaller is refuted."""
    f, domain, claimed, relation, options = CORRECT[name]
    finding = check_sensitivity(f, domain, claimed, relation, tries=400, **options)
    assert not finding.violated, str(finding)
    assert "no violation found" in str(finding) and "not a proof" in str(finding)
    assert finding.found >= 0.95 * float(claimed)


def test_a_search_is_the_same_each_time():
    """Catches a search that depends on the hour, or on what was searched before."""
    told = [
        check_sensitivity(left_to_right, (M, M + 1), 1, "replace", tries=150, size=64)
        for _ in range(2)
    ]
    assert told[0].shown == told[1].shown and told[0].found == told[1].found > 1


def test_the_worst_pair_is_small():
    """Catches a search that hands over a thousand rows where two show it."""
    finding = check_sensitivity(np.sum, np.int64, 2**63, "add-remove", tries=1000)
    assert [len(x) for x in finding.worst] == [1, 2]
    assert finding.found == 2**64 - 1 and finding.worst[0].dtype == np.int64


def test_reports_show_made_up_records_only():
    """Catches data in a report: a list or a dataset may hold real records, an interval does not."""
    made = check_sensitivity(np.sum, (0, 7), 3, "add-remove", tries=50)
    assert "[] and [7]" in str(made) and json.loads(made.to_json())["found"] == "7"
    given = check_sensitivity(np.sum, [0, 915_733_202], 3, "add-remove", tries=50)
    assert given.violated
    assert "733" not in str(given).replace("915733202 apart", "")
    nan = check_sensitivity(lambda x: x.clip(0, 1).sum(), np.float32, 1, "add-remove", tries=600)
    assert "infinite" in str(nan) and json.loads(nan.to_json())["found"] == "infinite"


def test_neighbours_are_neighbours():
    """Catches a generator for dp.audit whose pairs are none, or too large, or all alike."""
    for relation in ("add-remove", "replace"):
        for domain in ((0, 3), (0.0, 1.0), np.float32, ["a", "b"], ([1, 2], (0.0, 1.0))):
            pairs = list(neighbours(domain, relation, tries=150, size=20))
            assert len(pairs) == 150
            for x, y in pairs:
                assert distance(map(repr, x), map(repr, y), relation) <= 1
                assert len(y) == 20 if relation == "replace" else len(y) <= 20
            assert len({repr(pair) for pair in pairs}) > 60
    sizes = {len(y) for _, y in islice(neighbours((0, 9), "add-remove", tries=900), 900)}
    assert {1, 2, 3, 4, 5, 6, 7, 8} <= sizes and max(sizes) > 100


def test_reports_name_what_they_mean():
    """Catches a change above the claim without a word on the tolerance, "1 tries", and a pair
    whose difference is beyond what is printed of it."""
    rounded = check_sensitivity(
        lambda x: x.sum() + 1e-12 * len(x), (0.0, 1.0), 1, "add-remove", tries=50
    )
    assert not rounded.violated and rounded.found > 1
    assert ", which is within the tolerance of 1e-09 for floats." in str(rounded)
    exact = check_sensitivity(lambda x: x.sum(), (0.0, 0.5), 1, "add-remove", tries=1)
    assert "tolerance" not in str(exact) and "in 1 try " in str(exact)
    added = check_sensitivity(np.sum, (0, 7), 3, "add-remove", tries=50)
    assert "worst[1] has one record more: 7" in str(added)
    replaced = check_sensitivity(np.sum, (0, 7), 3, "replace", tries=50)
    assert "worst[1] has 7 where worst[0] has 0" in str(replaced)
    given = check_sensitivity(np.sum, [0, 915_733], 3, "replace", tries=50)
    assert "has another record in place of one" in str(given)


def test_the_time_is_kept():
    """Catches a worst pair that is made small for as long as that takes. No clock but a fake one:
    each call of f takes a second."""

    def pairs(x):
        return sum(1 for i in range(len(x)) for j in range(i) if x[i] == x[j])

    with pytest.MonkeyPatch.context() as patch:
        now = [0.0]

        def timed(x):
            now[0] += 1
            return pairs(x)

        patch.setattr("time.monotonic", lambda: now[0])
        finding = check_sensitivity(timed, (0, 9), 1, "add-remove", seconds=100, size=40)
    assert finding.violated
    assert 80 <= finding.seconds <= 104 and now[0] <= 104  # a pair, and two checks


def test_f_may_change_what_it_gets():
    """Catches neighbours that share memory with each other."""

    def sorts_in_place(x):
        x.sort()
        return float(x[:1].sum())

    assert not check_sensitivity(sorts_in_place, (0.0, 1.0), 1, "add-remove", tries=300).violated


def test_mistakes_are_refused():
    """Catches a search over nothing that says "no violation found"."""
    for answer in ("a", None, ["b"]):
        with pytest.raises(InvalidArgument, match="returns numbers"):
            check_sensitivity(lambda x, a=answer: a, (0, 1), 1, "add-remove", tries=10)
    with pytest.raises(InvalidArgument, match="returns numbers"):
        check_sensitivity(lambda x: (v for v in x), (0, 1), 1, "add-remove", tries=10)
    with pytest.raises(InvalidArgument, match="without parameters"):
        check_sensitivity(len, lambda: 3, 1, "add-remove")
    noise = iter(range(10**6))
    with pytest.raises(InvalidArgument, match="exact"):
        check_sensitivity(lambda x: next(noise), (0, 1), 1, "add-remove", tries=10)
    with pytest.raises(InvalidArgument, match="raised an error"):
        check_sensitivity(lambda x: 1 / 0, (0, 1), 1, "add-remove", tries=10)
    for domain in ((1, 0), [3], "nonsense", np.complex128, {1, 2}, (0.0, math.inf)):
        with pytest.raises(InvalidArgument, match="domain"):
            check_sensitivity(len, domain, 1, "add-remove")
    for wrong in (
        {"size": 0},
        {"size": (3, 2)},
        {"norm": "l3"},
        {"norm": "range"},
        {"claimed": -1},
        {"f": 3},
    ):
        arguments = {"f": len, "domain": (0, 1), "claimed": 1, "relation": "add-remove"}
        with pytest.raises(InvalidArgument):
            check_sensitivity(**{**arguments, **wrong})
