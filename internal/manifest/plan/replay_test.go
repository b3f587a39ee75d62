// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

func tree(files map[string]string) map[string]manifest.File {
	out := map[string]manifest.File{}
	for n, c := range files {
		out[n] = manifest.File{Content: []byte(c)}
	}
	return out
}

func configMap(ns, name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {k: %q}\n", name, ns, value)
}

func request(files map[string]manifest.File, docs ...string) plan.Request {
	r := plan.Request{Tree: manifest.NewMemTree(files), Path: ".", Kinds: kinds{}, Schemas: schemas{}}
	t := &testing.T{}
	for _, d := range docs {
		for _, i := range items(t, []byte(d)) {
			r.Batch.Changes = append(r.Batch.Changes, change.Change{Operation: change.Update, Item: i})
		}
	}
	return r
}

func mustPlan(t *testing.T, r plan.Request) *plan.Result {
	t.Helper()
	res, err := plan.Plan(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// stored sends a decision through its serialised form, as a durable queue will.
func stored(t *testing.T, d *plan.Decision) *plan.Decision {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var out plan.Decision
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestScenario62_ReplayedSnapshotKeepsForeignDocument(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"a.yaml": configMap("dock", "a", "1"), "b.yaml": configMap("dock", "b", "1")})
	r := request(files)
	r.Policy.Prune = plan.PruneAlways
	r.Batch.Snapshot = snapshot(t, "ConfigMap dock", items(t, []byte(configMap("dock", "a", "2"))))
	first := mustPlan(t, r)
	g.Expect(lines(first)).To(Equal("Updated ConfigMap dock/a a.yaml\nDeleted ConfigMap dock/b b.yaml"))

	files["foreign.yaml"] = manifest.File{Content: []byte(configMap("dock", "foreign", "1"))}
	r.Tree, r.Decision = manifest.NewMemTree(files), stored(t, first.Decision)
	again := mustPlan(t, r)
	after := text(applyEdits(files, again.Edits))
	g.Expect(after).To(HaveKey("foreign.yaml"))
	g.Expect(after).NotTo(HaveKey("b.yaml"))
	g.Expect(after["a.yaml"]).To(ContainSubstring(`k: "2"`))
}

func TestScenario63_ReplayMayOnlyTighten(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"a.yaml": configMap("dock", "a", "1")})
	r := request(files)
	r.Batch.Changes = []change.Change{deletion(t, "ConfigMap/dock/a")}
	first := mustPlan(t, r)
	g.Expect(first.Edits).To(HaveLen(3), "the file, and the two bootstrap files")

	r.Decision, r.Policy.Prune = stored(t, first.Decision), plan.PruneNever
	again := mustPlan(t, r)
	g.Expect(again.Edits).To(BeEmpty())
	g.Expect(again.Report.Retained).To(Equal(1))

	// A sweep decided under Always is not carried out under OnEvent, and never becomes wider than it was decided.
	r = request(files)
	r.Policy.Prune = plan.PruneAlways
	r.Batch.Snapshot = snapshot(t, "ConfigMap dock", nil)
	r.Decision = stored(t, mustPlan(t, r).Decision)
	g.Expect(mustPlan(t, r).Report.Deleted).To(Equal(1))
	r.Policy.Prune = plan.PruneOnEvent
	g.Expect(mustPlan(t, r).Report.Retained).To(Equal(1))
}

func TestScenario75_UnchangedObjectIsNotDecided(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"a.yaml": configMap("dock", "a", "1"), "b.yaml": configMap("dock", "b", "1")})
	r := request(files, configMap("dock", "a", "1"), configMap("dock", "b", "2"))
	first := mustPlan(t, r)
	g.Expect(first.Report.Unchanged).To(Equal(1))
	g.Expect(first.Decision.Actions).To(HaveLen(1))

	files["a.yaml"] = manifest.File{Content: []byte(configMap("dock", "a", "9"))}
	r.Tree, r.Decision = manifest.NewMemTree(files), stored(t, first.Decision)
	after := text(applyEdits(files, mustPlan(t, r).Edits))
	g.Expect(after["a.yaml"]).To(ContainSubstring(`k: "9"`))
	g.Expect(after["b.yaml"]).To(ContainSubstring(`k: "2"`))
}

