// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// remove mirrors one deletion, observed or decided (git-writer 7.2). An object without a document is nothing to do.
func (p *planner) remove(it intent) error {
	s := p.subject(it)
	docs := p.folder.Find(s.id, p.view)
	if len(docs) > 1 {
		p.refused(s, ReasonAmbiguousIdentity, fmt.Sprintf("%s and %s both hold the object", docs[0].Path, docs[1].Path))
		return nil
	}
	allowed := p.prune.Live()
	if it.sweep {
		allowed = p.prune.Sweep()
	}
	if len(docs) == 0 {
		return p.kust.removeInherited(s, allowed)
	}
	s.report.Path, s.report.Sweep = docs[0].Path, it.sweep
	if shared, err := p.kust.removeShared(s, docs[0].Path, allowed); shared || err != nil {
		return err
	}
	if !allowed {
		p.done(s, Retained, nil)
		return nil
	}
	return p.take(s, docs[0])
}

// nothing reports a deletion of an object the folder does not hold.
func (p *planner) nothing(s *subject) {
	s.report.Message = "the folder does not hold the object"
	p.done(s, Unchanged, nil)
}

// sweep removes, or counts as retained, what a complete snapshot does not hold (git-writer 7.4).
func (p *planner) sweep() error {
	snap := p.req.Batch.Snapshot
	if snap == nil {
		return nil
	}
	keep := make(map[change.ObjectID]bool, len(snap.Items))
	for i := range snap.Items {
		keep[snap.Items[i].Object] = true
	}
	var gone []*inventory.Document
	ids := map[*inventory.Document]change.ObjectID{}
	for d := range p.folder.Documents() {
		if d.Raw.Group != snap.Type.Group || d.Raw.Kind != snap.Type.Kind {
			continue
		}
		e := p.folder.Effective(d, p.view)
		if !p.swept(d, e, snap.Cell, keep) {
			continue
		}
		gone = append(gone, d)
		ids[d] = e.ID
	}
	for _, d := range gone {
		if err := p.sweepOne(d, ids[d], snap.Type); err != nil {
			return err
		}
	}
	return p.kust.sweepInherited(snap, keep)
}

// swept reports whether a document of the snapshot's type lies in its scope and is not protected.
func (p *planner) swept(
	d *inventory.Document, e inventory.Effective, cell change.Cell, keep map[change.ObjectID]bool,
) bool {
	if e.Patch || len(p.layout.Reaches(d.Path)) > 1 || keep[e.ID] || e.ID.Name == "" {
		return false
	}
	if cell.Namespace != "" && e.ID.Namespace != cell.Namespace {
		return false
	}
	// A document no build reaches although the folder has roots is not what the cluster was given.
	return len(p.layout.Roots()) == 0 || p.kust.shows(d, e.ID)
}

func (p *planner) sweepOne(d *inventory.Document, id change.ObjectID, t change.Type) error {
	s := p.subject(intent{item: change.Item{Object: id, Type: t}, op: change.Delete, remove: true, sweep: true})
	s.report.Path, s.report.Sweep = d.Path, true
	if !p.prune.Sweep() {
		p.done(s, Retained, nil)
		return nil
	}
	return p.take(s, d)
}

// take removes a document, its file when it was the last one, and then the file's entries in the kustomizations.
func (p *planner) take(s *subject, d *inventory.Document) error {
	if err := p.cut(s, d); err != nil {
		return err
	}
	p.kust.expectGone(s, d.Path)
	p.done(s, Deleted, nil)
	return nil
}

func (p *planner) cut(s *subject, d *inventory.Document) error {
	file, i, err := p.locate(d)
	if err != nil || i < 0 {
		return err
	}
	rest, empty := yamledit.DeleteDoc(file, i)
	if !empty {
		return p.set(d.Path, rest)
	}
	p.touched[d.Path] = true
	if err := p.work.Remove(d.Path); err != nil {
		return err
	}
	return p.unregister(d.Path)
}

// unregister takes a removed file out of every kustomization of the folder that lists it.
func (p *planner) unregister(name string) error {
	for _, k := range p.layout.All() {
		if !k.Writable {
			continue
		}
		listed := map[string]bool{}
		for _, r := range k.Resources {
			if r.Kind == layout.RefFile && r.Target == name {
				listed[r.Field] = true
			}
		}
		if len(listed) == 0 {
			continue
		}
		err := p.editKustomization(k.Path, func(v map[string]any) {
			for field := range listed {
				dropEntries(v, field, k.Dir, name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropEntries removes the entries of a list that resolve to a path. The emptied list goes with its key, unless the
// file would then say nothing at all, which kustomize refuses to build.
func dropEntries(v map[string]any, field, dir, target string) {
	list := stringList(v[field])
	for _, e := range list {
		if strings.TrimPrefix(path.Join("/", dir, e), "/") == target {
			list = placement.RemoveResource(list, e)
		}
	}
	setList(v, field, list)
}

func setList(v map[string]any, field string, list []string) {
	if len(list) > 0 {
		v[field] = anyList(list)
		return
	}
	delete(v, field)
	for k := range v {
		if k != "apiVersion" && k != "kind" && k != "metadata" {
			return
		}
	}
	v["resources"] = []any{}
}

func stringList(v any) []string {
	l, _ := v.([]any)
	out := make([]string, 0, len(l))
	for _, e := range l {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func anyList(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}
