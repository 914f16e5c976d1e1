# Every target sets up what it needs in .venv and then goes; `make` alone lists the targets.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV   := .venv
LOWEST := .venv-lowest
AEON   := .venv-aeon
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

# The test workers already fill the cores: one BLAS/OpenMP thread in each of them.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Users have all threads: a part of the tests runs again with the default number, in one process.
ALL_THREADS := env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS -u MKL_NUM_THREADS
THREADED := $(addprefix tests/test_,threads.py trig.py nystrom_cores.py nested.py choosing.py \
                                    embeddings.py corrections.py)

# What the inner loop needs: the contracts and identities of all nouns.
FAST := $(addprefix tests/test_,contracts.py statistic_contracts.py layers.py docs.py forms.py \
                                moments.py solvers.py margin_machines.py \
                                reservoir.py containers.py choosing.py nested.py learner_edges.py \
                                kernel_algebra.py kernel_formulas.py measure_algebra.py \
                                geometry.py hashing.py landmark_rules.py nystrom_cores.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-fast test-slow test-lowest test-aeon lint format bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.stamp-run ## set up, then run the quickstart
	$(BIN)/krein quickstart

test: lint ## set up, then lint, type check and run all tests and docstring examples
	$(ONE_THREAD) $(BIN)/pytest -q -n auto --dist worksteal
	$(ALL_THREADS) $(BIN)/pytest -q -n 0 $(THREADED)

test-fast: lint ## a part of the tests for the inner loop, at most 90 seconds
	$(ONE_THREAD) $(BIN)/pytest -q -n auto --dist worksteal $(FAST)

test-lowest: $(LOWEST)/.stamp ## run all tests with the lowest versions that pyproject.toml allows
	$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n auto --dist worksteal

test-aeon: $(AEON)/.stamp ## compare the elastic distances with aeon, in an environment of its own
	$(ONE_THREAD) $(AEON)/bin/python -m pytest -q -n 0 tests/test_aeon.py tests/test_series_kernels.py

# Tracing lines makes the tests half as slow again, so coverage is measured here only.
test-slow: lint ## the same with the slow tests (100,000 mutated files) and the coverage of lines
	$(ONE_THREAD) $(BIN)/pytest -n auto --dist worksteal -m "" --cov --cov-report=term

lint: $(VENV)/.stamp-dev ## ruff (rules and format) and mypy, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.stamp-dev ## rewrite the sources: ruff's safe fixes and its format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(VENV)/.stamp-run ## run the benchmarks (speed, quality, Nyström, learners, learned spectra)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/elastic.py
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/nystrom.py
	$(BIN)/python benchmarks/nystrom_quality.py
	$(BIN)/python benchmarks/learners.py
	$(BIN)/python benchmarks/everyday_costs.py
	$(BIN)/python benchmarks/learned.py

clean: ## remove the virtual environments, caches and build products
	rm -rf $(VENV) $(LOWEST) $(AEON) build dist .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.* htmlcov
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The stamps make a second call instant; a change of pyproject.toml installs anew.

$(VENV)/.stamp-venv:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "krein needs Python 3.11 or newer, and '$(PYTHON)' was not found;" \
	       "name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "krein needs Python 3.11 or newer, and '$(PYTHON)' is" \
	       "$$("$(PYTHON)" --version 2>&1); name another with: make PYTHON=/path/to/python3" >&2; \
	  exit 1; }
	"$(PYTHON)" -m venv --clear $(VENV)
	$(PIP) install --quiet --upgrade pip
	@touch $@

$(VENV)/.stamp-run: pyproject.toml $(VENV)/.stamp-venv
	$(PIP) install --quiet -e '.[all]'
	@touch $@

$(LOWEST)/.stamp: pyproject.toml $(VENV)/.stamp-venv
	$(PIP) install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
	  -e '.[all,dev]'
	@touch $@

# aeon 1.6 holds Numba below 0.64 and thereby NumPy below 2.4, hence an environment of its own.
$(AEON)/.stamp: pyproject.toml $(VENV)/.stamp-venv
	$(BIN)/python -m venv --clear $(AEON)
	$(AEON)/bin/python -m pip --disable-pip-version-check install --quiet \
	  -e . 'aeon>=1.6' pytest pytest-xdist pandas dtaidistance
	@touch $@

# The test set-up contains that of `make run`, hence both stamps.
$(VENV)/.stamp-dev: pyproject.toml $(VENV)/.stamp-venv
	$(PIP) install --quiet -e '.[all,dev]'
	@touch $(VENV)/.stamp-run $@
