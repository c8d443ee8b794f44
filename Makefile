# make try    gives an agent a task in the sample project
# make test   everything that must hold, from nothing
# make prove  the long proofs; writes docs/proofs.md

CARGO ?= cargo
MODEL ?=

.PHONY: try build test check prove bench

try: build
	@tools/try.sh target/debug/cairn "$(MODEL)"

build:
	$(CARGO) build --locked --package cairn

test: check
	$(CARGO) test --locked --workspace
	$(CARGO) doc --locked --workspace --no-deps --quiet

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) xtask tidy
