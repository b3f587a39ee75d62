// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
)

// TestStories reads testdata/*.txtar: a tree, the folder in the comment's "path:" line, and what its documents mean.
func TestStories(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			g := NewWithT(t)
			a, err := txtar.ParseFile(name)
			g.Expect(err).NotTo(HaveOccurred())
			path, want, fs := "", "", files{}
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if p, ok := strings.CutPrefix(line, "path: "); ok {
					path = p
				}
			}
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					fs[f.Name] = string(f.Data)
				}
			}
			f, _ := scan(t, fs.tree(), path, nil)
			g.Expect(meaning(f)).To(Equal(want))
		})
	}
}

func meaning(f *Folder) string {
	var b strings.Builder
	for d := range f.Documents() {
		e := f.Effective(d, View{})
		fmt.Fprintf(&b, "%s#%d line %d: %s", f.Rel(d.Path), d.Index, d.Line, e.ID)
		switch e.Source {
		case NamespaceExplicit:
			b.WriteString(" (written)")
		case NamespaceKustomize:
			b.WriteString(" (build)")
		}
		for _, o := range e.Others {
			fmt.Fprintf(&b, " and %s", o)
		}
		if e.Patch {
			b.WriteString(" patch")
		}
		if d.Encrypted {
			b.WriteString(" encrypted")
		}
		b.WriteString("\n")
	}
	for _, d := range f.Diagnose(View{}) {
		fmt.Fprintf(&b, "%s: %s#%d line %d: %s\n", d.Code, f.Rel(d.Path), d.Document, d.Line, d.Message)
	}
	return b.String()
}
