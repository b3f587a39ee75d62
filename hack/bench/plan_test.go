// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

var configMaps = change.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

type onlyConfigMaps struct{}

func (onlyConfigMaps) Kind(group, kind string) (change.Type, bool) {
	return configMaps, group == "" && kind == "ConfigMap"
}

func item(i int, value string) change.Item {
	return change.Item{
		Object: change.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: objectName(i)}, Type: configMaps, UID: strconv.Itoa(i),
		Desired: fmt.Appendf(nil, `{"apiVersion":"v1","data":{"index":"%d","text":%q,"value":%q},"kind":"ConfigMap","metadata":{"labels":{"app":"bench"},"name":%q,"namespace":"shop"}}`,
			i, filler, value, objectName(i)),
	}
}

func request(tree manifest.Tree, known *inventory.Folder, b plan.Batch) plan.Request {
	return plan.Request{Tree: tree, Path: folder, Folder: known, Batch: b, Kinds: onlyConfigMaps{}, Memo: render.NewMemo()}
}

// BenchmarkSnapshot plans the first snapshot of n ConfigMaps. Its live heap is what the plan holds at its fullest.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{1000, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			snap := &change.Snapshot{Type: configMaps, ResourceVersion: "1"}
			for i := range n {
				snap.Items = append(snap.Items, item(i, "first"))
			}
			tree := manifest.NewMemTree(map[string]manifest.File{"README.md": {Content: []byte("# Ours\n")}})
			once := func() {
				r, err := plan.Plan(context.Background(), request(tree, nil, plan.Batch{Snapshot: snap}))
				if err != nil || r.Report.Created != n {
					b.Fatalf("%+v %v", r, err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/object")
			defer debug.SetGCPercent(debug.SetGCPercent(20)) // so that the live heap is known often
			runtime.GC()
			before, stop := live(), highest()
			once()
			b.ReportMetric(float64(stop()-before)/(1<<20), "liveMiB")
		})
	}
}

// live is the heap the last garbage collection found in use.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// highest samples live until the returned function is called.
func highest() (stop func() uint64) {
	end, done := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		var top uint64
		for {
			top = max(top, live())
			select {
			case <-tick.C:
			case <-end:
				done <- top
				return
			}
		}
	}()
	return func() uint64 { close(end); return <-done }
}

// BenchmarkKustomizeFlush plans the edits of one flush in a folder of 100 documents that a kustomization builds.
func BenchmarkKustomizeFlush(b *testing.B) {
	const documents = 100
	files, list := map[string]manifest.File{}, ""
	for i := range documents {
		name := objectName(i) + ".yaml"
		files[path.Join(folder, name)] = manifest.File{Content: []byte((&mirror{namespace: "shop"}).document(i, "first"))}
		list += "  - " + name + "\n"
	}
	files[path.Join(folder, "kustomization.yaml")] = manifest.File{Content: []byte("resources:\n" + list)}
	tree := manifest.NewMemTree(files)
	for _, edits := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d-of-%d", edits, documents), func(b *testing.B) {
			memo, flush := render.NewMemo(), 0
			var known *inventory.Folder
			once := func() {
				flush++ // a value the memo has not seen
				var batch plan.Batch
				for i := range edits {
					batch.Changes = append(batch.Changes, change.Change{
						Operation: change.Update, Item: item(i, fmt.Sprintf("second-%d", flush)),
					})
				}
				r := request(tree, known, batch)
				r.Memo = memo
				result, err := plan.Plan(context.Background(), r)
				if err != nil || result.Report.Updated != edits || len(result.Issues) > 0 {
					b.Fatalf("%+v %v", result, err)
				}
				known = result.Folder
			}
			once()
			before := memo.Stats()
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
			used := memo.Stats()
			b.ReportMetric(float64(used.Builds-before.Builds-used.Marked+before.Marked)/float64(b.N), "full-renders/op")
			b.ReportMetric(float64(used.Marked-before.Marked)/float64(b.N), "marked-renders/op")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*documents), "µs/document")
		})
	}
}

// BenchmarkEdit changes one value of a document and keeps the rest byte for byte.
func BenchmarkEdit(b *testing.B) {
	b.Run("one-value", func(b *testing.B) {
		file := []byte((&mirror{namespace: "shop"}).document(1, "first"))
		desired, err := compare.Decode(item(1, "second").Desired)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			r, err := yamledit.Edit(file, 0, desired, yamledit.Options{})
			if err != nil || r.Outcome != yamledit.Patched {
				b.Fatal(r.Outcome, err)
			}
		}
	})
}
