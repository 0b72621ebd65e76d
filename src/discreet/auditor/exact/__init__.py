"""The exact route: guarantees recomputed from output laws, in rationals and balls.

From the bottom up:

- ``known_laws``: laws whose structure is known
- ``sides``: events, and two laws compared from one side
- ``partitions``, ``half_lines``: the two ways to compare most laws
- ``comparison``: which way fits two laws
- ``judgement``: whether a claim holds for two laws
- ``neighbours``: which neighbours to compare
"""
