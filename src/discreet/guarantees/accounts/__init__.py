"""Budgets for fully adaptive sessions: caps, what a charge costs, and the filter between them."""
