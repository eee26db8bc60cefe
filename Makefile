# `make` lists the targets. Tools and test data are installed on first use, into
# ./bin and ./node_modules. Outside this folder .ci/deps installs something, the
# Debian packages that tests need, when it is root; and tests, as Go and SIA do, keep
# what they compile in the user's cache folder.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GOLANGCI_LINT_VERSION := v2.5.0
ACTIONLINT_VERSION    := v1.7.12
GOVULNCHECK_VERSION   := v1.9.0
GOTESTSUM_VERSION     := v1.13.0

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 20s
BENCH    ?= .
MUTANT   ?= .

# The dot keeps .ci out of ./..., so what is in it is named.
PACKAGES := ./... ./.ci/mutants ./.ci/rules

GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
ACTIONLINT    := bin/actionlint-$(ACTIONLINT_VERSION)
GOVULNCHECK   := bin/govulncheck-$(GOVULNCHECK_VERSION)
GOTESTSUM     := bin/gotestsum-$(GOTESTSUM_VERSION)

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

# Which tests a target runs, and how, stands at the tests: .ci/tests, docs/adr/0021.
.PHONY: quick
quick: ## run the tests that need Go and git alone, without the race detector
	.ci/scratch .ci/tests quick

.PHONY: test
test: deps $(GOTESTSUM) ## run every test, most of them with the race detector; a skipped test is a failure
	GOTESTSUM=$(GOTESTSUM) .ci/tally .ci/scratch .ci/tests test

.PHONY: chart
chart: ## render the Helm chart with Helm's engine, for several values, and decode it as objects of Kubernetes
	cd .ci/chart && go vet ./... && go test ./...

.PHONY: explore
explore: deps ## run every property test with cases that were not drawn before
	SIA_SEEDS=new go test -vet=off -count=1 -timeout 30m -run TestWorlds ./app -worlds.count 2000
	SIA_SEEDS=new go test -vet=off -count=1 -timeout 30m $$(grep -rl --include='*_test.go' 'pgregory.net/rapid"' . | xargs -n1 dirname | sort -u)

.PHONY: race
race: deps $(GOTESTSUM) ## run every test with the race detector, which takes three times as long
	GOTESTSUM=$(GOTESTSUM) .ci/tally .ci/race $(PACKAGES)

.PHONY: mutants
mutants: deps ## take each defence of SECURITY.md out, one at a time, and see its tests fail: half an hour; MUTANT selects by a regular expression
	.ci/scratch go run ./.ci/mutants -run '$(MUTANT)'

.PHONY: lint
lint: $(GOLANGCI_LINT) $(ACTIONLINT) ## check format, linters (vet is one), workflows, and who imports whom
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | \
		while read -r file; do [ ! -f "$$file" ] || echo "$$file"; done | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GOLANGCI_LINT) run $(PACKAGES)
	$(ACTIONLINT)
	go test -vet=off ./.ci/rules

.PHONY: bench
bench: build ## measure this machine, the sandbox, the learner and policies, then the Go benchmarks; BENCH selects by name
	bin/sia bench
	go run ./cmd/sialab bench sandbox
	go run ./cmd/sialab lessons
	go run ./cmd/sialab learning
	go run ./cmd/sialab policies
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: bench-probot
bench-probot: build lab/scale/probot/node_modules/.package-lock.json ## measure SIA's intake beside Probot's, on both databases
	go run ./cmd/sialab bench intake

lab/scale/probot/node_modules/.package-lock.json: lab/scale/probot/package-lock.json
	npm ci --prefix lab/scale/probot --no-audit --no-fund

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
	rm -rf bin node_modules agent/testdata/agents/node_modules lab/scale/probot/node_modules

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

$(ACTIONLINT):
	GOBIN=$(CURDIR)/bin go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv bin/actionlint $@

$(GOVULNCHECK):
	GOBIN=$(CURDIR)/bin go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv bin/govulncheck $@

$(GOTESTSUM):
	GOBIN=$(CURDIR)/bin go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	mv bin/gotestsum $@
