"""Whose turn it is: each question is counted before a record is read, and never taken back."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from discreet.adaptive.doors import same_process
from discreet.errors import Refused
from discreet.guarantees import Guarantee

if TYPE_CHECKING:
    from discreet.ledger.purse import LedgerPurse


class Turns(Protocol):
    """A number of questions that cannot be reset."""

    @property
    def taken(self) -> int:
        """How many were asked."""
        ...

    @property
    def left(self) -> int:
        """How many may still be asked."""
        ...

    def take(self) -> int:
        """The number of the next question, from 1; refused after the last."""
        ...

    def keep(self, turn: int, reply: Callable[[], bytes]) -> None:
        """Keep what was answered."""
        ...


class TurnsInMemory:
    """Counted in this process, and gone with it."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def taken(self) -> int:
        """How many were asked."""
        return self._taken

    @property
    def left(self) -> int:
        """How many may still be asked."""
        return self._most - self._taken

    def take(self) -> int:
        """The number of the next question, from 1; refused after the last."""
        same_process(
            self._process, hint="ask from the process that made the analyst, or give ledger="
        )
        with self._lock:
            if self._taken == self._most:
                raise no_more(self._most)
            self._taken += 1
            return self._taken

    def keep(self, turn: int, reply: Callable[[], bytes]) -> None:
        """Nothing is kept."""

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: each copy would count its own questions")


class TurnsInLedger:
    """Counted by the charges of a ledger, which every process that opens it sees.

    The j-th question is charged under a key of its own, and a key is charged once. So the count
    goes on where it stopped, whoever crashed in between, and no two askers get the same turn.
    """

    def __init__(
        self, purse: LedgerPurse, *, most: int, cost: Guarantee, digest: str, told: dict[str, Any]
    ) -> None:
        self._purse, self._most, self._cost = purse, most, cost
        self._digest, self._told = digest, told
        self._known = 0  # so many were asked, and perhaps more since

    @property
    def taken(self) -> int:
        """How many were asked. Keys are used in order: go up in growing steps, then halve."""
        low, step = self._known, 1
        while low + step <= self._most and self._is_taken(low + step):
            low, step = low + step, 2 * step
        high = min(low + step - 1, self._most)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._is_taken(middle) else (low, middle - 1)
        self._known = max(self._known, low)
        return low

    @property
    def left(self) -> int:
        """How many may still be asked: by this count, and by every cap."""
        rooms = [cap.filter.remaining(self._cost) for cap in self._purse.caps]
        return min(self._most - self.taken, *rooms)

    def take(self) -> int:
        """The number of the next question, from 1; refused after the last, or by a cap."""
        from discreet.ledger.entry import Claim

        turn = self.taken + 1
        while turn <= self._most:
            claim = Claim(
                question=f"statistical query {turn:,} of {self._most:,}",
                guarantee=self._cost,
                digest=self._digest,
                mechanisms=(self._told,),
                key=self._key(turn),
            )
            try:
                self._purse.charge(claim)
                self._known = max(self._known, turn)
                return turn
            except Refused:
                if not self._is_taken(turn):  # a cap, and not somebody who was faster
                    raise
            turn += 1
        raise no_more(self._most)

    def keep(self, turn: int, reply: Callable[[], bytes]) -> None:
        """Keep what was answered beside its charge, for ``Ledger.recall``."""
        entry = self._purse.find(self._key(turn))
        assert entry is not None
        self._purse.keep(entry, reply)

    def _key(self, turn: int) -> str:
        return f"adaptive {self._digest[:32]} {turn}"

    def _is_taken(self, turn: int) -> bool:
        return self._purse.find(self._key(turn)) is not None

    def __reduce__(self) -> NoReturn:
        raise Refused("it cannot be copied or pickled: open the ledger again instead")


def no_more(most: int) -> Refused:
    """After the last question."""
    return Refused(
        f"all {most:,} questions have been asked, and the bound on their errors holds for so "
        "many and no more: draw a new sample, or plan for more questions from the start"
    )
