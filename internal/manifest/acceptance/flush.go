// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Write is one file a flush is about to write or remove, with its path from the repository root.
type Write struct {
	Path   string
	Delete bool
	// New marks a file that is not in the tree, so no build reads it yet. Source marks one whose change must show in a
	// build: a manifest or a patch.
	New, Source bool
}

// Flush is what a plan is about to write.
type Flush struct {
	Writes []Write
	// Places reports that the flush creates documents; NewPaths are the files they go to, shared ones included.
	Places   bool
	NewPaths []string
	// UseKustomize is spec.placement.useKustomize.
	UseKustomize bool
}

// flushChecks is the gate for one flush, in the order of git-writer 6.9.
var flushChecks = []struct {
	name string
	run  func(in Input, fl Flush) []Issue
}{
	{"no written path is ignored", ignoredWrites},
	{"every write stays in the folder", escapes},
	{"no written file feeds two places", fanIn},
	{"new documents have one root to go to", ambiguous},
	{"new documents are rendered", unrendered},
}

// CheckWrites returns what stands against a flush: ignored paths, the jail, fan-in, an ambiguous layout, an unrendered
// placement. Sorted as Check does.
func CheckWrites(in Input, fl Flush) []Issue {
	var out []Issue
	for _, c := range flushChecks {
		out = append(out, c.run(in, fl)...)
	}
	Sort(out)
	return out
}

func inside(f *inventory.Folder, p string) bool { return !strings.HasPrefix(f.Rel(p)+"/", "../") }

func ignoredWrites(in Input, fl Flush) []Issue {
	var out []Issue
	for _, w := range fl.Writes {
		if _, visible := in.Folder.RoleOf(w.Path); visible || !inside(in.Folder, w.Path) {
			continue
		}
		out = append(out, New(IgnoreShadowsManaged, in.Folder.Rel(w.Path),
			fmt.Sprintf("%s hides a path that is to be written", inventory.IgnoreFileName)).
			WithCure("narrow the rule that matches it, or place the object elsewhere"))
	}
	return out
}

func escapes(in Input, fl Flush) []Issue {
	var out []Issue
	for _, w := range fl.Writes {
		if !inside(in.Folder, w.Path) {
			out = append(out, New(WriteEscapesScope, in.Folder.Rel(w.Path),
				"the change belongs into a file outside the folder, which is read only"))
		}
	}
	return out
}

func fanIn(in Input, fl Flush) []Issue {
	var out []Issue
	for _, w := range fl.Writes {
		k := in.Folder.Layout().Governing(w.Path)
		if w.New || !w.Source && (k == nil || k.Path != w.Path) {
			continue
		}
		ways := in.Folder.Layout().Readers(w.Path)
		if len(ways) < 2 {
			continue
		}
		out = append(out, New(WriteFanIn, in.Folder.Rel(w.Path),
			fmt.Sprintf("%s build it, so a change for one would change the other", strings.Join(wayNames(ways), " and "))))
	}
	return out
}

// wayNames names the first two differing ways.
func wayNames(ways []layout.Reach) []string {
	var out []string
	for _, w := range ways {
		name := dot(w.Root)
		if len(out) > 0 && slices.Contains(out, name) {
			name = strings.Join(w.Chain, " > ")
		}
		if out = append(out, show(name)); len(out) == 2 {
			break
		}
	}
	return out
}

func ambiguous(in Input, fl Flush) []Issue {
	roots := in.Folder.Layout().Roots()
	if !fl.Places && len(fl.NewPaths) == 0 || len(roots) < 2 {
		return nil
	}
	var names []string
	for i, r := range roots {
		if i == 4 {
			names = append(names, fmt.Sprintf("%d more", len(roots)-i))
			break
		}
		names = append(names, show(in.Folder.Rel(r.Dir)))
	}
	return []Issue{New(AmbiguousLayout, ".",
		fmt.Sprintf("a new document has no one place: the folder holds the render roots %s",
			strings.Join(names, ", "))).WithCure("give each root a GitTarget of its own")}
}

func unrendered(in Input, fl Flush) []Issue {
	l := in.Folder.Layout()
	if !fl.UseKustomize || len(l.Roots()) != 1 {
		return nil
	}
	var out []Issue
	for _, p := range fl.NewPaths {
		if l.Governing(p) == nil {
			out = append(out, New(UnrenderedPlacement, in.Folder.Rel(p),
				fmt.Sprintf("no kustomization at or above it would list it, and the build is in %s",
					show(in.Folder.Rel(l.Roots()[0].Dir)))).
				WithCure("place new objects below the render root"))
		}
	}
	return out
}

func base(p string) string { return path.Base(p) }

func dot(p string) string {
	if p == "" {
		return "."
	}
	return p
}
