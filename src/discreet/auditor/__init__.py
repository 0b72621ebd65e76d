"""Tries to break a claim: by laws, by statistics, by replay, by search. Knows no mechanism.

From the bottom up:

- ``recorder``: what a pipeline tells an auditor that replays it
- ``accusation``: how a claim that was found to be false is named
- ``distance``: how far apart two answers are, exactly
- ``exact``, ``verify``: the exact route, from the output laws
- ``subject``: what is audited, and on which neighbours
- ``sampling``, ``finding``, ``audit``: the statistical route, from outputs
- ``plot``: a picture of a finding
- ``replay_finding``, ``replay``: the replay route, from two runs with the same noise
- ``domains``, ``check_sensitivity``: the search for neighbours that break a sensitivity
"""
