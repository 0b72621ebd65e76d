"""What was released under which promise, and how anyone can check it."""

from discreet.certificate.certificate import Certificate as Certificate
from discreet.certificate.issuing import certify as certify
from discreet.certificate.registry import registry_record as registry_record
from discreet.certificate.verdict import Verdict as Verdict
from discreet.certificate.verifying import verify as verify
