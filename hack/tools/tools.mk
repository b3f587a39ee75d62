# The real parts: built from the modules in hack/tools into a cache outside the tree.
tools-build := $(dir $(lastword $(MAKEFILE_LIST)))build.sh
tools-smoke-sh := $(dir $(lastword $(MAKEFILE_LIST)))smoke.sh

.PHONY: tools tools-flux tools-appliers tools-dir tools-smoke

tools: ## Build the control plane, sops, controller-gen and kustomize when missing.
	@$(tools-build) build kube-apiserver kubectl etcd sops controller-gen kustomize

tools-flux: ## Build Flux's source- and kustomize-controller when missing; tests/flux needs them.
	@$(tools-build) build source-controller kustomize-controller

tools-appliers: ## Build Flux's source- and kustomize-controller and Argo CD when missing.
	@$(tools-build) build source-controller kustomize-controller argocd

tools-dir: ## Print the folder that holds the built parts.
	@$(tools-build) dir

tools-smoke: tools tools-appliers ## Start every real part once and wait until it is ready.
	@$(tools-smoke-sh)
