// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/render/token"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// creation is an object without a document.
type creation struct {
	subject   *subject
	sensitive bool
	// labels are filled in where a template asks for one.
	labels map[string]string
	// moved is the clear document a sensitive object is taken out of (decision 54).
	moved  *inventory.Document
	placed *placement.Placed
}

// creator writes new documents.
type creator struct{ *planner }

// create places the new objects of a batch together, against the folder as it was before the batch, and writes them
// with their registration or not at all (git-writer 5).
func (p creator) create(ctx context.Context, fresh []*creation) error {
	if len(fresh) == 0 {
		return nil
	}
	root := p.place(fresh)
	slices.SortStableFunc(fresh, func(a, b *creation) int {
		return cmp.Or(cmp.Compare(a.placed.Path, b.placed.Path), a.subject.id.Compare(b.subject.id))
	})
	fresh = slices.DeleteFunc(fresh, func(c *creation) bool {
		if c.placed.Refusal == nil {
			return false
		}
		c.subject.report.Path, c.subject.report.Source = c.placed.Path, string(c.placed.Source)
		if c.subject.report.Source == "" {
			c.subject.report.Source = string(placement.Canonical)
		}
		p.refused(c.subject, string(c.placed.Refusal.Reason), c.placed.Refusal.Message)
		return true
	})
	if len(fresh) == 0 {
		return nil
	}
	failed, err := p.register(fresh, root)
	if err != nil {
		return err
	}
	written := map[string]bool{}
	p.decided = slices.Grow(p.decided, len(fresh))
	for _, c := range fresh {
		if err := ctx.Err(); err != nil {
			return err
		}
		if reason := failed[c.placed.Kustomization]; reason != "" && c.placed.Kustomization != "" {
			p.refused(c.subject, ReasonRegistration, reason)
			continue
		}
		ok, err := p.createOne(ctx, c, written[c.placed.Path])
		if err != nil {
			return err
		}
		if ok {
			written[c.placed.Path] = true
		}
		c.subject = nil // a proof that needs it holds it
	}
	return p.withdraw(fresh, written)
}

// place fills in where each object goes.
func (p creator) place(fresh []*creation) *placement.NewRoot {
	in := placement.Input{
		Folder: p.Folder, Policy: p.req.Policy.Placement, SerializeNamespace: p.req.Policy.SerializeNamespace,
	}
	byID := make(map[change.ObjectID]*creation, len(fresh))
	for _, c := range fresh {
		if c.subject.decided != nil && c.moved == nil && p.placeAgain(c) {
			continue
		}
		byID[c.subject.id] = c
		in.Objects = append(in.Objects, placement.Object{
			ID: c.subject.id, Type: c.subject.item.Type, Labels: c.labels, Sensitive: c.sensitive,
		})
	}
	if len(in.Objects) == 0 {
		return nil
	}
	b := placement.Place(in)
	for i := range b.Objects {
		byID[b.Objects[i].Object.ID].placed = &b.Objects[i]
	}
	return b.Root
}

// register lists the new files in their kustomizations, one edit per kustomization. The answer names those that could
// not be edited, with the reason.
func (p creator) register(fresh []*creation, root *placement.NewRoot) (map[string]string, error) {
	entries := map[string][]string{}
	for _, c := range fresh {
		if c.placed.Kustomization != "" && (root == nil || c.placed.Kustomization != root.Path) {
			entries[c.placed.Kustomization] = append(entries[c.placed.Kustomization], c.placed.Entry)
		}
	}
	failed := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		err := p.AddResources(k, entries[k])
		if workspace.IsIO(err) {
			return nil, err
		}
		if err != nil {
			failed[k] = fmt.Sprintf("%s cannot list the new file: %v", k, err)
			p.res.Report.Registrations["failed"] += len(entries[k])
			continue
		}
		p.res.Report.Registrations["added"] += len(entries[k])
	}
	if root == nil {
		return failed, nil
	}
	if taken, err := p.Work.Occupied(root.Path); err != nil || taken {
		return failed, err
	}
	b, err := workspace.NewKustomization(root.Resources)
	if err != nil {
		failed[root.Path] = err.Error()
		return failed, nil
	}
	p.kust.newRoot = root.Path
	return failed, p.Work.Set(root.Path, b)
}

// withdraw takes registrations back whose file was not written after all, so that no build names a missing file.
func (p creator) withdraw(fresh []*creation, written map[string]bool) error {
	for _, c := range fresh {
		k := c.placed.Kustomization
		if k == "" || written[c.placed.Path] {
			continue
		}
		there, err := p.Work.Occupied(c.placed.Path)
		if err != nil {
			return err
		}
		listed, err := p.Work.Occupied(k)
		if err != nil {
			return err
		}
		if there || !listed {
			continue
		}
		err = p.RemoveResource(k, c.placed.Entry)
		if err != nil {
			return err
		}
	}
	if p.kust.newRoot != "" && len(written) == 0 {
		p.Work.Undo(p.kust.newRoot)
		p.kust.newRoot = ""
	}
	return nil
}

// createOne writes one new document; false means that the object was refused.
func (p creator) createOne(ctx context.Context, c *creation, shared bool) (bool, error) {
	s := c.subject
	if s.live == nil && !s.decode() {
		return false, fmt.Errorf("%s cannot be read a second time", s.id)
	}
	s.report.Path, s.report.Source = c.placed.Path, string(c.placed.Source)
	s.report.Disposition = string(c.placed.Disposition)
	p.settleNamespace(s.live, s.id, c.placed.OmitNamespace)
	file, err := p.Read(c.placed.Path)
	if err != nil {
		return false, err
	}
	if file != nil && !c.sensitive {
		s.report.Disposition = string(placement.Appended)
	}
	var sealed []byte
	if c.sensitive {
		if sealed, err = p.sealing().seal(ctx, s, c.placed.Path, nil); err != nil || sealed == nil {
			return false, err
		}
		file = yamledit.AppendRaw(nil, sealed)
	} else {
		desired := compare.Normalize(s.live, nil, s.options)
		if p.req.Policy.EscapeSubstitution && !substitutionOff(s.live) {
			desired = token.Escape(desired)
		}
		if file, err = yamledit.Append(file, desired); err != nil {
			p.refused(s, ReasonUnknownContent, "the object cannot be written as YAML: "+err.Error())
			return false, nil
		}
	}
	if c.moved != nil {
		if err := p.remover().cut(s, c.moved); err != nil {
			return false, err
		}
		s.report.Notes = append(s.report.Notes, clearTextNote(c.moved.Path))
	}
	if err := p.Write(c.placed.Path, file); err != nil {
		return false, err
	}
	p.places = p.places || c.moved == nil
	if !shared {
		p.newPath = append(p.newPath, c.placed.Path)
	}
	if err := p.kust.prover().expect(s, c.placed.Path); err != nil {
		return false, err
	}
	if c.moved != nil {
		p.done(s, Updated, sealed)
	} else {
		for _, path := range s.item.Mask.Unsure {
			s.report.Notes = append(s.report.Notes, path+" is kept: nothing tells whether somebody chose the value or the cluster allocated it")
		}
		p.done(s, Created, sealed)
	}
	return true, nil
}

// labels are those of an object when a template asks for one: a first snapshot would hold a map for each of its objects.
func (p *planner) labels(v map[string]any) map[string]string {
	if !p.req.Policy.Placement.ByLabel() {
		return nil
	}
	l := metadata(v, "labels")
	out := make(map[string]string, len(l))
	for k, e := range l {
		if s, ok := e.(string); ok {
			out[k] = s
		}
	}
	return out
}
