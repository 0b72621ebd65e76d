"""What reached the noise from two neighbours, noted and compared."""
