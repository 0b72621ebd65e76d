"""Errors in ``mechanisms/``: how noise and sensitivity become a promise."""

from tests.mutants.mutant import Mutant

MECHANISMS = (
    Mutant(
        id="laplace-scale",
        file="mechanisms/laplace.py",
        old='        exact = size / exact if chosen == "epsilon" else exact',
        new='        exact = size / exact / 2 if chosen == "epsilon" else exact',
        kind="scale",
        harm="half the noise: everybody loses twice the epsilon they were promised",
        tests=("tests/mechanisms/test_laplace.py::test_claim_10_vector_laplace_is_private_in_l1",),
    ),
    Mutant(
        id="laplace-sensitivity-forgotten",
        file="mechanisms/laplace.py",
        old="        return self.sensitivity / self.scale\n",
        new="        return 1 / self.scale\n",
        kind="count forgotten",
        harm="a sum of values up to 100 is charged as if one person moved it by 1",
        tests=("tests/mechanisms/test_laplace.py::test_profile_depends_on_the_grid",),
    ),
    Mutant(
        id="laplace-rest-forgotten",
        file="mechanisms/laplace.py",
        old="return compose([*split, self._pair(rest)] if rest else split)",
        new="return compose(split)",
        kind="count forgotten",
        harm="what does not divide evenly is free",
        tests=(
            "tests/mechanisms/test_pairs.py"
            "::test_the_most_uneven_split_of_the_moves_is_the_worst_and_is_reached",
        ),
    ),
    Mutant(
        id="laplace-largest-move",
        file="mechanisms/laplace.py",
        old="    return size, min(size, sensitivity.linf)\n",
        new="    return size, min(size, sensitivity.linf / 2)\n",
        kind="scale",
        harm="the profile is that of many small moves, where one large one is easier to see",
        tests=(
            "tests/mechanisms/test_pairs.py"
            "::test_the_most_uneven_split_of_the_moves_is_the_worst_and_is_reached",
        ),
    ),
    Mutant(
        id="gaussian-rho-without-2",
        file="mechanisms/gaussian.py",
        old="        return size * sqrt_up(1 / (2 * exact))",
        new="        return size * sqrt_up(1 / (4 * exact))",
        kind="scale",
        harm="noise for twice the rho that was asked for",
        tests=("tests/mechanisms/test_gaussian.py::test_rho_mu_and_sigma_mean_the_same_noise",),
    ),
    Mutant(
        id="gaussian-norm",
        file="mechanisms/gaussian.py",
        old='        size = positive_sensitivity(sensitivity, norm="l2")\n        chosen',
        new='        size = positive_sensitivity(sensitivity, norm="linf")\n        chosen',
        kind="bound swapped",
        harm="a person in many cells is hidden in one of them only",
        tests=(
            "tests/mechanisms/test_bad_input.py"
            "::test_a_sensitivity_fact_gives_each_mechanism_its_norm",
        ),
    ),
    Mutant(
        id="gaussian-mu-inverted",
        file="mechanisms/gaussian.py",
        old="        return self.sensitivity / self.sigma\n",
        new="        return 1 / self.sigma\n",
        kind="count forgotten",
        harm="the sensitivity is left out of what is charged",
        tests=(
            "tests/mechanisms/test_gaussian.py"
            "::test_calibration_never_exceeds_the_claim_at_60_digits",
        ),
    ),
    Mutant(
        id="exponential-factor-2",
        file="mechanisms/exponential.py",
        old="return (1 if self.monotone else 2) * self.sensitivity / self.epsilon",
        new="return 1 * self.sensitivity / self.epsilon",
        kind="scale",
        harm="a choice by scores that are not monotone costs double",
        tests=(
            "tests/mechanisms/test_exponential.py"
            "::test_claim_21_neighbours_are_never_further_apart_than_epsilon",
        ),
    ),
    Mutant(
        id="exponential-other-noise",
        file="mechanisms/exponential.py",
        old=(
            '        return argmax(read_scores(utilities, name="utilities"), self.scale, '
            '"gumbel").index'
        ),
        new=(
            '        return argmax(read_scores(utilities, name="utilities"), self.scale, '
            '"laplace").index'
        ),
        kind="bound swapped",
        harm="the choice follows another law than the one that was proved to be of bounded range",
        tests=("tests/mechanisms/test_exponential.py::test_release_follows_its_law_and_no_other",),
    ),
    Mutant(
        id="noisy-max-factor-2",
        file="mechanisms/noisy_max.py",
        old="return (1 if self.monotone else 2) * self.sensitivity / self.epsilon",
        new="return (2 if self.monotone else 1) * self.sensitivity / self.epsilon",
        kind="bound swapped",
        harm="counts of which a row is replaced are chosen from with half the noise",
        tests=("tests/mechanisms/test_noisy_max.py::test_release_follows_its_law_and_no_other",),
    ),
    Mutant(
        id="noisy-max-bounded-range",
        file="mechanisms/noisy_max.py",
        old='return BoundedRange(self.epsilon) if self.noise == "gumbel" else Pure(self.epsilon)',
        new='return BoundedRange(self.epsilon) if self.noise != "laplace" else Pure(self.epsilon)',
        kind="check dropped",
        harm="permute-and-flip is charged a quarter of its rho",
        tests=(
            "tests/attacks/test_c_selection.py"
            "::test_c2_permute_and_flip_is_not_charged_as_bounded_range",
        ),
    ),
    Mutant(
        id="noisy-max-gap-anyhow",
        file="mechanisms/noisy_max.py",
        old='        if self.gap and noise != "laplace":\n',
        new='        if self.gap and noise == "gumbel":\n',
        kind="check dropped",
        harm="a gap is released for which there is no proof that it is free",
        tests=("tests/attacks/test_c_selection.py::test_c2_no_gap_without_a_theorem",),
    ),
    Mutant(
        id="sparse-vector-hits-forgotten",
        file="mechanisms/sparse_vector.py",
        old="return (1 if self.monotone else 2) * self.hits * self.sensitivity / self.split[1]",
        new="return (1 if self.monotone else 2) * self.sensitivity / self.split[1]",
        kind="count forgotten",
        harm="five hits cost five times the epsilon that was promised",
        tests=(
            "tests/attacks/test_c_selection.py"
            "::test_c1_sparse_vector_keeps_its_promise_on_the_pairs_that_break_the_variants",
        ),
    ),
    Mutant(
        id="sparse-vector-factor-2",
        file="mechanisms/sparse_vector.py",
        old="return (1 if self.monotone else 2) * self.hits * self.sensitivity / self.split[1]",
        new="return self.hits * self.sensitivity / self.split[1]",
        kind="scale",
        harm="scores that move both ways are compared with too little noise",
        tests=(
            "tests/attacks/test_c_selection.py"
            "::test_c1_sparse_vector_keeps_its_promise_on_the_pairs_that_break_the_variants",
        ),
    ),
    Mutant(
        id="sparse-vector-no-threshold-noise",
        file="mechanisms/sparse_vector.py",
        old="NoisyThreshold(mechanism.threshold, mechanism.threshold_scale)",
        new="NoisyThreshold(mechanism.threshold, Fraction(1, 10**9))",
        kind="scale",
        harm="a long run of answers below the threshold is not covered by any epsilon",
        tests=(
            "tests/mechanisms/test_sparse_vector.py::test_release_follows_its_law_and_no_other",
        ),
    ),
    Mutant(
        id="sparse-vector-one-hit-too-many",
        file="mechanisms/sparse_vector.py",
        old="        hits = np.flatnonzero(comparison.above)[: self._remaining].tolist()",
        new="        hits = np.flatnonzero(comparison.above)[: self._remaining + 1].tolist()",
        kind="off by one",
        harm="one hit more than was paid for",
        tests=("tests/mechanisms/test_sparse_vector.py::test_answers_end_with_the_last_hit",),
    ),
    Mutant(
        id="sparse-vector-answers-go-on",
        file="mechanisms/sparse_vector.py",
        old="        answered = hits[-1] + 1 if self.exhausted else scores.size",
        new="        answered = scores.size",
        kind="check dropped",
        harm="after the last hit answers go on that nobody paid for",
        tests=("tests/attacks/test_c_selection.py::test_c1_no_answer_follows_the_last_hit",),
    ),
    Mutant(
        id="sparse-vector-forked",
        file="mechanisms/sparse_vector.py",
        old="        if os.getpid() != self._process:\n",
        new="        if False:\n",
        kind="noise reused",
        harm="the same threshold answers in two processes, each with all of its hits",
        tests=(
            "tests/mechanisms/test_sparse_vector.py::test_a_run_cannot_be_copied_pickled_or_forked",
        ),
    ),
    Mutant(
        id="keys-above-instead-of-at",
        file="mechanisms/key_threshold.py",
        old="        return 1 + least_half_width(lambda w: zero.cdf(-w), 1 - self.chance)",
        new="        return least_half_width(lambda w: zero.cdf(-w), 1 - self.chance)",
        kind="off by one",
        harm="a person's own key is shown with e times the probability that was promised",
        tests=(
            "tests/mechanisms/test_key_threshold.py"
            "::test_no_key_of_one_unit_is_kept_more_often_than_promised",
        ),
    ),
    Mutant(
        id="keys-kept-below",
        file="mechanisms/key_threshold.py",
        old="self.mechanism.release(counts) >= self.threshold",
        new="self.mechanism.release(counts) >= self.threshold - 1",
        kind="off by one",
        harm="the rule keeps more keys than its bound is about",
        tests=("tests/attacks/test_c_responses.py::test_c3_release_compares_as_the_law_does",),
    ),
    Mutant(
        id="keys-of-nobody",
        file="mechanisms/key_threshold.py",
        old="        kept &= counts > 0\n",
        new="",
        kind="check dropped",
        harm="keys are shown that nobody holds; whether it is so must not depend on one person",
        tests=(
            "tests/mechanisms/test_key_threshold.py::test_a_key_that_nobody_holds_is_never_kept",
        ),
    ),
    Mutant(
        id="keys-groups-forgotten",
        file="mechanisms/key_threshold.py",
        old="                noise = Laplace(sensitivity=m, epsilon=self.epsilon, step=1)",
        new="                noise = Laplace(sensitivity=1, epsilon=self.epsilon, step=1)",
        kind="count forgotten",
        harm="a person with ten keys is hidden as if it were one",
        tests=(
            "tests/mechanisms/test_key_threshold.py"
            "::test_threshold_is_the_least_that_keeps_the_promise",
        ),
    ),
    Mutant(
        id="keys-delta-not-shared",
        file="mechanisms/key_threshold.py",
        old="                return key_table(self.epsilon / m, self.delta / m)",
        new="                return key_table(self.epsilon / m, self.delta)",
        kind="count forgotten",
        harm="the chance that one of a person's keys is shown is m times the delta promised",
        tests=(
            "tests/mechanisms/test_key_threshold.py"
            "::test_no_key_of_one_unit_is_kept_more_often_than_promised",
        ),
    ),
    Mutant(
        id="keys-table-rounded-up",
        file="mechanisms/key_threshold.py",
        old="            (grow * p >> (bits + 64)) + step,",
        new="            -(-grow * p >> (bits + 64)) + step,",
        kind="rounding",
        harm="keep probabilities grow by a hair more than the promise allows",
        tests=(
            "tests/mechanisms/test_key_threshold.py::test_optimal_rule_keeps_its_promise_exactly",
        ),
    ),
    Mutant(
        id="top-k-with-replacement",
        file="mechanisms/top_k.py",
        old="            left = np.delete(left, at)\n",
        new="",
        kind="check dropped",
        harm="the commonest is named k times over, and the law is another one",
        tests=("tests/mechanisms/test_top_k.py::test_the_commonest_of_many",),
    ),
    Mutant(
        id="top-k-places-forgotten",
        file="mechanisms/top_k.py",
        old="        return BoundedRange(self.epsilon / self.k).repeat(self.k)",
        new="        return BoundedRange(self.epsilon / self.k)",
        kind="count forgotten",
        harm="k choices are charged as one",
        tests=("tests/mechanisms/test_top_k.py::test_guarantee_and_value",),
    ),
    Mutant(
        id="top-k-always-monotone",
        file="mechanisms/top_k.py",
        old="epsilon=self.epsilon / self.k, monotone=self.monotone",
        new="epsilon=self.epsilon / self.k, monotone=True",
        kind="check dropped",
        harm="where a person is replaced, the choices cost double",
        tests=("tests/mechanisms/test_top_k.py::test_no_outcome_is_e_to_epsilon_times_likelier",),
    ),
    Mutant(
        id="quantiles-rows-forgotten",
        file="mechanisms/quantiles.py",
        old=(
            "        scale = choice_scale(p, rows=self.rows, epsilon=self.step)\n"
            "        return argmax"
        ),
        new="        scale = choice_scale(p, rows=1, epsilon=self.step)\n        return argmax",
        kind="count forgotten",
        harm="a person with ten rows is hidden as if it were one",
        tests=("tests/mechanisms/test_quantiles_rows.py",),
    ),
    Mutant(
        id="quantiles-depth-off",
        file="mechanisms/quantiles.py",
        old="    return asked.bit_length()\n",
        new="    return (asked - 1).bit_length() or 1\n",
        kind="off by one",
        harm="two probabilities are asked of all rows and charged as one",
        tests=("tests/mechanisms/test_quantiles_arguments.py::test_guarantee_and_value",),
    ),
    Mutant(
        id="quantiles-counts-unclamped",
        file="mechanisms/quantiles.py",
        old="    return np.clip(groups, 0, largest_count(shape[-1], probabilities)), shape",
        new="    return np.maximum(groups, 0), shape",
        kind="clamp removed",
        harm="huge counts wrap around, and the worst candidate wins",
        tests=("tests/mechanisms/test_quantiles_arguments.py::test_huge_counts_do_not_wrap",),
    ),
    Mutant(
        id="quantiles-split-twice",
        file="mechanisms/quantiles.py",
        old="    above[0] -= below[-1]\n",
        new="",
        kind="noise reused",
        harm="the rows at a split are asked on both sides, and paid for once",
        tests=("tests/mechanisms/test_quantiles.py::test_the_law_is_the_definition",),
    ),
    Mutant(
        id="response-truth-too-often",
        file="mechanisms/randomized_response.py",
        old="            return Rational(sides * (1 - self.truth) / self.categories)",
        new="            return Rational((1 - self.truth) / self.categories)",
        kind="count forgotten",
        harm="with ten categories the truth is told far more often than promised",
        tests=(
            "tests/mechanisms/test_randomized_response.py::test_released_answers_follow_the_law",
        ),
    ),
    Mutant(
        id="response-coin",
        file="mechanisms/randomized_response.py",
        old="    return sides / (ball(epsilon).exp() + (categories - 1))",
        new="    return sides / (ball(epsilon).exp() + categories)",
        kind="off by one",
        harm="the truth is told more often than epsilon allows",
        tests=(
            "tests/mechanisms/test_randomized_response.py::test_released_answers_follow_the_law",
        ),
    ),
    Mutant(
        id="response-sign",
        file="mechanisms/randomized_response.py",
        old="    return sides / (ball(epsilon).exp() + (categories - 1))",
        new="    return sides / (ball(-epsilon).exp() + (categories - 1))",
        kind="sign",
        harm="a coin shows tails where it should show heads",
        tests=(
            "tests/mechanisms/test_randomized_response.py::test_released_answers_follow_the_law",
        ),
    ),
    Mutant(
        id="response-of-truth",
        file="mechanisms/randomized_response.py",
        old="            loss = Fraction(upper(sharp(lambda: ball(1 + k * q / (1 - q)).log())))",
        new="            loss = Fraction(upper(sharp(lambda: ball(1 + q / (1 - q)).log())))",
        kind="count forgotten",
        harm="the lecture's q is charged ln 2 where it costs ln 3",
        tests=("tests/mechanisms/test_randomized_response.py::test_claim_14_one_half_gives_ln_3",),
    ),
    Mutant(
        id="sampled-rate",
        file="mechanisms/poisson_sampled.py",
        old='"_pair", SampledPair(_base(mechanism), rate=q))',
        new='"_pair", SampledPair(_base(mechanism), rate=q / 2))',
        kind="scale",
        harm="people are drawn twice as often as is charged",
        tests=(
            "tests/mechanisms/test_poisson_sampled.py::test_known_answers_of_the_sampled_gaussian",
        ),
    ),
    Mutant(
        id="sampled-what-does-not-fit",
        file="mechanisms/poisson_sampled.py",
        old="        case RandomizedResponse() | StatisticalQueries():",
        new="        case StatisticalQueries():",
        kind="check dropped",
        harm="sampling is credited to a mechanism that does not hide who takes part",
        tests=("tests/mechanisms/test_poisson_sampled.py::test_what_cannot_be_sampled",),
    ),
    Mutant(
        id="queries-not-counted",
        file="mechanisms/statistical_queries.py",
        old="            self._asked += 1\n",
        new="            self._asked = 1\n",
        kind="count forgotten",
        harm="a thousand answers are charged as one",
        tests=("tests/mechanisms/test_statistical_queries.py::test_total_of_all_answers",),
    ),
    Mutant(
        id="queries-unclamped",
        file="mechanisms/statistical_queries.py",
        old="        unit = np.fmin(np.fmax(values, 0.0), 1.0)  # fmax(NaN, 0) is 0",
        new="        unit = np.fmax(values, 0.0)",
        kind="clamp removed",
        harm="one record moves a mean as far as a query likes",
        tests=("tests/mechanisms/test_statistical_queries.py::test_b5_columns_count_the_same",),
    ),
    Mutant(
        id="queries-counted-late",
        file="mechanisms/statistical_queries.py",
        old=(
            "        with self._lock:  # counted before any record is read, and never taken back\n"
            "            self._asked += 1\n"
            "        total = sum_of(phi, self._sample, vectorized=vectorized)\n"
        ),
        new=(
            "        total = sum_of(phi, self._sample, vectorized=vectorized)\n"
            "        with self._lock:\n"
            "            self._asked += 1\n"
        ),
        kind="order swapped",
        harm="a query that stops midway has seen the records and is not counted",
        tests=(
            "tests/mechanisms/test_statistical_queries.py"
            "::test_asking_is_counted_before_any_record_is_read",
        ),
    ),
    Mutant(
        id="values-unsigned-wrap",
        file="mechanisms/mechanism.py",
        old="            clamped: NDArray[np.uint64] = np.minimum(flat, np.uint64(INT_MAX))",
        new="            clamped: NDArray[np.uint64] = flat",
        kind="clamp removed",
        harm="a large unsigned count becomes a negative one",
        tests=("tests/mechanisms/test_laplace.py::test_uint64_saturates_too",),
    ),
    Mutant(
        id="values-nan-passes",
        file="mechanisms/mechanism.py",
        old="    if values.whole or (np.isfinite(flat.max()) and np.isfinite(flat.min())):",
        new="    if values.whole or flat.size:",
        kind="check dropped",
        harm="NaN comes out as it went in: one record makes itself seen for certain",
        tests=(
            "tests/mechanisms/test_bad_input.py::test_bad_value_is_refused_without_being_shown",
        ),
    ),
    Mutant(
        id="calibrate-count-forgotten",
        file="mechanisms/calibrate.py",
        old="            return run.within(type(self.target)(each))",
        new="            return run.within(self.target)",
        kind="count forgotten",
        harm="noise for one run is used for a hundred",
        tests=("tests/mechanisms/test_calibrate.py::test_the_least_noise_that_fits",),
    ),
)
