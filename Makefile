# The words to remember: run, test, lint, bench, storm, cluster. Each sets up what it needs and says what it is doing.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run build test lint bench storm cluster valkey screenshots generate

UI_SOURCES := $(shell find ui/src ui/public ui/index.html ui/*.json ui/*.ts -type f 2>/dev/null)
UI_PACKAGES := ui/node_modules/.package-lock.json
UI_BUILT := ui/dist/index.html

help:
	@echo "make run       open Runeglass with the sample workflows (in a browser where there is no display)"
	@echo "make test      everything: lints, Rust, user interface, browser and desktop end to end"
	@echo "make lint      rustfmt, clippy, tsc and eslint"
	@echo "make bench     how fast it is here, beside Node-RED, Celery and a bare skeleton (a release build)"
	@echo "make storm     a million random workflows against the oracle, a longer storm on a cluster and a minute of flood (a release build)"
	@echo "make cluster   a private RabbitMQ and Redis with two workers, to try the cluster (until Ctrl-C)"
	@echo "make valkey    the tests of the cluster, the storm too, on Valkey in place of Redis"
	@echo "make screenshots ten scenes of the window in two sizes and two themes, in target/screenshots"
	@echo "make generate  write the TypeScript and the JSON Schema that are made from the Rust types"

run: build
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	  echo "Opening the window …"; exec target/debug/runeglass-desktop workflows; \
	else \
	  echo "There is no display here, so the same user interface comes up on the loopback web host."; \
	  exec target/debug/runeglass serve workflows; \
	fi

build: $(UI_BUILT)
	@.make/packages run
	@echo "Building (the first time takes a few minutes) …"
	@cargo build --workspace --locked

$(UI_PACKAGES): ui/package.json ui/package-lock.json
	@echo "Installing the packages of the user interface …"
	@cd ui && npm ci --no-audit --no-fund
	@touch $@

$(UI_BUILT): $(UI_PACKAGES) $(UI_SOURCES)
	@echo "Building the user interface …"
	@cd ui && npm run --silent build

test:
	@.make/packages test
	@$(MAKE) --no-print-directory build
	@node .make/test.mjs

lint: $(UI_BUILT)
	@.make/packages run
	@node .make/test.mjs lint

bench: $(UI_BUILT)
	@.make/packages test
	@echo "Building for speed (the first time takes several minutes) …"
	@cargo build --release --locked -p runeglass-cli
	@.make/with-servers target/release/runeglass bench --node-red .make/node-red.mjs --celery .make/celery.py

storm: $(UI_BUILT)
	@.make/packages test
	@RUNEGLASS_SEEDS=1000000 cargo test --release --locked -p runeglass-tests --test model -- --nocapture
	@cargo build --release --locked -p runeglass-cli
	@RUNEGLASS_KILLS=500 cargo test --release --locked -p runeglass-tests --test cluster_storm -- --nocapture
	@RUNEGLASS_FLOOD_SECONDS=60 cargo test --release --locked -p runeglass-tests --test attach_flood -- --nocapture

cluster:
	@.make/packages test
	@$(MAKE) --no-print-directory build
	@exec .make/with-servers .make/cluster

valkey: build
	@.make/packages test
	@RUNEGLASS_REDIS_SERVER=$$(.make/valkey) cargo test --workspace --locked \
	  --test cluster --test cluster_commands --test cluster_timers --test cluster_storm -- --nocapture

screenshots: build
	@.make/packages test
	@cd ui && npm run --silent screenshots

generate:
	@RUNEGLASS_GENERATE=1 cargo test --workspace --locked --test generated --test stories
