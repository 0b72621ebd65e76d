"""Tries to break a claim: by laws, by statistics, by replay, by search. Knows no mechanism."""
