// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/metrics"
)

// counted returns the sum of a counter's series that have all the labels, given as name and value in turn.
func (b *bed) counted(name string, labels ...string) int {
	b.t.Helper()
	families, err := b.registry.Gather()
	b.Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, f := range families {
		if f.GetName() != metrics.Prefix+name {
			continue
		}
		for _, m := range f.GetMetric() {
			has := map[string]string{}
			for _, l := range m.GetLabel() {
				has[l.GetName()] = l.GetValue()
			}
			all := true
			for i := 0; i < len(labels); i += 2 {
				all = all && has[labels[i]] == labels[i+1]
			}
			if all {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return int(sum)
}

// snapped sends an empty and complete snapshot of the cell and waits for its end.
func (b *bed) snapped(sink Sink, target string) {
	b.t.Helper()
	snap := change.Snapshot{Target: key(target), Cell: cell, Type: configMaps, ResourceVersion: "9"}
	verdict, outcome := sink.Snapshot(b.t.Context(), snap, true, core.Stamp{Epoch: 1})
	b.Expect(verdict).To(Equal(change.Accepted))
	var got change.Outcome
	b.until(func() bool {
		select {
		case got = <-outcome:
			return true
		default:
			return false
		}
	}, "the snapshot is answered")
	b.Expect(got).To(Equal(change.Settled))
}

// TestScenario59And108_ASweepIsCounted: under OnEvent what a snapshot lacks stays and counts as retained; under Always all
// of it goes, as a sweep's deletions, and the folder's own files and the neighbour's folder stay.
func TestScenario59And108_ASweepIsCounted(t *testing.T) {
	b := newBed(t, core.Config{})
	b.set(b.target("other"))
	sink := b.set(b.target("live"))
	for _, name := range []string{"a", "b"} {
		b.Expect(sink.Offer(t.Context(), edit(key("live"), name, "1"), false)).To(Equal(change.Accepted))
	}
	b.Expect(sink.Offer(t.Context(), edit(key("other"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "b", "1")
	b.has("other", "a", "1")
	b.until(func() bool { return b.status("live").Target.Waiting == 0 }, "all is published")
	before, err := b.repo.Files("main")
	b.Expect(err).NotTo(HaveOccurred())

	b.snapped(sink, "live")
	b.Expect(b.repo.Files("main")).To(Equal(before))
	b.Expect(b.counted("git_documents_total", "gittarget_name", "live", "outcome", "retained")).To(Equal(2))
	b.Expect(b.counted("git_documents_total", "outcome", "deleted_sweep")).To(BeZero())

	sink = b.set(b.target("live", func(t *Target) { t.Machine.Prune = core.PruneAlways }))
	b.snapped(sink, "live")
	want := map[string]string{}
	for name, content := range before {
		if name != file("live", "a") && name != file("live", "b") {
			want[name] = content
		}
	}
	b.Expect(want).To(HaveLen(len(before) - 2))
	b.until(func() bool {
		files, err := b.repo.Files("main")
		ok, _ := Equal(want).Match(files)
		return err == nil && ok
	}, "both documents are gone and nothing else")
	b.Expect(b.counted("git_documents_total", "gittarget_name", "live", "outcome", "deleted_sweep")).To(Equal(2))
	b.Expect(b.counted("git_documents_total", "outcome", "deleted_live")).To(BeZero())
	b.Expect(b.counted("git_documents_total", "gittarget_name", "live", "outcome", "retained")).To(Equal(2), "as before")
}

// TestScenario110_ARefusedWindowIsCountedOnce: it writes nothing, is not tried again, and counts as refused.
func TestScenario110_ARefusedWindowIsCountedOnce(t *testing.T) {
	b := newBed(t, core.Config{})
	tip, err := b.repo.Commit("main", "somebody's archive", map[string]string{"live/foo.tgz": "archive"})
	b.Expect(err).NotTo(HaveOccurred())
	sink := b.set(b.target("live"))
	for i, name := range []string{"a", "b"} {
		b.Expect(sink.Offer(t.Context(), edit(key("live"), name, "1"), false)).To(Equal(change.Accepted))
		b.until(func() bool { return b.counted("git_commit_failures_total") > i }, "the refusal is counted")
		b.Expect(b.counted("git_commit_failures_total", "kind", "window", "reason", "refused",
			"provider_namespace", "shop", "provider_name", "infra", "branch", "main")).To(Equal(i+1), "each window once")
	}
	b.Expect(b.counted("git_commit_failures_total")).To(Equal(2))
	b.Expect(b.status("live").Target.Refusal.Text).To(ContainSubstring("foo.tgz"))
	b.Expect(b.repo.Tip("main")).To(Equal(tip))
	b.Expect(b.counted("git_commits_total")).To(BeZero())
}

// TestScenario34_APlacementIsCountedByItsSource: byType wins over default and counts as by_type; an edit places nothing.
func TestScenario34_APlacementIsCountedByItsSource(t *testing.T) {
	b := newBed(t, core.Config{})
	sink := b.set(b.target("live", func(t *Target) {
		t.Frozen.Policy.Placement = placement.Policy{
			ByType:  map[string]string{"v1/configmaps": "cm/{namespace}/{name}.yaml"},
			Default: "all/{namespace}/{groupPath}/{resource}/{name}.yaml",
		}
	}))
	for _, value := range []string{"one", "two"} {
		b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", value), false)).To(Equal(change.Accepted))
		b.until(func() bool {
			content, err := b.repo.ReadFile("main", "live/cm/shop/a.yaml")
			ok, _ := ContainSubstring(value).Match(string(content))
			return err == nil && ok
		}, "it is written by its type's template")
	}
	b.Expect(b.counted("placements_total", "source", "by_type", "disposition", "new_file", "resource", "configmaps",
		"gittarget_name", "live")).To(Equal(1))
	b.Expect(b.counted("placements_total")).To(Equal(1))
}

// TestScenario57_TokenAndFieldAreNamed: a token of the folder that a snapshot cannot explain.
func TestScenario57_TokenAndFieldAreNamed(t *testing.T) {
	b := newBed(t, core.Config{})
	tip, err := b.repo.Commit("main", "a build with a token", map[string]string{
		"live/kustomization.yaml": "resources: [a.yaml]\n",
		"live/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {value: \"${REGION}\"}\n",
	})
	b.Expect(err).NotTo(HaveOccurred())
	sink := b.set(b.target("live", func(t *Target) { t.Machine.RenderGate = true }))
	snap := change.Snapshot{Target: key("live"), Cell: cell, Type: configMaps, ResourceVersion: "9",
		Items: []change.Item{edit(key("live"), "a", "eu").Item}}
	verdict, _ := sink.Snapshot(t.Context(), snap, true, core.Stamp{Epoch: 1})
	b.Expect(verdict).To(Equal(change.Accepted))
	b.until(func() bool { return b.status("live").Target.Gate != core.GatePending }, "the cell is compared")
	s := b.status("live").Target
	b.Expect(s.Gate).To(Equal(core.GateDivergent))
	b.Expect(s.GateText).To(And(ContainSubstring("${REGION}"), ContainSubstring("/data/value"), ContainSubstring("ConfigMap shop/a")))
	b.Expect(b.repo.Tip("main")).To(Equal(tip), "the token stays")
}
