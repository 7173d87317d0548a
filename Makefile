# Every target creates the environment that it needs, under the root.
# Required: Python 3.11 or newer, make, and (for `compiled` only) a C compiler.
#
#   make demo       fit the Nile series: the library on real data
#   make test       every gate and every test
#   make quick      lint, types and the fast tests, in two to four minutes
#   make versions   the fast tests, on every installed Python and on the oldest NumPy
#   make free-threaded   the fast tests on a free-threaded Python, with its global lock and without it
#   make oracle     comparison with PyTorch, which is installed into .venv-oracle
#   make adopted    twelve packages of others, differentiated as they stand, and Dask, in .venv-adopted
#   make array-api ARRAY_API_TESTS=/path   the array API's tests, of a checkout of array-api-tests
#   make bench      speed, side by side with PyTorch, HIPS autograd, MyGrad and NumPy
#   make bench-compare REV=main   what has become slower since a commit
#   make docs       the documentation, into docs/_build/html
#   make pictures   the pictures of the documentation again; the program dot must be installed
#   make codegen    write vtgrad/ops/{generated,choices}/ from vtgrad/ops/{table,docs}/
#   make lanes      1,000 random programs on threads of lanes, beside the same on one thread
#   make compiled   the suite on the compiled build
#   make sanitize   the tests of the loops in C, built with gcc's sanitizers of memory and arithmetic
#   make install-check   each way to install it that the docs name, in bare environments
#   make wheels     what is published, in dist/, and each wheel installed in a bare environment
#   make clean      remove all generated files, the environments included

PYTHON ?= python3
# Passed to pytest: make test PYTEST_ARGS="-k views -x"
PYTEST_ARGS ?=
# Passed to the benchmarks: make bench BENCH_ARGS="--quick --only chains"
BENCH_ARGS ?=
# A Python that `make versions` leaves out: CI names the one on which it has run every test.
TESTED ?=
# The commit that `make bench-compare` compares with.
REV ?= HEAD
# PyTorch's wheels for Linux on PyPI include CUDA. For the small CPU build, if reachable:
# make oracle TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=

# For `make array-api`: a checkout of github.com/data-apis/array-api-tests with its submodule, which is
# on no package index. It was made for this commit; the list of tests that it skips may not fit another.
ARRAY_API_TESTS ?=
ARRAY_API_COMMIT := 55fcc60179efa2680ddd6cd926ddf17b83530e2b
# How many examples each of its tests takes.
ARRAY_API_EXAMPLES ?= 20

VENV := .venv
ARRAY_API := .venv-array-api
ORACLE := .venv-oracle
ADOPTED := .venv-adopted
FREE_THREADED := .venv-free-threaded
COMPILED := .venv-compiled
PY := $(VENV)/bin/python
ARRAY_API_PY := $(ARRAY_API)/bin/python
ORACLE_PY := $(ORACLE)/bin/python
ADOPTED_PY := $(ADOPTED)/bin/python
COMPILED_PY := $(COMPILED)/bin/python
FREE_THREADED_PY := $(FREE_THREADED)/bin/python

# A stamp file means that an environment has the packages of this pyproject.toml. The checksum in
# its name detects a switch of branches, which file times do not.
# An installation also has the module in C, which is built when it is installed, and the version.
KEY := $(firstword $(shell { cat pyproject.toml setup.py vtgrad/_*.[ch]; \
	grep ^__version__ vtgrad/__init__.py; } | cksum))
