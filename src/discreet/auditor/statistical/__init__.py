"""From outputs of a black box to an event that is tested: features, cells, events, pace."""
