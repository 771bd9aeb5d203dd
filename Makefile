# Needs make and Python >= 3.11, nothing else: everything is installed into .venv from the lock files.
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.moothall
PACKAGE := pyproject.toml

# make run; what is empty here is left to the other settings. CLIENT=no builds no client.
PORT ?=
DATA ?=
ARGS ?=
CLIENT ?=
# make test: JOBS processes, three on two processors, as a test waits for browsers, servers and timers two fifths of its
# time; TESTS is what to run, e.g. TESTS="tests/api -k router"
JOBS ?= 3
TESTS ?=

.PHONY: help
help: ## List what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  make run PORT=8080 DATA=/srv/moothall ARGS="--no-rate-limits"'
	@echo '  make test TESTS="tests/api -k router" JOBS=1'

# The first Python >= 3.11 that is found makes the environment; after that only the environment's own is used.
$(BIN)/python:
	@for candidate in "$${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  [ -n "$$candidate" ] && command -v "$$candidate" >/dev/null || continue; \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$candidate" -c 'import ensurepip, venv' 2>/dev/null || { missing="$$candidate"; continue; }; \
	  echo "Making $(VENV) with $$("$$candidate" --version) ($$candidate)"; \
	  "$$candidate" -m venv $(VENV); exit 0; \
	done; \
	if [ -n "$${missing:-}" ]; then \
	  echo "moothall: $$missing comes without venv; install it (on Debian and Ubuntu: the package python3-venv)" >&2; \
	else \
	  echo "moothall: Python 3.11 or later is needed and none was found; name one with: make PYTHON=/path/to/python3.11" >&2; \
	fi; exit 1

# A stamp is newer than its lock file exactly when the environment holds what the lock says.
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL = $(BIN)/python tools/install_packages.py
EDITABLE = $(PIP) install --no-deps --no-build-isolation --editable

# For those who make many environments, as CI does. Where it is missing, all else is installed by pip.
.PHONY: uv
uv: $(STAMPS)/uv ## Install uv, which installs everything else in a sixth of pip's time
$(STAMPS)/uv: requirements-uv.lock | $(BIN)/python
	@$(PIP) install --require-hashes --requirement requirements-uv.lock
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/runtime: requirements.lock $(PACKAGE) | $(BIN)/python
	@echo "Installing what moothall needs to run"
	@$(INSTALL) requirements.lock
	@$(EDITABLE) .
	@$(BIN)/python -m compileall -q src # the first start need not, even where Python may not write its caches
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: requirements-dev.lock $(STAMPS)/runtime
	@echo "Installing what the checks and tests need"
	@$(INSTALL) requirements-dev.lock
	@$(EDITABLE) packages/testing-py
	@touch $@

.PHONY: install
install: $(STAMPS)/runtime ## Build .venv without starting anything

# The statements of all queries, compiled for the engines: a start without them takes nearly twice as long.
COMPILE_STATEMENTS = $(BIN)/python tools/compile_statements.py --if-changed
.PHONY: statements
statements: $(STAMPS)/runtime ## Compile the statements of all queries into the package
	@$(COMPILE_STATEMENTS)

# Both are made while the server answers; a failed build says so and leaves the server alone.
BUILD_CLIENT = $(BIN)/python tools/build_client.py --if-changed
.PHONY: run
run: $(STAMPS)/runtime ## Serve at http://localhost:3333 (PORT=, DATA=, ARGS=, CLIENT=no)
	@{ $(if $(filter no,$(CLIENT)),,$(BUILD_CLIENT);) $(COMPILE_STATEMENTS); } & \
	exec $(BIN)/moothall serve $(if $(PORT),--port "$(PORT)") $(if $(DATA),--data "$(DATA)") $(ARGS)

# What the client's tests and lint need, where there is Node; they are left out elsewhere.
$(STAMPS)/client-dev: web/package-lock.json | $(BIN)/python
	@$(BIN)/python tools/build_client.py --dev
	@mkdir -p $(STAMPS) && touch $@
