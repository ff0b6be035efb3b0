# SPDX-License-Identifier: MIT
# The short way in; CMake does the work. `make help` lists what there is.
PRESET ?= release
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS_EACH ?= 120
build_dir = $(if $(filter release,$(PRESET)),build,build-$(PRESET))

.PHONY: all help demo test test-all test-mutations bench install format docs api abi fuzz clean

all: ## build the library and the tool, build/carom
	@scripts/setup.sh build
	@scripts/build.sh $(PRESET) $(JOBS) carom_product

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile

demo: all ## the tour of every engine; writes build/demo/index.html
	@$(build_dir)/carom demo -o build/demo

test: ## set up, build and run all tests (PRESET=asan or tsan for sanitizers)
	@scripts/setup.sh build test
	@scripts/build.sh $(PRESET) $(JOBS)
	@scripts/test.sh $(build_dir) $(JOBS)

test-all: ## the long campaign: release, clang, asan, tsan with every seeded case, valgrind with some
	@$(MAKE) --no-print-directory test PRESET=asan-full
	@$(MAKE) --no-print-directory test PRESET=tsan-full
	@$(MAKE) --no-print-directory test PRESET=clang
	@$(MAKE) --no-print-directory test PRESET=release
	@scripts/build.sh valgrind $(JOBS)
	@scripts/valgrind.sh build-valgrind $(JOBS)

test-mutations: ## put known mistakes into a copy of the library; asserts, _validate or tests stop each
	@scripts/setup.sh build test
	@JOBS=$(JOBS) tests/mutations.sh

bench: ## all benchmarks, ours and peers', side by side
	@scripts/setup.sh build bench
	@scripts/build.sh release $(JOBS) carom_product carom_peers
	@build/carom bench

install: all ## install under PREFIX
	@cmake --install $(build_dir) --prefix $(PREFIX)

format: ## clang-format all sources in place
	@scripts/format.sh

docs: all ## the manual as a site with search and a page per function: build/docs
	@scripts/setup.sh docs
	@scripts/docs.sh build/docs $(build_dir)

api: ## describe the public API as data, from the headers: build/api.json
	@scripts/setup.sh api
	@scripts/api.py json build/api.json

abi: ## print the layout of public structs and enums; renew tests/golden/abi.txt once CAROM_ABI has changed
	@scripts/setup.sh api
	@scripts/api.py abi tests/golden/abi.txt

fuzz: ## run every fuzz target for SECONDS_EACH seconds
	@scripts/setup.sh build test
	@scripts/build.sh fuzz $(JOBS)
	@scripts/fuzz.sh build-fuzz $(SECONDS_EACH)

clean: ## remove what was built
	@rm -rf build build-*
