"""Guarantees for other programs: JSON, and the events of dp_accounting."""
