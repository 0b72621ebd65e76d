"""Certificates verified: their numbers derived a second time, from what they print.

A check that shares the code it checks cannot see its bugs. So nothing here knows planning,
mechanisms or noise, nor how guarantees are composed and charged: what a mechanism promises is
derived again, in exact fractions and in balls (Arb).

From the bottom up:

- ``json_schema``: the published form of a certificate
- ``law_pairs``: the pairs of laws that mechanisms amount to, alone and composed
- ``guarantee_check``: guarantees and charges against these pairs
- ``query_check``: sensitivities and mechanisms against the query
- ``table_check``: keys and the released table against the query
- ``verification``: what is proved, what is taken on trust, and what failed
"""
