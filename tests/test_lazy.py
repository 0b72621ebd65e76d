"""A property that is computed once, and never hangs a forked child."""

import os
import threading

from discreet.lazy import cached_property


class Slow:
    def __init__(self):
        self.computing, self.go_on, self.times = threading.Event(), threading.Event(), 0

    @cached_property
    def value(self):
        """What it says."""
        self.times += 1
        self.computing.set()
        self.go_on.wait(120)
        return 42


def test_once_and_with_its_words():
    slow = Slow()
    slow.go_on.set()
    assert (slow.value, slow.value, slow.times) == (42, 42, 1)
    assert Slow.value.__doc__ == "What it says."
    del slow.value
    assert slow.value == 42 and slow.times == 2


def test_a_child_that_is_forked_while_another_thread_computes_does_not_wait():
    """Catches a lock that all instances share, which the child inherits locked: with that of
    Python 3.11's own cached property, the alarm ends the child."""
    import signal

    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.computing.wait()
    child = os.fork()
    if not child:
        signal.alarm(60)
        mine = Slow()
        mine.go_on.set()
        os._exit(0 if mine.value == 42 else 1)
    assert os.waitpid(child, 0)[1] == 0
    slow.go_on.set()
    thread.join()
