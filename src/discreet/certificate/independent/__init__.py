"""The same numbers derived a second time: guarantees from sensitivities and noise alone.

A check that shares the code it checks cannot see its bugs. So nothing in this folder knows
`discreet.guarantees` or `discreet.mechanisms`: what a mechanism promises is derived here again,
from the numbers that a certificate prints, in exact fractions and in balls (Arb).

From the bottom up:

- ``reals``: exact numbers and balls
- ``law_pairs``: the pairs of laws that mechanisms amount to, alone and composed
- ``guarantee_check``: guarantees and charges against these pairs
- ``query_check``: sensitivities and mechanisms against the query
- ``table_check``: keys and the released table against the query
"""
