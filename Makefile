# make demo   train on the embedded corpus and look at the result        make test     everything CI runs
# make install   the set-up alone                                       make proofs   slower proofs
# make benchmark   speed beside the peers (installs them in .venv-peers)
# make cost        time and memory against length, for every mixer       make lab      every experiment, and docs/lab
# make docs        the documentation site in build/site; a warning is an error
# make lectures    docs/lectures: the lectures as pages, from the code and docs/lab

PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test docs proofs benchmark cost lab lectures clean

install: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs,tune]'
	@touch $@

demo: install
	@rm -rf runs/demo
	$(BIN)/headway train demo --out runs/demo

test: install docs
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist loadfile

docs: install lectures
	$(BIN)/python docs/assemble.py build/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/offline.py build/site

proofs: install
	$(BIN)/pytest -m slow -s

cost: install
	$(BIN)/python benchmarks/cost.py --out docs/figures

lab: install
	$(BIN)/headway lab docs --out docs/lab

lectures: install
	$(BIN)/headway course --markdown docs/lectures --lab docs/lab

clean:
	rm -rf .venv .venv-peers runs build .cache

benchmark: .venv-peers/.installed
	.venv-peers/bin/python benchmarks/translation_speed.py

.venv-peers/.installed: pyproject.toml constraints.txt benchmarks/peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement benchmarks/peers.txt --editable .
	@touch $@
