// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

// TestStories reads testdata/*.txtar. The comment holds the policy and the new objects, one per line:
//
//	path: apps
//	default: {namespace}/{name}.yaml
//	byType v1/configmaps: {name}.yaml
//	useKustomize
//	new: v1 ConfigMap configmaps dock/boat team=a
//	new: v1 Secret secrets dock/key sensitive
func TestStories(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			g := NewWithT(t)
			raw, err := os.ReadFile(name)
			g.Expect(err).NotTo(HaveOccurred())
			a := txtar.Parse(raw)
			want := ""
			for i, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
					a.Files = append(a.Files[:i], a.Files[i+1:]...)
					break
				}
			}
			path, in := story(t, string(a.Comment))
			in.Folder = folder(t, path, string(txtar.Format(&txtar.Archive{Files: a.Files})))
			g.Expect(tell(placement.Place(in))).To(Equal(want))
		})
	}
}

func story(t *testing.T, comment string) (path string, in placement.Input) {
	t.Helper()
	in.Policy.ByType = map[string]string{}
	for line := range strings.SplitSeq(comment, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case key == "path":
			path = value
		case key == "default":
			in.Policy.Default = value
		case strings.HasPrefix(key, "byType "):
			in.Policy.ByType[strings.TrimPrefix(key, "byType ")] = value
		case line == "useKustomize":
			in.Policy.UseKustomize = true
		case key == "new":
			in.Objects = append(in.Objects, newObject(value))
		}
	}
	return path, in
}

func newObject(text string) placement.Object {
	f := strings.Fields(text)
	group, version, ok := strings.Cut(f[0], "/")
	if !ok {
		group, version = "", f[0]
	}
	namespace, name, ok := strings.Cut(f[3], "/")
	if !ok {
		namespace, name = "", f[3]
	}
	o := object(group, version, f[1], f[2], namespace, name)
	o.Labels = map[string]string{}
	for _, more := range f[4:] {
		if k, v, ok := strings.Cut(more, "="); ok {
			o.Labels[k] = v
		} else {
			o.Sensitive = more == "sensitive"
		}
	}
	return o
}

func tell(b placement.Batch) string {
	var s strings.Builder
	for _, o := range b.Objects {
		fmt.Fprintf(&s, "%s: ", o.Object.ID)
		if o.Refusal != nil {
			fmt.Fprintf(&s, "%s, %s\n", o.Refusal.Reason, o.Refusal.Message)
			continue
		}
		fmt.Fprintf(&s, "%s %s %s", o.Path, o.Source, o.Disposition)
		if o.OmitNamespace {
			s.WriteString(" without namespace")
		}
		if o.Kustomization != "" {
			fmt.Fprintf(&s, ", %q listed in %s", o.Entry, o.Kustomization)
		}
		s.WriteString("\n")
	}
	if b.Root != nil {
		fmt.Fprintf(&s, "new %s: %s\n", b.Root.Path, strings.Join(b.Root.Resources, " "))
	}
	return s.String()
}