CLIENT_DEV = $(if $(shell command -v npm),$(STAMPS)/client-dev)

# CLIENT=no leaves the client out.
.PHONY: dev
dev: $(STAMPS)/dev $(if $(filter no,$(CLIENT)),,$(CLIENT_DEV)) statements ## Serve, and start again when code changes (PORT=, DATA=, ARGS=)
	@exec $(BIN)/python tools/dev.py $(if $(filter no,$(CLIENT)),--no-client) $(if $(PORT),--port "$(PORT)") $(if $(DATA),--data "$(DATA)") $(ARGS)

.PHONY: activity
activity: $(STAMPS)/runtime ## Run the example Activity beside a server (MOOTHALL_URL=, PORT=)
	@$(if $(PORT),PORT="$(PORT)") $(BIN)/python examples/activity/run.py

.PHONY: client
client: $(STAMPS)/runtime ## Build the client for people into the package
	@$(BUILD_CLIENT)

# The same commit gives the same bytes. CLIENT=no leaves the client out.
.PHONY: dist
dist: $(STAMPS)/runtime ## Build sdists and wheels into dist/ (CLIENT=no)
	@$(if $(filter no,$(CLIENT)),,$(BUILD_CLIENT))
	@$(BIN)/python tools/build_dist.py $(if $(filter no,$(CLIENT)),--without-client)

# Then `make release` builds it. KEY= is a private key of SSH that signs the checksums.
.PHONY: version
version: $(STAMPS)/dev ## Set the version, write the changelog from changes/, commit and tag (VERSION=)
	@$(BIN)/python tools/release.py version "$(VERSION)"

.PHONY: release
release: $(STAMPS)/dev statements ## Build, check and sign every package of the tagged commit in dist/release/ (KEY=)
	@$(BUILD_CLIENT)
	@$(BIN)/python tools/build_docs.py
	@$(BIN)/python tools/release.py build $(if $(KEY),--key "$(KEY)")

.PHONY: deb
deb: $(STAMPS)/runtime ## Build a package for this release of Debian or Ubuntu into dist/
	@$(BUILD_CLIENT)
	@$(BIN)/python tools/build_deb.py

# TESTS= leaves the client's unit tests out.
.PHONY: test
test: $(if $(TESTS),,test-client) test-python ## Run the test suite (TESTS=, JOBS=)

.PHONY: test-client
test-client: $(CLIENT_DEV)
	@$(if $(CLIENT_DEV),npm --prefix web --silent test,echo "The client's unit tests are skipped: there is no npm")

# The client that the browser tests drive, where it can be built.
.PHONY: built-client
built-client: $(CLIENT_DEV) $(STAMPS)/runtime
	@$(if $(CLIENT_DEV),$(BUILD_CLIENT))

# Each process begins with a share of its own, so that few servers and browsers of a module are started twice.
# pytest rewrites its plugins, those of this package and of Hypothesis too, before any file of the suite can allow caches.
.PHONY: test-python
test-python: $(STAMPS)/dev $(CLIENT_DEV) statements $(if $(TESTS),,built-client)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal $(TESTS)

# In an environment of its own, .lowest; what the tests need besides is as new as may be. LOWEST_TESTS is what runs there.
LOWEST_TESTS ?= tests/test_settings.py tests/oauth2 tests/pages/test_single_sign_on.py tests/pages/test_second_factor.py \
  tests/server tests/bus tests/storage tests/gateway tests/voice/test_gateway.py tests/voice/test_end_to_end.py
.PHONY: lowest
lowest: $(STAMPS)/uv statements ## Run tests with the lowest version of every package that pyproject.toml allows
	@$(BIN)/python tools/install_lowest.py .lowest
	@.lowest/bin/python -m pytest --numprocesses $(JOBS) --dist worksteal $(LOWEST_TESTS)

