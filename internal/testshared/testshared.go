// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package testshared locates the test data that lives beside the repository: the corpus of public manifests and the
// restated bug reports. It is imported by tests only.
package testshared

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the shared folder: $SHARED_DIR, else ../shared seen from the module root. Without it a test is skipped
// with one line; with CI=true its absence is a failure.
func Dir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("SHARED_DIR"); d != "" {
		if _, err := os.Stat(d); err == nil {
			return d
		}
		return missing(t, d)
	}
	root := ModuleRoot(t)
	d := filepath.Join(filepath.Dir(root), "shared")
	if _, err := os.Stat(d); err != nil {
		return missing(t, "SHARED_DIR is not set and no folder shared lies beside the repository")
	}
	return d
}

// ModuleRoot returns the folder that holds go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	d, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			t.Fatal("no go.mod above the working directory")
		}
		d = up
	}
}

func missing(t testing.TB, what string) string {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("test data is required in CI: %s", what)
	}
	t.Skipf("test data not found: %s", what)
	return ""
}
