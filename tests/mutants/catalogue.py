"""All mutants, from the bits up."""

from tests.mutants.accounts import ACCOUNTS
from tests.mutants.applications import APPLICATIONS
from tests.mutants.guarantees import GUARANTEES
from tests.mutants.mechanisms import MECHANISMS
from tests.mutants.noise import NOISE
from tests.mutants.tables import TABLES

MUTANTS = (*NOISE, *MECHANISMS, *GUARANTEES, *TABLES, *ACCOUNTS, *APPLICATIONS)
