"""What was released under which promise, and how anyone can check it.

From the bottom up:

- ``json_schema``: the published form of a certificate
- ``certificate``: the document
- ``issue``: from a charge and a released table to a certificate
- ``independent``: the same numbers, derived a second time
- ``verification``: what of a certificate can be proved
- ``registry``: a certificate as a record of the OpenDP Deployments Registry
"""

from discreet.certificate.certificate import Certificate as Certificate
from discreet.certificate.certificate import Verdict as Verdict
from discreet.certificate.issue import certify as certify
from discreet.certificate.issue import check_verifiable as check_verifiable
from discreet.certificate.registry import registry_record as registry_record
from discreet.certificate.verification import verify as verify
