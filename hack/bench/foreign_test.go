// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// BenchmarkForeignPush reads a folder of 20 000 documents again after somebody else changed three files of it.
func BenchmarkForeignPush(b *testing.B) {
	const documents, changed = 20000, 3
	b.Run(fmt.Sprintf("%d-of-%d", changed, documents), func(b *testing.B) {
		files := make(map[string]manifest.File, documents)
		put := func(i int, value string) {
			name := path.Join(folder, fmt.Sprintf("part-%02d", i/1000), objectName(i)+".yaml")
			files[name] = manifest.File{Content: []byte((&mirror{namespace: "shop"}).document(i, value))}
		}
		for i := range documents {
			put(i, "first")
		}
		known, _, err := inventory.Scan(context.Background(), manifest.NewMemTree(files), folder, nil)
		if err != nil {
			b.Fatal(err)
		}
		for i := range changed {
			put(i*documents/changed, "second")
		}
		next := manifest.NewMemTree(files)
		var stats inventory.Stats
		b.ReportAllocs()
		for b.Loop() {
			if _, stats, err = inventory.Scan(context.Background(), next, folder, known); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(stats.BlobsRead), "blobs-read/op")
		b.ReportMetric(float64(stats.DocumentsParsed), "documents-parsed/op")
	})
}
