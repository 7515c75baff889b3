# Everything a newcomer needs. `make` lists the targets. Stamps of finished steps are in .make/.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

BIN := .venv/bin
STAMPS := .make
PORT ?=
ARGS ?=

# Other pools than the bundled one: tests and docs that use them are skipped if they are not available.
ifeq ($(origin TELLMORE_DATA),undefined)
  ifneq ($(wildcard ../shared/data/*.npz),)
    export TELLMORE_DATA := $(abspath ../shared/data)
  endif
endif

WEB_SOURCES := $(shell find web -type f -not -path '*/node_modules/*' 2>/dev/null)
PACKAGE_SOURCES := $(shell find src -type f -not -name '*.pyc' -not -path '*/static/*')
CLIENT := $(if $(WEB_SOURCES),$(STAMPS)/client)

.PHONY: help demo test test-integrations setup bench reproduce race docs format wheel sbom clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/venv-app $(CLIENT) ## Teach a classifier in the browser on the bundled words pool (PORT= chooses another port)
	@$(BIN)/tellmore demo $(if $(PORT),--port $(PORT)) $(ARGS)

test: $(STAMPS)/venv-dev $(CLIENT) ## Run every check and test from a clean start; ends with one summary
	@scripts/system-packages.sh
	@$(BIN)/python scripts/run_tests.py $(ARGS)

test-integrations: ## Test with other tools' own packages, in a separate environment
	@scripts/test-integrations.sh $(ARGS)

setup: $(STAMPS)/venv-all ## Create the environment .venv with all extras except torch

bench: $(STAMPS)/venv-dev $(CLIENT) ## Measure speed, compared with other ways to do the same (half an hour; ARGS=--quick for a short run)
	@scripts/system-packages.sh
	@missed=; for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python "$$file" $(ARGS) || missed="$$missed $$file"; done; \
	if [ -n "$$missed" ]; then echo "missed their targets:$$missed"; exit 1; fi

reproduce: $(STAMPS)/venv-all ## Write every figure, table and claim of the paper to results/ (ARGS=--quick for a short run)
	@$(BIN)/tellmore reproduce all --out results $(ARGS)

race: $(STAMPS)/venv-all ## Compare the learner with regression, active learning and words, into results/race (ARGS=--quick for a short run)
	@$(BIN)/tellmore race --out results/race $(ARGS)

docs: $(STAMPS)/venv-dev $(CLIENT) ## Regenerate the generated pages, run the code of all pages and build the site in site/
	@$(BIN)/python scripts/write_reference.py
	@$(BIN)/python -m pytest -q -m docs tests
	@$(BIN)/python scripts/build_site.py site

format: $(STAMPS)/venv-dev ## Format the Python sources and fix what the linter can fix
	@$(BIN)/ruff check --fix-only -q . ; $(BIN)/ruff format .

wheel: $(STAMPS)/wheel ## Build dist/*.whl with the browser client inside, and next to it a list of its dependencies

sbom: $(STAMPS)/venv-all ## List tellmore's dependencies, with versions and licences, in dist/tellmore.cdx.json (CycloneDX)
	@mkdir -p dist && $(BIN)/python scripts/write_sbom.py dist/tellmore.cdx.json && echo dist/tellmore.cdx.json

clean: ## Remove everything that make has made (answers given in a demo stay)
	rm -rf .venv $(STAMPS) build dist site .cache src/tellmore/app/static web/node_modules web/dist web/src/kit/schemas.ts
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMPS)/venv-%: pyproject.toml constraints.txt scripts/install.sh
	@scripts/install.sh $*

$(STAMPS)/client: $(WEB_SOURCES) $(wildcard src/tellmore/app/*.py) scripts/build-client.sh scripts/write_openapi.py | $(STAMPS)/venv-app
	@scripts/build-client.sh

$(STAMPS)/wheel: pyproject.toml hatch_build.py README.md $(PACKAGE_SOURCES) $(WEB_SOURCES) scripts/build-wheel.sh
	@scripts/build-wheel.sh
	@mkdir -p $(STAMPS) && touch $@
