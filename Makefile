# Everything runs in .venv, made on first use. Needs Python 3.11 or later, make and a package index.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-debug test-mpi fuzz check format reproduce picture bench clean

help:
	@echo "make demo     polblogs with 12 labels, 3 of them wrong: who copes?"
	@echo "make test     the tests without slow ones, browsers and ranks (two to three minutes)"
	@echo "make test-all  all tests but those on ranks (five to ten minutes)"
	@echo "make test-debug  the same with every index checked and fresh memory full of nonsense"
	@echo "make test-mpi  the tests of engine='mpi', in .venv-mpi; the first time builds it (1 to 10 minutes)"
	@echo "make fuzz     generated calls, files and models for MINUTES=5 with SEED=20260101"
	@echo "make check    ruff (format and lint) and mypy --strict"
	@echo "make format   let ruff rewrite the files"
	@echo "make reproduce  every table and figure of the paper, beside its own numbers"
	@echo "make picture  draw the README's picture again"
	@echo "make bench    us and our peers on large graphs: time, memory, accuracy (ten minutes)"
	@echo "              other benchmarks: .venv/bin/python -m benchmarks NAME, or --list"
	@echo "make clean    remove .venv, .venv-mpi and caches"

demo: .venv/package
	@$(BIN)/robustgc demo

test: .venv/dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow and not browser and not ranks"

test-all: .venv/dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not ranks"

# Compiled loops check their indices; memory that malloc gives holds 0x7f in every byte, which is
# no index of anything, and 1e306 as a number. The cache is apart: numba's key knows nothing of it.
DEBUG := NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/numba-debug MALLOC_PERTURB_=128
test-debug: .venv/dev
	$(DEBUG) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q

# Needs MPI, PETSc and SLEPc, which live in an environment of their own.
test-mpi: .venv-mpi/environment
	. ./.venv-mpi/environment && ROBUSTGC_TEST_MPI=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  .venv-mpi/bin/python -m pytest tests/mpi/test_agreement.py  # by itself: it computes
	. ./.venv-mpi/environment && ROBUSTGC_TEST_MPI=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  .venv-mpi/bin/python -m pytest -n 2 --dist loadfile tests/mpi src/robustgc/mpi \
	  --ignore tests/mpi/test_agreement.py

# Exits with 1 where something was found; each finding comes with a program that shows it.
MINUTES ?= 5
SEED ?= 20260101
fuzz: .venv/dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

check: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

reproduce: .venv/plot
	$(BIN)/robustgc reproduce --jobs 2

picture: .venv/plot
	$(BIN)/python examples/plot_wrong_labels.py

bench: .venv/bench
	$(BIN)/python -m benchmarks run

clean:
	rm -rf .venv .venv-mpi .mypy_cache .ruff_cache .pytest_cache .hypothesis

# One stamp per set of dependencies: `make demo` does not wait for the test tools.
.venv/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("robustgc needs Python 3.11 or later, $(PYTHON) is %d.%d: try make PYTHON=python3.12" % v[:2])'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/package: .venv/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/dev: .venv/package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The peers are installed for benchmarks only: `make .venv/bench`, then any of them.
.venv/bench: .venv/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check scikit-network graphlearning cleanlab
	@touch $@

.venv/plot: .venv/package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot]'
	@touch $@

.venv-mpi/environment: pyproject.toml tools/mpi-environment
	PYTHON=$(PYTHON) tools/mpi-environment
