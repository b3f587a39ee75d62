// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
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
	l := newLane(store, time.Now, logr.Discard(), new(thrift))
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

// gcPercent is GOGC as it is in force.
func gcPercent() uint64 {
	s := []runtimemetrics.Sample{{Name: "/gc/gogc:percent"}}
	runtimemetrics.Read(s)
	return s[0].Value.Uint64()
}

func TestThriftIsSharedAndKeepsALowerSetting(t *testing.T) {
	g := NewWithT(t)
	usual := debug.SetGCPercent(90)
	defer debug.SetGCPercent(usual)
	shared := new(thrift)
	shared.begin()
	shared.begin()
	shared.end()
	g.Expect(gcPercent()).To(BeEquivalentTo(thriftyPercent), "one lane still needs it")
	shared.end()
	g.Expect(gcPercent()).To(BeEquivalentTo(90))
	debug.SetGCPercent(thriftyPercent - 1)
	shared.begin()
	g.Expect(gcPercent()).To(BeEquivalentTo(thriftyPercent - 1))
	shared.end()
	g.Expect(gcPercent()).To(BeEquivalentTo(thriftyPercent - 1))
}

func TestABusyLaneGivesBackTheGarbageToo(t *testing.T) {
	g := NewWithT(t)
	l, _ := newTestLane(t)
	clock := testclock.NewFakeClock(time.Unix(1, 0))
	l.now = clock.Now
	l.swell()
	clock.Step(tidyAnyway + time.Second)
	jobs, answers := make(chan job, 1), make(chan core.Input, 1)
	jobs <- job{effect: core.Look{}, ctx: t.Context()}
	g.Expect(l.turn(t.Context(), clock, jobs, answers)).To(BeTrue())
	g.Expect(<-answers).To(BeAssignableToTypeOf(core.Looked{}))
	g.Expect(l.swollen.IsZero()).To(BeTrue())
}

func TestAnIdleLaneGivesBackTheGarbageOfALargeSnapshot(t *testing.T) {
	g := NewWithT(t)
	clock := testclock.NewFakeClock(time.Unix(1, 0))
	l, usual := &lane{thrift: new(thrift), now: clock.Now}, gcPercent()
	l.swell()
	l.swell()
	g.Expect(gcPercent()).To(BeEquivalentTo(thriftyPercent))
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
	g.Expect(l.swollen.IsZero()).To(BeTrue())
	g.Expect(gcPercent()).To(Equal(usual))
}

func TestAReportCountsAllAndKeepsFew(t *testing.T) {
	g := NewWithT(t)
	r := &plan.Result{}
	for i := range 5000 {
		o := plan.ObjectReport{Type: configMaps, Outcome: plan.Created, Source: "canonical", Disposition: "new_file"}
		switch {
		case i%100 == 0:
			o.Outcome, o.Source, o.Disposition, o.Reason = plan.Refused, "", "", plan.ReasonNotEditable
		case i%2 == 0:
			o.Outcome, o.Source, o.Disposition = plan.Unchanged, "", ""
		case i == 4999:
			o.Notes = []string{"something to say"}
		}
		r.Report.Objects = append(r.Report.Objects, o)
	}
	report := newReport(r)
	count := func(o plan.Outcome, reason, source, disposition string) tallied {
		return tallied{version: "v1", resource: "configmaps", outcome: o, reason: reason, source: source, disposition: disposition}
	}
	g.Expect(report.tally).To(Equal(map[tallied]int{
		count(plan.Created, "", "canonical", "new_file"):    2500,
		count(plan.Unchanged, "", "", ""):                   2450,
		count(plan.Refused, plan.ReasonNotEditable, "", ""): 50,
	}))
	g.Expect(report.Objects).To(HaveLen(reportSample+50+1), "a sample, all refused ones, and the one with a note")
	g.Expect(r.Report.Objects).To(HaveLen(5000), "the plan's own report is left alone")
	report.trim()
	g.Expect(report.Objects).To(HaveLen(2 * reportSample))
	g.Expect(cap(report.Objects)).To(BeNumerically("<", 3*reportSample))
}
