# feedbus. `make run` and `make test` do all the set-up by themselves.

SWIFT_BUILD := swift build -j 2 --explicit-target-dependency-import-check error

.PHONY: run build test test-debug test-release test-blackbox test-allocations crash-test lint sanitize bench docs setup clean help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## Set up, build in release, and run the sample config
	.build/release/feedbus --config config.json

build: setup ## Set up and build .build/release/feedbus
	$(SWIFT_BUILD) -c release --product feedbus

# The checks from outside run on the binary that the release tests were built beside: the same code, with its internals
# visible to tests. Building it once more without them would take as long as all the checks.
test: setup lint test-debug test-release ## Set up and run every test
	Scripts/blackbox
	Benchmarks/allocations.py

test-debug: setup
	$(SWIFT_BUILD) --build-tests
	swift test --skip-build

test-release: setup
	$(SWIFT_BUILD) -c release --build-tests -Xswiftc -enable-testing
	swift test -c release --skip-build -Xswiftc -enable-testing

test-blackbox: build
	Scripts/blackbox

crash-test: build ## Kill the program 1,000 times and more, also on a full disk and while the clock is set (CI does it 100 times)
	Tests/BlackBox/crash.py $(if $(SEED),--seed $(SEED))

test-allocations: build
	Benchmarks/allocations.py

lint: ## Check format and house rules
	Scripts/lint

# ThreadSanitizer cannot see Synchronization.Mutex wait: FEEDBUS_TSAN swaps in a lock that it can.
TSAN_FLAGS := --sanitize=thread -Xswiftc -DFEEDBUS_TSAN -Xswiftc -no-warnings-as-errors \
	-Xswiftc -disable-upcoming-feature -Xswiftc MemberImportVisibility

sanitize: setup ## Run every Swift test under ThreadSanitizer and AddressSanitizer
	swift test -j 2 $(TSAN_FLAGS) --scratch-path .build/tsan
	ASAN_OPTIONS=detect_leaks=0 swift test -j 2 --sanitize=address --scratch-path .build/asan

bench: build ## Measure pipelines beside their peers, hand-off, polls, many feeds, memory and start-up (BENCH=small: a tenth of the data)
	Benchmarks/pipeline.py $(if $(filter small,$(BENCH)),--small)
	Benchmarks/run

docs: build ## Write what the documents take from the program, and check them (Docs/check.py)
	python3 Docs/check.py --write

setup: ## Install what is needed (Debian packages)
	@Scripts/setup

clean:
	rm -rf .build
