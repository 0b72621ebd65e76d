"""A real kill: whatever the moment, the questions that remain are never more than before."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import discreet as dp
from discreet.adaptive import Analyst

WISH = {"queries": 12, "confidence": 0.95, "error": 0.3}
SAMPLE = np.zeros(2000, bool)

# Says each answer, and is killed in the question of this number: as its charge is asked for, as
# the charge is there and the first record is read, or as the answer is kept.
_WORKER = """
import os, signal, sys
import numpy as np
from discreet.adaptive import Analyst

place, moment, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
analyst = Analyst(np.zeros(2000, bool), queries=12, confidence=0.95, error=0.3, ledger=place)
turns = analyst._turns
print("ready", flush=True)
sys.stdin.readline()


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


for asked in range(1, 20):
    if asked == last:
        if moment == "charge":
            turns._purse = type("Purse", (), {"charge": die, "find": turns._purse.find})()
        if moment == "answer":
            turns.keep = die
    reading = die if (moment, asked) == ("read", last) else (lambda x: x)
    print(analyst.ask(reading).asked, flush=True)
"""


def _start(place, moment, last):
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(place), moment, str(last)],
        stdin=pipe, stdout=pipe, stderr=pipe, text=True,
    )  # fmt: skip


def _run(worker):
    """What it has answered, after it was let go."""
    told, errors = worker.communicate("go\n", timeout=900)
    return [int(line) for line in told.split()], errors


def test_a_killed_question_is_spent_or_was_never_charged(tmp_path):
    place = tmp_path / "sample.ledger"
    Analyst(SAMPLE, **WISH, ledger=place, create=True)
    left = WISH["queries"]
    moments = [("charge", 2, 0), ("read", 2, 1), ("answer", 3, 1)]
    workers = [_start(place, moment, last) for moment, last, _ in moments]
    for worker, (_, last, lost) in zip(workers, moments, strict=True):
        assert worker.stdout.readline() == "ready\n"
        answered, _ = _run(worker)
        assert worker.returncode == -signal.SIGKILL
        assert len(answered) == last - 1
        again = Analyst(SAMPLE, **WISH, ledger=place)
        assert again.remaining == left - len(answered) - lost
        left = again.remaining
    assert len(dp.Ledger(place).unanswered()) == 2


def test_two_processes_at_once_get_so_many_answers_and_no_more(tmp_path):
    place = tmp_path / "sample.ledger"
    Analyst(SAMPLE, **WISH, ledger=place, create=True)
    workers = [_start(place, "never", 0) for _ in range(2)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(_run, workers))
    turns = sorted(turn for answered, _ in found for turn in answered)
    assert turns == list(range(1, 13))
    assert all("all 12 questions have been asked" in errors for _, errors in found)
    assert Analyst(SAMPLE, **WISH, ledger=place).remaining == 0


def test_what_was_charged_by_others_counts_in_an_open_analyst(tmp_path):
    """Would catch a count that is read once and kept."""
    place = tmp_path / "sample.ledger"
    first = Analyst(SAMPLE, **WISH, ledger=place, create=True)
    second = Analyst(SAMPLE, **WISH, ledger=place)
    second.ask(lambda x: x)
    assert first.remaining == 11
