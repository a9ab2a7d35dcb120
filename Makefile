# Every verb makes what it needs; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Groups of pyproject.toml's [dependency-groups] are installed once each; a stamp remembers it.
STAMPS := $(VENV)/.stamps
# What cannot be tested beside the rest, each with a group of its name; tests/environments tells more.
ENVIRONMENTS := $(VENV)/environments

.DEFAULT_GOAL := help
.PHONY: help demo test environments bench bench-core bench-report lint fmt wheel clean build rust

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

demo: build $(STAMPS)/cli ## build, then read live streams of the three providers from a server on loopback
	$(BIN)/ssewire demo

test: build $(STAMPS)/test $(STAMPS)/bench $(STAMPS)/cli $(STAMPS)/plots environments ## build, then run every test, Rust and Python, and each benchmark once
	cargo test --workspace --locked
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
	$(BIN)/python -m pytest benches --quiet --benchmark-disable
	$(call pytest_in,niquests) tests/environments $(patsubst %,tests/clients/test_%.py,matrix times sync_clients async_clients)
	$(call pytest_in,old-urllib3) tests/environments
	$(call pytest_in,oldest) tests/clients/test_matrix.py -k "chunked- or close- or gzip- or broken- or reset- or refused-"

# The package stands in python/, built for the same Python.
pytest_in = SSEWIRE_ENVIRONMENT=$(1) PYTHONPATH=$(CURDIR)/python $(ENVIRONMENTS)/$(1)/bin/python -m pytest --quiet

bench: build $(STAMPS)/bench ## measure against the other parsers and the floor; ends with a table of ratios
	$(BIN)/python -m benches

bench-core: build $(STAMPS)/bench ## measure the Rust core against the parsers of other languages, on the same bytes
	cargo clippy --manifest-path rust/benches/Cargo.toml --all-targets --locked -- -D warnings
	$(BIN)/python -m benches.core

bench-report: $(STAMPS)/plots ## write docs/benchmarks.md, its plots and the README's figures from benches/results
	$(BIN)/python -m benches.reporting

lint: build $(STAMPS)/lint $(STAMPS)/test $(STAMPS)/bench $(STAMPS)/cli $(STAMPS)/plots ## formatters, linters, type checkers, stubs against the binary
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo fmt --manifest-path rust/benches/Cargo.toml --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m mypy.stubtest ssewire._core

fmt: rust $(STAMPS)/lint ## format everything
	cargo fmt --all
	cargo fmt --manifest-path rust/benches/Cargo.toml
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: rust $(STAMPS)/build ## build a wheel for this Python, and the source distribution, into dist/
	$(BIN)/maturin build --release --locked --sdist --out dist --interpreter $(BIN)/python

clean: ## remove all that the other verbs made
	rm -rf $(VENV) target rust/benches/target benches/node/node_modules dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/ssewire/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Asked for first, before anything is installed: one sentence says what is missing.
rust:
	@cargo --version >/dev/null 2>&1 && rustc --version >/dev/null 2>&1 || { echo "Rust is missing: install it with rustup (https://rustup.rs), then run make again." >&2; exit 1; }
	@rustc --version | awk '{ split($$2, v, /[.-]/); old = v[1] * 1000 + v[2] < 1088; if (old) print "Rust " $$2 " is too old: run `rustup update stable` (1.88 or later), then run make again."; exit old }' >&2

# Compiled into python/ssewire in place; cargo itself knows whether anything has changed.
build: rust $(STAMPS)/build
	$(BIN)/maturin develop --release --locked --quiet

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Python is missing: install Python 3.11 or later, or name one: make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "This Python is too old ($$($(PYTHON) --version)): install 3.11 or later, or name one: make PYTHON=python3.13" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(STAMPS)/build: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet "maturin>=1.14,<2" "msgspec>=0.20"
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/test $(STAMPS)/bench $(STAMPS)/plots $(STAMPS)/lint $(STAMPS)/environments: $(STAMPS)/%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group $*
	@mkdir -p $(STAMPS) && touch $@

environments: $(patsubst %,$(ENVIRONMENTS)/%/.stamp,niquests old-urllib3 oldest)

# By uv, for it can take the lowest versions that are allowed, of those that need no compiling. It trusts the system's
# certificates, as pip does.
$(ENVIRONMENTS)/%/.stamp: RESOLUTION := highest
$(ENVIRONMENTS)/oldest/.stamp: RESOLUTION := lowest-direct
$(ENVIRONMENTS)/%/.stamp: pyproject.toml | $(STAMPS)/environments
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(ENVIRONMENTS)/$*
	$(BIN)/uv pip install --quiet --system-certs --python $(ENVIRONMENTS)/$* --resolution $(RESOLUTION) --only-binary :all: \
		--requirements pyproject.toml --group $*
	@touch $@

# The extra's packages, read from the metadata of the package that `build` has just installed.
$(STAMPS)/cli: pyproject.toml | build
	$(BIN)/python -m pip install --quiet "ssewire[cli]"
	@mkdir -p $(STAMPS) && touch $@
