"""Every mechanism of the zoo: the published list, and others of the same kinds."""

from tests.auditor.zoo import (
    additive,
    responding,
    selecting,
    sparse,
    unlisted_additive,
    unlisted_correct,
    unlisted_forms,
    unlisted_further,
)
from tests.auditor.zoo.case import STATISTICS, Case

LISTED: tuple[Case, ...] = tuple(
    sorted(
        [*additive.CASES, *responding.CASES, *selecting.CASES, *sparse.CASES],
        key=lambda case: case.id,
    )
)
UNLISTED: tuple[Case, ...] = (
    *unlisted_additive.CASES,
    *unlisted_forms.CASES,
    *unlisted_correct.CASES,
    *unlisted_further.CASES,
)
CASES = (*LISTED, *UNLISTED)
BY_ID = {case.id: case for case in CASES}
#: what a black box test can judge
SEEN = tuple(case for case in CASES if STATISTICS in case.routes)
BROKEN = tuple(case for case in SEEN if case.broken)
CORRECT = tuple(case for case in SEEN if not case.broken)

assert len(BY_ID) == len(CASES)
