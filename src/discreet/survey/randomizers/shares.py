"""How far an estimated share strays, from two probabilities.

A report supports category v with probability `inside` if v is the truth and `outside` if it is
not. So a share s of respondents makes a share  p = outside + s·(inside − outside)  of supporting
reports, and (support − outside)/(inside − outside) of one report is unbiased for s.
"""

from __future__ import annotations

from fractions import Fraction


def variance_of_share(inside: Fraction | float, outside: Fraction | float, share: float) -> float:
    """p(1 − p)/(inside − outside)²: of one respondent, who is drawn by chance as well.

    >>> variance_of_share(0.75, 0.25, 0.5)
    1.0
    """
    gain = float(inside - outside)
    p = float(outside) + share * gain
    return p * (1 - p) / gain**2
