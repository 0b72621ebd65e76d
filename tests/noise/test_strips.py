"""The table behind Gaussian noise, against its definition; fit tests cannot see a wrong block."""

import mpmath as mp
import numpy as np

from discreet.noise.entropy import Tape
from discreet.noise.gaussian import (
    GUIDE_BITS,
    KEEP_MARGIN,
    STRIPS,
    _lead,
    _rest_place,
    _rest_places,
    strips,
)
from discreet.testing import SeededEntropy


def test_thresholds_are_the_areas_of_blocks_and_strips():
    """⌊2^64·θ⌋ by mpmath. Catches a block of the wrong height, whose law differs by 1e-5."""
    found = strips().list
    with mp.workprec(200):
        h = mp.mpf(1) / 64
        for j in (0, 1, 2, 17, 63, 64, 65, 200, STRIPS - 1):
            before = mp.erf(j * h / mp.sqrt(2))
            block = h * mp.sqrt(2 / mp.pi) * mp.exp(-(((j + 1) * h) ** 2) / 2)
            assert found[2 * j] == int(mp.floor(before * 2**64))
            assert found[2 * j + 1] == int(mp.floor((before + block) * 2**64))
    assert found == sorted(found)


def test_the_guide_knows_no_more_than_its_bits_tell():
    """Where it names a strip, every position with these first bits is in the block of it."""
    thresholds = [*strips().list, 2**64]
    guide = strips().guide
    width = 1 << (64 - GUIDE_BITS)
    for bits in np.flatnonzero(~np.isnan(guide)).tolist():
        j = int(guide[bits]) + 16
        assert thresholds[2 * j] <= bits * width
        assert (bits + 1) * width <= thresholds[2 * j + 1]
    assert np.isnan(guide).mean() < 0.02


def test_the_rest_of_a_strip_is_found_by_the_same_rejections():
    """2,000 draws, floats against balls. Catches a draw that should have been rejected, and the
    larger of two uniforms in place of the smaller one."""
    source = SeededEntropy(4000)
    tape = Tape(source, source.words(2000))
    strip = np.arange(2000) % 400
    place, found = _rest_places(tape, np.arange(2000), strip.astype(np.float64))
    for i in np.flatnonzero(found).tolist():
        u, v = _rest_place(tape, i, int(strip[i]))
        assert place[i] == min(u.first, v.first) * 2.0**-64
    first = [tape.more(tag) * 2.0**-64 for tag in (0x1000, 0x1100, 0x1200)]
    lead = _lead(np.minimum(first[0], first[1]), first[2], strip.astype(np.float64), np.exp)
    assert found.mean() > 0.99
    assert (lead < -KEEP_MARGIN).sum() > 20  # or there was nothing to see
