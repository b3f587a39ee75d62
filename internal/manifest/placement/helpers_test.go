// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"context"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// folder scans the files of a txtar archive.
func folder(t testing.TB, path, archive string) *inventory.Folder {
	t.Helper()
	files := map[string]manifest.File{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files[f.Name] = manifest.File{Content: f.Data}
	}
	f, _, err := inventory.Scan(context.Background(), manifest.NewMemTree(files), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var viewNone inventory.View
