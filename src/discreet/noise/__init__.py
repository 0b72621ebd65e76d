"""How random bits become noise. No privacy words here, only probability laws, met exactly.

Read in this order (twenty minutes):

1. ``entropy``      random 64-bit words from AES-256-CTR, keyed by the operating system
2. ``tape``         a word is the first bits of a real number; more bits are drawn when needed
3. ``grid``         where results live: the integers, or the multiples of a power of two
4. ``additive``     value + noise, rounded to a grid: float first, ball arithmetic in doubt
5. ``laplace``      discrete Laplace for integers, real Laplace for floats
6. ``strips``, ``gaussian``   the normal law, cut into strips of equal width
7. ``narrow``       noise of a few steps on many integers, by table
8. ``bernoulli``, ``uniform``   biased coins and dice
9. ``argmax``, ``threshold``    the best of many noisy scores; noisy scores against a noisy limit
10. ``workspace``   chunks, threads and the arrays they work in
11. ``accuracy``    the one thing taken on trust about NumPy, and how it is checked

The proof that goes with the code is docs/noise.md.
"""
