"""The budget: who may spend how much, and what was spent.

From the bottom up: `record` is one record of the journal, `head` knows which is the last,
`history` is what was charged, `budget` a cap and a budget in memory, `account` what the records
add up to, `journal` reads and adds records, `ledger` is what users open; `stores` are the
databases, and `plot` draws a history.
"""

from discreet.guarantees.filters import Cost as Cost
from discreet.guarantees.notion import Budget as Budget
from discreet.ledger.account import Account as Account
from discreet.ledger.budget import Cap as Cap
from discreet.ledger.budget import MemoryBudget as MemoryBudget
from discreet.ledger.history import Claim as Claim
from discreet.ledger.history import Entry as Entry
from discreet.ledger.history import History as History
from discreet.ledger.history import Replay as Replay
