#!/usr/bin/env bash
# Runs every fuzz target of the module for a bounded time each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-10s}
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r dir; do
	git grep -ho '^func Fuzz[A-Za-z0-9_]*' -- ":(glob)$dir/*_test.go" | sed 's/^func //' | sort -u | while read -r name; do
		echo "fuzz ./$dir $name for $time"
		go test "./$dir" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 1x -parallel 2
	done
done
