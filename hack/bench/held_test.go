// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// asked is a context that reads the live heap when it is asked for its end for the n-th time. A plan asks before each
// object, twice for a new one: before it is looked up, and before it is written.
type asked struct {
	context.Context
	calls int
	at    map[int]uint64
}

func (a *asked) Err() error {
	if a.calls++; a.at != nil {
		if _, ok := a.at[a.calls]; ok {
			runtime.GC()
			a.at[a.calls] = live()
		}
	}
	return nil
}

// A first snapshot holds all its objects until the commit is made: each costs twenty thousand times.
func TestAFirstSnapshotHoldsLittlePerObject(t *testing.T) {
	g := NewWithT(t)
	const n, bytesPerObject, allocsPerObject = 4000, 1850, 500
	snap := &change.Snapshot{Type: configMaps, ResourceVersion: "1"}
	for i := range n {
		snap.Items = append(snap.Items, item(i, "first"))
	}
	tree := manifest.NewMemTree(map[string]manifest.File{"README.md": {Content: []byte("# Ours\n")}})
	planned := func(ctx context.Context) {
		r, err := plan.Plan(ctx, request(tree, nil, plan.Batch{Snapshot: snap}))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Report.Created).To(Equal(n))
	}
	g.Expect(testing.AllocsPerRun(1, func() { planned(t.Context()) }) / n).To(BeNumerically("<=", allocsPerObject))

	runtime.GC()
	before := live()
	ctx := &asked{Context: t.Context(), at: map[int]uint64{n: 0, 2 * n: 0}}
	planned(ctx)
	g.Expect(ctx.calls).To(BeNumerically(">=", 2*n), "the plan asks before each object")
	for _, at := range ctx.at {
		g.Expect(int64(at-before) / n).To(BeNumerically("<=", bytesPerObject))
	}
}
