# make try    gives an agent a task in the sample project
# make try-local   the same with a model of 135M parameters on this machine, through the envelope
# make test   everything that must hold, from nothing
# make prove  the long proofs; writes docs/proofs.md
# make bench  Cairn beside the harness's floor, and other agents: make bench PEERS=floor,cairn,codex
#             then what confining a command costs, what applying many files costs beside cp and rm, and find beside
#             ripgrep, which is built into target/rg where it is missing

CARGO ?= cargo
MODEL ?=
PEERS ?= floor,cairn,cairn-open
# Whoever starts make in the background ignores some signals; tests of Ctrl-C and SIGTERM need them as usual.
SIGNALS := $(shell env --default-signal=INT true 2>/dev/null && echo env --default-signal=HUP,INT,QUIT,TERM)

BEGUN := $(shell date +%s)

.PHONY: try try-local build test check setup sdk prove bench bench-find

try: build
	@tools/try.sh target/debug/cairn "$(MODEL)"

try-local: build
	@tools/local/try.sh target/debug/cairn

build:
	$(CARGO) build --locked --package cairn

test: check
	$(SIGNALS) $(CARGO) test --locked --workspace --all-targets
	$(CARGO) doc --locked --workspace --no-deps --quiet
	@CARGO="$(CARGO)" tools/sdk/run.sh
	@echo "make test: all green after $$((($$(date +%s) - $(BEGUN)) / 60)) minutes"

check: setup
	$(CARGO) fmt --all --check
	@# A macro lists these files, so cargo fmt does not find them.
	rustfmt --edition 2024 --check crates/cairn-surface/src/native/tools/*.rs
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) xtask tidy

setup:
	@tools/setup.sh

sdk: setup
	@CARGO="$(CARGO)" tools/sdk/run.sh

prove: setup build
	@CARGO="$(CARGO)" $(SIGNALS) python3 tools/prove.py

bench:
	$(CARGO) build --locked --release --package cairn
	python3 bench/run.py --peers $(PEERS) --md bench-out.md
	$(CARGO) bench --locked --package cairn-sandbox --bench spawn
	$(CARGO) bench --locked --package cairn-world --bench apply
	@$(MAKE) --no-print-directory bench-find

bench-find:
	@command -v rg >/dev/null || test -x target/rg/bin/rg || $(CARGO) install --quiet ripgrep --root target/rg \
		|| echo "ripgrep could not be built; its columns stay empty"
	$(CARGO) bench --locked --package cairn-world --bench find
