# `make demo` and `make test` need only Python 3.11 or later, make and a package registry. `make test` also needs
# a Chromium and a PostgreSQL with ICU, and installs them where it may.

PYTHON ?= python3
VENV := .venv
# The tests start hundreds of processes, and each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin

# The least coverage, in per cent, of the parts that privacy rests on; pyproject.toml names them.
FLOOR := 95
# Two workers for whole runs; a single file is faster without them. A worker keeps its files together, so that
# it needs one Spark and can use its caches.
TWO := -n 2 --dist=worksteal
# Interpreters that `make test-pythons` uses, where they are installed.
PYTHONS := 3.11 3.12 3.13

.DEFAULT_GOAL := help
.PHONY: help demo check test types lint docs refresh lectures test-pythons test-long torture fuzz mutants gwas browser postgres clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## release statistics on the bundled sample data
	@$(BIN)/python -m discreet.demo

test: $(VENV)/.installed-dev browser postgres ## run every gate: lint, types, layers, tests, coverage
	@$(MAKE) --no-print-directory -j 2 types lint
	$(BIN)/pytest $(TWO) --cov --cov-report=
	$(BIN)/coverage report --fail-under=$(FLOOR)

check: $(VENV)/.installed-dev ## run the quick gates and the tests of what changed since the last tag, or of AT="query noise"
	@$(MAKE) --no-print-directory -j 2 types lint
	@tests=$$($(BIN)/python -m tests.changed $(AT)) && test -z "$$tests" || $(BIN)/pytest $(TWO) -q $$tests

# These run two at a time, and before the tests, which take both cores.
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

refresh: $(VENV)/.installed-dev ## run every page, write what it prints and draws into it, and make the notebooks
	$(BIN)/python -m publishing.refresh

lectures: $(VENV)/.installed ## recompute the 24 claims of the lectures that discreet grew from
	@$(BIN)/python -m lectures

gwas: $(VENV)/.installed-dev ## run the genome-wide example with a million variants: 1 GB of disk, some minutes
	$(BIN)/python -m examples.gwas --full

test-pythons: ## run every gate with each of Python 3.11, 3.12 and 3.13 that is installed
	@for version in $(PYTHONS); do \
		if command -v python$$version >/dev/null; \
		then $(MAKE) PYTHON=python$$version VENV=.venv-$$version test || exit 1; \
		else echo "python$$version was not found, and is not tested"; fi; \
	done

test-long: $(VENV)/.installed-dev ## run the tests that take minutes
	$(BIN)/pytest $(TWO) -m long
	$(BIN)/pytest $(TWO) -m hypothesis --hypothesis-profile=thorough

torture: $(VENV)/.installed-dev ## kill releases 22,000 times, and check that the ledger still adds up
	$(BIN)/python -m tests.faults.torture --kills 20000 --at-once 2
	$(BIN)/python -m tests.faults.torture --kills 2000 --postgres

fuzz: $(VENV)/.installed-dev postgres ## try 22,000 new pairs of neighbours: nothing may tell them apart
	$(BIN)/python -m tests.fuzz.run --pairs 20000 --engine duckdb
	$(BIN)/python -m tests.fuzz.run --pairs 1000 --engine spark
	$(BIN)/python -m tests.fuzz.run --pairs 1000 --engine postgres

mutants: $(VENV)/.installed-dev ## plant errors in copies of our own code, and check that tests catch them
	$(BIN)/python -m tests.mutants.run

clean: ## remove environments, caches and results
	rm -rf $(VENV) .venv-* benchmarks/results build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache .coverage .coverage.* htmlcov
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The page of a survey is tested in Chromium. Where it is missing and cannot be installed, that test says what
# to do.
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable chrome
browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; $(call fetch,chromium)

# The PostgreSQL that pip installs has no ICU, whose collations some tests need.
postgres:
	@for path in /usr/lib/postgresql/*/bin/initdb; do test -x $$path && exit 0; done; \
	command -v initdb >/dev/null && exit 0; $(call fetch,postgresql)

# A stamp is newer than pyproject.toml exactly when its environment is up to date.
$(VENV)/.installed: pyproject.toml
	$(call install,$(VENV),.[plots])

$(VENV)/.installed-dev: pyproject.toml
	$(call install,$(VENV),.[dev])
	@touch $(VENV)/.installed

# $(call fetch,package): install a package from Debian, where that is allowed.
define fetch
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "Installing $(1) ..."; \
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $(1); } \
		>/dev/null 2>&1 || true; \
fi
endef

# $(call install,environment,requirement): make the environment if necessary, then install into it.
define install
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or later, or name it with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: discreet needs Python 3.11 or later; name one with 'make PYTHON=python3.11'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: install its venv module (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@test -x $(1)/bin/pip || $(PYTHON) -m venv --clear $(1)
	@echo "Installing $(2) into $(1) ..."
	@$(1)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '$(2)'
	@touch $@
endef

include benchmarks/Makefile