# Clients and example bots have packages of their own: two clients for Python are named discord.
CLIENT_LOCKS = $(wildcard tests/clients/python/*/requirements.lock examples/bots/*/requirements.lock)
NODE_CLIENTS = tests/clients/node packages/testing-js
.PHONY: test-clients
test-clients: $(CLIENT_LOCKS:requirements.lock=site/.installed) \
  $(if $(CLIENT_DEV),$(NODE_CLIENTS:=/node_modules/.package-lock.json)) ## Install the clients and example bots that the tests run

# Tests of a client that cannot be installed say so themselves.
%/site/.installed: %/requirements.lock | $(BIN)/python
	@$(INSTALL) $< --target $(@D) && touch $@ || echo "$* cannot be installed"

%/node_modules/.package-lock.json: %/package-lock.json
	@cd $* && npm ci --silent && touch node_modules/.package-lock.json || echo "npm ci fails in $*"

# FUZZ_EXAMPLES is how many URLs are tried, and how many requests on each database; the suite tries some of both.
# The requests go on where an earlier run ended, which .fuzz tells.
FUZZ_EXAMPLES ?= 20000
.PHONY: fuzz
fuzz: $(STAMPS)/dev ## Search with generated URLs and requests for what must not happen (FUZZ_EXAMPLES=)
	@FUZZ_EXAMPLES="$(FUZZ_EXAMPLES)" $(BIN)/python -m pytest --timeout 0 -s tests/runtime/test_outgoing_fuzz.py \
	  tests/conformance/test_generated_requests.py -k "outgoing or long"
	@FUZZ_EXAMPLES="$(FUZZ_EXAMPLES)" $(BIN)/python -m pytest --timeout 0 tests/objects/test_objects.py \
	  tests/laws/test_random_actions.py tests/gateway/test_stages_and_events.py

# Half an hour with all attackers; ABUSE_ARGS="login_flood --seconds 10" runs one. It means something only where nothing
# else runs.
ABUSE_ARGS ?=
.PHONY: abuse
abuse: $(STAMPS)/dev statements ## Attack a server beside well-behaved clients, and print who waited (ABUSE_ARGS=)
	@$(BIN)/python -m tests.abuse $(ABUSE_ARGS)

# What PostgreSQL's and NATS' programs are needed for is the topology "cluster". CHAOS_ARGS="single --seconds 20" runs one.
CHAOS_ARGS ?=
.PHONY: chaos
chaos: $(STAMPS)/dev statements ## Kill, stop and cut off servers under load, and judge what clients saw (CHAOS_ARGS=)
	@$(BIN)/python -m tests.chaos $(CHAOS_ARGS)

# COUNT=0 runs until it is interrupted; a failure prints its seed, by which it is repeated.
SEED ?= 1
COUNT ?= 100
KIND ?= platform
.PHONY: simulate
simulate: $(STAMPS)/dev statements ## Run seeds of the simulated platform (SEED= COUNT= KIND=gateway|platform POSTGRES=URL)
	@$(BIN)/python -m tests.simulation --kind $(KIND) --seed $(SEED) --count $(COUNT) $(if $(POSTGRES),--postgres $(POSTGRES))

.PHONY: check check-client check-python
check: check-client check-python ## Lint, types, import contracts, operations, docs, words

check-client: $(STAMPS)/dev $(CLIENT_DEV)
	@$(if $(CLIENT_DEV),npm --prefix web --silent run check)

check-python: $(STAMPS)/dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/check_operations.py
	@$(BIN)/python tools/check_docs.py
	@$(BIN)/python tools/check_words.py
	@$(BIN)/python tools/release.py check

.PHONY: format
format: $(STAMPS)/dev ## Let ruff format and fix what it can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

