"""Noise plus sensitivity: what is released, what it promises, how far off it may be."""
