// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/render/token"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// inheritance removes objects that have no document of their own.
type inheritance struct{ *kustomize }

// remove mirrors the deletion of an object without a document in the folder: when a build gives it, the
// overlay gets a delete patch (git-writer 6.8); otherwise nothing is to do.
func (k inheritance) remove(s *subject, allowed bool) error {
	hits := k.hits(s.id, s.item.Type)
	if len(hits) == 0 {
		k.p.remover().nothing(s)
		return nil
	}
	return k.hide(s, hits[0], allowed)
}

// hidden reports a deletion of an object whose document a patch of the folder hides: the build does not give it, so
// nothing is to do.
func (k inheritance) hidden(s *subject, d *inventory.Document) (bool, error) {
	if !k.renders(d) || k.shows(d, s.id) {
		return false, nil
	}
	dp, err := k.patcher().hiddenBy(s.id)
	if err != nil || dp == nil {
		return false, err
	}
	s.report.Message = dp.path + " takes the object out of the build already"
	k.p.done(s, Unchanged, nil)
	return true, nil
}

// removeShared mirrors a deletion of an object whose document serves several builds: only this build loses it.
func (k inheritance) removeShared(s *subject, file string, allowed bool) (bool, error) {
	if len(k.p.Layout.Reaches(file)) < 2 {
		return false, nil
	}
	hits := k.hits(s.id, s.item.Type)
	if len(hits) != 1 {
		return false, nil
	}
	return true, k.hide(s, hits[0], allowed)
}

func (k inheritance) hide(s *subject, h hit, allowed bool) error {
	s.report.Path, s.report.Sweep = h.object.Origin, s.sweep
	if !allowed {
		k.p.done(s, Retained, nil)
		return nil
	}
	chain := k.chain(h.root, h.object.Origin)
	c, at := k.writable(chain)
	if c == nil {
		k.p.issue(acceptance.New(acceptance.WriteEscapesScope, k.rel(h.object.Origin),
			fmt.Sprintf("%s comes from a file outside the folder and no kustomization of the folder includes it", s.id)).
			WithCure("include its base from a kustomization of the folder, or delete the document in Git"))
		return nil
	}
	ns, err := k.inputNamespace(chain, at, h.object)
	if err != nil {
		return err
	}
	content, err := ownedPatch(yamldoc.Head{
		APIVersion: h.object.APIVersion, Kind: h.object.Kind, Namespace: ns, Name: h.object.Name,
	})
	if err != nil {
		return err
	}
	name, err := k.patcher().freeName(c.Dir, h.object, "delete")
	if err != nil {
		return err
	}
	if have, err := k.p.Read(name); err != nil {
		return err
	} else if have != nil && !bytes.Equal(have, content) {
		i := acceptance.New(acceptance.UnownedDeletePatch, k.rel(name),
			fmt.Sprintf("%s was deleted in the cluster and the file its delete patch goes to has other content", s.id))
		i.Cure = "move the file away"
		k.p.issue(i)
		return nil
	}
	if err := k.p.Write(name, content); err != nil {
		return err
	}
	if err := k.patcher().listPatch(c, name); err != nil {
		return err
	}
	// From here outwards nothing may speak of the object any more.
	edited, err := k.patcher().dropCounts(h, chain[:at+1])
	if err != nil {
		return err
	}
	if s.report.Path = name; len(edited) > 0 {
		s.report.Written = slices.Compact(slices.Sorted(slices.Values(append(edited, name, c.Path))))
	}
	k.gone = append(k.gone, s.id)
	k.p.done(s, Deleted, nil)
	return nil
}

// sweep applies a snapshot to the objects that builds take from outside the folder, and to those of documents
// several builds share.
func (k inheritance) sweep(snap *change.Snapshot, keep map[change.ObjectID]bool) error {
	for _, r := range k.p.Layout.Roots() {
		b := k.before[r.Dir]
		if b == nil {
			continue
		}
		for _, o := range b.Objects {
			id, ok := k.sweepable(snap, o)
			if !ok || keep[id] {
				continue
			}
			keep[id] = true
			s := k.p.subject(intent{
				item: &change.Item{Object: id, Type: snap.Type}, op: change.Delete, remove: true, sweep: true,
			})
			if err := k.hide(s, hit{r.Dir, b, o}, k.p.prune.Sweep()); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepable reports whether a rendered object is in the scope of a snapshot and has no document of its own.
func (k inheritance) sweepable(snap *change.Snapshot, o *render.Object) (change.ObjectID, bool) {
	id := change.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	if o.Group != snap.Type.Group || o.Kind != snap.Type.Kind {
		return id, false
	}
	if !snap.Type.Namespaced {
		id.Namespace = ""
	} else if id.Namespace == "" {
		id.Namespace = k.p.view.DefaultNamespace
	}
	if snap.Type.Namespaced && id.Namespace == "" || token.Holds(id.Name) || token.Holds(id.Namespace) {
		return id, false
	}
	if snap.Cell.Namespace != "" && id.Namespace != snap.Cell.Namespace {
		return id, false
	}
	if id.Kind == "Namespace" && id.Group == "" && slices.Contains(k.p.Layout.Namespaces(o.Origin), id.Name) {
		return id, false // a namespace: field named it, so its absence says nothing about the one its file holds
	}
	own := within(k.p.Layout.Jail(), o.Origin) && len(k.p.Layout.Reaches(o.Origin)) < 2
	return id, !own
}
