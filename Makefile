# `make` lists the targets. Tools and test data are installed on first use, into
# ./bin and ./node_modules. Outside this folder only .ci/deps installs something:
# the Debian packages that tests need, when it is root.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GOLANGCI_LINT_VERSION := v2.5.0
ACTIONLINT_VERSION    := v1.7.12
GOVULNCHECK_VERSION   := v1.9.0

MODULE   := github.com/sia-bot/sia
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 20s
BENCH    ?= .
MUTANT   ?= .

# The dot keeps .ci out of ./..., so what is in it is named.
PACKAGES := ./... ./.ci/tally ./.ci/sbom ./.ci/mutants

# Tests wait for processes and timers as much as they work, so there go on at a time one package more than there are processors, and more tests.
CORES    := $(shell getconf _NPROCESSORS_ONLN)
PACKAGES_AT_A_TIME := $(shell expr $(CORES) + 1)
TESTS_AT_A_TIME    := $(shell expr $(CORES) \* 3)

# The race detector makes a test take four times as long. It watches the own tests of each room but those of the rooms where nothing happens at
# the same time, and but for those tests that do much work, one step after the other. Of the tests that play the whole application it watches
# the ones in which most happens at a time; `make race` watches all.
# docs/adr/0021-what-the-race-detector-watches.md
ALONE   := \.ci/.*|app|cmd/sia|app/(improve|memory|probe|render|welcome)|sim/ghsim/api|lab/(invented|recorded|synthetic|year)|policies(/.*)?|sia(/.*)?
ALWAYS  := sia/secret
BY_ITSELF := TestTreeBombs|TestMergeOfHostileTrees|TestHugeFile|TestMergeTextBounded|TestTossedIsFair|TestReplicasDecideAlike|TestPartsAreDecided|TestOneTaskMovesLittle|TestTechniquesAreDecidedAgain|TestConversationProperty|TestTestReportIsBeyondReading|TestHostileDiffs|TestManyBeginningsOf.*|TestEveryRuleIsFoundFromItsKeywords
THEIR_ROOMS := gitops app/learn app/web app/work agent sia/secret
AT_ONCE := TestStory/^(race|parts-parallel|review-in-attempt|person-pushes-in-attempt|stop-in-attempt|pause-all|app-restarts|cancel-in-progress|escalate-answer|learned)$$|TestManyStarts|TestPauseEverything|TestPagesAreHeardAsCommentsAre|TestMetrics|TestCrashInAnAttempt

# It watches what we wrote. SQLite translated to Go is a hundred
# thousand lines that others test, and most of the time that it would take. The domain has no goroutines and, but for what
# masks secrets, nothing that is shared: what it works on is watched where it is. What keeps caches behind atomic values, as encoding/json and regexp
# do, has to be watched: the detector would not see their order, and report races that are none.
UNWATCHED := -gcflags='modernc.org/sqlite/lib=-race=false' -gcflags='modernc.org/libc/...=-race=false' \
	-gcflags='modernc.org/memory=-race=false' -gcflags='github.com/santhosh-tekuri/jsonschema/v6/...=-race=false' \
	-gcflags='github.com/sia-bot/sia/sia/...=-race=false' -gcflags='github.com/sia-bot/sia/sia/secret='

# What `make quick` leaves to `make test`: the rooms whose tests need GitHub's
# description, a browser, a sandbox or other people's agents, and the tests that
# take longest where there is a race detector to watch them.
THOROUGH_ROOMS := app|sim/ghsim|sim/ghsim/api|sim/ghsim/conformance|app/probe|lab/replay|agent/testrun/evidence|agent|agent/sandbox
THOROUGH_TESTS := TestGitHubsExamples|TestScripts/(demo|bench|replay|lessonsprove|enterprise)|TestDemoNeedsItsLesson|TestHostile|TestBrokenMirror|TestReplicasDecideAlike|TestCompletionInShells|TestManPages|TestEverybodyCanUsePages|TestOpenPagesRenewThemselves|TestSetUpInABrowser|TestRestore|TestOrdersReachAServer|TestImproveReverts|TestSQLite/Crash|TestPoliciesHoldTheirBars|TestPriorsAreTheSameOnAnyNumberOfCores|TestTreeBombs|TestMergeOfHostileTrees|TestVerdicts|TestUnharmed

GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
ACTIONLINT    := bin/actionlint-$(ACTIONLINT_VERSION)
GOVULNCHECK   := bin/govulncheck-$(GOVULNCHECK_VERSION)

##@ Use

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/sia
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/sia ./cmd/sia

# Built as the checks of the demo build what they test, so that the standard library is compiled once.
.PHONY: demo
demo: ## play the whole product on this machine, with nothing to sign up for
	go build -ldflags "-X main.version=$(VERSION)" -o bin/sia ./cmd/sia
	bin/sia demo

##@ Work on it

