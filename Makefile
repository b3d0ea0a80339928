# `make demo` and `make test` work on a machine that has only Python 3.11+, make and git.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-slow check format results clean

demo: $(VENV)/ready
	$(BIN)/exitwise demo

test: $(VENV)/ready
	$(BIN)/python -m pytest -q -n 2

test-slow: $(VENV)/ready
	$(BIN)/python -m pytest -q -m slow

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

results: $(VENV)/ready
	$(BIN)/python -m exitwise.experiments experiments/results docs/results.md

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
