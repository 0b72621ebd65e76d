"""How random bits become noise. Nothing here is about privacy, only about exact probability laws.

Read in this order (twenty minutes):

1. ``entropy``      random 64-bit words from AES-256-CTR, keyed by the operating system; each is
                    the first bits of a real number, and more bits are drawn when needed
2. ``additive``     value + noise, rounded to a grid (the integers, or the multiples of a power of
                    two): float first, ball arithmetic in doubt; by table where noise of a few
                    steps is added to many integers
3. ``laplace``      discrete Laplace for integers, real Laplace for floats
4. ``gaussian``     the normal law, cut into strips of equal width
5. ``bernoulli``, ``uniform``   biased coins and dice
6. ``argmax``, ``threshold``    the best of many noisy scores; noisy scores against a noisy limit
7. ``workspace``    chunks, threads and the arrays they work in
8. ``accuracy``     the one thing taken on trust about NumPy, and how it is checked

The proof that goes with the code is docs/noise.md.
"""
