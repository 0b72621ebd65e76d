"""The budget: who may spend how much, and what was spent."""

from discreet.ledger.accounts import Account as Account
from discreet.ledger.caps import Budget as Budget
from discreet.ledger.caps import Cap as Cap
from discreet.ledger.entry import Claim as Claim
from discreet.ledger.entry import Cost as Cost
from discreet.ledger.entry import Entry as Entry
from discreet.ledger.history import History as History
from discreet.ledger.history import Replay as Replay
from discreet.ledger.memory import MemoryPurse as MemoryPurse
from discreet.ledger.purses import Purse as Purse
