# Every target only names a command that can be typed without make.
.DEFAULT_GOAL := help
.PHONY: help run sim demo test check race browser lint fuzz bench load docker secrets

FUZZTIME ?= 1m
LOADFLAGS ?=
DEMOFLAGS ?=

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## start the receiver with a database of its own
	go run ./cmd/ipn-receiver

sim: ## start the payment service that is not one, with a shop to click in
	go run ./cmd/paysim

demo: ## start both, play a year of payments, and compare the books to the cent
	go -C tools run ./demo $(DEMOFLAGS)

test: ## run all tests
	go test ./...

check: lint test race ## lint, test and race: what to run before a commit

race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./cmd/... ./internal/...

browser: ## walk through the shop and the pages in headless Chromium (needs chromium)
	go test -tags browser -count=1 ./internal/paysim/shop ./internal/finance/page

lint: ## gofmt, vet, staticcheck, and go.mod as `go mod tidy` would leave it
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on the files above"; exit 1; }
	go vet ./...
	go vet -tags browser ./...
	$$(go -C tools tool -n staticcheck) ./...
	go mod tidy -diff

fuzz: ## run every fuzz target for FUZZTIME (default 1m)
	.ci/fuzz $(FUZZTIME)

bench: ## run the Go benchmarks; docs/performance.md explains the figures
	go test -run '^$$' -bench . -benchmem ./...

load: ## run the load tool; pass options in LOADFLAGS
	go -C tools run ./load $(LOADFLAGS)

docker: ## build the image
	docker build --tag ipn-receiver .

secrets: ## make the secret files of docker-compose.yml
	deploy/compose/make-secrets.sh
