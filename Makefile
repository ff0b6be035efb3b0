# SPDX-License-Identifier: MIT
# The short way in; CMake does the work. `make help` lists what there is.
PRESET ?= release
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS_EACH ?= 120
build_dir = $(if $(filter release,$(PRESET)),build,build-$(PRESET))

.PHONY: all help demo test test-all test-python test-browser test-mutations test-cuda-emulated test-platforms test-amalgamation bench install uninstall dist amalgamation deb test-deb format docs api abi api-coverage wheel addons test-addons npm playground test-js test-mpi fuzz clean

all: ## build the library and the tool, build/carom
	@scripts/setup.sh build
	@scripts/build.sh $(PRESET) $(JOBS) carom_product

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-17s %s\n", $$1, $$2}' Makefile

demo: ## the tour of every engine; writes build/demo/index.html and prints its address
	@scripts/setup.sh build
	@scripts/build.sh $(PRESET) $(JOBS) $(if $(wildcard /dev/nvidia0),carom_product,carom_tool)
	@$(build_dir)/carom demo -o build/demo

test: ## set up, build and run the tests (PRESET=asan or tsan for sanitizers)
	@scripts/setup.sh build test
	@scripts/build.sh $(PRESET) $(JOBS)
	@scripts/test.sh $(build_dir) $(JOBS)

