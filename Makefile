# Everything runs in a virtual environment of its own; nothing else is needed than Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
TEST := $(VENV)/.test
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs
JOBS ?= 2
RIVALS ?= .rivals
export PYTHONWARNINGS ?= default
# Tests start many processes, which would compile the package again and again.
export PYTHONDONTWRITEBYTECODE =
# Quiet twice: errors only. The warnings of pip and its build tools are not ours to mend.
INSTALL := PYTHONWARNINGS=ignore $(BIN)/python -m pip install -qq --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format lint types slow lock build coverage rivals scoreboard mutants fuzz audit docs bench bench-grids bench-small bench-source-target clean

help:  ## Say what each target does.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Cloister needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Creating $(VENV)"
	@PYTHONWARNINGS=ignore $(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml | $(BIN)/python
	@echo "Installing Cloister"
	@$(INSTALL) .
	@touch $@

$(TEST): pyproject.toml | $(BIN)/python
	@echo "Installing Cloister with what its fast tests need"
	@$(INSTALL) '.[test]'
	@touch $(CORE) $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "Installing Cloister with all development tools (a few minutes, once)"
	@$(INSTALL) '.[dev]'
	@touch $(CORE) $(TEST) $(DOCS) $@

$(DOCS): pyproject.toml | $(BIN)/python
	@echo "Installing Cloister with what builds its site (a minute, once)"
	@$(INSTALL) '.[docs]'
	@touch $(CORE) $@

setup: $(DEV)  ## Create the virtual environment with all tools.

demo: $(CORE)  ## The whole story in a minute: data, budget, fit, release, report.
	@$(BIN)/python -m cloister.demo demo-output
	@echo "  The command is $(BIN)/cloister; put $(BIN) on your PATH to call it by its name."

test: $(TEST)  ## Fast tests and doctests: every law, with the cases that its test names.
	@$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

slow: $(DEV)  ## All other cases, statistical tests, a real browser (needs chromium), real clusters of Dask and Spark (needs Java).
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m slow tests

mutants: $(DEV)  ## Plant known faults, one at a time, in a copy of the code: each must be caught by a test (a few minutes).
	@$(BIN)/python tests/mutants/run.py --jobs $(JOBS)

audit: $(CORE)  ## Attack this version on this machine: replay, samplers, spending, ledger under kills (about a minute).
	@$(BIN)/cloister audit --quick

check: $(DEV) format lint types test  ## Format, lint, types, import rules and fast tests.

format: $(DEV)
	@$(BIN)/ruff format --check .

lint: $(DEV)
	@$(BIN)/ruff check .

types: $(DEV)
	@$(BIN)/mypy

docs: $(DOCS)  ## The site, offline, with its gallery executed: warnings are errors, links inside are checked.
	@PYTHONWARNINGS=ignore $(BIN)/python -m sphinx --jobs $(JOBS) --quiet --fail-on-warning --keep-going docs build/docs
	@$(BIN)/python docs/_tools/check_links.py build/docs
	@echo "The site is build/docs/index.html"

bench: $(DEV)  ## All methods on eight small data sets, as in Table I: tables and plots in a few minutes.
	@$(BIN)/python -m benchmarks table1 --profile quick

bench-grids: $(DEV)  ## RUGNIK beside EUGkM on 108 configurations, 200 repeats (some 20 minutes).
	@$(BIN)/python -m benchmarks grids --profile paper --methods EUGkM,RUGNIK

bench-source-target: $(DEV)  ## Source-target clustering as in the paper's Figure 3, 30 runs (some 20 minutes).
	@$(BIN)/python -m benchmarks source-target --repeats 30

bench-small: $(DEV)  ## Noise, nearest search, grid counting, CSV files and k-medoids beside other libraries.
	@for one in noise nearest counting csv_reader solver; do $(BIN)/python -m benchmarks.$$one || exit 1; done

coverage: $(DEV)  ## Coverage of the fast tests, by lines and branches; fails below the floor. Pages in htmlcov/.
	@$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html

build: $(DEV)  ## The sdist and the wheel in dist/, with a check that the README is shown properly.
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/python -m twine check --strict dist/*

lock: $(DEV)  ## Renew requirements-dev.lock: the versions that checks and coverage run with.
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev --no-emit-index-url --annotation-style line \
	    --custom-compile-command "make lock" --output-file requirements-dev.lock pyproject.toml

rivals: $(DEV)  ## Interpreters for diffprivlib and dpmm, in .rivals/ (0.8 GB; dpmm needs Python 3.10 or 3.11: BASE=PATH).
	@$(BIN)/python -m benchmarks.rivals_env $(RIVALS) $(if $(BASE),--base $(BASE))

scoreboard: $(DEV)  ## docs/scoreboard.md anew from the stored measurements.
	@$(BIN)/python -m benchmarks.scoreboard

fuzz: $(DEV)  ## A hundred thousand hostile cases: parameters, tables, files, releases, ledgers, commands (some 20 minutes).
	@$(BIN)/python -m tests.fuzz --jobs $(JOBS) $(FUZZ)

clean:  ## Remove the virtual environment and what the demo wrote.
	@rm -rf $(VENV) demo-output cloister-audit.html build dist htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
