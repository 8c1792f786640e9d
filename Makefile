# make demo           installs whorl into .venv and runs it on real models
# make test           lint, format, types and all tests
# make check          the same without the slow tests
# make test-archive   the node tests of old releases of onnx, which it downloads
# make test-upstream  the engine tests of modeci_mdf, which it downloads, with whorl in the place of its engine
# make test-openvino  every model of two suites written as OpenVINO IR and run there, and 3,600 slicings; make test takes some
# make test-exports   models that scikit-learn, torch, jax, silero-vad and OpenVINO export, against those; installs them
# make conformance    renews docs/conformance.md: the control-flow suite on four engines
# make fuzz           the fuzz tests with 10,000 examples each (make EXAMPLES=1000 fuzz), then 20,000 programs over all
#                     native operators (PROGRAMS=1000, SEED=7), and of operators on many rows; renews docs/coverage.md
# make fuzz-files     100,000 damaged files of every format (make FILES=1000000 SEED=2 fuzz-files)
# make bench          the benchmarks; they write nothing
# make explorer       builds the page of `whorl explore` from explorer/, with npm
# make docs           renews docs/ops.md, docs/cli.md, the codes in docs/openvino.md and the table of signatures
# make site           the documentation as a site in build/site, links checked; it needs no network to be built or read
# make lock           renews constraints.txt: the versions that were tested
#
# Needs Python 3.11 or newer, pip and make. Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
EXAMPLES ?= 10000
PROGRAMS ?= 20000
SEED ?= $(shell date +%s)
FILES ?= 100000
BENCHES := $(shell grep -l __main__ bench/*.py)
LOCK := constraints.txt
BUILD := hatchling editables
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-build-isolation --constraint $(LOCK) --editable

unexport PYTHONPATH PYTHONHOME

# A virtual environment that was moved, copied or lost its interpreter is made anew.
ifneq ($(shell $(BIN)/python -c 'print(open("$(VENV)/.created").read().strip())' 2>/dev/null),$(CURDIR))
$(shell rm -f $(VENV)/.created)
endif

.DELETE_ON_ERROR:
.PHONY: demo test check test-archive test-upstream test-openvino test-exports conformance fuzz fuzz-files bench docs site \
  explorer lint types lock clean

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py

test: lint types
	$(BIN)/python -m pytest -q -n $(WORKERS)

check: lint types
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow"

# The first, single process downloads; the workers then find everything there.
test-archive: export WHORL_ARCHIVE := build/archive
test-archive: $(VENV)/.test
	@mkdir -p $(WHORL_ARCHIVE)
	@$(BIN)/python -m pytest -q --collect-only tests/archive >/dev/null
	$(BIN)/python -m pytest -q -n $(WORKERS) tests/archive

test-upstream: $(VENV)/.test
	$(PIP) download --no-deps --no-binary :all: --dest build/upstream modeci_mdf==0.4.15
	$(BIN)/python -m pytest -q tests/formats/mdf/test_upstream.py

test-openvino: export WHORL_OPENVINO_ALL := 1
test-openvino: $(VENV)/.test
	$(BIN)/python -m pytest -q -n $(WORKERS) tests/formats/openvino/test_round_trips.py tests/formats/openvino/control/test_plugin_slices.py

test-exports: export WHORL_REQUIRE_EXPORTS := 1
test-exports: $(VENV)/.exports
	$(BIN)/python -m pytest -q -n $(WORKERS) tests/exports tests/embed tests/deloop/test_*_exports.py

conformance: $(VENV)/.test
	$(BIN)/python -m whorl.conformance --page docs/conformance.md

fuzz: export WHORL_FUZZ_EXAMPLES := $(EXAMPLES)
fuzz: $(VENV)/.test
	$(BIN)/python -m pytest -q -n $(WORKERS) tests/fuzz
	@mkdir -p build
	PYTHONPATH=tests $(BIN)/python -m fuzz $(PROGRAMS) $(SEED) --workers $(WORKERS) --counts build/coverage.json
	$(BIN)/python docs/make_coverage.py build/coverage.json
	PYTHONPATH=tests $(BIN)/python -m fuzz.rows $(PROGRAMS) $(SEED)

fuzz-files: $(VENV)/.test
	cd tests && $(abspath $(BIN))/python -m fuzz.campaign --count $(FILES) --seed $(SEED)

bench: $(VENV)/.test
	@failed=0; for file in $(BENCHES); do $(BIN)/python $$file || failed=1; echo; done; exit $$failed

docs: $(VENV)/.test
	$(BIN)/python docs/make_signatures.py
	$(BIN)/python docs/make_ops.py
	$(BIN)/python docs/make_onnxruntime.py
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_openvino.py
	$(BIN)/python docs/make_outputs.py

site: export NO_MKDOCS_2_WARNING := 1
site: $(VENV)/.gallery
	$(BIN)/python -m mkdocs build --strict --quiet

explorer:
	cd explorer && npm ci && npm run build

lint: $(VENV)/.test
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check

types: $(VENV)/.test
	$(BIN)/python -m pyright --pythonpath $(BIN)/python

lock:
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip --quiet install $(BUILD) '.[test]'
	{ sed -n '/^#/p' $(LOCK); build/lock/bin/python -m pip freeze --exclude whorl; } > build/$(LOCK)
	mv build/$(LOCK) $(LOCK)
	rm -rf build/lock

clean:
	rm -rf $(VENV) build dist

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "'$(PYTHON)' is not on PATH; whorl needs Python 3.11 or newer (make PYTHON=/path/to/python)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "whorl needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V) (make PYTHON=/path/to/python)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "'$(PYTHON)' has no venv module; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "$(CURDIR)" > $@

$(VENV)/.build: $(VENV)/.created $(LOCK)
	@$(PIP) install --constraint $(LOCK) $(BUILD)
	@touch $@

$(VENV)/.demo $(VENV)/.test: $(VENV)/.%: $(VENV)/.build pyproject.toml
	@echo "installing whorl[$*] into $(VENV)"
	@$(INSTALL) '.[$*]'
	@touch $@

$(VENV)/.gallery: $(VENV)/.test tests/exports/requirements.txt
	@$(PIP) install --no-deps $(shell grep silero tests/exports/requirements.txt)
	@touch $@

$(VENV)/.exports: $(VENV)/.test tests/exports/requirements.txt
	@echo "installing torch, jax and their exporters into $(VENV)"
	@$(PIP) install --constraint $(LOCK) --requirement tests/exports/requirements.txt
	@touch $@
