"""A genome-wide association study, released with differential privacy.

Half of the people have a disease, half have not, and each of a million variants of the genome is
looked at: do more of the cases carry it than of the controls? The cohort lies in PLINK files
(.bed, .bim, .fam), read with bed-reader in blocks. It is invented, with six variants that matter.

1. Two million counts with Laplace noise: nothing is left of them.
2. Which four variants differ most: `dp.TopK`, whose noise does not grow with their number.
3. How many carry those four: `dp.Gaussian`, eight counts with error bars.
4. What both together promise, and how many people it takes to find the right four.

    python -m examples.gwas            # 4,000 variants, seconds
    python -m examples.gwas --full     # 1,000,000 variants, a gigabyte, minutes

It needs bed-reader: pip install bed-reader
"""