test-all: ## the long campaign: release, clang, asan, tsan with every seeded case, valgrind with some (PART=3/16 for one share of it)
	@scripts/setup.sh build test full
	@$(MAKE) --no-print-directory test PRESET=asan-full
	@$(MAKE) --no-print-directory test PRESET=tsan-full
	@$(MAKE) --no-print-directory test PRESET=clang
	@$(MAKE) --no-print-directory test PRESET=release-full
	@case '$(PART)' in '' | 1/*) CAROM_LONG=1 $(MAKE) --no-print-directory test-python && scripts/test_amalgamation.sh build-release-full ;; esac
	@scripts/build.sh valgrind $(JOBS)
	@scripts/valgrind.sh build-valgrind $(JOBS)

test-python: ## the tests of the Python package alone, with what they need installed (CAROM_LONG=1 for the long ones)
	@scripts/setup.sh build python
	@scripts/build.sh $(PRESET) $(JOBS) carom_product
	@scripts/test_python.sh $(build_dir)

test-browser: ## install chromium and test the viewer's pages in it (make test does where it is there)
	@scripts/setup.sh build test browser
	@scripts/build.sh release $(JOBS)
	@ctest --test-dir build -R viewer --output-on-failure --no-tests=error

test-mutations: ## put known mistakes into a copy of the library; asserts, _validate or tests stop each
	@scripts/setup.sh build test
	@JOBS=$(JOBS) tests/mutations.sh

test-cuda-emulated: ## the kernels on the CPU, where there is no GPU: every test of the GPU with few cases, in two orders of threads
	@scripts/setup.sh build test
	@scripts/build.sh cuda-emulated $(JOBS) carom_emulated_tests
	@scripts/test_cuda_emulated.sh build-cuda-emulated $(JOBS)

test-platforms: ## Windows, ARM, big endian, musl, macOS: built, and run where an emulator can; build/platforms.json
	@scripts/setup.sh build test platforms
	@scripts/build.sh release $(JOBS) carom_tool
	@scripts/test_platforms.sh $(JOBS)

bench: ## all benchmarks, ours and peers', side by side
	@scripts/setup.sh build bench
	@scripts/build.sh release $(JOBS) carom_product carom_peers
	@build/carom bench

install: all ## install under PREFIX
	@cmake --install $(build_dir) --prefix $(PREFIX)

uninstall: ## remove what make install has installed last
	@cmake -DMANIFEST=$(build_dir)/install_manifest.txt -P cmake/uninstall.cmake

dist: ## the sources as an archive that builds without git: build/dist/carom-VERSION.tar.gz
	@scripts/dist.sh build/dist

amalgamation: ## the whole library in one source and one header: build/amalgamation/carom.c, carom.h
	@scripts/setup.sh build amalgamation
	@scripts/amalgamation.sh build/amalgamation

test-amalgamation: ## compile that as users do, by gcc and clang; golden hashes and the tool's answers (some minutes)
	@scripts/setup.sh build test amalgamation
	@scripts/build.sh release $(JOBS)
	@scripts/test_amalgamation.sh build

deb: ## Debian packages: build/deb/*.deb (built twice, compared, and checked by lintian)
	@scripts/setup.sh build deb
	@scripts/deb.sh build/deb

test-deb: deb ## install these packages in a view of this system and run their tests by autopkgtest (root)
	@scripts/test_deb.sh build/deb

format: ## clang-format all sources in place
	@scripts/format.sh

docs: all ## the manual as a site with search and a page per function: build/docs
	@scripts/setup.sh docs
	@scripts/docs.sh build/docs $(build_dir)

api: ## describe the public API as data, from the headers: build/api.json; _abi.py of python/ and abi.js, carom.d.ts of js/
	@scripts/setup.sh api
	@scripts/api.py json build/api.json
	@scripts/api_python.py build/api.json python/carom/_abi.py
	@scripts/api_js.py abi build/api.json js/abi.js
	@scripts/api_js.py types build/api.json js/classes.d.ts js/carom.d.ts

abi: ## print the layout of public structs and enums; renew tests/golden/abi.txt once CAROM_ABI has changed
	@scripts/setup.sh api
	@scripts/api.py abi tests/golden/abi.txt

api-coverage: ## functions of the API that no public Python name reaches; fails on new ones
	@scripts/setup.sh api
	@scripts/api.py json build/api.json >/dev/null
	@scripts/api_coverage.py build/api.json

wheel: ## the Python package with the library inside, for every Python 3: build/wheel/*.whl
	@scripts/setup.sh build wheel
	@scripts/build.sh $(PRESET) $(JOBS) carom_wheel carom_viewer
	@scripts/wheel.sh $(build_dir)

addons: wheel ## the FreeCAD workbench and the Blender add-on, with the library inside: build/addons/*.zip
	@scripts/build.sh $(PRESET) $(JOBS) carom_tool
	@SOURCE_DATE_EPOCH=$$(scripts/epoch.sh) scripts/addons.py $(build_dir)

test-addons: addons ## install these where FreeCAD and Blender are, and run their commands without a window
	@scripts/test_addons.sh $(build_dir)

npm: ## the npm package with the WebAssembly modules inside: build/npm/carom-*.tgz
	@scripts/setup.sh wasm
	@scripts/wasm.sh $(JOBS)
	@scripts/npm.sh build/npm

playground: npm ## the library to try in a browser, a static folder: build/playground/index.html
	@scripts/playground.sh build/playground build/npm/package

test-js: playground ## the tests of the npm package in Node and in chromium, with all modules (make test runs those of Node where it was built)
	@scripts/setup.sh build browser
	@scripts/build.sh release $(JOBS) carom_tool
	@scripts/build.sh wasm-scalar $(JOBS) carom_wasm
	@scripts/test_js.sh build-wasm-scalar/carom.wasm
	@python3 js/tests/test_browser.py build/npm/package build/playground build/carom build-wasm-scalar/carom.wasm

test-mpi: ## build/carom-mpi, and its tests on 1 to 7 ranks of this machine (make test runs them where it was built)
	@scripts/setup.sh build mpi
	@scripts/build.sh release $(JOBS) carom_tool
	@if grep -q '^MPI_C_LIB_NAMES' build/CMakeCache.txt; then scripts/build.sh release $(JOBS) carom_mpi; fi
	@scripts/test_mpi.sh build || [ $$? = 77 ]

fuzz: ## run every fuzz target for SECONDS_EACH seconds
	@scripts/setup.sh build test
	@scripts/build.sh fuzz $(JOBS)
	@scripts/fuzz.sh build-fuzz $(SECONDS_EACH)

clean: ## remove what was built
	@rm -rf build build-*
