// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"path"
	"reflect"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/render/entry"
)

// kustomize is the part of a plan that knows what the builds of the folder give (git-writer 6).
type kustomize struct {
	*builds
	pending []*pending
	entries *entry.Wishes
	// expected and gone are what the proof looks for in the builds after the edits.
	expected []expectation
	gone     []change.ObjectID
	hidden   []deletePatch
	scanned  bool
	newRoot  string
}

func (k *kustomize) router() router           { return router{k} }
func (k *kustomize) patcher() patcher         { return patcher{k} }
func (k *kustomize) prover() prover           { return prover{k} }
func (k *kustomize) inheritance() inheritance { return inheritance{k} }

// pending is a rendered object whose live state differs from the build.
type pending struct {
	s      *subject
	root   string
	build  *render.Build
	object *render.Object
	// rendered and live differ; live is normalized, so that equal means no change.
	rendered, live map[string]any
	// want is live as it was before parts of it were routed.
	want map[string]any
	// doc is the document in the folder; nil when the object comes from a read-only base.
	doc *inventory.Document
	// why is the refusal that stands against editing the source; empty when it may be edited.
	why acceptance.Kind
	// layers are the patches of the folder for the object, elsewhere the wishes for entries; both are carried out when
	// nothing stands against the object. written names the files that were edited.
	layers    []patchLayer
	elsewhere []func()
	written   []string
	// issues is how many issues the plan had before the object was routed.
	issues int
}

// ReasonNotRendered refuses an object whose document the builds of the folder do not show under its identity.
const ReasonNotRendered = "not_rendered"

func newKustomize(p *planner) *kustomize {
	memo := p.req.Memo
	if memo == nil {
		memo = render.NewMemo()
	}
	b := &builds{p: p, memo: memo, before: map[string]*render.Build{}}
	return &kustomize{builds: b, entries: entry.New()}
}

// edit takes on an object whose document the folder holds and a build reads.
func (k *kustomize) edit(s *subject, d *inventory.Document) error {
	var own []hit
	for _, h := range k.hits(s.id, s.item.Type) {
		if h.object.Origin == d.Path {
			own = append(own, h)
		}
	}
	if len(own) == 0 {
		return k.unseen(s, d)
	}
	pd := &pending{s: s, root: own[0].root, build: own[0].build, object: own[0].object, doc: d}
	if len(k.p.Layout.Reaches(d.Path)) > 1 {
		pd.why = acceptance.WriteFanIn
	}
	return k.enqueue(pd)
}

// unseen is an object whose document exists while no build shows it.
func (k *kustomize) unseen(s *subject, d *inventory.Document) error {
	if dp, err := k.patcher().hiddenBy(s.id); err != nil {
		return err
	} else if dp != nil {
		k.p.issue(k.patcher().unowned(dp, s.id))
		return nil
	}
	var dirs []string
	for _, r := range k.p.Layout.Reaches(d.Path) {
		dirs = append(dirs, r.Chain...)
	}
	message := d.Path + " holds the object, but the build does not show it under this name and namespace"
	if by := k.renamer(dirs, s.id); by != "" {
		message += ": " + by
	}
	k.p.refused(s, ReasonNotRendered, message+"; list the document in a build that leaves it as it is")
	return nil
}

// inherited takes on an object without a document in the folder that a build shows all the same: it comes from a
// read-only base, or a patch hides it. False means that the object is new.
func (k *kustomize) inherited(s *subject) (bool, error) {
	hits := k.hits(s.id, s.item.Type)
	if d := k.renamed(s.id); len(hits) == 0 && d != nil {
		s.report.Path = d.Path
		return true, k.unseen(s, d)
	}
	if len(hits) == 0 {
		restored, err := k.patcher().restore(s)
		if err != nil || restored == nil {
			return len(k.p.res.Issues) > 0, err
		}
		hits = []hit{*restored}
	}
	o := hits[0].object
	s.report.Path = o.Origin
	switch {
	case within(k.p.Layout.Jail(), o.Origin):
		k.p.refused(s, ReasonNotRendered,
			o.Origin+" gives the object only because a kustomization renames it; rename the document")
		return true, nil
	case len(hits) > 1:
		k.p.refused(s, ReasonAmbiguousIdentity, fmt.Sprintf(
			"the builds of %s and %s both give the object; take it out of one of them", k.rel(hits[0].root), k.rel(hits[1].root)))
		return true, nil
	}
	return true, k.enqueue(&pending{
		s: s, root: hits[0].root, build: hits[0].build, object: o, why: acceptance.WriteEscapesScope,
	})
}

// renamed returns the document of a Namespace that its build gives the name of its namespace: field (case K05).
func (k *kustomize) renamed(id change.ObjectID) *inventory.Document {
	if id.Group != "" || id.Kind != "Namespace" || !k.p.Layout.SetsNamespace() {
		return nil
	}
	for d := range k.p.Folder.Documents() {
		if d.Raw.Kind == id.Kind && d.Raw.Group == "" && d.Raw.Name == id.Name && k.renders(d) {
			return d
		}
	}
	return nil
}

