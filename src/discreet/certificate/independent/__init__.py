"""A second way to the same numbers: guarantees from sensitivities and noise alone.

A check that shares the code it checks cannot see its bugs. So nothing in this folder knows
`discreet.guarantees` or `discreet.mechanisms`: what a mechanism promises is derived here again,
from the numbers that a certificate prints, in exact fractions and in balls (Arb).
"""
