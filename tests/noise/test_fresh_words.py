"""Words that are drawn once and used once, where statistics would not see it."""

import numpy as np

from discreet.noise.entropy import POOL_WORDS, Draw, SystemEntropy


def test_what_lies_behind_a_single_draw_is_new_for_each_purpose():
    """Catches one word that decides two things: 1 draw in 100 needs more than one. A false alarm
    is 231 pairs of 64-bit words, 1e-17."""
    draw = Draw(SystemEntropy())
    words = [draw.word, *(draw.more(tag) for tag in range(20))]  # beyond what is fetched at once
    assert len(set(words)) == len(words)
    assert [draw.more(tag) for tag in range(20)] == words[1:]
    assert [int(draw.tape().more(tag)[0]) for tag in range(20)] == words[1:]


def test_small_requests_after_forgetting_share_nothing_with_the_pool():
    """Catches a pool that survives a fork: requests this small would be served from it."""
    source = SystemEntropy()
    source.words(1)
    stored = source._local.stream._pool.copy()
    source.forget()
    after = np.concatenate([source.words(8) for _ in range(POOL_WORDS // 8 - 1)])
    assert stored.size == POOL_WORDS - 1
    assert np.intersect1d(stored, after).size == 0
