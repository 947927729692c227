# Each line calls one thing; what it does stands in that thing.

.PHONY: help setup up test test-hosts k6 native check-native bench bench-host bench-sidecar fuzz clean

help: ## Say what there is
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: ## Install what building and testing need
	@scripts/setup test

up: ## Build and serve the contract, until Ctrl-C
	@scripts/up

test: ## Run every test that this machine can run
	@scripts/test

test-hosts: ## Run the contract suite against the component under every host found
	@scripts/levelfield check --targets component

k6: ## Load the running service with the four k6 scripts
	@scripts/k6

native: ## Build every native build whose toolchain is here
	@scripts/build-native

check-native: native ## Run the contract suite against every native build
	@scripts/levelfield check --targets native

bench: native ## Compare the builds and write results/<time>/report.html
	@scripts/levelfield bench

bench-host: ## Measure the host against native servers
	@scripts/bench-host

bench-sidecar: ## Measure the sidecar against a native driver
	@scripts/bench-sidecar

fuzz: ## Fuzz the host's parsers, for a bounded time
	@scripts/fuzz

clean: ## Remove what was built; keeps .tools
	@cargo clean