// TestScenario74 and git-writer 10.4: the live object wins over a foreign edit of the same document, and a replay
// follows a document that moved.
func TestScenario74_ReplayFollowsMovedDocument(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"a.yaml": configMap("dock", "a", "1")})
	first := mustPlan(t, request(files, configMap("dock", "a", "2")))
	moved := tree(map[string]string{"new/place.yaml": "# moved\n" + configMap("dock", "a", "foreign")})
	r := request(moved)
	r.Decision = stored(t, first.Decision)
	after := text(applyEdits(moved, mustPlan(t, r).Edits))
	g.Expect(after["new/place.yaml"]).To(Equal("# moved\n" + configMap("dock", "a", "2")))
	g.Expect(after).NotTo(HaveKey("a.yaml"))
}

func TestReplayReusesSealedBytes(t *testing.T) {
	g := NewWithT(t)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: dock}\ndata: {k: abc}\n"
	r := request(nil, secret)
	r.Sealer = fakeSealer{}
	first := mustPlan(t, r)
	g.Expect(first.Report.Created).To(Equal(1))
	r.Decision = stored(t, first.Decision)
	r.Sealer = fakeSealer{err: context.DeadlineExceeded}
	again := mustPlan(t, r)
	g.Expect(again.Edits).To(Equal(first.Edits), "no sealer is asked again")
}

func TestSuspendedTargetGetsAPreview(t *testing.T) {
	g := NewWithT(t)
	r := request(nil, configMap("dock", "a", "1"))
	r.Policy.Suspended = true
	res := mustPlan(t, r)
	g.Expect(res.Report.Created).To(Equal(1))
	g.Expect(res.Edits).To(BeEmpty())
	g.Expect(res.Decision).To(BeNil())
}

func TestScenario109_NoCommitOfBootstrapFilesAlone(t *testing.T) {
	g := NewWithT(t)
	g.Expect(mustPlan(t, request(nil)).Edits).To(BeEmpty())
	r := request(nil)
	r.Batch.Bootstrap = true
	res := mustPlan(t, r)
	g.Expect(res.Edits).To(HaveLen(2))
	g.Expect(res.Decision.Bootstrap).To(BeTrue())
}

// TestFlushInALargeFolder asserts costs by counts: a commit in a folder of 20 000 documents parses the touched blob
// only, and a second one too.
func TestFlushInALargeFolder(t *testing.T) {
	g := NewWithT(t)
	const n = 20_000
	files := map[string]manifest.File{}
	for i := range n {
		files[fmt.Sprintf("ns-%03d/cm-%05d.yaml", i%200, i)] = manifest.File{
			Content: []byte(configMap(fmt.Sprintf("ns-%03d", i%200), fmt.Sprintf("cm-%05d", i), "1")),
		}
	}
	r := request(files)
	first := mustPlan(t, r)
	g.Expect(first.Scan.DocumentsParsed).To(Equal(n))

	r = request(files, configMap("ns-007", "cm-00007", "2"))
	counted := &countingTree{Tree: r.Tree}
	r.Tree, r.Folder, r.Memo = counted, first.Folder, render.NewMemo()
	second := mustPlan(t, r)
	g.Expect(second.Report.Updated).To(Equal(1))
	g.Expect(second.Scan.DocumentsParsed).To(BeZero())
	g.Expect(counted.blobs).To(BeNumerically("<=", 2), "the touched file")

	files = applyEdits(files, second.Edits)
	r = request(files, configMap("ns-007", "cm-00007", "3"))
	counted = &countingTree{Tree: r.Tree}
	r.Tree, r.Folder = counted, second.Folder
	third := mustPlan(t, r)
	g.Expect(third.Report.Updated).To(Equal(1))
	g.Expect(third.Scan.DocumentsParsed).To(Equal(1))
	g.Expect(counted.blobs).To(BeNumerically("<=", 6), "the touched file and the bootstrap files")
}

type countingTree struct {
	manifest.Tree
	blobs int
}

func (c *countingTree) Blob(id manifest.ID) ([]byte, error) {
	c.blobs++
	return c.Tree.Blob(id)
}

