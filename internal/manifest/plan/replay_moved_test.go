// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// replays are decisions and the trees they meet again. before is where it was decided, after what a foreign commit made
// of it (an empty text removes a file); want are the files the replay writes, "-" for those it removes.
var replays = map[string]struct {
	before, after map[string]string
	live          []string
	deletes       []string
	prepare       func(*plan.Request)
	want          map[string]string
	report        string
}{
	"an edited file was moved": {
		before: map[string]string{"a.yaml": configMap("d", "a", "1")},
		after:  map[string]string{"a.yaml": "", "team/cm.yaml": "# moved\n" + configMap("d", "a", "1")},
		live:   []string{configMap("d", "a", "2")},
		want:   map[string]string{"team/cm.yaml": "# moved\n" + configMap("d", "a", "2")},
		report: "Updated ConfigMap d/a team/cm.yaml",
	},
	"an edited file was deleted": {
		before: map[string]string{"my/a.yaml": configMap("d", "a", "1"), "b.yaml": configMap("d", "b", "1")},
		after:  map[string]string{"my/a.yaml": ""},
		live:   []string{configMap("d", "a", "2")},
		want:   map[string]string{"my/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: d\ndata:\n  k: \"2\"\n"},
		report: "Created ConfigMap d/a my/a.yaml canonical new_file",
	},
	"an edited document was encrypted by hand": {
		before: map[string]string{"a.yaml": configMap("d", "a", "1")},
		after:  map[string]string{"a.yaml": strings.Replace(configMap("d", "a", "1"), `"1"`, "'ENC[1]'", 1) + "sops: {version: 3.9.0}\n"},
		live:   []string{configMap("d", "a", "2")},
		report: "Refused ConfigMap d/a a.yaml (encryption_required)",
	},
	"an edited file became something else": {
		before: map[string]string{"a.yaml": configMap("d", "a", "1")},
		after:  map[string]string{"a.yaml": "just: values\n"},
		live:   []string{configMap("d", "a", "2")},
		report: "issue non-krm-yaml a.yaml: it is no manifest: it has no apiVersion, no kind, no metadata.name",
	},
	"an edited document holds an anchor now": {
		before: map[string]string{"a.yaml": configMap("d", "a", "1"), "b.yaml": configMap("d", "b", "1")},
		after:  map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: d}\ndata: {k: &x \"1\", l: *x}\n"},
		live:   []string{configMap("d", "a", "2"), configMap("d", "b", "2")},
		want:   map[string]string{"b.yaml": configMap("d", "b", "2")},
		report: "Refused ConfigMap d/a a.yaml (not_editable)\nUpdated ConfigMap d/b b.yaml",
	},
	"an edited file is ignored now": {
		before: map[string]string{"my/a.yaml": configMap("d", "a", "1")},
		after:  map[string]string{".gittargetignore": "/my/\n"},
		live:   []string{configMap("d", "a", "2")},
		want:   map[string]string{"d/configmaps/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: d\ndata:\n  k: \"2\"\n"},
		report: "Created ConfigMap d/a d/configmaps/a.yaml canonical new_file",
	},
	"every path the object could have is ignored now": {
		before: map[string]string{"my/a.yaml": configMap("d", "a", "1")},
		after:  map[string]string{".gittargetignore": "/my/\n/d/\n"},
		live:   []string{configMap("d", "a", "2")},
		report: "Refused ConfigMap d/a d/configmaps/a.yaml (ignore-shadows-managed)\n" +
			"issue ignore-shadows-managed d/configmaps/a.yaml: .gittargetignore hides a path that is to be written",
	},
	"a new file is there already, by somebody else": {
		after:  map[string]string{"d/configmaps/a.yaml": configMap("d", "a", "theirs")},
		live:   []string{configMap("d", "a", "2")},
		want:   map[string]string{"d/configmaps/a.yaml": configMap("d", "a", "2")},
		report: "Updated ConfigMap d/a d/configmaps/a.yaml",
	},
	"the path of a new file holds another object": {
		after: map[string]string{"d/configmaps/a.yaml": configMap("d", "other", "theirs")},
		live:  []string{configMap("d", "a", "2")},
		want: map[string]string{"d/configmaps/a.yaml": configMap("d", "other", "theirs") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: d\ndata:\n  k: \"2\"\n"},
		report: "Created ConfigMap d/a d/configmaps/a.yaml canonical appended",
	},
	"the path of a new file holds ciphertext": {
		after:  map[string]string{"d/configmaps/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {k: 'ENC[1]'}\nsops: {version: 3.9.0}\n"},
		live:   []string{configMap("d", "a", "2")},
		report: "Refused ConfigMap d/a d/configmaps/a.yaml (plaintext_onto_encrypted)",
	},
	"the path of a new file is a folder": {
		after:  map[string]string{"d/configmaps/a.yaml/b.yaml": configMap("d", "other", "theirs")},
		live:   []string{configMap("d", "a", "2")},
		report: "Refused ConfigMap d/a d/configmaps/a.yaml (invalid_path)",
	},
	"the folder became a build": {
		after: map[string]string{"kustomization.yaml": "resources: [o.yaml]\n", "o.yaml": configMap("d", "o", "1")},
		live:  []string{configMap("d", "a", "2")},
		want: map[string]string{
			"d/configmaps/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: d\ndata:\n  k: \"2\"\n",
			"kustomization.yaml":  "resources: [d/configmaps/a.yaml, o.yaml]\n",
		},
		report: "Created ConfigMap d/a d/configmaps/a.yaml canonical new_file",
	},
	"a deleted document was moved and changed": {
		before:  map[string]string{"a.yaml": configMap("d", "a", "1"), "b.yaml": configMap("d", "b", "1")},
		after:   map[string]string{"a.yaml": "", "b.yaml": configMap("d", "b", "1") + "---\n" + configMap("d", "a", "theirs")},
		deletes: []string{"ConfigMap/d/a"},
		want:    map[string]string{"b.yaml": configMap("d", "b", "1")},
		report:  "Deleted ConfigMap d/a b.yaml",
	},
	"a deleted document is gone": {
		before:  map[string]string{"a.yaml": configMap("d", "a", "1"), "b.yaml": configMap("d", "b", "1")},
		after:   map[string]string{"a.yaml": ""},
		deletes: []string{"ConfigMap/d/a"},
		report:  "Unchanged ConfigMap d/a",
	},
	"a deleted document exists twice now": {
		before:  map[string]string{"a.yaml": configMap("d", "a", "1")},
		after:   map[string]string{"b.yaml": configMap("d", "a", "2")},
		deletes: []string{"ConfigMap/d/a"},
		report:  "issue duplicate-identity b.yaml: ConfigMap d/a is in a.yaml line 1 already",
	},
	"a sealed document meets a file in clear with a neighbour": {
		before:  map[string]string{"s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {k: 'ENC[1]'}\nsops: {version: 3.9.0}\n"},
		after:   map[string]string{"s.yaml": configMap("d", "c", "1") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {k: Zm9v}\n"},
		live:    []string{"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {k: YmFy}\n"},
		prepare: func(r *plan.Request) { r.Sealer = fakeSealer{} },
		want: map[string]string{
			"s.yaml":                configMap("d", "c", "1"),
			"d/secrets/s.sops.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: d\ndata:\n  k: ENC[yFmY]\nsops:\n  rules: \"\"\n  version: 3.13.3\n",
		},
		report: "Updated Secret d/s d/secrets/s.sops.yaml\n  note: s.yaml held the object in clear; the history of the repository still does, so its values should be changed",
	},
}

