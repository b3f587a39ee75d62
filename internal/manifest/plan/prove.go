// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// prover compares the builds before and after a plan.
type prover struct{ *kustomize }

// expectation is an object the builds must give after the edits.
type expectation struct {
	subject *subject
	// root is the build that must give it; path is the file it comes from.
	root, path string
	// loose accepts any content: the object is sealed and cannot be compared.
	loose bool
}

// expect notes a document that was written whole: the builds that govern its path must give it.
func (k prover) expect(s *subject, file string) error {
	loose := k.p.req.Policy.IsSensitive(s.item.Type)
	roots := k.rootsFor(file)
	for _, r := range roots {
		k.expected = append(k.expected, expectation{subject: s, root: r, path: file, loose: loose})
	}
	if len(roots) > 0 {
		return nil
	}
	if len(k.p.Layout.Roots()) > 0 {
		s.report.Notes = append(s.report.Notes, file+" is read by no build of the folder")
		return nil
	}
	at, err := k.above()
	if err == nil && at != "" {
		s.report.Notes = append(s.report.Notes, at+" above the folder is not edited, so its build does not read "+file)
	}
	return err
}

// rootsFor returns the builds that will read a file: those that reach it, or that govern its directory.
func (k prover) rootsFor(file string) []string {
	if k.newRoot != "" {
		return []string{workspace.Parent(k.newRoot)}
	}
	if reaches := k.p.Layout.Reaches(file); len(reaches) > 0 {
		var out []string
		for _, r := range reaches {
			if !slices.Contains(out, r.Root) {
				out = append(out, r.Root)
			}
		}
		return out
	}
	if c := k.p.Layout.Governing(file); c != nil && c.Writable {
		return k.rootsOf(c)
	}
	return nil
}

// expectGone notes an object the builds must not give any more.
func (k prover) expectGone(s *subject, file string) {
	if len(k.p.Layout.Reaches(file)) > 0 {
		k.gone = append(k.gone, s.id)
	}
}

// prove builds the folder as the plan leaves it and compares (git-writer 6.9): every intended object equals live, removed
// objects are gone, and nothing else moved. What cannot be proven refuses the flush.
func (k prover) prove() error {
	if len(k.p.Work.Changed()) == 0 {
		return nil
	}
	roots := slices.Sorted(maps.Keys(k.before))
	if k.newRoot != "" {
		roots = append(roots, workspace.Parent(k.newRoot))
	}
	for _, root := range roots {
		after, err := k.memo.Build(root, k.p.Work)
		if err != nil {
			if _, ok := k.buildIssue(root, err); !ok {
				return err
			}
			k.refuse(root, fmt.Sprintf("the folder does not build after the edit: %v", err),
				"change the kustomization so that it builds with the cluster's value, or take the change back in the cluster")
			continue
		}
		if after != k.before[root] {
			k.proveRoot(root, k.before[root], after)
		}
	}
	return nil
}

func (k prover) proveRoot(root string, before, after *render.Build) {
	settled := map[*render.Object]bool{}
	for _, e := range k.expected {
		if e.root != root {
			continue
		}
		o := k.find(after, e.subject.id, e.subject.item.Type)
		if o == nil {
			k.refuse(root, fmt.Sprintf("the build does not give %s after the edit of %s", e.subject.id, e.path), k.renamed(&e))
			continue
		}
		settled[o] = true
		if field, ok := k.met(&e, o); !ok {
			k.refuse(root, fmt.Sprintf("the build would give %s another value at %s than the cluster has", e.subject.id, field),
				k.setElsewhere(root, e.path, field))
		}
	}
	gone := map[*render.Object]bool{}
	for _, id := range k.gone {
		t := change.Type{Namespaced: id.Namespace != ""}
		if before != nil {
			if o := k.find(before, id, t); o != nil {
				gone[o] = true
			}
		}
		if o := k.find(after, id, t); o != nil && (before == nil || k.find(before, id, t) != nil) {
			k.refuse(root, fmt.Sprintf("the build still gives %s", id), "take it out of the build by hand")
		}
	}
	if before != nil {
		k.othersStay(root, before, after, settled, gone)
	}
}

// othersStay compares every object the flush is not about.
func (k prover) othersStay(root string, before, after *render.Build, settled, gone map[*render.Object]bool) {
	for _, o := range after.Objects {
		if settled[o] {
			continue
		}
		was := before.Find(o.Group, o.Kind, o.Namespace, o.Name)
		switch {
		case was == nil:
			k.refuse(root, fmt.Sprintf("the build would give %s, which nobody asked for", objectName(o)),
				"change the folder in Git so that its build gives what the cluster has")
		case !was.Equal(o):
			k.refuse(root, fmt.Sprintf("the edit would also change %s", objectName(o)),
				"change both objects in the cluster, or keep what they share apart in the folder: entries and patches of their own")
		}
	}
	for _, o := range before.Objects {
		if !gone[o] && after.Find(o.Group, o.Kind, o.Namespace, o.Name) == nil && !k.moved(after, o, settled) {
			k.refuse(root, fmt.Sprintf("the build would lose %s", objectName(o)),
				"change the folder in Git so that its build gives what the cluster has")
		}
	}
}

// moved reports that an intended object stands in the build under a namespace it did not have.
func (k prover) moved(after *render.Build, o *render.Object, settled map[*render.Object]bool) bool {
	n := after.FindAnyNamespace(o.Group, o.Kind, o.Name)
	return n != nil && settled[n] && n.Origin == o.Origin
}

