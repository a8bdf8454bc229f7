# One command each; everything is set up in .venv on first use and re-used afterwards.
# Needs python3 (3.11 or newer) with venv and pip, and make.

PYTHON ?= python3
PY := .venv/bin/python
READY := .venv/ready
CODE := src tests benchmarks examples
SCALE_USERS ?= 1000 2000 5000 10000 20000 32000 38000 50000 100000 200000

.DEFAULT_GOAL := help
.PHONY: help run serve test participant notebooks test-slow play classroom lint format docs docs-check bench bench-both bench-scale bench-server wheel-check bench-deadline bench-flood trust fuzz paper lock clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /	/' | expand -t 14

# The stamp is written last, so an interrupted set-up starts over.
$(READY): requirements/dev.txt pyproject.toml
	@rm -f $(READY)
	$(PYTHON) -c 'import sys; sys.exit("tracecup needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --require-hashes -r requirements/dev.txt
	-$(PY) -m compileall -qq -j 0 -x '/tests/' .venv/lib # on all cores, which pip does on one
	$(PY) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-build-isolation -e .
	touch $(READY)

run: $(READY) ## the main job on the embedded default
	$(PY) -m tracecup demo

serve: $(READY) ## the contest server with a demo contest, in out/server
	$(PY) -m tracecup serve out/server --demo

test: $(READY) ## all tests but those of test-slow
	$(PY) -m compileall -q src # many tests start processes, maybe where Python keeps no bytecode
	PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 2 --dist loadfile -m "not slow" # half of collecting is to compile tests: kept

participant: $(READY) ## a whole contest with the client alone, over a way that breaks; 50 hand-ins
	$(PY) -m pytest -m slow tests/server/live/test_participant.py

notebooks: $(READY) ## the notebooks of examples/ in a real kernel, where nbclient and ipykernel are installed
	$(PY) -m pytest -rs -m slow tests/front/test_notebook_kernel.py

test-slow: $(READY) ## what takes minutes: models trained again, contests over bad connections, long pages
	$(PY) -m pytest -m slow

classroom: $(READY) ## a class of twenty plays lessons and contest in a real browser: some minutes
	$(PY) -m pytest -s -m slow tests/server/live/test_class.py tests/server/live/test_class_contest.py

play: $(READY) ## two rounds with divisions, played in a real browser (chromium) without a rules file
	$(PY) -m pytest -m slow tests/server/live/test_played_in_browser.py

lint: $(READY) ## style, types, import rule
	$(PY) -m ruff check $(CODE)
	$(PY) -m ruff format --check $(CODE)
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-cache

format: $(READY) ## put the code into shape
	$(PY) -m ruff check --fix $(CODE)
	$(PY) -m ruff format $(CODE)

docs: $(READY) ## the documentation site, into site/
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

docs-check: $(READY) ## run every block and command of the documentation that can run here
	$(PY) -m pytest tests/front/test_docs.py tests/front/test_docs_run.py

bench: $(READY) ## speed and memory, as ratios to yardsticks of the same run
	$(PY) benchmarks/run.py $(ROOMS)

bench-both: $(READY) ## this tree and the commit before the house was put in order, in turn
	$(PY) benchmarks/against.py --quick --rounds 3

bench-scale: $(READY) ## 1,000 to 200,000 users beside the float32 product, with a plot (out/bench/scale.png)
	rm -f out/bench/scale.json # the program adds to what is there
	$(PY) benchmarks/scale.py --users $(SCALE_USERS) --out out/bench/scale.json --plot out/bench/scale.png

bench-server: $(READY) ## 21 teams at once against a real server on this machine
	$(PY) benchmarks/server_load.py

bench-deadline: $(READY) ## 200 teams in the last minute: PostgreSQL, two web processes, two workers, nginx
	$(PY) benchmarks/server_deadline.py

bench-flood: $(READY) ## another team's upload while seven hostile files wait, as a ratio
	$(PY) benchmarks/server_flood.py

trust: $(READY) ## roles, canaries, kills, requests and files against the server, with counts (an hour)
	$(PY) benchmarks/trust.py

wheel-check: $(READY) ## the built wheel in bare environments: base, then each extra, with sizes
	$(PY) benchmarks/wheel_check.py $(EXTRAS)

fuzz: $(READY) ## 10,000 mutated files for all readers: only our own errors
	$(PY) benchmarks/fuzz_files.py

paper: $(READY) ## the paper's figures and tables, into out/paper
	$(PY) -m tracecup reproduce all --out out/paper

lock: $(READY) ## pin all dependencies anew
	$(PY) -m pip install --quiet --disable-pip-version-check pip-tools
	$(PY) -m piptools compile --quiet --no-strip-extras --allow-unsafe --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --extra plot --extra report --extra server --extra dask --extra sheets --extra docs --extra dev --output-file requirements/dev.txt pyproject.toml

clean: ## remove what the other targets made
	rm -rf .venv site out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
