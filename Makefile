# make demo   train on the embedded corpus and look at the result        make test     everything CI runs
# make install   the set-up alone                                       make proofs   slower proofs
# make benchmark   speed of translation beside the peers (installs them in .venv-peers)    make performance   all ratios: docs/performance.md
# make cost        time and memory against length, for every mixer       make lab      every experiment, and docs/lab
# make docs        the documentation site in build/site; a warning is an error
# make package     wheel and sdist in dist, installed into an empty environment with the hashes of requirements.lock, and used there
# make audit       known vulnerabilities of what is installed, and its list of parts (build/sbom.json)     make lock   requirements.lock anew
# make lectures    docs/lectures: the lectures as pages, from the code and docs/lab

PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test docs proofs benchmark performance cost lab lectures clean lock package audit

install: .venv/.installed

.venv/.installed: pyproject.toml setup.py constraints.txt $(wildcard headway/layers/c/*)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs,tune,fast]'
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
	rm -rf .venv .venv-peers .venv-tools dist runs build .cache

performance: .venv-peers/.installed
	.venv-peers/bin/python benchmarks/performance.py --out docs

benchmark: .venv-peers/.installed
	.venv-peers/bin/python benchmarks/translation_speed.py

.venv-peers/.installed: pyproject.toml setup.py constraints.txt $(wildcard headway/layers/c/*) benchmarks/peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement benchmarks/peers.txt --editable .
	@touch $@

# Wheels are looked for where pip looks, and the processor's build of torch is taken: `make lock LINKS=FOLDER` names a folder of wheels.
lock: .venv-tools/.installed
	.venv-tools/bin/uv pip compile --quiet --generate-hashes --no-annotate --no-header $(if $(LINKS),--find-links $(LINKS)) \
	  --extra dev --extra docs --extra tune --extra fast --constraint constraints.txt pyproject.toml --output-file requirements.lock

package: .venv-tools/.installed
	rm -rf dist build/empty
	.venv-tools/bin/python -m build --outdir dist
	$(PYTHON) -m venv build/empty
	build/empty/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	build/empty/bin/pip install --quiet --disable-pip-version-check --no-deps dist/*.whl
	cd build/empty && bin/headway lab run threshold-1d && rm -rf demo && bin/headway train demo --steps 20 --out demo

audit: .venv-tools/.installed
	@mkdir -p build
	.venv-tools/bin/cyclonedx-py requirements requirements.lock --of JSON --output-file build/sbom.json
	sed 's/+cpu//' requirements.lock > build/audited.txt  # advisories know no builds of torch
	.venv-tools/bin/pip-audit --strict --requirement build/audited.txt --disable-pip --progress-spinner off

.venv-tools/.installed: tools.txt
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/pip install --quiet --disable-pip-version-check --requirement tools.txt
	@touch $@
