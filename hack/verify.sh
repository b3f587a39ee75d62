#!/usr/bin/env bash
# Regenerates everything that is generated and fails when the tree changed by it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
before=$(git status --porcelain)
make -s generate manifests
go mod tidy
after=$(git status --porcelain)
if [ "$before" != "$after" ] || { [ -n "${CI:-}" ] && [ -n "$after" ]; }; then
	echo "generated files are not up to date; run: make generate manifests && go mod tidy" >&2
	git --no-pager diff --stat >&2
	exit 1
fi
