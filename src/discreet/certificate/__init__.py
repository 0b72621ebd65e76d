"""What was released under which promise, and how anyone can check it.

Nothing that `verify` needs knows planning, mechanisms or noise, or how guarantees are composed:
what is imported here is not more than that. From the bottom up:

- ``certificate``: the document; the auditor verifies it
- ``issue``: from a charge and a released table to a certificate
- ``ledger_check``: the record that a certificate points at
- ``registry``: a certificate as a record of the OpenDP Deployments Registry
"""

from discreet.auditor.certificate.verification import Verdict as Verdict
from discreet.certificate.certificate import Certificate as Certificate
from discreet.certificate.certificate import verify as verify
from discreet.certificate.registry import registry_record as registry_record