DEMO_STAMP := $(VENV)/.demo-$(KEY)
TEST_STAMP := $(VENV)/.test-$(KEY)
REWRITTEN := $(VENV)/.rewritten
DOCS_STAMP := $(VENV)/.docs-$(KEY)
ARRAY_API_STAMP := $(ARRAY_API)/.test-$(KEY)
ORACLE_STAMP := $(ORACLE)/.oracle-$(KEY)
ADOPTED_STAMP := $(ADOPTED)/.adopted-$(KEY)
FREE_THREADED_STAMP := $(FREE_THREADED)/.test-$(KEY)
COMPILED_STAMP := $(COMPILED)/.test-$(KEY)
# The native modules are built from these files and installed: an edit needs a new build.
NATIVE_STAMP := $(COMPILED)/.native
NATIVE_SOURCES := setup.py pyproject.toml vtgrad/_loops.c vtgrad/_along.c vtgrad/_along.h vtgrad/_steps.c vtgrad/_steps.h $(shell find vtgrad -name '*.py')
BENCH_STAMP := $(ORACLE)/.bench-$(KEY)

# Without compiled files every test process rewrites and compiles 1,000 modules, and so does each of
# the interpreters that tests start. `make clean` removes the files.
unexport PYTHONDONTWRITEBYTECODE

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# `loadgroup` keeps tests that share one costly preparation in one process.
# A process that a test has ended, or that was ended because a test hung, is not replaced: xdist 3.8
# gives the new one a single test, and waits for it forever.
PYTEST := -m pytest -n 2 --dist=loadgroup --max-worker-restart=0
# Tests that need what is installed in environments of their own.
OTHERS := --ignore=tests/oracle --ignore=tests/adopted

.DEFAULT_GOAL := help
.PHONY: help demo test quick versions free-threaded oracle adopted array-api bench bench-compare docs pictures codegen lanes \
	compiled sanitize install-check wheels clean lint types public-types how-long

help:
	@sed -n 's/^#   make /  make /p' Makefile

demo: $(DEMO_STAMP)
	$(PY) -m vtgrad.demo --plot build/nile.png

# pytest is last, so that its summary is at the end of the output.
# The checks before it run side by side; where make can (it is 4.0 or newer), it prints the output of
# each as a whole.
SIDE_BY_SIDE := --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-O)

test: how-long
	@$(MAKE) $(SIDE_BY_SIDE) lint types public-types $(REWRITTEN)
	HYPOTHESIS_PROFILE=ci $(PY) $(PYTEST) $(OTHERS) $(PYTEST_ARGS)

how-long:
	@echo "make test takes 6 to 20 minutes on two cores; make quick takes two to four."

quick:
	@$(MAKE) $(SIDE_BY_SIDE) lint types $(REWRITTEN)
	HYPOTHESIS_PROFILE=quick $(PY) $(PYTEST) $(OTHERS) -q \
		-m "not slow and not stateful" $(PYTEST_ARGS)

