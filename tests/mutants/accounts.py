"""Errors in ``session.py``, ``ledger/`` and ``certificate/``: what is charged, kept and proved."""

from tests.mutants.mutant import Mutant

CHARGES = "tests/ledger/test_charges.py"
SESSION = "tests/session/test_session.py"
DURABLE = "tests/session/test_durable_sessions.py"
STATE = "tests/ledger/test_state.py"
SEALING = "tests/ledger/test_sealing.py"

ACCOUNTS = (
    # -- sessions ----------------------------------------------------------------------------------
    Mutant(
        id="session-charge-after-data",
        file="session.py",
        old=(
            "        entry = self._purse.charge(claim_for(plan, document, digest=digest, "
            "key=key))\n"
            "        result = run(plan, cost=entry.costs[0].words)\n"
        ),
        new=(
            '        result = run(plan, cost="")\n'
            "        entry = self._purse.charge(claim_for(plan, document, digest=digest, "
            "key=key))\n"
        ),
        kind="order swapped",
        harm="whoever is refused, or cut off, has looked at the data for nothing",
        tests=("tests/session/test_charge_first.py::test_a_refused_release_touches_no_data",),
    ),
    Mutant(
        id="session-refund",
        file="session.py",
        old="        result = run(plan, cost=entry.costs[0].words)\n",
        new=(
            "        spent = self._account\n"
            "        try:\n"
            "            result = run(plan, cost=entry.costs[0].words)\n"
            "        except Exception:\n"
            "            unspent = type(spent)(limit=spent.limit, slack=spent.slack)\n"
            "            self._purse._account = unspent  # type: ignore[union-attr]\n"
            "            raise\n"
        ),
        kind="count forgotten",
        harm="whoever makes a release fail, after it looked at the data, gets the budget back",
        tests=(
            "tests/session/test_charge_first.py::test_a_failure_after_the_charge_is_not_given_back",
        ),
    ),
    Mutant(
        id="session-bound-after-data",
        file="session.py",
        old=(
            "        entry = self._purse.charge(claim_for_choice(choice, rows=rows))\n"
            "        chosen = choice.choose(rows=rows)\n"
        ),
        new=(
            "        chosen = choice.choose(rows=rows)\n"
            "        entry = self._purse.charge(claim_for_choice(choice, rows=rows))\n"
        ),
        kind="order swapped",
        harm="a bound is computed from the data before it is paid for",
        tests=("tests/session/test_charge_first.py::test_a_refused_release_touches_no_data",),
    ),
    Mutant(
        id="session-other-key-same-answer",
        file="session.py",
        old="    if found.digest != digest:\n",
        new="    if False:\n",
        kind="check dropped",
        harm="another question under the same key gets the answer to the first",
        tests=(f"{DURABLE}::test_a_key_gives_the_same_answer_for_one_charge",),
    ),
    Mutant(
        id="session-spend-not-in-the-digest",
        file="session.py",
        old='    return canonical.digest({"query": dict(query), "spend": given})',
        new='    return canonical.digest({"query": dict(query), "spend": {}})',
        kind="count forgotten",
        harm="the same key with a larger spend is taken for the same question",
        tests=(f"{DURABLE}::test_a_key_gives_the_same_answer_for_one_charge",),
    ),
    Mutant(
        id="session-unanswered-again",
        file="session.py",
        old=(
            "        if key is not None and (found := self._purse.find(key)) is not None:\n"
            "            return self._again(found, digest, key)\n"
            "        plan = self._plan(query, (epsilon, delta, rho, mu), error, group_size)\n"
            "        for request in plan.requests:\n"
            "            query.table.source.check(request)\n"
            "        entry = self._purse.charge("
        ),
        new=(
            "        found = None if key is None else self._purse.find(key)\n"
            "        if found is not None and self._purse.reply(found) is not None:\n"
            "            return self._again(found, digest, key)\n"
            "        plan = self._plan(query, (epsilon, delta, rho, mu), error, group_size)\n"
            "        for request in plan.requests:\n"
            "            query.table.source.check(request)\n"
            "        entry = found or self._purse.charge("
        ),
        kind="check dropped",
        harm="a release that was cut off is computed a second time for one price",
        tests=(
            f"{DURABLE}"
            "::test_d4_a_release_that_was_cut_off_stays_charged_and_is_not_computed_again",
        ),
    ),
    Mutant(
        id="session-key-ignored",
        file="session.py",
        old="        if key is not None and (found := self._purse.find(key)) is not None:",
        new="        key, found = None, None\n        if found is not None:",
        kind="check dropped",
        harm="a request that is repeated after a timeout is paid for, and answered, twice",
        tests=(f"{DURABLE}::test_a_key_gives_the_same_answer_for_one_charge",),
    ),
    Mutant(
        id="session-other-table",
        file="session.py",
        old="        if table.source is not self._table.source:\n",
        new="        if False:\n",
        kind="check dropped",
        harm="a query about other people is charged to this budget",
        tests=(f"{SESSION}::test_queries_of_other_tables_are_refused",),
    ),
    Mutant(
        id="session-other-relation",
        file="session.py",
        old="        if (table.unit, table.relation) != mine:\n",
        new="        if table.unit != mine[0]:\n",
        kind="check dropped",
        harm="half of the answers protect people who are replaced, half those who are added",
        tests=("tests/session/test_same_source.py",),
    ),
    Mutant(
        id="session-bound-replace",
        file="session.py",
        old="        rows = grouped.table.relation.add_remove_steps\n",
        new="        rows = 1\n",
        kind="scale",
        harm="a bound that is bought where people are replaced costs twice its price",
        tests=(
            "tests/session/test_bought_contributions.py"
            "::test_one_person_costs_no_more_than_is_charged",
        ),
    ),
    Mutant(
        id="session-opened-under-another-promise",
        file="session.py",
        old="    if (table.unit.column, table.relation) != (data.unit, data.relation):",
        new="    if table.relation != data.relation:",
        kind="check dropped",
        harm="a ledger that protects people is charged for rows",
        tests=(f"{DURABLE}::test_another_promise_is_refused",),
    ),
    Mutant(
        id="session-larger-budget",
        file="ledger/budget.py",
        old="        if budget != self.budget or (slack is not None",
        new="        if type(budget) is not type(self.budget) or (slack is not None",
        kind="check dropped",
        harm="whoever opens the ledger again states another budget, and believes in it",
        tests=(f"{DURABLE}::test_another_budget_is_refused",),
    ),
    Mutant(
        id="memory-forked",
        file="ledger/budget.py",
        old="        if os.getpid() != self._process:\n",
        new="        if False:\n",
        kind="noise reused",
        harm="parent and child each spend the whole budget",
        tests=(f"{SESSION}::test_a_forked_copy_cannot_spend",),
    ),
    Mutant(
        id="memory-charge-forgotten",
        file="ledger/budget.py",
        old="            self._account = account.add(cost.amount, cost.slack)\n",
        new="            account.add(cost.amount, cost.slack)\n",
        kind="count forgotten",
        harm="each answer fits the budget, and all of them together are never counted",
        tests=("tests/session/test_session.py::test_the_charge_comes_before_the_data",),
    ),
    Mutant(
        id="memory-lock",
        file="ledger/budget.py",
        old="        with self._lock:\n            name, account = self.caps[0]",
        new="        if True:\n            name, account = self.caps[0]",
        kind="check dropped",
        harm="two threads both take the last of a budget",
        tests=("tests/ledger/test_budget.py::test_threads_take_turns",),
    ),
    Mutant(
        id="memory-key-twice",
        file="ledger/budget.py",
        old="            if claim.key in self._keys:\n",
        new="            if False:\n",
        kind="check dropped",
        harm="two releases at once under one key are both computed",
        tests=("tests/ledger/test_budget.py::test_a_key_is_charged_once",),
    ),
    # -- ledgers -----------------------------------------------------------------------------------
    Mutant(
        id="ledger-cap-not-checked",
        file="ledger/journal.py",
        old="                _fits(account, price)\n",
        new="                pass\n",
        kind="check dropped",
        harm="a charge beyond the cap is written, and the ledger is damaged for everybody",
        tests=(f"{CHARGES}::test_the_last_bit_of_a_budget_fits_and_no_more[sqlite]",),
    ),
    Mutant(
        id="ledger-only-the-dataset",
        file="ledger/account.py",
        old=(
            "            if analyst is not None:\n"
            "                all_of_them.append(self.accounts[analyst])\n"
        ),
        new="",
        kind="check dropped",
        harm="an analyst's own cap does not bind",
        tests=(
            "tests/ledger/test_charges.py"
            "::test_e6_the_cap_of_the_dataset_binds_colluding_analysts[sqlite]",
        ),
    ),
    Mutant(
        id="ledger-only-the-analyst",
        file="ledger/account.py",
        old="                all_of_them.append(self.accounts[analyst])\n",
        new="                all_of_them = [self.accounts[analyst]]\n",
        kind="bound swapped",
        harm="analysts who work together spend the sum of their caps, whatever the dataset's is",
        tests=(
            "tests/ledger/test_charges.py"
            "::test_e6_the_cap_of_the_dataset_binds_colluding_analysts[sqlite]",
        ),
    ),
    Mutant(
        id="ledger-groups-forgotten",
        file="ledger/account.py",
        old="            all_of_them = [data, *(self.accounts[group] for group in data.groups)]",
        new="            all_of_them = [data]",
        kind="count forgotten",
        harm="two datasets of the same people each spend the cap of both",
        tests=(f"{CHARGES}::test_datasets_of_the_same_people_share_a_cap[sqlite]",),
    ),
    Mutant(
        id="ledger-nameless",
        file="ledger/journal.py",
        old="            if analyst is None and (names := state.analysts(dataset)):",
        new="            if False and (names := state.analysts(dataset)):",
        kind="check dropped",
        harm="whoever gives no name is bound by no analyst's cap",
        tests=(f"{CHARGES}::test_e6_once_there_are_analysts_a_charge_names_one[sqlite]",),
    ),
    Mutant(
        id="ledger-key-twice",
        file="ledger/journal.py",
        old="            if token is not None and transaction.filed(token) is not None:",
        new="            if False and transaction.filed(token) is not None:",
        kind="check dropped",
        harm="one key is charged, and answered, twice",
        tests=("tests/ledger/test_key_races.py",),
    ),
    Mutant(
        id="ledger-key-scope",
        file="ledger/record.py",
        old="    return canonical.digest([dataset, analyst, key])",
        new="    return canonical.digest([key])",
        kind="count forgotten",
        harm="one analyst's key finds another one's answer",
        tests=("tests/ledger/test_charges.py::test_an_idempotency_key_is_charged_once[sqlite]",),
    ),
    Mutant(
        id="ledger-hash-not-chained",
        file="ledger/record.py",
        old='    if fields["number"] != number or fields["previous"] != previous:',
        new='    if fields["number"] != number:',
        kind="check dropped",
        harm="records can be taken out and written anew, and the chain looks whole",
        tests=(f"{STATE}::test_rows_that_do_not_follow",),
    ),
    Mutant(
        id="ledger-hash-not-checked",
        file="ledger/record.py",
        old="    if hash_of(body, detail) != digest:\n",
        new="    if len(digest) != 64:\n",
        kind="check dropped",
        harm="a charge can be made smaller by an editor",
        tests=("tests/ledger/test_state.py::test_rows_that_do_not_follow",),
    ),
    Mutant(
        id="ledger-hash-without-detail",
        file="ledger/record.py",
        old='    return hashlib.sha256(f"{body}\\n{detail}".encode()).hexdigest()',
        new='    return hashlib.sha256(f"{body}\\n".encode()).hexdigest()',
        kind="salt dropped",
        harm="what was asked, and the guarantee it was charged for, can be edited unseen",
        tests=("tests/ledger/test_state.py::test_rows_that_do_not_follow",),
    ),
    Mutant(
        id="ledger-head-not-checked",
        file="ledger/journal.py",
        old="        if head.number > state.number:\n",
        new="        if False:\n",
        kind="check dropped",
        harm="the last charges are cut off, and can be spent again",
        tests=(
            "tests/ledger/test_sealing.py"
            "::test_an_old_copy_is_seen_by_its_head_and_not_if_both_are_old",
        ),
    ),
    Mutant(
        id="ledger-head-hash",
        file="ledger/journal.py",
        old="    if found != head.hash:\n",
        new="    if found is None:\n",
        kind="check dropped",
        harm="a journal that was rewritten to the same length passes for the true one",
        tests=(
            "tests/ledger/test_sealing.py"
            "::test_an_editor_with_time_is_seen_with_a_key_and_only_then",
        ),
    ),
    Mutant(
        id="ledger-head-unsigned",
        file="ledger/journal.py",
        old=(
            '            if not signing.is_signed(state.public_key, head.message("head"), '
            "signature):"
        ),
        new="            if not signature:",
        kind="check dropped",
        harm="whoever can write the files can write a head that goes with them",
        tests=("tests/ledger/test_forged_head.py::test_a_head_must_have_the_signature_of_a_head",),
    ),
    Mutant(
        id="ledger-seal-for-head",
        file="ledger/head.py",
        old=(
            'told = {"hash": self.hash, "kind": kind, "ledger": self.ledger, "number": self.number}'
        ),
        new='told = {"hash": self.hash, "ledger": self.ledger, "number": self.number}',
        kind="salt dropped",
        harm="the seal of an old record passes for that of a head: the last charges are cut off",
        tests=("tests/ledger/test_forged_head.py::test_a_head_must_have_the_signature_of_a_head",),
    ),
    Mutant(
        id="ledger-appended-unsealed",
        file="ledger/journal.py",
        old="                    _check_seal(state, transaction)\n",
        new="                    pass\n",
        kind="check dropped",
        harm="records without the key are believed",
        tests=(f"{SEALING}::test_what_is_appended_without_the_key_is_seen",),
    ),
    Mutant(
        id="ledger-torn-head",
        file="ledger/journal.py",
        old="        if head.torn and head.number >= state.number:\n",
        new="        if False:\n",
        kind="check dropped",
        harm="half a head is cut off together with the last charge, and nobody sees it",
        tests=(
            "tests/ledger/test_interrupts.py"
            "::test_half_a_head_is_believed_only_if_a_record_came_after_it",
        ),
    ),
    Mutant(
        id="ledger-replaced-while-open",
        file="ledger/journal.py",
        old=(
            "                if again is None or (again[0], again[4]) != (state.number, "
            "state.hash):"
        ),
        new="                if again is None:",
        kind="check dropped",
        harm="a ledger that was rolled back under a session is gone on with",
        tests=("tests/ledger/test_rewritten_while_open.py",),
    ),
    Mutant(
        id="ledger-sum-of-equal-charges",
        file="ledger/account.py",
        old="self._added(account, amount * times, slack * times)",
        new="self._added(account, amount, slack)",
        kind="count forgotten",
        harm="after opening, a hundred equal charges count as one",
        tests=("tests/ledger/test_charges.py::test_sums_of_long_fractions_are_those_of_a_filter",),
    ),
    Mutant(
        id="ledger-negative-charge",
        file="ledger/account.py",
        old="    if min(amounts) < 0 or not any(amounts):",
        new="    if not any(amounts):",
        kind="sign",
        harm="a charge below zero gives budget back",
        tests=(f"{STATE}::test_nonsense_is_damage_and_says_where",),
    ),
    Mutant(
        id="ledger-state-kept-when-not-durable",
        file="ledger/journal.py",
        old=(
            "            self.state = LedgerState()\n"
            "            state.accept(record.number, record.hash, fields)"
        ),
        new="            state.accept(record.number, record.hash, fields)",
        kind="order swapped",
        harm="a charge that did not become durable is believed, or read twice",
        tests=(
            "tests/ledger/test_interrupts.py::test_too_much_is_refused_every_time_it_is_looked_at",
        ),
    ),
    Mutant(
        id="ledger-reply-not-checked",
        file="ledger/journal.py",
        old='        if json.loads(row[2])["digest"] != digest_of(content):',
        new='        if not json.loads(row[2])["digest"]:',
        kind="check dropped",
        harm="stored answers can be edited",
        tests=("tests/ledger/test_edited_answers.py",),
    ),
    Mutant(
        id="ledger-price-not-checked-again",
        file="ledger/journal.py",
        old="            if cost.amount < again.amount or cost.slack < again.slack:",
        new="            if cost.amount < again.amount and cost.slack < again.slack:",
        kind="check dropped",
        harm="a ledger with charges below their price verifies",
        tests=(f"{SEALING}::test_the_price_of_every_charge_is_checked",),
    ),
    # -- certificates ------------------------------------------------------------------------------
    Mutant(
        id="certificate-digest-not-checked",
        file="auditor/certificate/verification.py",
        old='        document["digest"] == canonical.digest(content(document)),',
        new='        len(document["digest"]) == 64,',
        kind="check dropped",
        harm="a certificate that was changed verifies",
        tests=(
            "tests/certificate/test_each_seal_alone.py"
            "::test_a_change_without_a_signature_is_seen_by_the_digest",
        ),
    ),
    Mutant(
        id="certificate-signature-not-checked",
        file="auditor/certificate/verification.py",
        old='        signing.is_signed(key, message(document), signature["signature"]),',
        new='        bool(signature["signature"]),',
        kind="check dropped",
        harm="anybody can issue a certificate in another one's name",
        tests=(
            "tests/certificate/test_each_seal_alone.py"
            "::test_a_change_with_its_digest_is_seen_by_the_signature",
        ),
    ),
    Mutant(
        id="certificate-charge-count",
        file="auditor/certificate/law_pairs.py",
        old="return total(pair.square * n for pair, n",
        new="return total(pair.square for pair, n",
        kind="count forgotten",
        harm="a charge for one of ten mechanisms is told to be enough",
        tests=(
            "tests/certificate/test_independent.py"
            "::test_charges_are_enough_and_a_trillionth_less_is_not",
        ),
    ),
    Mutant(
        id="certificate-loss-rounded-down",
        file="auditor/certificate/law_pairs.py",
        old="        m = floor((self.steps - x / self.rate) / 2)",
        new="        m = ceil((self.steps - x / self.rate) / 2)",
        kind="rounding",
        harm="a claim is computed again with other tails than the law has",
        tests=("tests/certificate/test_independent.py::test_tails_of_a_shift_from_the_law_itself",),
    ),
    Mutant(
        id="certificate-replace",
        file="auditor/certificate/query_check.py",
        old="                yield _times(table, value) + _times(table, -value)",
        new="                yield _times(table, value)",
        kind="scale",
        harm="a certificate that forgets the factor of two verifies",
        tests=(
            "tests/certificate/test_independent.py"
            "::test_sensitivities_are_the_planners_and_no_less",
        ),
    ),
    Mutant(
        id="certificate-other-values",
        file="certificate/ledger_check.py",
        old='    if told_released(result.frame, result.columns) == document["released"]:',
        new=(
            "    if told_released(result.frame, result.columns).keys() == "
            'document["released"].keys():'
        ),
        kind="check dropped",
        harm="a doctored table is told to be the one in the ledger",
        tests=("tests/certificate/test_ledger.py::test_a_doctored_table_is_not_proved",),
    ),
)
