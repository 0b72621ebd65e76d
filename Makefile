# `make demo` and `make test` need Python 3.11 or later, make and a package registry; no more, but for
# a Chromium and a PostgreSQL with ICU, which `make test` installs where it may.

PYTHON ?= python3
VENV := .venv
# Hundreds of processes are started by the tests: each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
PEERS := .venv-peers
# Each has an environment of its own: their pins exclude each other.
TABLE_PEERS := opendp pipelinedp smartnoise tumult
PAGE_PEERS := diffprivlib opendp smartnoise tumult

# Of the parts that privacy rests on; pyproject.toml names them.
FLOOR := 95

.DEFAULT_GOAL := help
.PHONY: help demo test types lint docs refresh docs-peers gwas browser postgres test-long torture fuzz mutants false-alarms audit-peers bench bench-peers bench-tables bench-ledger \
	bench-audit bench-surveys bench-overfitting timing clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## release statistics on the bundled sample data
	@$(BIN)/python -m discreet.demo

test: $(VENV)/.installed-dev browser postgres ## run every gate: lint, types, layers, tests, coverage
	@$(MAKE) --no-print-directory -j 2 types lint
	$(BIN)/pytest --cov --cov-report=
	$(BIN)/coverage report --fail-under=$(FLOOR)

# Two at a time, and before the tests, which take both cores.
types:
	$(BIN)/mypy

lint:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

docs: $(VENV)/.installed-dev ## build the site into build/site; a broken link or an undocumented name is a failure
	$(BIN)/python -m publishing.complete
	$(BIN)/python -m publishing.site
	$(BIN)/zensical build --strict --config-file mkdocs.yml

refresh: $(VENV)/.installed-dev ## run every page, and write what it prints and draws into it, and the notebooks
	$(BIN)/python -m publishing.refresh

docs-peers: $(VENV)/.installed-dev $(PAGE_PEERS:%=.venv-peer-%/.installed) ## run other libraries' code on docs/coming-from.md
	$(BIN)/python -m publishing.peers

gwas: $(VENV)/.installed-dev ## the genome-wide example with a million variants: 1 GB of disk, some minutes
	$(BIN)/python -m examples.gwas --full

test-long: $(VENV)/.installed-dev ## run the tests that take minutes
	$(BIN)/pytest -m long
	$(BIN)/pytest -m hypothesis --hypothesis-profile=thorough

torture: $(VENV)/.installed-dev ## kill releases 22,000 times, and see that the ledger still adds up
	$(BIN)/python -m tests.faults.torture --kills 20000 --at-once 2
	$(BIN)/python -m tests.faults.torture --kills 2000 --postgres

fuzz: $(VENV)/.installed-dev postgres ## 22,000 pairs of neighbours, drawn anew: nothing may tell them apart
	$(BIN)/python -m tests.fuzz.run --pairs 20000 --engine duckdb
	$(BIN)/python -m tests.fuzz.run --pairs 1000 --engine spark
	$(BIN)/python -m tests.fuzz.run --pairs 1000 --engine postgres

mutants: $(VENV)/.installed-dev ## plant errors in copies of our own code, and see that tests catch them
	$(BIN)/python -m tests.mutants.run

false-alarms: $(VENV)/.installed-dev ## audit every correct mechanism 200 times: none may be accused
	$(BIN)/python -m benchmarks.auditing --false-alarms 200

audit-peers: $(PEERS)/.installed ## audit NumPy's, diffprivlib's and OpenDP's noise
	$(PEERS)/bin/python -m benchmarks.auditing_peers

bench: $(VENV)/.installed $(PEERS)/.installed ## measure speed against NumPy and other accountants
	$(BIN)/python -m benchmarks.run
	$(PEERS)/bin/python -m benchmarks.run --accounting

bench-peers: $(PEERS)/.installed ## noise, with other libraries beside it
	$(PEERS)/bin/python -m benchmarks.run --peers

bench-tables: $(VENV)/.installed-dev $(TABLE_PEERS:%=.venv-peer-%/.installed) ## private queries beside raw ones and other libraries
	$(BIN)/python -m benchmarks.run --tables

bench-ledger: $(VENV)/.installed-dev ## durable charges beside bare inserts
	$(BIN)/python -m benchmarks.run --ledger

bench-audit: $(VENV)/.installed-dev ## audit broken and correct mechanisms, beside the best possible test
	$(BIN)/python -m benchmarks.auditing

bench-surveys: $(VENV)/.installed-dev .venv-peer-pureldp/.installed ## survey answers beside NumPy's draws and pure-ldp
	$(BIN)/python -m benchmarks.run --surveys

bench-overfitting: $(VENV)/.installed-dev ## attack each kind of holdout 1,000 times
	$(BIN)/python -m benchmarks.overfitting

timing: $(VENV)/.installed-dev ## time releases on ten pairs of neighbours: two hours or more, with nothing else running
	$(BIN)/python -m benchmarks.neighbours

clean: ## remove environments, caches and results
	rm -rf $(VENV) $(PEERS) .venv-peer-* benchmarks/results build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache .coverage .coverage.* htmlcov
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The page of a survey is tested in Chromium. Where there is none and none can be installed, that test
# says what to do.
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable chrome
browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; $(call fetch,chromium)

# The PostgreSQL that pip brings has no ICU, whose collations some tests are about.
postgres:
	@for path in /usr/lib/postgresql/*/bin/initdb; do test -x $$path && exit 0; done; \
	command -v initdb >/dev/null && exit 0; $(call fetch,postgresql)

# A stamp is newer than pyproject.toml exactly when its environment is up to date.
$(VENV)/.installed: pyproject.toml
	$(call install,$(VENV),.)

$(VENV)/.installed-dev: pyproject.toml
	$(call install,$(VENV),.[dev])
	@touch $(VENV)/.installed

$(PEERS)/.installed: pyproject.toml
	$(call install,$(PEERS),.[peers])

# A peer that cannot be installed shows up as "not installed" in the results.
.venv-peer-diffprivlib/.installed: PACKAGES := diffprivlib 'scikit-learn<1.9'
.venv-peer-opendp/.installed: PACKAGES := 'opendp[polars]' pyarrow
.venv-peer-pipelinedp/.installed: PACKAGES := pipeline-dp pyarrow
.venv-peer-pureldp/.installed: PACKAGES := pure-ldp scikit-learn statsmodels 'xxhash<4'
.venv-peer-smartnoise/.installed: PACKAGES := smartnoise-sql pyarrow
.venv-peer-tumult/.installed: PACKAGES := tmlt.analytics
.venv-peer-%/.installed:
	@test -x $(@D)/bin/pip || $(PYTHON) -m venv --clear $(@D)
	@echo "Installing $(PACKAGES) into $(@D) ..."
	-@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(PACKAGES)
	@touch $@

# $(call fetch,package): from Debian, where that is allowed.
define fetch
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "Installing $(1) ..."; \
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $(1); } \
		>/dev/null 2>&1 || true; \
fi
endef

# $(call install,environment,requirement): make the environment if need be, then install into it.
define install
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or later, or name it with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: discreet needs Python 3.11 or later; name one with 'make PYTHON=python3.11'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: install its venv module (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@test -x $(1)/bin/pip || $(PYTHON) -m venv --clear $(1)
	@echo "Installing $(2) into $(1) ..."
	@$(1)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '$(2)'
	@touch $@
endef