lint: $(TEST_STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports
	$(PY) -m vtgrad.codegen --check

types: $(TEST_STAMP)
	$(PY) -m mypy --strict

public-types: $(TEST_STAMP)
	$(PY) -m tests.project.public_types

# pytest compiles 450 files in a way of its own, which takes 17 seconds in each of two processes.
# Here it is done once, on the core that waits for mypy. What fails fails again where it is shown.
$(REWRITTEN): $(TEST_STAMP) $(shell find tests -name '*.py')
	@$(PY) -m pytest --collect-only -qq $(OTHERS) > /dev/null 2>&1 || true
	@touch $@

oracle: $(ORACLE_STAMP)
	HYPOTHESIS_PROFILE=ci $(ORACLE_PY) $(PYTEST) tests/oracle $(PYTEST_ARGS)

adopted: $(ADOPTED_STAMP)
	HYPOTHESIS_PROFILE=ci $(ADOPTED_PY) $(PYTEST) tests/adopted tests/distributed/test_clusters.py \
		$(PYTEST_ARGS)

# The suite takes no reasons in its file: what stands behind a # is taken off.
array-api: $(ARRAY_API_STAMP)
	@test -d "$(ARRAY_API_TESTS)/array-api/spec" || { \
		echo "Say ARRAY_API_TESTS=/path, a checkout of https://github.com/data-apis/array-api-tests"; \
		echo "at the commit $(ARRAY_API_COMMIT),"; \
		echo "with its submodule: git clone --recurse-submodules"; exit 1; }
	@test "$$(git -C "$(ARRAY_API_TESTS)" rev-parse HEAD)" = $(ARRAY_API_COMMIT) || \
		echo "The list of skipped tests is for the commit $(ARRAY_API_COMMIT), not for this one."
	@mkdir -p build
	sed 's/ *#.*//' tests/numpy/array_api_skips.txt > build/array_api_skips.txt
	cd "$(ARRAY_API_TESTS)" && ARRAY_API_TESTS_MODULE=vtgrad.numpy ARRAY_API_TESTS_VERSION=2024.12 \
		"$(CURDIR)/$(ARRAY_API_PY)" -m pytest -n 2 -q -p no:cacheprovider array_api_tests \
		--max-examples $(ARRAY_API_EXAMPLES) --derandomize --disable-deadline \
		--skips-file "$(CURDIR)/build/array_api_skips.txt" $(PYTEST_ARGS)

# The oracle's environment, with the other libraries added.
bench: $(BENCH_STAMP)
	$(ORACLE_PY) -m benchmarks $(BENCH_ARGS)

# Both are run from the sources, so each with the packages of this commit.
bench-compare: $(TEST_STAMP)
	$(PY) -m benchmarks.compare $(REV) $(BENCH_ARGS)

docs: $(DOCS_STAMP)
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(TEST_STAMP)
	$(PY) -m docs.pictures_of_programs

codegen: $(TEST_STAMP)
	$(PY) -m vtgrad.codegen

# 1,000 programs of the menu and 1,000 wide graphs, each with threads and without.
lanes: $(TEST_STAMP)
	VTGRAD_LANE_PROGRAMS=2000 $(PY) $(PYTEST) -q tests/lanes/test_random_programs.py

# The installed package is tested, not the one in this folder. So this folder must not be on the
# path, but the benchmarks and the builder of the reference, which have tests too, must be.
compiled: $(NATIVE_STAMP)
	mkdir -p build/beside && ln -sfn ../../benchmarks ../../docs build/beside/
	PYTHONSAFEPATH=1 PYTHONPATH="$(CURDIR)/build/beside" VTGRAD_EXPECT_COMPILED=1 \
		HYPOTHESIS_PROFILE=ci $(COMPILED_PY) $(PYTEST) -o pythonpath= tests \
		$(OTHERS) $(PYTEST_ARGS)

# The interpreter is not built with the sanitizers, so it loads their libraries first. What it
# still holds at its end is no leak of the module's.
SANITIZED := build/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitize: $(TEST_STAMP)
	rm -rf $(SANITIZED)
	VTGRAD_LOOPS=1 CC=gcc LDSHARED="gcc -shared $(SANITIZERS)" \
		CFLAGS="-O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror $(SANITIZERS)" \
		$(PY) setup.py --quiet build_ext --build-lib $(SANITIZED) --build-temp $(SANITIZED)/objects
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc VTGRAD_SANITIZED_LOOPS=$(SANITIZED) \
		$(PY) -m pytest -q -s -p no:cacheprovider tests/storage/test_loops.py tests/storage/test_loops_along.py \
		tests/jit/test_inner_loops.py tests/jit/test_runner.py

# Needs no environment of its own: it makes new ones, which are removed at the end.
install-check:
	$(PYTHON) .ci/install_check.py

# What is published, in dist/, and each wheel installed in a bare environment.
wheels:
	$(PYTHON) .ci/wheels.py dist

# In sequence, because each prints a summary of its own.
versions:
	@set -e; versions=$$($(PYTHON) .ci/pythons.py); \
	for version in $$versions oldest-numpy; do \
		if [ "$$version" = "$(TESTED)" ]; then continue; fi; \
		$(MAKE) --no-print-directory .venv-$$version/.test-$(KEY); \
		python=.venv-$$version/bin/python; \
		$$python -c 'import sys, numpy; print("\nPython", sys.version, "NumPy", numpy.__version__)'; \
		HYPOTHESIS_PROFILE=quick $$python $(PYTEST) $(OTHERS) -q \
			-m "not slow and not stateful" $(PYTEST_ARGS); \
	done

# The module in C switches the lock on, with a warning, which pytest would raise; so it is asked for.
free-threaded: $(FREE_THREADED_STAMP)
	@set -e; for lock in 1 0; do \
		echo "PYTHON_GIL=$$lock"; \
		PYTHON_GIL=$$lock HYPOTHESIS_PROFILE=quick $(FREE_THREADED_PY) $(PYTEST) $(OTHERS) -q \
			-m "not slow and not stateful" $(PYTEST_ARGS); \
	done

clean:
	rm -rf $(VENV) $(VENV)-* build dist docs/_build docs/reference *.egg-info .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY) $(ORACLE_PY) $(ADOPTED_PY) $(COMPILED_PY) $(ARRAY_API_PY):
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
		"vtgrad needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(DEMO_STAMP): | $(PY)
	$(PY) $(PIP_INSTALL) --editable ".[demo]"
	@touch $@

