"""The lectures that this package grew from, checked claim by claim: ``discreet audit lectures``."""
