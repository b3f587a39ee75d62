// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// files is a tree in a test: path to content. A content that starts with "->" is a symlink, "gitlink" a submodule.
type files map[string]string

func (fs files) tree() *countingTree {
	m := map[string]manifest.File{}
	for p, c := range fs {
		f := manifest.File{Content: []byte(c)}
		switch {
		case len(c) > 2 && c[:2] == "->":
			f.Mode, f.Content = manifest.ModeSymlink, []byte(c[2:])
		case c == "gitlink":
			f.Mode = manifest.ModeSubmodule
		}
		m[p] = f
	}
	return &countingTree{MemTree: manifest.NewMemTree(m)}
}

func (fs files) with(kv ...string) files {
	out := maps.Clone(fs)
	for i := 0; i < len(kv); i += 2 {
		if out[kv[i]] = kv[i+1]; kv[i+1] == "" {
			delete(out, kv[i])
		}
	}
	return out
}

// countingTree counts reads and remembers which blobs were read.
type countingTree struct {
	*manifest.MemTree
	dirs, blobs int
}

func (t *countingTree) Dir(id manifest.ID) ([]manifest.DirEntry, error) {
	t.dirs++
	return t.MemTree.Dir(id)
}

func (t *countingTree) Blob(id manifest.ID) ([]byte, error) {
	t.blobs++
	return t.MemTree.Blob(id)
}

func scan(t testing.TB, tree manifest.Tree, path string, prev *Folder) (*Folder, Stats) {
	t.Helper()
	f, st, err := Scan(context.Background(), tree, path, prev)
	if err != nil {
		t.Fatal(err)
	}
	return f, st
}

func configMap(name, namespace string, data ...string) string {
	s := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
	if namespace != "" {
		s += "  namespace: " + namespace + "\n"
	}
	for i, d := range data {
		if i == 0 {
			s += "data:\n"
		}
		s += fmt.Sprintf("  k%d: %q\n", i, d)
	}
	return s
}

// dump says all a Folder knows, so that two can be compared.
func dump(f *Folder) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%q %+v %+v\n", f.Path(), f.Counts(), f.Layout().Summary())
	for file := range f.Files() {
		fmt.Fprintf(&s, "%s %s %o role=%d crlf=%v bom=%v %q %q %q\n", file.Path, file.ID, file.Mode, file.Role, file.CRLF,
			file.BOM, file.Pointer, file.Aliases, file.ValueFiles)
		for i := range file.Documents {
			fmt.Fprintf(&s, "  %+v\n", file.Documents[i])
		}
	}
	for file := range f.Irregular() {
		s.WriteString("irregular " + file.Path + "\n")
	}
	for id, docs := range f.Duplicates(View{}) {
		fmt.Fprintf(&s, "twice %s:", id)
		for _, d := range docs {
			fmt.Fprintf(&s, " %s#%d", d.Path, d.Index)
		}
		s.WriteString("\n")
	}
	for d := range f.Documents() {
		found := f.Find(f.Effective(d, View{}).ID, View{})
		fmt.Fprintf(&s, "find %s %d\n", d.Raw, len(found))
	}
	for _, p := range f.Layout().Problems() {
		fmt.Fprintf(&s, "%+v\n", p)
	}
	return s.String()
}

func cm(name, namespace string) change.ObjectID {
	return change.ObjectID{Kind: "ConfigMap", Namespace: namespace, Name: name}
}

// kinds is a small catalog.
type kinds map[string]bool // kind to namespaced

func (k kinds) Kind(group, kind string) (change.Type, bool) {
	namespaced, ok := k[kind]
	return change.Type{Group: group, Version: "v1", Kind: kind, Namespaced: namespaced}, ok
}
