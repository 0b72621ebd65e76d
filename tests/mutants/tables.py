"""Errors in ``query/`` and ``engines/``: how a table becomes integers that noise is added to."""

from tests.mutants.mutant import Mutant

BOUNDING = "tests/engines/test_row_sampling.py"
B = "tests/attacks/test_b_tables.py"
TABLES = (
    # -- what one person can move ------------------------------------------------------------------
    Mutant(
        id="contribution-groups-forgotten",
        file="query/contribution.py",
        old="    return Contribution(touched, rows, touched * rows, relation, grouped)",
        new="    return Contribution(touched, rows, rows, relation, grouped)",
        kind="count forgotten",
        harm="a person in five wards is hidden as if in one",
        tests=("tests/query/test_contribution.py::test_bounds_as_declared",),
    ),
    Mutant(
        id="contribution-replace",
        file="query/contribution.py",
        old="            l1, l2 = max(l1, 2 * self.total * largest), ",
        new="            l1, l2 = l1, ",
        kind="scale",
        harm="a person who is replaced leaves one ward and enters another: half is not covered",
        tests=(
            "tests/query/test_contribution.py"
            "::test_sums_move_by_what_the_worst_pair_of_people_moves_them",
        ),
    ),
    Mutant(
        id="contribution-l2",
        file="query/contribution.py",
        old="        square = full * self.rows**2 + rest**2",
        new="        square = self.total",
        kind="scale",
        harm="five rows in one ward are hidden as if they were in five",
        tests=(
            "tests/query/test_contribution.py"
            "::test_sums_move_by_what_the_worst_pair_of_people_moves_them",
        ),
    ),
    Mutant(
        id="contribution-rows-of-a-person",
        file="query/contribution.py",
        old="        return replace(self, rows=1, total=self.groups)",
        new="        return replace(self, rows=1, total=1)",
        kind="count forgotten",
        harm="people are counted in each of their groups and hidden in one",
        tests=("tests/query/test_people_in_groups.py",),
    ),
    Mutant(
        id="cells-of-a-histogram",
        file="query/measures.py",
        old='        cells = contribution.in_cells(getattr(self, "size", 1))\n',
        new="        cells = contribution\n",
        kind="count forgotten",
        harm="to be replaced moves a row from one bin to another, and only one is covered",
        tests=(
            "tests/query/test_replaced_people.py::test_a_replaced_row_moves_two_cells_of_one_group",
        ),
    ),
    Mutant(
        id="sum-sensitivity-one-end",
        file="query/measures.py",
        old="largest=Fraction(self.largest), reach=",
        new="largest=Fraction(abs(high)), reach=",
        kind="bound swapped",
        harm="a sum with bounds (−100, 1) gets the noise of one with bounds (0, 1)",
        tests=(f"{B}::test_b4_and_b10_bounds_of_odd_width_and_off_centre",),
    ),
    Mutant(
        id="sum-reach-of-missing",
        file="query/measures.py",
        old="        reach = max(high, 0) - min(low, 0)",
        new="        reach = high - low",
        kind="bound swapped",
        harm="a value of 100 that is replaced by a missing one moves a sum with bounds (99, 100)",
        tests=("tests/query/test_contribution.py::test_a_sum_allows_for_people_without_a_value",),
    ),
    Mutant(
        id="discovery-replace",
        file="query/purchase.py",
        old="            groups = contribution.groups * contribution.relation.add_remove_steps",
        new="            groups = contribution.groups",
        kind="scale",
        harm="a person who is replaced holds keys before and after; only one set is covered",
        tests=("tests/query/test_replaced_people.py::test_a_key_of_ones_own_before_and_after",),
    ),
    Mutant(
        id="quantiles-replace",
        file="query/aggregates/quantiles.py",
        old="            rows=contribution.rows * contribution.relation.add_remove_steps,",
        new="            rows=contribution.rows,",
        kind="scale",
        harm="the quantile of a table in which rows are replaced costs twice its price",
        tests=("tests/query/test_replaced_people.py::test_a_quantile_that_a_replaced_row_passes",),
    ),
    Mutant(
        id="commonest-monotone",
        file="query/aggregates/commonest.py",
        old="        monotone = contribution.relation is Relation.ADD_REMOVE",
        new="        monotone = True",
        kind="check dropped",
        harm="where rows are replaced one count rises while another falls: half the noise it needs",
        tests=("tests/query/test_choices.py::test_choices_keep_what_the_plan_promises",),
    ),
    Mutant(
        id="choices-in-each-group",
        file="query/purchase.py",
        old="        return self.mechanism.guarantee.repeat(self.times)",
        new="        return self.mechanism.guarantee",
        kind="count forgotten",
        harm="a choice in each of a person's five wards is charged as one",
        tests=("tests/query/test_everything_is_paid.py::test_a_choice_is_paid_for_in_every_group",),
    ),
    Mutant(
        id="noise-of-wide-sums",
        file="query/purchase.py",
        old="        drawn = self.mechanism.release(np.zeros(exact.shape, np.int64))",
        new=(
            "        drawn = self.mechanism.release(np.zeros(1, np.int64))[0] * "
            "np.ones(exact.shape, int)"
        ),
        kind="noise reused",
        harm="sums beyond 64 bits all get the same noise: their differences are exact",
        tests=("tests/query/test_noise_beyond_64_bits.py::test_every_group_has_noise_of_its_own",),
    ),
    Mutant(
        id="plan-share-forgotten",
        file="query/plan.py",
        old="    shares = {part: weight / total for part, weight in weights.items()}",
        new="    shares = {part: Fraction(1) for part, weight in weights.items()}",
        kind="count forgotten",
        harm="every column of an answer costs the whole spend",
        tests=("tests/query/test_explain.py::test_no_plan_costs_more_than_its_spend",),
    ),
    Mutant(
        id="plan-discovery-unpaid",
        file="query/plan.py",
        old=(
            "        return compose([one.guarantee for one in self.bought.values()])\n"
            "\n"
            "    @property\n"
            "    def measures"
        ),
        new=(
            "        return compose(\n"
            "            [one.guarantee for one in self.bought.values() if not isinstance(one, "
            "Finder)]\n"
            "        )\n"
            "\n"
            "    @property\n"
            "    def measures"
        ),
        kind="count forgotten",
        harm="keys are discovered for nothing",
        tests=("tests/query/test_everything_is_paid.py::test_discovered_keys_are_paid_for",),
    ),
    Mutant(
        id="plan-pure-takes-delta",
        file="query/plan.py",
        old="    if Discovery() in weights:\n",
        new="    if False:\n",
        kind="check dropped",
        harm="an account that promised no δ pays for keys that are shown with probability δ",
        tests=("tests/query/test_explain.py::test_a_pure_account_refuses_what_needs_a_delta",),
    ),
    # -- what is summed ----------------------------------------------------------------------------
    Mutant(
        id="grid-clamp-one-end",
        file="engines/cell_table.py",
        old="    x = clamped(x, whole(grid.lower), whole(grid.upper))\n",
        new="    x = clamped(x, whole(grid.lower), whole(2**62))\n",
        kind="clamp removed",
        harm="one row moves a sum of whole numbers as far as its value likes",
        tests=(f"{B}::test_b1_no_sum_overflows",),
    ),
    Mutant(
        id="grid-clamp-of-reals",
        file="engines/duckdb.py",
        old="    both = (steps - real(grid.lower)).abs() - (steps - real(grid.upper)).abs()",
        new="    both = steps + steps - real(grid.lower + grid.upper)",
        kind="clamp removed",
        harm="one row moves a sum of reals as far as its value likes",
        tests=(f"{B}::test_b12_the_clamped_value_is_the_one_that_is_summed",),
    ),
    Mutant(
        id="grid-nan-is-the-upper-end",
        file="engines/duckdb.py",
        old=(
            "            (self.is_number(x), real(upper)),\n"
            '            else_=ibis.null("float64"),\n'
            "        )\n"
            "        steps = floor(self.scaled(near"
        ),
        new="            else_=real(upper),\n        )\n        steps = floor(self.scaled(near",
        kind="check dropped",
        harm="NaN is counted as the largest value there is, and nobody sees it",
        tests=("tests/engines/test_translation.py::test_grids",),
    ),
    Mutant(
        id="grid-ends-swapped",
        file="engines/duckdb.py",
        old=(
            "            (x < real(0.0), real(lower)),\n"
            "            (self.is_number(x), real(upper)),\n"
            '            else_=ibis.null("float64"),\n'
            "        )\n"
            "        steps = floor(self.scaled(near"
        ),
        new=(
            "            (x < real(0.0), real(upper)),\n"
            "            (self.is_number(x), real(lower)),\n"
            '            else_=ibis.null("float64"),\n'
            "        )\n"
            "        steps = floor(self.scaled(near"
        ),
        kind="bound swapped",
        harm="minus infinity counts as the largest value",
        tests=("tests/engines/test_translation.py::test_grids",),
    ),
    Mutant(
        id="grid-half",
        file="engines/duckdb.py",
        old="        steps = floor(self.scaled(near, grid.exponent) + real(0.5))\n",
        new="        steps = floor(self.scaled(near, grid.exponent))\n",
        kind="rounding",
        harm="values are rounded down: every sum is too small by half a step a row",
        tests=("tests/engines/test_translation.py::test_grids",),
    ),
    Mutant(
        id="domain-beyond-bounds",
        file="engines/cell_table.py",
        old="    return lower <= domain.lower and domain.upper <= upper and",
        new="    return lower <= domain.lower and",
        kind="clamp removed",
        harm="values above the upper bound, within a declared domain, are summed as they are",
        tests=("tests/engines/test_domains.py::test_bounds_around_a_domain_need_no_clamp",),
    ),
    Mutant(
        id="domain-believed",
        file="engines/sources.py",
        old="    check_domains(source)\n",
        new="",
        kind="check dropped",
        harm="a declared domain is believed: one row outside of it moves a sum by any amount",
        tests=("tests/engines/test_domains.py::test_a_value_outside_is_refused_at_the_door",),
    ),
    Mutant(
        id="domain-outlives-its-file",
        file="engines/files.py",
        old="        if checked and not same:\n",
        new="        if False:\n",
        kind="check dropped",
        harm="a file that was replaced after its domain was checked is summed without a clamp",
        tests=(
            "tests/engines/test_domains.py"
            "::test_a_file_that_was_changed_is_refused_before_the_charge",
        ),
    ),
    Mutant(
        id="sums-wrap",
        file="engines/row_sampling.py",
        old="    total = np.zeros(groups, object if wide else np.int64)",
        new="    total = np.zeros(groups, np.int64)",
        kind="clamp removed",
        harm="a sum beyond 64 bits wraps around: one row moves it by 2⁶⁴",
        tests=("tests/engines/test_aggregation.py::test_limbs_add_up",),
    ),
    Mutant(
        id="sums-lose-a-limb",
        file="engines/row_sampling.py",
        old="limb = values >> shift if last else (values >> shift) & (2**LIMB - 1)",
        new="limb = (values >> shift) & (2**LIMB - 1)",
        kind="sign",
        harm="negative values are summed as large positive ones",
        tests=("tests/engines/test_aggregation.py::test_limbs_add_up",),
    ),
    # -- who is kept -------------------------------------------------------------------------------
    Mutant(
        id="sorting-max-groups-ignored",
        file="engines/row_sampling.py",
        old="        keep = keys <= last[person]\n",
        new="        pass\n",
        kind="clamp removed",
        harm="a person is in as many groups as they like",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="sorting-max-groups-off-by-one",
        file="engines/row_sampling.py",
        old="        ends = starts + np.minimum(sizes, bound.max_groups) - 1",
        new="        ends = starts + np.minimum(sizes - 1, bound.max_groups)",
        kind="off by one",
        harm="a person is in one group more than they are hidden in",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="sorting-max-rows-ignored",
        file="engines/row_sampling.py",
        old="    keep[rows[order[rank >= most]]] = False",
        new="    keep[rows[order[rank > most]]] = False",
        kind="off by one",
        harm="a person has one row more than they are hidden for",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="sorting-salt-dropped",
        file="engines/row_sampling.py",
        old="    state = np.full(len(columns[0]), np.uint64(salt), np.uint64)",
        new="    state = np.full(len(columns[0]), np.uint64(0), np.uint64)",
        kind="salt dropped",
        harm="the same rows of a person are kept in every release: what is left out stays unseen",
        tests=(
            "tests/engines/test_salts.py::test_rows_of_one_group_are_chosen_by_the_salt_itself",
        ),
    ),
    Mutant(
        id="sorting-group-salt-dropped",
        file="engines/row_sampling.py",
        old="hash(hash({self.salt}::UBIGINT, u, {group}))",
        new="hash(hash(0::UBIGINT, u, {group}))",
        kind="salt dropped",
        harm="the same groups of a person are kept in every release",
        tests=(
            "tests/engines/test_row_sampling.py"
            "::test_choices_of_different_people_and_salts_are_independent",
        ),
    ),
    Mutant(
        id="sql-salt-dropped",
        file="engines/aggregation.py",
        old="    table = table.mutate(row_hash=engine.hashed(salt, columns))",
        new="    table = table.mutate(row_hash=engine.hashed(0, columns))",
        kind="salt dropped",
        harm="the same rows of a person are kept in every release",
        tests=("tests/engines/test_row_sampling.py::test_order_does_not_matter_and_the_salt_does",),
    ),
    Mutant(
        id="sql-max-groups-off-by-one",
        file="engines/aggregation.py",
        old="        table = table.filter(table.place < bound.max_groups)",
        new="        table = table.filter(table.place <= bound.max_groups)",
        kind="off by one",
        harm="a person is in one group more than they are hidden in",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="sql-max-rows-of-a-group",
        file="engines/aggregation.py",
        old="    if bound.max_rows_per_group is not None:\n        table = _first",
        new="    if False:\n        table = _first",
        kind="clamp removed",
        harm="a person has as many rows in a group as they like",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="sql-copies-alike",
        file="engines/aggregation.py",
        old='    columns = [table[name] for name in (unit, *keys, *contents, "copy")]',
        new="    columns = [table[name] for name in (unit, *keys, *contents)]",
        kind="salt dropped",
        harm="equal rows are kept all or none: what is kept of a person is not a fair sample",
        tests=(f"{BOUNDING}::test_every_row_is_kept_equally_often_also_among_equals",),
    ),
    Mutant(
        id="salt-fixed",
        file="session.py",
        old="int(entropy().words(1)[0])",
        new="20261115",
        kind="salt dropped",
        harm="every release keeps the same rows of a person, and anybody can compute which",
        tests=("tests/engines/test_salts.py::test_salts_are_drawn_anew",),
    ),
    Mutant(
        id="prepared-salt",
        file="engines/sources.py",
        old="cast(CompiledQuery, replace(query, request=request))",
        new="cast(CompiledQuery, query)",
        kind="salt dropped",
        harm="a question that is asked again keeps the rows that it kept before",
        tests=(
            "tests/engines/test_salts.py::test_a_question_that_is_asked_again_keeps_other_rows",
        ),
    ),
    Mutant(
        id="nobody-is-somebody",
        file="engines/cell_table.py",
        old="    table = table.filter(table[UNIT].notnull()) if unit else table\n",
        new="",
        kind="check dropped",
        harm="rows without a person are counted, and no bound holds for them",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="keys-unlisted-kept",
        file="engines/aggregation.py",
        old="    joined = cells.table.inner_join(listed, list(cells.keys))",
        new="    joined = cells.table.left_join(listed, list(cells.keys))",
        kind="check dropped",
        harm="rows of unlisted wards use up what is kept of a person, or raise an error",
        tests=(f"{BOUNDING}::test_nobody_keeps_more_and_nobody_less_than_the_bound",),
    ),
    Mutant(
        id="keys-in-the-order-of-the-data",
        file="session.py",
        old='keys.sort_by([(name, "ascending") for name in keys.column_names])',
        new="keys",
        kind="order swapped",
        harm="discovered keys come in the order of the data",
        tests=("tests/session/test_order_of_keys.py",),
    ),
    Mutant(
        id="discovery-keeps-all",
        file="session.py",
        old="    kept = np.flatnonzero(plan.finder.mechanism.release(exact.columns[Units()]))",
        new="    kept = np.flatnonzero(exact.columns[Units()])",
        kind="check dropped",
        harm="every key is shown, also that of one person",
        tests=("tests/session/test_session.py::test_nothing_discovered_is_an_answer",),
    ),
    Mutant(
        id="units-counted-by-rows",
        file="engines/row_sampling.py",
        old=(
            "    cells, _ = _cells(keys)\n"
            "    return np.bincount(layout.places(cells), minlength=groups)"
        ),
        new="    cells = keys\n    return np.bincount(layout.places(cells), minlength=groups)",
        kind="count forgotten",
        harm="a key with many rows of one person passes for a key of many people",
        tests=(
            "tests/attacks/test_b_tables.py::test_b7_and_b8_sizes_around_the_bound",
            "tests/engines/test_aggregation.py::test_people_by_groups_and_rows",
        ),
    ),
    Mutant(
        id="engine-error-passed-on",
        file="engines/execution.py",
        old="        except BaseException:\n            pass  #",
        new=(
            "        except BaseException as error:\n"
            "            ours.append(EngineError(str(error)))  #"
        ),
        kind="check dropped",
        harm="an engine quotes cells in its messages, and they are shown",
        tests=("tests/engines/test_engine_errors.py::test_an_engine_error_carries_nothing",),
    ),
    Mutant(
        id="engine-error-context",
        file="session.py",
        old="    except Exception:\n        pass  # its message may quote data\n",
        new="    except Exception as error:\n        raise EngineError(_FAILED) from error\n",
        kind="order swapped",
        harm="the failure that an error came from is kept with it, and quotes data",
        tests=(
            "tests/session/test_charge_first.py::test_a_failure_after_the_charge_is_not_given_back",
        ),
    ),
)