.PHONY: docs
docs: $(STAMPS)/dev ## Write the generated parts of the documentation, and build it into dist/docs/
	@$(BIN)/python tools/check_docs.py --write
	@$(BIN)/python tools/build_docs.py

.PHONY: newer-description
newer-description: $(STAMPS)/dev ## Name what a newer copy of the public description has (NEWER=, KNOWN=)
	@$(BIN)/python tools/newer_description.py $(NEWER) $(if $(KNOWN),--known $(KNOWN))

.PHONY: tables
tables: $(STAMPS)/dev ## Write the statements that create a new database
	@$(BIN)/python tools/write_tables.py

.PHONY: translations
translations: $(STAMPS)/dev ## Update and compile the catalogues of the pages
	@$(BIN)/python tools/translations.py

.PHONY: bench
bench: $(STAMPS)/dev statements ## Print the benchmark table
	@$(BIN)/python -m benchmarks $(ARGS)

# A leak shows in the second half as in the first one. ARGS="--database URL" soaks PostgreSQL.
MINUTES ?= 40
.PHONY: soak
soak: $(STAMPS)/dev statements ## Load a server steadily and print what grows in its memory (MINUTES=, ARGS=)
	@$(BIN)/python -m benchmarks.soak --minutes "$(MINUTES)" $(ARGS)

# It takes half an hour, and means something only where nothing else runs. ARGS="--database URL" measures PostgreSQL too.
.PHONY: performance
performance: $(STAMPS)/dev statements ## Measure both communities and write docs/performance.md (ARGS=)
	@$(BIN)/python -m benchmarks --large --report docs/performance.md $(ARGS)

# ROW is the name of a row of the table, or a part of the names of several; ARGS=--large profiles the large community.
ROW ?= GET guild
.PHONY: profile
profile: $(STAMPS)/dev statements ## Write where the time of a row goes: benchmarks/profiles/ (ROW=, ARGS=)
	@$(BIN)/python -m benchmarks --profile --only "$(ROW)" $(ARGS)

# It drives Chromium, and takes minutes. ARGS="--seconds 3600" receives messages for an hour instead of a minute.
.PHONY: screenshots
screenshots: $(STAMPS)/dev ## Make the pictures of docs/screenshots anew, with Chromium
	@$(BUILD_CLIENT)
	@MOOTHALL_TEST_SCREENSHOTS=1 $(BIN)/python -m pytest -q -p no:cacheprovider tests/clients/test_screenshots.py

.PHONY: bench-client
bench-client: $(STAMPS)/dev ## Print the client's table: load, switching, scrolling, memory
	@$(BUILD_CLIENT)
	@$(BIN)/python -m benchmarks.client $(ARGS)

# uv resolves for every Python and platform at once, which pip cannot; it is needed here only. UPGRADE=--upgrade renews.
UPGRADE ?=
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --custom-compile-command 'make lock' $(UPGRADE)
CLIENTS = tests/clients/python
# The drivers that are extras: a clone, the Debian package and the image have them.
DRIVERS = --extra postgres --extra nats
.PHONY: lock
lock: | $(STAMPS)/uv ## Write the lock files (UPGRADE=--upgrade takes the newest)
	@$(COMPILE) pyproject.toml $(DRIVERS) --group build --output-file requirements.lock
	@$(COMPILE) pyproject.toml $(DRIVERS) --group dev --constraint requirements.lock --output-file requirements-dev.lock
	@for client in pycord nextcord interactions; do \
	  $(COMPILE) $(CLIENTS)/$$client/requirements.in --output-file $(CLIENTS)/$$client/requirements.lock; done
	@for folder in examples/bots/*/; do \
	  $(COMPILE) "$${folder}requirements.in" --output-file "$${folder}requirements.lock"; done
	@$(COMPILE) --group node --output-file requirements-node.lock
	@$(COMPILE) --group uv --output-file requirements-uv.lock

.PHONY: clean
clean: ## Remove .venv and every cache; data is left alone
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .schemathesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