.PHONY: quick
quick: ## run the tests that need Go and git alone, without the race detector
	@scratch="$$(.ci/scratch)"; trap 'rm -rf "$$scratch"' EXIT; [ -z "$$scratch" ] || export TMPDIR="$$scratch"; \
	GOGC=400 go test -p $(PACKAGES_AT_A_TIME) -parallel $(TESTS_AT_A_TIME) -vet=off -skip '$(THOROUGH_TESTS)' $$(go list $(PACKAGES) | grep -vE '/sia/($(THOROUGH_ROOMS))$$')

# Lint vets. Memory is cheaper than time: a quarter of the collections are enough. A program with the race detector sleeps a second before it exits,
# and tests start hundreds.
PLAIN := GOGC=400 go test -vet=off -timeout 30m -json
RACE  := GORACE=atexit_sleep_ms=10 GOGC=400 go test -race -vet=off $(UNWATCHED) -timeout 45m -json

# Passes go on one after the other: at the same time they took as long, and more minutes of the processors. They write into memory where there
# is enough.
.PHONY: test
test: deps ## run every test, most of them with the race detector; a skipped test is a failure
	@{ status=0; all="$$(go list $(PACKAGES))"; alone="$$(grep -E '^$(MODULE)/($(ALONE))$$' <<< "$$all" | grep -vE '/($(ALWAYS))$$')"; \
	scratch="$$(.ci/scratch)"; trap 'rm -rf "$$scratch"' EXIT; [ -z "$$scratch" ] || export TMPDIR="$$scratch"; \
	$(PLAIN) -parallel $(TESTS_AT_A_TIME) $$alone || status=1; \
	$(PLAIN) -run '^($(BY_ITSELF))$$' $(addprefix ./,$(THEIR_ROOMS)) || status=1; \
	$(RACE) -p $(PACKAGES_AT_A_TIME) -skip '^($(BY_ITSELF))$$' $$(grep -vxF "$$alone" <<< "$$all") || status=1; \
	$(RACE) -run '$(AT_ONCE)' ./app || status=1; \
	exit $$status; } | go run ./.ci/tally

.PHONY: explore
explore: deps ## run every property test with cases that were not drawn before
	SIA_SEEDS=new go test -vet=off -count=1 -timeout 30m -run TestWorlds ./app
	SIA_SEEDS=new go test -vet=off -count=1 -timeout 30m $$(grep -rl --include='*_test.go' 'pgregory.net/rapid"' . | xargs -n1 dirname | sort -u)

.PHONY: race
race: deps ## run every test with the race detector, which takes three times as long
	$(RACE) $(PACKAGES) | go run ./.ci/tally

.PHONY: mutants
mutants: deps ## take each defence of SECURITY.md out, one at a time, and see its tests fail: half an hour; MUTANT selects by a regular expression
	@scratch="$$(.ci/scratch)"; trap 'rm -rf "$$scratch"' EXIT; \
	env $${scratch:+TMPDIR="$$scratch"} go run ./.ci/mutants -run '$(MUTANT)'

.PHONY: lint
lint: $(GOLANGCI_LINT) $(ACTIONLINT) ## check format, linters (vet is one), workflows, and who imports whom
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | \
		while read -r file; do [ ! -f "$$file" ] || echo "$$file"; done | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GOLANGCI_LINT) run $(PACKAGES)
	$(ACTIONLINT)
	go test -run 'Import|Rules' ./app

.PHONY: bench
bench: build ## what this machine, the learner, policies and the sandbox do: sia bench and its parts, then the Go benchmarks; BENCH selects by name
	bin/sia bench
	bin/sia bench lessons
	bin/sia bench learning
	bin/sia bench policies
	bin/sia bench sandbox
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: fuzz
fuzz: ## fuzz everything that reads strangers' input, FUZZTIME each
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

.PHONY: golden
golden: deps ## write the golden files anew; look at the diff before you commit it
	@for dir in $$(grep -rl --include='*_test.go' --exclude-dir=node_modules 'flag.Bool("update"' . | xargs -n1 dirname | sort -u); do \
		go test $$dir -update || exit 1; \
	done
	git status --short -- '*testdata*' docs

.PHONY: generate
generate: ## run go generate
	go generate ./...

.PHONY: vuln
vuln: $(GOVULNCHECK) ## look for known vulnerabilities in what we call; needs the network
	$(GOVULNCHECK) ./...

.PHONY: deps
deps: node_modules/.package-lock.json agent/testdata/agents/node_modules/.package-lock.json ## install what the tests need
	@.ci/deps
	@missing=""; for tool in git node npm gcc; do command -v $$tool > /dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then echo "the tests need$$missing, which this machine lacks; install with its package manager"; exit 1; fi

# GitHub's published description of its API, and of its webhooks.
node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

# Other people's agents, which the presets are tried against: a gigabyte of programs
# for Linux on amd64.
agent/testdata/agents/node_modules/.package-lock.json: agent/testdata/agents/package.json agent/testdata/agents/package-lock.json
	cd agent/testdata/agents && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin node_modules agent/testdata/agents/node_modules

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

$(ACTIONLINT):
	GOBIN=$(CURDIR)/bin go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv bin/actionlint $@

$(GOVULNCHECK):
	GOBIN=$(CURDIR)/bin go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv bin/govulncheck $@
