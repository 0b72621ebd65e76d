"""Guarantees for people: in sentences, in pictures, in a line."""
