// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// FuzzPlan plans what a text says is live on a folder of a kustomization, a manifest and a patch: whatever they hold, the
// plan ends without a panic, writes inside its folder only, has no edits when it refuses, and changes nothing the second
// time.
func FuzzPlan(f *testing.F) {
	stories, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range stories {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var kust, doc, patch, live string
		for _, file := range txtar.Parse(b).Files {
			switch base := filepath.Base(file.Name); {
			case strings.HasPrefix(file.Name, "live"):
				live = string(file.Data)
			case !strings.HasPrefix(file.Name, "in/"):
			case base == "kustomization.yaml":
				kust = string(file.Data)
			case doc == "":
				doc = string(file.Data)
			default:
				patch = string(file.Data)
			}
		}
		f.Add(kust, doc, patch, live)
	}
	f.Fuzz(func(t *testing.T, kust, doc, patch, live string) {
		if len(kust)+len(doc)+len(patch)+len(live) > 1<<14 {
			return
		}
		files := map[string]manifest.File{"in/a.yaml": {Content: []byte(doc)}, "in/.gittargetignore": {}, "in/README.md": {}}
		if kust != "" {
			files["in/kustomization.yaml"] = manifest.File{Content: []byte(kust)}
		}
		if patch != "" {
			files["in/p.yaml"] = manifest.File{Content: []byte(patch)}
		}
		r := plan.Request{Tree: manifest.NewMemTree(files), Path: "in", Kinds: kinds{}, Schemas: schemas{}, Sealer: fakeSealer{}}
		r.Batch.Changes = fuzzed([]byte(live))
		res := mustPlan(t, r)
		if len(res.Issues) > 0 && len(res.Edits) > 0 {
			t.Fatal("a refused flush has edits")
		}
		for _, e := range res.Edits {
			if !strings.HasPrefix(e.Path, "in/") {
				t.Fatalf("%s is outside the folder", e.Path)
			}
		}
		if len(res.Edits) == 0 {
			return
		}
		r.Tree = manifest.NewMemTree(applyEdits(files, res.Edits))
		if again := mustPlan(t, r); len(again.Issues) == 0 && len(again.Edits) > 0 {
			t.Fatalf("the second time changes %s: %s\n%s", again.Edits[0].Path, again.Edits[0].Content, lines(again))
		}
	})
}

// fuzzed reads live objects; what no API server gives is left out.
func fuzzed(b []byte) []change.Change {
	var out []change.Change
	cut := yamldoc.Split(b)
	for i := range cut.Docs {
		n, err := yamldoc.Parse(cut.Body(b, i))
		if err != nil || n == nil {
			continue
		}
		v, err := n.JSON()
		h := yamldoc.ReadHead(n)
		typ, ok := kinds{}.Kind(h.Group, h.Kind)
		if err != nil || !ok || h.Name == "" || typ.Namespaced == (h.Namespace == "") {
			continue
		}
		m, _ := v.(map[string]any)
		meta, _ := m["metadata"].(map[string]any)
		if m["apiVersion"] != h.APIVersion || m["kind"] != h.Kind || meta["name"] != h.Name ||
			typ.Namespaced && meta["namespace"] != h.Namespace {
			continue
		}
		typ.Version = h.Version
		out = append(out, change.Change{Operation: change.Update, Item: change.Item{
			Object: change.ObjectID{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}, Type: typ,
			Desired: compare.Canonical(v),
		}})
	}
	return out
}