// TestScenario74_ReplayOnAnotherTree: a decision is applied to what the tree has become, or refused by name; nothing
// foreign is lost and nothing is written outside.
func TestScenario74_ReplayOnAnotherTree(t *testing.T) {
	for name, c := range replays {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files := map[string]manifest.File{"README.md": {}, ".gittargetignore": {Content: []byte("# nothing\n")}}
			maps.Copy(files, tree(c.before))
			r := request(files, c.live...)
			for _, d := range c.deletes {
				r.Batch.Changes = append(r.Batch.Changes, deletion(t, d))
			}
			if c.prepare != nil {
				c.prepare(&r)
			}
			first := mustPlan(t, r)
			g.Expect(first.Issues).To(BeEmpty())
			g.Expect(first.Decision).NotTo(BeNil(), lines(first))

			for n, content := range c.after {
				if content == "" {
					delete(files, n)
				} else {
					files[n] = manifest.File{Content: []byte(content)}
				}
			}
			r.Tree, r.Folder, r.Decision, r.Batch = manifest.NewMemTree(files), first.Folder, stored(t, first.Decision), plan.Batch{}
			again := mustPlan(t, r)
			g.Expect(lines(again)).To(Equal(c.report))
			want := text(files)
			for n, content := range c.want {
				want[n] = content
			}
			g.Expect(text(applyEdits(files, again.Edits))).To(Equal(want))
			for _, e := range again.Edits {
				g.Expect(string(e.Content)).NotTo(ContainSubstring("YmFy"), "no clear value")
			}
		})
	}
}

// A replay that is refused for one object keeps the others' order and never widens.
func TestReplayNeverWidens(t *testing.T) {
	g := NewWithT(t)
	files := tree(map[string]string{"a.yaml": configMap("d", "a", "1"), "b.yaml": configMap("d", "b", "1")})
	r := request(files, configMap("d", "a", "2"))
	first := mustPlan(t, r)
	// The batch is not looked at any more, whatever it holds.
	r.Batch.Changes = append(r.Batch.Changes, change.Change{Operation: change.Delete, Item: change.Item{
		Object: change.ObjectID{Kind: "ConfigMap", Namespace: "d", Name: "b"},
	}})
	r.Decision = stored(t, first.Decision)
	again := mustPlan(t, r)
	g.Expect(again.Edits).To(Equal(first.Edits))
}
