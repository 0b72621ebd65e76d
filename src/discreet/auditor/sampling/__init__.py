"""From outputs of a black box to an event that is tested.

From the bottom up:

- ``region``: what counts say about two probabilities
- ``parameters``: what two probabilities say about a claim
- ``outputs``: outputs of any type as numbers
- ``sampler``: draws, and how many of them for what
- ``features``: what is looked at in an output
- ``events``: sets of outputs that may show a violation, and which of them to test
"""
