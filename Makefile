# GitOps Reverser. `make help` lists the targets.
SHELL := /usr/bin/env bash -o pipefail
.DEFAULT_GOAL := help

IMG ?= ghcr.io/configbutler/gitops-reverser:latest
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS ?= -s -w -X main.version=$(VERSION)
# Packages tested at once, beside the two halves of the end-to-end suite.
TEST_PARALLEL ?= 2
TEST_TIMEOUT ?= 25m
FUZZ_TIME ?= 5s
SEED ?= 1
N ?= 10000
KILLS ?= 200

include hack/tools/tools.mk

TOOLS = $(shell $(MAKE) -s --no-print-directory tools-dir)

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^[a-zA-Z0-9_-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Development

.PHONY: manager
manager: ## Build bin/gitops-reverser.
	@CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/gitops-reverser .

.PHONY: run
run: manager ## Run the operator against the cluster of KUBECONFIG.
	bin/gitops-reverser --storage-path "$${STORAGE_PATH:-$$(mktemp -d)}" --log-encoding console

.PHONY: demo
demo: tools manager ## Play the product's main job on a real control plane and a real Git server.
	@TOOLS_DIR=$(TOOLS) GITOPS_REVERSER=$(CURDIR)/bin/gitops-reverser go run ./hack/demo

.PHONY: fmt
fmt: ## Format the Go code.
	gofmt -w $$(git ls-files '*.go')

.PHONY: vet
vet: ## Run go vet.
	go vet ./...

.PHONY: lint
lint: vet ## Check formatting, file sizes and shell syntax.
	@hack/lint.sh

.PHONY: generate
generate: tools ## Generate deep copies.
	$(TOOLS)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: tools ## Generate CRDs, the manager's role and the API reference.
	$(TOOLS)/controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(TOOLS)/controller-gen rbac:roleName=gitops-reverser-manager paths=./internal/controller/... output:rbac:artifacts:config=config/rbac
	go run ./hack/apidocs

.PHONY: verify
verify: ## Fail when a generated file is not up to date.
	@hack/verify.sh

##@ Tests

.PHONY: test
test: tools manager ## Run all tests; the real parts are built when missing.
	@TOOLS_DIR=$(TOOLS) GITOPS_REVERSER=$(CURDIR)/bin/gitops-reverser \
		TEST_PARALLEL=$(TEST_PARALLEL) TEST_TIMEOUT=$(TEST_TIMEOUT) hack/test.sh

.PHONY: test-e2e
test-e2e: tools manager ## Run only the end-to-end tests.
	@TOOLS_DIR=$(TOOLS) GITOPS_REVERSER=$(CURDIR)/bin/gitops-reverser go test -timeout $(TEST_TIMEOUT) -v ./tests/e2e/...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZ_TIME.
	@hack/fuzz.sh $(FUZZ_TIME)

.PHONY: simulate
simulate: ## Simulate N histories of the branch machine from SEED.
	SIM_SEED=$(SEED) SIM_N=$(N) go test ./internal/branch/sim -run 'TestSimulate$$' -count=1 -timeout 60m -v

.PHONY: chaos
chaos: tools manager ## Kill the operator KILLS times during a busy run.
	@TOOLS_DIR=$(TOOLS) GITOPS_REVERSER=$(CURDIR)/bin/gitops-reverser CHAOS_KILLS=$(KILLS) \
		go test ./tests/chaos -run TestKills -count=1 -timeout 80m -v

.PHONY: bench
bench: tools manager ## Run the benchmarks and print one table.
	@TOOLS_DIR=$(TOOLS) GITOPS_REVERSER=$(CURDIR)/bin/gitops-reverser hack/bench.sh

##@ Deployment

# A field manager of its own: an upgrade must not take back what people added to the KubeProvider with kubectl apply.
APPLY = --server-side --field-manager=gitops-reverser-install

.PHONY: install
install: tools ## Install the CRDs into the cluster of KUBECONFIG.
	$(TOOLS)/kustomize build config/crd | $(TOOLS)/kubectl apply $(APPLY) -f -

.PHONY: deploy
deploy: tools ## Deploy the operator into the cluster of KUBECONFIG.
	$(TOOLS)/kustomize build config/crd | $(TOOLS)/kubectl apply $(APPLY) -f -
	$(TOOLS)/kubectl wait --for=condition=Established --timeout=60s -f config/crd/bases/configbutler.ai_kubeproviders.yaml
	$(TOOLS)/kustomize build config/default | sed 's#ghcr.io/configbutler/gitops-reverser:latest#$(IMG)#' | $(TOOLS)/kubectl apply $(APPLY) -f -

.PHONY: docker-build
docker-build: ## Build the image IMG.
	docker build --build-arg VERSION=$(VERSION) -t $(IMG) .
