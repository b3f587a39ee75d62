// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/render/token"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// remover takes documents away.
type remover struct{ *planner }

// remove mirrors one deletion, observed or decided (git-writer 7.2). An object without a document is nothing to do.
func (p remover) remove(it intent) error {
	s := p.subject(it)
	docs := p.Folder.Find(s.id, p.view)
	if len(docs) > 1 {
		p.refused(s, ReasonAmbiguousIdentity, fmt.Sprintf("%s and %s both hold the object; remove one of the documents", docs[0].Path, docs[1].Path))
		return nil
	}
	allowed := p.prune.Live()
	if it.sweep {
		allowed = p.prune.Sweep()
	}
	if len(docs) == 0 {
		return p.kust.inheritance().remove(s, allowed)
	}
	s.report.Path, s.report.Sweep = docs[0].Path, it.sweep
	if hidden, err := p.kust.inheritance().hidden(s, docs[0]); hidden || err != nil {
		return err
	}
	if shared, err := p.kust.inheritance().removeShared(s, docs[0].Path, allowed); shared || err != nil {
		return err
	}
	if !allowed {
		p.done(s, Retained, nil)
		return nil
	}
	return p.take(s, docs[0])
}

// nothing reports a deletion of an object the folder does not hold.
func (p remover) nothing(s *subject) {
	s.report.Message = "the folder does not hold the object"
	p.done(s, Unchanged, nil)
}

// sweep removes, or counts as retained, what a complete snapshot does not hold (git-writer 7.4).
func (p remover) sweep() error {
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
	for d := range p.Folder.Documents() {
		if d.Raw.Group != snap.Type.Group || d.Raw.Kind != snap.Type.Kind {
			continue
		}
		e := p.Folder.Effective(d, p.view)
		if !p.swept(d, e, snap, keep) {
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
	return p.kust.inheritance().sweep(snap, keep)
}

// swept reports whether a document of the snapshot's type lies in its scope and is not protected.
func (p remover) swept(
	d *inventory.Document, e inventory.Effective, snap *change.Snapshot, keep map[change.ObjectID]bool,
) bool {
	if e.Patch || len(p.Layout.Reaches(d.Path)) > 1 || keep[e.ID] || e.ID.Name == "" {
		return false
	}
	if e.Renamed {
		return false // a build turned it into another Namespace, whose absence says nothing about the one written down
	}
	if snap.Type.Namespaced && e.ID.Namespace == "" || token.Holds(e.ID.Name) || token.Holds(e.ID.Namespace) {
		return false // nobody can say which object it stands for
	}
	if snap.Cell.Namespace != "" && e.ID.Namespace != snap.Cell.Namespace {
		return false
	}
	// A document no build reaches although the folder has roots is not what the cluster was given.
	return len(p.Layout.Roots()) == 0 || p.kust.shows(d, e.ID)
}

func (p remover) sweepOne(d *inventory.Document, id change.ObjectID, t change.Type) error {
	s := p.subject(intent{item: &change.Item{Object: id, Type: t}, op: change.Delete, remove: true, sweep: true})
	s.report.Path, s.report.Sweep = d.Path, true
	if !p.prune.Sweep() {
		p.done(s, Retained, nil)
		return nil
	}
	return p.take(s, d)
}

// take removes a document, its file when it was the last one, and then the file's entries in the kustomizations.
func (p remover) take(s *subject, d *inventory.Document) error {
	if p.oneOfSeveral(s, d) {
		return nil
	}
	for _, h := range p.kust.hits(s.id, s.item.Type) {
		if h.object.Origin != d.Path {
			continue
		}
		edited, err := p.kust.patcher().drop(h)
		if err != nil {
			return err
		}
		s.report.Written = append(s.report.Written, edited...)
	}
	if len(s.report.Written) > 0 {
		s.report.Written = slices.Compact(slices.Sorted(slices.Values(append(s.report.Written, d.Path))))
	}
	if err := p.cut(s, d); err != nil {
		return err
	}
	p.kust.prover().expectGone(s, d.Path)
	p.done(s, Deleted, nil)
	return nil
}

func (p remover) cut(s *subject, d *inventory.Document) error {
	file, i, err := p.Locate(d)
	if err != nil || i < 0 {
		return err
	}
	rest, empty := yamledit.DeleteDoc(file, i)
	if !empty {
		return p.Write(d.Path, rest)
	}
	if err := p.Remove(d.Path); err != nil {
		return err
	}
	if root := p.kust.newRoot; root != "" {
		// The root this plan creates lists what was there before the plan.
		err := p.RemoveFile(root, d.Path)
		if err != nil {
			return err
		}
	}
	return p.Unregister(d.Path)
}
