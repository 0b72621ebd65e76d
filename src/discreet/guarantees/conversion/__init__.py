"""The least ρ and μ of a mechanism, one theorem a function."""
