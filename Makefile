# Every target makes its own environment in $(VENV), once: a stamp inside it says what is installed.
# Another interpreter: make PYTHON=python3.13 test
SHELL := bash
.SHELLFLAGS := -o pipefail -c
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet
OUT ?= genobit-demo

# pip says so on every run as root, as in containers; the environment is ours either way.
export PIP_ROOT_USER_ACTION := ignore
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo lab test test-avx2 test-slow test-long test-fast check fuzz bounds plain core lowest sgkit upstream package bench lint format pictures docs clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

$(BIN)/python:
	@PYTHON="$(PYTHON)" .ci/make-environment $(VENV)

$(VENV)/.user: pyproject.toml | $(BIN)/python
	@echo "Installing genobit with its extras: about 400 MB to download, 1.5 GB on disk"
	@.ci/install $(VENV) --editable ".[all]"
	@touch $@

$(VENV)/.developer: pyproject.toml | $(BIN)/python
	@echo "Installing genobit with its extras and the developers' tools: 2 GB on disk"
	@.ci/install $(VENV) --editable ".[all]" --group dev
	@touch $@ $(VENV)/.user

$(VENV)/.docs: $(VENV)/.developer
	@$(PIP) --group docs
	@touch $@

demo: $(VENV)/.user ## write a report on sample data; at a terminal, then open the explorers
	$(BIN)/genobit demo --out $(OUT)

lab: $(VENV)/.user ## the tour in JupyterLab, with a notebook for each analysis
	$(BIN)/genobit lab

# Tests of a file use the same kernels and fixtures: one process compiles and makes them. In the order
# of the collection, which tests/conftest.py arranges.
IN_FILES := --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# Three processes, as one of them waits for a browser or a cluster most of the time.
test: $(VENV)/.developer ## units, independent tools, browser; all that test-slow and test-long do not run
	$(BIN)/python -m pytest -n 3 $(IN_FILES) -p no:nbmake -m "not (benchmark or notebook or slow)"

# numba compiles for a CPU by name, here one with AVX2, and genobit chooses the families that it has.
test-avx2: $(VENV)/.developer ## on a CPU with AVX-512, the tests of kernels again, as on a CPU without
	@if grep -qsw avx512f /proc/cpuinfo; then \
	  NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= $(BIN)/python -m pytest -n 3 $(IN_FILES) -p no:nbmake \
	    -m "not (slow or distributed)" tests/engine/bits tests/engine/gemm tests/engine/simd/test_count_lanes.py \
	    tests/engine/simd/test_vector.py tests/*/kernels; \
	else \
	  echo "Not an x86 CPU with AVX-512: skipped"; \
	fi

test-slow: $(VENV)/.developer ## notebooks, clusters that fail, real data, other CPUs
	$(BIN)/python -m pytest -n 3 $(IN_FILES) --nbmake --nbmake-timeout 1800 \
	  -m "(notebook or slow) and not (benchmark or long)"

test-long: $(VENV)/.developer ## tests of minutes, for a release: data ten times the memory, broken files
	$(BIN)/python -m pytest -n 2 $(IN_FILES) -p no:nbmake -m "long and not benchmark"

test-fast: $(VENV)/.developer ## the unit tests alone, on two processes
	$(BIN)/python -m pytest -n 2 $(IN_FILES) -p no:nbmake \
	  -m "not (benchmark or browser or distributed or notebook or slow)"

BASE ?= main
check: lint ## lint, and the unit tests of the files that changed since BASE=main: minutes, before each push
	$(BIN)/python .ci/changed.py $(BASE) | xargs -r $(BIN)/python -m pytest -q -n 2 $(IN_FILES) -p no:nbmake \
	  -m "not (benchmark or browser or distributed or notebook or slow)"

FUZZ_SECONDS ?= 60
# 0: another each time.
FUZZ_SEED ?= 0
fuzz: $(VENV)/.developer ## broken files made up by atheris, two readers at a time, FUZZ_SECONDS=60 each
	@$(PIP) --group fuzz
	@mkdir -p build/fuzz
	@set -o pipefail; $(BIN)/python -m tests.hostile.fuzz | PYTHONPATH=$(CURDIR) xargs -P 2 -I{} sh -c \
	  'cd build/fuzz && echo "Fuzzing {}" && $(abspath $(BIN))/python -m tests.hostile.fuzz {} \
	    -seed=$(FUZZ_SEED) -max_total_time=$(FUZZ_SECONDS) -verbosity=0 2>{}.log \
	    || { tail -40 {}.log; exit 255; }'

bounds: $(VENV)/.developer ## the unit tests with each access of a kernel checked; kernels are compiled once
	GENOBIT_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 $(IN_FILES) -p no:nbmake \
	  -m "not (benchmark or browser or notebook or slow)"

# Python takes a thousand times as long, so these are smaller (tests/helpers/sized.py).
plain: $(VENV)/.developer ## the tests of kernels as plain Python, without compilation
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 $(IN_FILES) -p no:nbmake -m "not slow" \
	  tests/engine/simd tests/engine/bits tests/engine/gemm tests/*/kernels \
	  tests/engine/schedule/test_pair_sums.py tests/engine/schedule/test_tiles.py \
	  tests/engine/schedule/test_packing.py tests/engine/schedule/test_by_samples.py

core: $(VENV)/.developer ## tests of the core in an environment without the packages of any extra
	.ci/test-core $(VENV) build/core

lowest: $(VENV)/.developer ## tests of files, tables and plots with the lowest releases that pyproject.toml allows
	.ci/test-lowest $(VENV) build/lowest

sgkit: $(VENV)/.developer ## tests beside sgkit, in an environment that has both
	.ci/test-sgkit $(VENV) build/sgkit

upstream: $(VENV)/.developer ## tests with the newest releases of numba, dask, xarray and Bokeh, pre-releases too
	.ci/test-upstream $(VENV) build/upstream

package: $(VENV)/.developer ## wheel and sdist, the wheel installed and tested away from the checkout
	.ci/test-package $(VENV) build/package

bench: $(VENV)/.developer ## speed against this machine's own limits
	$(BIN)/genobit bench

lint: $(VENV)/.developer ## ruff, mypy, the import contracts and the weight of the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/weigh.py

format: $(VENV)/.developer ## fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pictures: $(VENV)/.developer ## all pictures of docs/images anew, from the sample data in Chromium
	$(BIN)/python -m tests.browser.screenshots docs/images

docs: $(VENV)/.docs ## the documentation in docs/_build/html, warnings are errors
	$(BIN)/genobit warm
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean: ## remove the environment and what the targets wrote
	rm -rf $(VENV) docs/_build genobit-demo build dist .mypy_cache .pytest_cache .ruff_cache
