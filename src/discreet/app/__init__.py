"""Front doors over `discreet.Session`."""