$(TEST_STAMP): | $(PY)
	$(PY) $(PIP_INSTALL) --editable ".[test,demo]"
	@touch $@

$(DOCS_STAMP): | $(PY)
	$(PY) $(PIP_INSTALL) --editable ".[docs]"
	@touch $@

$(VENV)-3.%/.test-$(KEY):
	"$$($(PYTHON) .ci/pythons.py 3.$*)" -m venv $(@D)
	$(@D)/bin/python $(PIP_INSTALL) --editable ".[test,demo]"
	@touch $@

$(VENV)-oldest-numpy/.test-$(KEY):
	"$$($(PYTHON) .ci/pythons.py oldest)" -m venv $(@D)
	$(@D)/bin/python $(PIP_INSTALL) --editable ".[test,demo]" "$$($(PYTHON) .ci/pythons.py numpy)"
	@touch $@

$(FREE_THREADED_PY):
	@$(PYTHON) -c 'import sys, sysconfig; sys.exit(None if sysconfig.get_config_var("Py_GIL_DISABLED") \
		else "this Python is not free-threaded: make free-threaded PYTHON=python3.14t")'
	$(PYTHON) -m venv $(FREE_THREADED)

# Not every package has a wheel of its newest version for these Pythons.
$(FREE_THREADED_STAMP): | $(FREE_THREADED_PY)
	$(FREE_THREADED_PY) $(PIP_INSTALL) --prefer-binary --editable ".[test,demo]"
	@touch $@

$(ARRAY_API_STAMP): | $(ARRAY_API_PY)
	$(ARRAY_API_PY) $(PIP_INSTALL) --editable ".[test]" "numpy==2.4.*" pytest-json-report ndindex
	@touch $@

$(ORACLE_STAMP): | $(ORACLE_PY)
	$(ORACLE_PY) $(PIP_INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
		--editable ".[test,oracle]"
	@touch $@

$(ADOPTED_STAMP): | $(ADOPTED_PY)
	$(ADOPTED_PY) $(PIP_INSTALL) --editable ".[test,adopted,distributed]"
	@touch $@

$(BENCH_STAMP): | $(ORACLE_PY)
	$(ORACLE_PY) $(PIP_INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
		--editable ".[bench]"
	@touch $@

$(COMPILED_STAMP): | $(COMPILED_PY)
	$(COMPILED_PY) $(PIP_INSTALL) ".[test,demo]"
	@touch $@

# Files of an earlier build in build/lib would be installed too; the objects may stay.
$(NATIVE_STAMP): $(COMPILED_STAMP) $(NATIVE_SOURCES)
	rm -rf build/lib* build/bdist*
	VTGRAD_COMPILE=1 $(COMPILED_PY) $(PIP_INSTALL) --no-build-isolation --no-deps \
		--force-reinstall .
	@touch $@
