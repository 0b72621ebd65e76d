"""Sums over hyperplanes: whole numbers, equal to the definition."""

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.survey.randomizers import projective
from discreet.survey.randomizers.projective import Space

SPACES = [(2, 2), (2, 6), (3, 2), (3, 5), (5, 3), (7, 3), (11, 3), (101, 2)]


def by_definition(counts, space):
    codes = space.codes(np.arange(space.points))
    meets = space.inner(codes[:, None], codes[None, :]) == 0
    return meets.astype(object) @ counts.astype(object)


@pytest.mark.parametrize(("q", "t"), SPACES)
@pytest.mark.parametrize("largest", [1, 1000, 10**15])
def test_equal_to_the_definition(q, t, largest):
    """With exact integers; 10^15 a point is far beyond one transform in floats, so it is split.
    Catches a wrong slice, and rounding that went unseen."""
    space = Space(q, t)
    counts = np.random.default_rng(q * t).integers(0, largest + 1, space.points)
    met = projective.meeting(counts, space, space.points)
    assert met.tolist() == by_definition(counts, space).tolist()
    few = space.points // 2
    assert (projective.meeting(counts, space, few) == met[:few]).all()


@pytest.mark.parametrize(("q", "t"), [(3, 9), (5, 5), (23, 3), (149, 2), (1009, 2)])
def test_measured_error_is_far_within_the_bound(q, t, monkeypatch):
    """All reports at one point is what the bound is worst for. Catches a constant that is too
    small: the errors measured are below a tenth of the bound, in small fields and large ones."""
    seen = []
    monkeypatch.setattr(
        projective, "_whole", lambda values, total: seen.append(values) or np.rint(values)
    )
    space = Space(q, t)
    for f in (np.zeros(q**t, np.int64), np.random.default_rng(1).integers(0, 2000, q**t)):
        f[q**t // 3] = 10**7
        projective._lines(f, space)
        error = np.abs(seen[-1] - np.rint(seen[-1])).max()
        assert error < projective._error(f, space) / 10 < 0.1


def test_what_is_not_whole_is_never_returned():
    """Catches a check that was taken out: half a report, and a line that lost one."""
    for values in ([[0.5, 1.5]], [[1.0, 0.0]]):
        with pytest.raises(InternalError):
            projective._whole(np.array(values), 2)
