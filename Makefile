# `make demo` and `make test` work on a machine that has only Python 3.11+, make and git.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-slow check format results bench-training clean

demo: $(VENV)/ready
	$(BIN)/exitwise demo

# Two workers on two cores: more threads would wait for each other.
test: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2

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
	$(BIN)/python -m exitwise.experiments experiments docs/results.md

# The 12-layer encoder is measured where it is at hand; all else needs the 6-layer one and GLUE.
GLUE ?= ../shared/glue
bench-training: $(VENV)/ready
	for name in gate_memory gate_step compile_step acl_epoch stage_two growth gate_agreement; do \
		$(BIN)/python benchmarks/$$name.py --data-dir $(GLUE) || exit 1; \
	done
	if [ -d models/all-mpnet-base-v2 ]; then \
		$(BIN)/python benchmarks/stage_two.py --data-dir $(GLUE) --rounds 1 \
			--encoder models/all-mpnet-base-v2; \
	fi
	$(BIN)/python benchmarks/page.py

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,onnx,dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
