"""Adding up privacy losses: profile → losses on a grid → transforms → both bounds.

The proof is in docs/composition.md.
"""
