"""The budget: who may spend how much, and what was spent."""

from discreet.ledger.entry import Entry as Entry
from discreet.ledger.memory import MemoryLedger as MemoryLedger