// enqueue compares the build with live and keeps what differs for route.
func (k *kustomize) enqueue(pd *pending) error {
	v, err := pd.object.Value()
	rendered, ok := v.(map[string]any)
	if err != nil || !ok {
		return fmt.Errorf("decode the render of %s: %w", pd.s.id, err)
	}
	k.p.explain(pd.s, rendered, pd.object.Origin)
	withoutDerived(rendered, pd.s)
	alignNamespace(pd.s.live, rendered, pd.s.item.Type)
	live, ok := compare.Normalize(pd.s.live, rendered, pd.s.options).(map[string]any)
	if !ok {
		k.p.refused(pd.s, ReasonUnknownContent, "the captured object is no JSON object")
		return nil
	}
	otherVersion := pd.why != "" && rendered["apiVersion"] != live["apiVersion"]
	if pd.why != "" {
		live, _ = carryNoise(rendered, k.p.cleaned(rendered, pd.s.item.Type), live).(map[string]any)
		// What may not be edited keeps its version, which is data (decision 36).
		live["apiVersion"] = rendered["apiVersion"]
	}
	pd.rendered, pd.live, pd.want = rendered, live, live
	pd.written = append(pd.written, pd.s.retired...)
	if reflect.DeepEqual(rendered, live) || k.p.updater().noiseOnly(pd.s, rendered) {
		if len(pd.written) > 0 {
			return k.router().written(pd)
		}
		k.p.done(pd.s, Unchanged, nil)
		return nil
	}
	if otherVersion {
		k.p.refused(pd.s, ReasonNotEditable, fmt.Sprintf(
			"%s holds the object as %s and may not be edited here; a change of its %s form cannot be carried over: move the base to that version",
			pd.object.Origin, rendered["apiVersion"], pd.s.item.Type.APIVersion()))
		return nil
	}
	if pd.doc == nil && k.p.req.Policy.IsSensitive(pd.s.item.Type) {
		k.p.refused(pd.s, ReasonNotEditable,
			pd.object.Origin+" is a read-only base; a sensitive object cannot be patched in an overlay: move its document into the folder")
		return nil
	}
	k.pending = append(k.pending, pd)
	return nil
}

// carryNoise puts back into live what sanitizing takes out of the render: a patch must not remove a status that a base
// happens to hold.
func carryNoise(rendered, clean, live any) any {
	r, ok1 := rendered.(map[string]any)
	c, ok2 := clean.(map[string]any)
	l, ok3 := live.(map[string]any)
	if !ok1 || !ok2 || !ok3 {
		return live
	}
	out := maps.Clone(l)
	for key, v := range r {
		kept, inClean := c[key]
		was, inLive := l[key]
		switch {
		case !inClean && !inLive:
			out[key] = v
		case inClean && inLive:
			out[key] = carryNoise(v, kept, was)
		}
	}
	return out
}

// alignNamespace gives live the render's namespace where the two cannot agree by nature: a cluster-scoped object, and a
// folder that renders the document without any (git-writer 4.8).
func alignNamespace(live, rendered map[string]any, t change.Type) {
	meta, ok := live["metadata"].(map[string]any)
	if !ok {
		return
	}
	have := namespaceOf(rendered)
	if t.Namespaced && have != "" {
		return
	}
	if have == "" {
		delete(meta, "namespace")
	} else {
		meta["namespace"] = have
	}
}

// keepRenderedMetadata takes what the build adds to the metadata of a sensitive object out of what is sealed. False means
// that the build changes more of the object than its metadata: what is sealed would not be what it gives.
func (k *kustomize) keepRenderedMetadata(s *subject, d *inventory.Document, git any) bool {
	if !k.renders(d) {
		return true
	}
	for _, h := range k.hits(s.id, s.item.Type) {
		v, err := h.object.Value()
		r, ok1 := v.(map[string]any)
		g, ok2 := git.(map[string]any)
		if err != nil || !ok1 || !ok2 || h.object.Origin != d.Path {
			continue
		}
		if !compare.Equal(besideMetadata(r), besideMetadata(g), compare.Options{}) {
			return false
		}
		live := maps1(s.live["metadata"])
		if ns := namespaceOf(r); ns != "" {
			live["namespace"] = ns
		}
		if m, err := render.Form(g["metadata"], r["metadata"], any(live)); err == nil && m != nil {
			s.live["metadata"] = m
		}
		return true
	}
	return true
}

// besideMetadata is an object without its metadata and without what encryption adds.
func besideMetadata(v map[string]any) map[string]any {
	out := maps.Clone(v)
	delete(out, "metadata")
	delete(out, "sops")
	return out
}

func maps1(v any) map[string]any {
	m, _ := v.(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return maps.Clone(m)
}

func joinDir(dir, name string) string {
	if dir == "" {
		return name
	}
	return path.Join(dir, name)
}
