"""Looking for the neighbours that move a function most."""
