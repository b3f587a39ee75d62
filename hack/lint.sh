#!/usr/bin/env bash
# Cheap checks that need no tool but Go and bash: formatting, the sizes of design, shell syntax, the Dockerfile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail=0
say() { echo "lint: $*" >&2; fail=1; }

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || say "gofmt would change: $unformatted"

while read -r lines file; do
	[ "$lines" -le 800 ] || say "$file has $lines lines, the cap is 800"
done < <(git ls-files '*.go' | grep -v zz_generated | xargs wc -l | grep -v ' total$')

for dir in $(git ls-files '*.go' | xargs -n1 dirname | sort -u); do
	case $dir in . | hack/*) continue ;; esac
	files=$(git ls-files "$dir/*.go" | awk -v d="$dir/" '{s = substr($0, length(d) + 1); if (s !~ /\// && s !~ /_test\.go$/) print}')
	[ -z "$files" ] || grep -qs '^// Package' "$dir/doc.go" "$dir"/*.go || say "$dir has no package comment"
done

for f in $(git ls-files '*.sh' .ci/run); do bash -n "$f" || say "$f is no valid bash"; done

# The image must not run as root and must end in an entry point.
grep -q '^USER 65532:65532' Dockerfile || say "Dockerfile: no numeric non-root USER"
grep -q '^ENTRYPOINT \["/manager"\]' Dockerfile || say "Dockerfile: no exec-form ENTRYPOINT"
grep -q '^FROM gcr.io/distroless/static' Dockerfile || say "Dockerfile: final stage is not distroless"
exit $fail
