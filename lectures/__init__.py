"""The lectures that discreet grew from, checked claim by claim: ``make lectures``."""
