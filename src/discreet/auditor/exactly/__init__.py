"""The exact route: guarantees recomputed from output laws, in rationals and balls."""
