// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	testclock "k8s.io/utils/clock/testing"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

var configMaps = change.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

func configMap(i int, value string) change.Item {
	name := fmt.Sprintf("cm-%04d", i)
	return change.Item{
		Object: change.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: name}, Type: configMaps,
		Desired: fmt.Appendf(nil, `{"apiVersion":"v1","data":{"v":%q},"kind":"ConfigMap","metadata":{"name":%q,"namespace":"shop"}}`, value, name),
	}
}

// newTestLane is a lane over a real store with a base.
func newTestLane(t *testing.T) (*lane, *Frozen) {
	t.Helper()
	g := NewWithT(t)
	server := gitserver.Start(t, gitserver.Options{})
	repo, err := server.CreateRepo("repo", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Ours\n"}})
	g.Expect(err).NotTo(HaveOccurred())
	store, err := gitstore.New(gitstore.Options{Dir: filepath.Join(t.TempDir(), "store"), URL: repo.URL, Branch: "main"})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = store.Close() })
	g.Expect(store.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	templates, err := message.Parse("", "")
	g.Expect(err).NotTo(HaveOccurred())
	l := newLane(store, time.Now, logr.Discard())
	return l, &Frozen{Name: "live", Path: "clusters/one", Templates: templates,
		Committer: message.Identity{Name: "Us", Email: "us@example.org"}}
}

func TestANextWriteReadsNothingBackOfACommit(t *testing.T) {
	const objects = 300
	g := NewWithT(t)
	l, frozen := newTestLane(t)
	target := change.TargetKey{Namespace: "shop", Name: "live"}
	snap := &change.Snapshot{Target: target, Type: configMaps, ResourceVersion: "1"}
	for i := range objects {
		snap.Items = append(snap.Items, configMap(i, "first"))
	}
	written := l.write(t.Context(), core.Write{
		Onto: core.Commit(l.store.Base()), Work: core.PendingWrite{Kind: core.KindResync, Target: target,
			Snapshot: snap, Source: core.MessageReconcile, Frozen: frozen},
	}).(core.Written)
	g.Expect(written.Outcome).To(Equal(core.WriteCommitted), "%+v", written)

	before := l.store.Stats()
	edit := change.Change{Target: target, Operation: change.Update, Item: configMap(7, "second")}
	next := l.write(t.Context(), core.Write{
		Onto: written.Commit, Work: core.PendingWrite{Target: target, Changes: []change.Change{edit}, Frozen: frozen},
	}).(core.Written)
	g.Expect(next.Outcome).To(Equal(core.WriteCommitted), "%+v", next)
	g.Expect(next.Counts).To(Equal(core.Counts{Updated: 1}))
	g.Expect(l.store.Stats().BlobsRead-before.BlobsRead).To(Equal(1), "the edited file")
}

func TestAnIdleLaneGivesBackTheGarbageOfALargeSnapshot(t *testing.T) {
	g := NewWithT(t)
	l, clock := &lane{swollen: true}, testclock.NewFakeClock(time.Unix(0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	turned := make(chan bool)
	go func() {
		for {
			on := l.turn(ctx, clock, nil, nil)
			turned <- on
			if !on {
				return
			}
		}
	}()
	g.Eventually(clock.HasWaiters).Should(BeTrue())
	clock.Step(tidyAfter)
	g.Eventually(turned).Should(Receive(BeTrue()))
	cancel()
	g.Eventually(turned).Should(Receive(BeFalse()))
	g.Expect(l.swollen).To(BeFalse())
}

func TestATrimmedReportLetsGoOfTheWholeOne(t *testing.T) {
	g := NewWithT(t)
	r := &PlanReport{}
	r.Objects = make([]plan.ObjectReport, 5000)
	for i := range r.Objects {
		r.Objects[i].Outcome = plan.Created
	}
	r.trim()
	g.Expect(r.Objects).To(HaveLen(reportSample))
	g.Expect(cap(r.Objects)).To(BeNumerically("<", 2*reportSample))
}