// met reports whether a rendered object is what the cluster has; field is the first place where it is not.
func (k prover) met(e *expectation, o *render.Object) (field string, ok bool) {
	v, err := o.Value()
	rendered, isMap := v.(map[string]any)
	if err != nil || !isMap {
		return "/", false
	}
	if e.loose {
		return k.sealedAs(e, rendered)
	}
	live := maps.Clone(e.subject.live)
	live["metadata"] = maps1(live["metadata"])
	settleForProof(live, rendered, e.subject)
	if compare.Equal(rendered, live, e.subject.options) {
		return "", true
	}
	if clean := k.p.cleaned(rendered, e.subject.item.Type); clean != nil && compare.Equal(clean, live, e.subject.options) {
		return "", true
	}
	norm, _ := compare.Normalize(live, rendered, e.subject.options).(map[string]any)
	if d := differences(rendered, norm, 1); len(d) > 0 {
		return d[0], false
	}
	return "/", false
}

// sealedAs reports whether the build gives a sealed document as it stands in its file; only metadata may be added.
func (k prover) sealedAs(e *expectation, rendered map[string]any) (field string, ok bool) {
	b, err := k.p.Read(e.path)
	if err != nil {
		return "/", false
	}
	for _, d := range workspace.DocumentsIn(b) {
		if d.Head.Group != e.subject.id.Group || d.Head.Kind != e.subject.id.Kind || d.Head.Name != e.subject.id.Name {
			continue
		}
		want := besideMetadata(d.Value())
		if compare.Equal(besideMetadata(rendered), want, compare.Options{}) {
			return "", true
		}
		if f := differences(besideMetadata(rendered), want, 1); len(f) > 0 {
			field = f[0]
		}
	}
	return field, false
}

// settleForProof gives live the namespace the identity says, then makes the exceptions of git-writer 4.8.
func settleForProof(live, rendered map[string]any, s *subject) {
	if meta, ok := live["metadata"].(map[string]any); ok && s.id.Namespace != "" {
		meta["namespace"] = s.id.Namespace
	}
	alignNamespace(live, rendered, s.item.Type)
}

// setElsewhere is the cure for a value that something else of a build sets than the documents and entries that can be
// edited: it names the fields of the kustomizations between a root and a file that can set it.
func (k *kustomize) setElsewhere(root, file, field string) string {
	chain := k.chain(root, file)
	if chain == nil {
		if c := k.p.Layout.Governing(file); c != nil {
			chain = []string{c.Dir}
		}
		if !slices.Contains(chain, root) {
			chain = append([]string{root}, chain...)
		}
	}
	var names []string
	for _, dir := range chain {
		if c := k.p.Layout.Kustomization(dir); c != nil {
			if set := setters(c, field); len(set) > 0 {
				names = append(names, strings.Join(set, " and ")+" in "+k.rel(c.Path))
			}
		}
	}
	if strings.HasSuffix(field, "/image") && len(names) > 0 {
		return strings.Join(names, ", ") + " sets it: give the image an entry of its own, or take the entry out and pin the " +
			"image in the manifest"
	}
	return "change it where the build sets it (" + cmp.Or(strings.Join(names, ", "), "see the kustomizations it passes") +
		"), or give the object in the cluster what the build gives it"
}

// setters are the fields of a kustomization that can set a field of an object.
func setters(c *layout.Kustomization, field string) []string {
	switch {
	case strings.HasSuffix(field, "/image") && len(c.Images) > 0:
		return []string{"images"}
	case field == "/spec/replicas" && len(c.Replicas) > 0:
		return []string{"replicas"}
	case field == "/metadata/namespace" && c.Namespace != "":
		return []string{"namespace"}
	}
	return c.Transforms
}

// renamed is the cure for an object that a build gives another namespace or name.
func (k prover) renamed(e *expectation) string {
	if by := k.renamer(append(k.chain(e.root, e.path), e.root), e.subject.id); by != "" {
		return fmt.Sprintf("%s: mirror %s into another folder, or place the object where no build reads it (spec.placement)",
			by, cmp.Or(e.subject.id.Namespace, "the object"))
	}
	return "place the object where no build renames it (spec.placement)"
}

// renamer says which of some kustomizations gives an object another namespace; empty when none does.
func (k *kustomize) renamer(dirs []string, id change.ObjectID) string {
	for _, dir := range dirs {
		if c := k.p.Layout.Kustomization(dir); c != nil && c.Namespace != "" && c.Namespace != id.Namespace {
			return fmt.Sprintf("%s sets the namespace %s", k.rel(c.Path), c.Namespace)
		}
	}
	return ""
}

func (k prover) refuse(root, message, cure string) {
	at := "."
	if c := k.p.Layout.Kustomization(root); c != nil {
		at = k.rel(c.Path)
	}
	k.p.issue(acceptance.New(acceptance.KustomizeRenderRefused, at, message).WithCure(cure))
}

func objectName(o *render.Object) string {
	return change.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

// differences names up to limit places where two values differ, as JSON pointers and without values.
func differences(a, b any, limit int) []string {
	var out []string
	var walk func(a, b any, ptr string)
	walk = func(a, b any, ptr string) {
		if len(out) >= limit || reflect.DeepEqual(a, b) {
			return
		}
		x, ok1 := a.(map[string]any)
		y, ok2 := b.(map[string]any)
		if ok1 && ok2 {
			keys := maps.Clone(x)
			maps.Copy(keys, y)
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				walk(x[key], y[key], ptr+"/"+render.EscapePointer(key))
			}
			return
		}
		l, ok1 := a.([]any)
		m, ok2 := b.([]any)
		if ok1 && ok2 && len(l) == len(m) {
			for i := range l {
				walk(l[i], m[i], fmt.Sprintf("%s/%d", ptr, i))
			}
			return
		}
		if ptr == "" {
			ptr = "/"
		}
		out = append(out, ptr)
	}
	walk(a, b, "")
	return out
}
