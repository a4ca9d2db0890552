# Two commands matter: `make demo` shows it, `make test` proves it. Everything stays inside the checkout,
# but for the HAProxy binaries that tests/tools/get-haproxy keeps in the user's cache.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(1)/bin/python -m pip --disable-pip-version-check --quiet install
# uv takes a tenth of pip's time, but reads no pip.conf: where only that names the package index, pip installs the same.
install = $(BIN)/uv pip install --quiet --system-certs --python $(1)/bin/python $(2) || $(PIP) $(2)
GET_HAPROXY := tests/tools/get-haproxy
# More than processors: most tests of the whole server wait for HAProxy, for reloads or for their time to be over.
WORKERS ?= 4
PYTEST = $(BIN)/python -m pytest -n $(WORKERS)
# Without processes, then a few with HAProxy and the server; docs/architecture.md says what else there is.
QUICK := tests/rules tests/openapi tests/laws/test_samples.py tests/acceptance/test_live.py tests/docs/test_library.py \
	$(addprefix tests/native/,text grammar editing planning) tests/app/settings tests/app/test_cli.py \
	$(addprefix --ignore=tests/,openapi/test_keywords.py native/text/test_words.py)
# The tests that draw values, and that try all of them with the profile `search`.
PROPERTIES := tests/laws $(addprefix tests/native/,text/test_document.py text/test_section.py text/test_words.py \
	editing/test_file_references.py features/lint/test_lint.py) tests/app/test_bad_bodies.py
# The laws for the kinds of lines whose names hold K, as pytest's -k takes it.
K ?= server
# The values that `make soak` tries in the laws, and the order of `make test ORDER=random`; the number that a run prints repeats it.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom)
endif
SUITES ?= bookworm trixie
# What is compiled is kept, also where the environment says otherwise.
unexport PYTHONDONTWRITEBYTECODE

# A virtual environment holds its own path: one that came along with a copied checkout is made anew.
MADE_HERE := $(shell grep -q '^command = .* $(CURDIR)/\.venv$$' .venv/pyvenv.cfg 2>/dev/null && echo yes)
ifneq ($(MADE_HERE),yes)
.PHONY: $(BIN)/python $(BIN)/dataplaneapi .venv/.dev
endif

.PHONY: help setup dev haproxy generate check compiled quick laws test core fresh e2e docs wheel deb container collection release soak demo screenshots bench format audit lock clean

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## /\1\t/p' Makefile | expand -t 12

setup: $(BIN)/dataplaneapi ## the command .venv/bin/dataplaneapi

$(BIN)/python:
	@# --clear follows a link, and would empty the environment of another checkout.
	@test ! -L .venv || { echo '.venv is a link to $(shell readlink .venv); run make there, or remove the link' >&2; exit 2; }
	$(PYTHON) -m venv --clear .venv
	$(call PIP,.venv) --require-hashes -r requirements/uv.txt

$(BIN)/dataplaneapi: requirements/runtime.txt requirements/build.txt pyproject.toml | $(BIN)/python
	$(call install,.venv,--require-hashes -r requirements/runtime.txt -r requirements/build.txt)
	$(call install,.venv,--no-deps --no-build-isolation --editable .)
	@# The user who runs the command may not be allowed to write here, and would compile at every start what the server imports.
	$(BIN)/python -m compileall -q app native
	$(BIN)/python -c 'import dataplaneapi.program'
	@touch $@

dev: .venv/.dev ## setup, and what tests and generators need

.venv/.dev: requirements/dev.txt $(BIN)/dataplaneapi
	$(call install,.venv,--require-hashes -r requirements/dev.txt)
	@touch $@

haproxy: ## the HAProxy versions that the tests run against
	@$(GET_HAPROXY) 3
	@$(GET_HAPROXY) 2.6
	@for version in 2.8 3.0 3.4; do $(GET_HAPROXY) $$version || echo "its tests are skipped" >&2; done
	@for program in chromium consul etcd etcd-3.5 etcdctl knotd libatomic.so.1 pebble promtool; do tests/tools/get-program $$program || echo "its tests are skipped" >&2; done

generate: dev ## openapi/generated/, native/haproxy_native/models/ and docs/ from the declarations
	$(BIN)/python -m openapi.generate

check: dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

compiled: dev ## the tests, which pytest compiles by itself; each worker would, at the same time
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null 2>&1 || echo "tests cannot be collected" >&2

