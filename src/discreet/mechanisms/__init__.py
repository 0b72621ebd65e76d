"""Noise plus sensitivity: what is released, what it promises, how far off it may be.

One file for each mechanism. From the bottom up:

1. ``mechanism``    what they share: reading parameters and values, noise on a suitable grid
2. ``laplace``, ``gaussian``    noise on numbers
3. ``exponential``, ``noisy_max``    the best of many candidates
4. ``top_k``, ``quantiles``    several such choices, one after another
5. ``sparse_vector``, ``above_threshold``    which scores of a stream are large enough
6. ``randomized_response``    each person's own answer
7. ``key_threshold``    which groups exist
8. ``statistical_queries``    shares of a sample, asked one by one
9. ``poisson_sampled``    any of them on a random sample of the people
10. ``calibrate``    how much noise a promise or an error needs
11. ``ratio_error``    how far off a noisy sum divided by a noisy count is
"""
