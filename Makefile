# `make help` lists the targets.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# Version and time come from the commit, so that two builds of one commit are the same file.
VERSION := $(shell git describe --tags --always --abbrev=12 --dirty 2>/dev/null || echo unknown)
BUILT   := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.built=$(BUILT)'

PREFIX  ?= /usr/local
DESTDIR ?=

.PHONY: help
help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

.PHONY: build
build: ## bin/watchdog for this machine
	@$(GOBUILD) -o bin/watchdog ./cmd/watchdog

.PHONY: build-all
build-all: ## bin/linux-amd64/watchdog and bin/linux-arm64/watchdog
	@for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch $(GOBUILD) -o bin/linux-$$arch/watchdog ./cmd/watchdog; done

.PHONY: demo
demo: build ## four simulated nodes, one rank killed, the group brought back
	@bin/watchdog demo

.PHONY: test
test: lint vulncheck gotest ## everything that must pass

.PHONY: lint
lint:
	@unformatted=$$(gofmt -l cmd restart scripts state systemd watchdog); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi
	@go vet ./...
	@go tool staticcheck ./...
	@echo "ok  	gofmt, vet, staticcheck"

# A database that cannot be reached is no fault of the code; every other error is.
.PHONY: vulncheck
vulncheck:
	@status=0; out=$$(go tool govulncheck ./... 2>&1) || status=$$?; \
	if [ $$status -ne 0 ] && grep -qE '^govulncheck: fetching vulnerabilities: .*(dial tcp|lookup|timeout|connection)' <<<"$$out"; then \
		echo "govulncheck: skipped, its database cannot be reached from here"; \
	elif [ $$status -ne 0 ]; then echo "$$out"; exit $$status; \
	else echo "ok  	govulncheck"; fi

# What takes its time by itself – commands in real time, virtual days, damage of every kind, scripts whose programs are the
# test's own – runs without the race detector.
LONG_ONES := TestScripts$$|TestSimulationReplays|TestSimulationOfTheDatabase|TestNodeOffForAWeek|TestFileStopsGrowing|TestRestartOnAFailingDisk|TestAnyWriteFailsB06|TestAnyPageOverwritten|TestDamagedFilesB03
PROBE_ONES := ^(TestCases|TestCapturedEvents|TestBarsOfBoots|TestGPUs|TestHangingGPU|TestCPU|TestProcess|TestProcessWords|FuzzRank)$$

# The whole output is kept in bin/test.log; what passed is told in one line a package. Without GORACE each
# of the hundreds of processes that the tests start would wait for a second before its end.
.PHONY: gotest
gotest: export GORACE := atexit_sleep_ms=0
gotest:
	@mkdir -p bin; start=$$SECONDS; status=0; \
	race=-race; if ! command -v "$$(go env CC)" >/dev/null; then race=; echo "no C compiler: tests run without the race detector"; fi; \
	go test $$race -v -skip '$(LONG_ONES)|$(PROBE_ONES)' ./... >bin/test.log 2>&1 || status=$$?; \
	go test -v -parallel 4 ./cmd/watchdog -run '$(LONG_ONES)|TestSimulation$$' -days 1000 >>bin/test.log 2>&1 || status=$$?; \
	go test -v ./state ./watchdog/probe -run '$(LONG_ONES)|$(PROBE_ONES)' >>bin/test.log 2>&1 || status=$$?; \
	if [ $$status -eq 0 ]; then grep -E '^ok|: skipped: |virtual days' bin/test.log; \
	else grep -vE '^ *(=== |--- (PASS|SKIP))|^PASS$$' bin/test.log || true; fi; \
	count() { grep -cE "^ *--- $$1: " bin/test.log || true; }; \
	echo "tests took $$((SECONDS - start)) s"; \
	echo "$$(count PASS) passed, $$(count FAIL) failed, $$(count SKIP) skipped"; \
	exit $$status

# Virtual days with all that can go wrong, and every instant of a restart beside every fault.
DAYS ?= 10000
.PHONY: soak
soak: ## simulate DAYS=10000 virtual days; a failing seed prints how to replay it
	@go test -v -timeout 0 ./cmd/watchdog -run 'TestSimulation$$|TestKilledBeside' -days $(DAYS) -product | grep -vE '^=== |^ *--- PASS: TestKilledBesideEveryFault/'

.PHONY: mutants
mutants: ## break the core and the hands on purpose: the simulation must see each
	@go test -v -timeout 0 ./cmd/watchdog -run 'TestMutants$$' -mutants . | grep -vE '^=== '

.PHONY: bench
bench: ## cost of a healthy tick, time from decision to launch, groups of 4 to 256 nodes
	@go test -run '^$$' -bench . -benchmem ./...

.PHONY: year
year: ## how large the state is after a year of looks, healthy and flapping; minutes, in memory
	@TMPDIR=/dev/shm go test -count=1 -run TestYear -year -v -timeout 60m ./state | grep -v '^==='

# The lab: four nodes with systemd, sshd and Docker on this machine; testdata/lab/README.md.
.PHONY: lab-engine
lab-engine: ## on Debian: install what the lab needs, start a Docker Engine where none answers
	@testdata/lab/lab.sh engine

.PHONY: lab-up
lab-up: ## four nodes, the watchdog installed on the first
	@testdata/lab/lab.sh up

.PHONY: lab-down
lab-down: ## remove them; with ENGINE=1 also the engine that lab-engine started
	@ENGINE=$(ENGINE) testdata/lab/lab.sh down

.PHONY: lab-shell
lab-shell: ## a shell on NODE=node1
	@testdata/lab/lab.sh shell $(or $(NODE),node1)

.PHONY: lab-test
lab-test: ## acceptance tests in the lab; with RUN=TestDeaths only those, LONG=1 at real times
	@testdata/lab/accept.sh $(if $(RUN),'$(RUN)')

.PHONY: lab-matrix
lab-matrix: ## every fault at every moment of a restart, in LABS=3 labs; with CELLS=pattern only those
	@LABS=$(LABS) testdata/lab/matrix.sh '$(CELLS)'

.PHONY: bench-lab
bench-lab: lab-up ## a restart and a tick against plain bash and ssh
	@go test -tags lab -count=1 -run '^$$' -bench . -benchtime 1x -timeout 25m ./testdata/lab/bench/

.PHONY: install
install: build ## what `bin/watchdog install` does; DESTDIR and PREFIX are honoured
	@bin/watchdog install --root "$(DESTDIR)" --prefix "$(PREFIX)"

.PHONY: deb
deb: build build-all ## dist/cluster-watchdog_VERSION_ARCH.deb for amd64 and arm64
	@systemd/deb/build.sh

.PHONY: clean
clean: ## remove bin/ and dist/
	@rm -rf bin dist
