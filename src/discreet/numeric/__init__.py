"""Numbers that are exact, or that say on which side of the truth they lie.

From the bottom up:

- `exact`: parameters as exact rationals, and floats rounded outward;
- `balls`: real numbers as intervals that hold them, formulas made sharp, certain bisection;
- `bands`: arrays of floats with both bounds;
- `short_fractions`: numerator and denominator of at most 64 bits each, for budgets;
- `decimals`: numbers for reading, rounded up;
- `numerals`: numbers in sentences;
- `canonical`: one way to write a document, for digests and signatures;
- `table_digest`: the digest of a table, however it is stored.
"""