test: haproxy ## everything: check, then the whole suite against real HAProxy binaries; ORDER=random: in the order of SEED
	@# A processor for each.
	$(MAKE) --no-print-directory -j 2 check compiled docs
	$(PYTEST) -rs --durations=20 --durations-min=2 $(if $(filter random,$(ORDER)),--order $(SEED))

quick: dev ## within a minute: the rules, the laws of samples, what needs no process, a few tests beside an HAProxy
	@$(GET_HAPROXY) 3 > /dev/null
	$(PYTEST) -q --durations=10 --durations-min=1 $(QUICK)

laws: dev ## the laws of the keywords of K: make laws K=server
	@$(GET_HAPROXY) 3 > /dev/null
	$(PYTEST) -q tests/laws -k '$(K)'

core: dev haproxy ## the tests of the contract, on a copy from which every feature was removed
	$(BIN)/python tests/tools/core -q -n $(WORKERS)

fresh: ## demo and test on machines that have nothing, SUITES of Debian: needs root and debootstrap
	tests/tools/fresh-machine $(SUITES)

e2e: dev ## the page in a browser; role and package on a booted machine of each of SUITES: needs root and namespaces of its own
	E2E_SUITES='$(SUITES)' $(BIN)/python -m pytest -rs -v --durations=0 -o timeout=1800 -m 'not soak' tests/page tests/e2e

docs: .venv/.docs ## dist/site/: the documentation as a site with search
	.venv/docs/bin/zensical build --strict --clean

# An environment of its own: what it needs must not decide versions of what the server needs.
.venv/.docs: requirements/docs.txt | $(BIN)/python
	$(PYTHON) -m venv --clear .venv/docs
	$(call install,.venv/docs,--require-hashes -r requirements/docs.txt)
	@touch $@

wheel: dev ## dist/: wheel and source archive
	$(BIN)/python -m hatchling build

deb: dev ## dist/: a package for Debian 12 and 13, with everything it needs inside
	packaging/deb dist

container: dev ## an image, if buildah is here; BASE=debian@sha256:... is what it is built on
	@case '$(BASE)' in *@sha256:*) ;; *) echo 'make container needs BASE=IMAGE@sha256:DIGEST, of Debian 12 or 13; see Containerfile' >&2; exit 2 ;; esac
	packaging/wheels dist/wheels
	buildah build --build-arg BASE='$(BASE)' --tag dataplaneapi .

release: dev .venv/.release ## dist/: wheel, source archive, Debian package, collection, SBOM and SHA256SUMS; the same commit gives the same bytes
	packaging/release dist

.venv/.release: requirements/release.txt | $(BIN)/python
	$(PYTHON) -m venv --clear .venv/release
	$(call install,.venv/release,--require-hashes -r requirements/release.txt)
	@touch $@

collection: dev ## dist/: the Ansible collection
	$(BIN)/ansible-galaxy collection build --force --output-path dist ansible

soak: dev haproxy ## what takes hours: 5,200 kills, odd files edited 3,900 times, walks over the API of 500 steps beside each version, and an hour of mixed work, or SOAK_MINUTES of it; the laws with other values, of SEED
	@echo 'the laws are searched with SEED=$(SEED)'
	$(PYTEST) $(PROPERTIES) --hypothesis-profile=search --hypothesis-seed=$(SEED) -o timeout=0
	$(BIN)/python -m pytest -m soak -s -o timeout=0

demo: setup ## an HAProxy and the server beside it, until Ctrl-C
	@HAPROXY_BIN=$$($(GET_HAPROXY) 3.4 2>/dev/null || $(GET_HAPROXY)) exec $(BIN)/python -m demo

screenshots: dev ## docs/images/ anew: the page of the demo in a real browser
	@HAPROXY_BIN=$$($(GET_HAPROXY) 3.4 2>/dev/null || $(GET_HAPROXY)) $(BIN)/python -m tests.page.screenshots

bench: dev ## every figure of bench/figures.toml; SERVERS="name=command ..." for others beside ours
	$(BIN)/python -m bench $(SERVERS)

format: dev ## rewrite the sources in the house's layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

audit: $(BIN)/python ## the locked packages: known vulnerabilities, withdrawn files, hashes; prints what could not be checked
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/pip --disable-pip-version-check install --quiet pip-audit==2.10.1
	packaging/audit .venv/audit/bin/pip-audit

lock: $(BIN)/python ## requirements/*.txt anew from pyproject.toml
	sh requirements/lock $(BIN)/uv

clean: ## forget everything made here
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