// TestWindowCollapses and git-writer 7.2, 9.4: the last event of an object wins; a deletion and a creation in one window
// update the document where it is.
func TestWindowCollapses(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"my/place.yaml": "# kept\n" + configMap("dock", "a", "1")})
	event := func(op change.Operation, v string) change.Change {
		c := change.Change{Operation: op, Item: items(t, []byte(configMap("dock", "a", v)))[0]}
		if op == change.Delete {
			c.Desired = nil
		}
		return c
	}
	for name, c := range map[string]struct {
		events []change.Change
		want   string
	}{
		"delete, create": {[]change.Change{event(change.Delete, ""), event(change.Create, "2")}, "Updated ConfigMap dock/a my/place.yaml"},
		"update twice":   {[]change.Change{event(change.Update, "2"), event(change.Update, "1")}, "Unchanged ConfigMap dock/a my/place.yaml"},
		"create, delete": {[]change.Change{event(change.Create, "2"), event(change.Delete, "")}, "Deleted ConfigMap dock/a my/place.yaml"},
	} {
		r := request(files)
		r.Batch.Changes = c.events
		g.Expect(lines(mustPlan(t, r))).To(Equal(c.want), name)
	}
	r := request(nil)
	r.Batch.Changes = []change.Change{event(change.Create, "2"), event(change.Delete, "")}
	g.Expect(mustPlan(t, r).Edits).To(BeEmpty(), "created and deleted in one window")
}

// TestEqualRequestsGiveEqualPlans plans one large mixed batch many times (G6).
func TestEqualRequestsGiveEqualPlans(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{
		"kustomization.yaml": "namespace: dock\nresources: [a.yaml, b.yaml]\nimages: [{name: x/a, newTag: '1'}]\n",
		"a.yaml":             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1, template: {spec: {containers: [{name: a, image: x/a}]}}}\n",
		"b.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	})
	docs := []string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: dock}\nspec: {replicas: 2, template: {spec: {containers: [{name: a, image: 'x/a:2'}]}}}\n",
	}
	for i := range 20 {
		docs = append(docs, configMap("dock", fmt.Sprintf("new-%02d", (i*7)%20), "1"))
	}
	first := mustPlan(t, request(files, docs...))
	g.Expect(first.Issues).To(BeEmpty())
	g.Expect(first.Report.Created).To(Equal(20))
	for range 10 {
		again := mustPlan(t, request(files, docs...))
		g.Expect(again.Edits).To(Equal(first.Edits))
		g.Expect(again.Decision).To(Equal(first.Decision))
		g.Expect(again.Report).To(Equal(first.Report))
	}
}

// TestSOPSConfigFollowsTheSpec: the operator's own .sops.yaml is written with the first real write and kept equal to the
// spec by later ones; a person's stays (git-writer 8.1, decision 50).
func TestSOPSConfigFollowsTheSpec(t *testing.T) {
	g := NewWithT(t)
	const first, second = "# gitops-reverser\nrecipients: [a]\n", "# gitops-reverser\nrecipients: [b]\n"
	write := func(files map[string]manifest.File, v, config string) map[string]manifest.File {
		r := request(files, configMap("dock", "a", v))
		r.Path, r.Policy.SOPSConfig = "apps", []byte(config)
		return applyEdits(files, mustPlan(t, r).Edits)
	}
	files := write(nil, "1", first)
	g.Expect(text(files)["apps/.sops.yaml"]).To(Equal(first))
	g.Expect(text(files)).To(HaveKey("apps/README.md"))
	g.Expect(text(write(files, "1", second))["apps/.sops.yaml"]).To(Equal(first), "no commit for the recipients alone")
	g.Expect(text(write(files, "2", second))["apps/.sops.yaml"]).To(Equal(second))
	files["apps/.sops.yaml"] = manifest.File{Content: []byte("# mine\nrecipients: [c]\n")}
	g.Expect(text(write(files, "2", second))["apps/.sops.yaml"]).To(Equal("# mine\nrecipients: [c]\n"))
}

// TestSealingSeesTheRulesOfThisCommit: a .sops.yaml that is written along is the nearest rule already.
func TestSealingSeesTheRulesOfThisCommit(t *testing.T) {
	g := NewWithT(t)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: dock}\ndata: {k: abc}\n"
	rules := func(files map[string]manifest.File) string {
		r := request(files, secret)
		r.Path, r.Sealer, r.Policy.SOPSConfig = "apps", fakeSealer{}, []byte("# gitops-reverser\n")
		after := text(applyEdits(files, mustPlan(t, r).Edits))
		return after["apps/dock/secrets/s.sops.yaml"]
	}
	g.Expect(rules(nil)).To(ContainSubstring("rules: apps/.sops.yaml"))
	above := tree(map[string]string{".sops.yaml": "creation_rules: []\n"})
	g.Expect(rules(above)).To(ContainSubstring("rules: apps/.sops.yaml"))
	mine := tree(map[string]string{"apps/.sops.yaml": "creation_rules: []\n"})
	g.Expect(rules(mine)).To(ContainSubstring("rules: apps/.sops.yaml"))
}
