// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// subject is one object on its way into the folder.
type subject struct {
	intent
	id      change.ObjectID
	options compare.Options
	// live is the sanitized object; tokens of the folder stand in it where they explain the live value.
	live   map[string]any
	report ObjectReport
	// retired are the files of the operator's own delete patch that was taken back for the object.
	retired []string
}

func (p *planner) subject(it intent) *subject {
	return &subject{
		intent: it, id: it.item.Object,
		options: compare.Options{Schema: p.schema(it.item.Type), BuiltIn: p.builtIn(it.item.Type), Mask: it.item.Mask},
		report:  ObjectReport{Object: it.item.Object, Type: it.item.Type, Operation: it.op},
	}
}

// decode reads the captured object; false means that it is none.
func (s *subject) decode() (ok bool) {
	v, err := compare.Decode(s.item.Desired)
	s.live, ok = v.(map[string]any)
	return ok && err == nil
}

// refused records that one object is not written; everything else goes on.
func (p *planner) refused(s *subject, reason, message string) {
	s.report.Outcome, s.report.Reason, s.report.Message = Refused, reason, message
	p.res.Report.add(s.report)
}

// done records an object's outcome, and its action when something changed.
func (p *planner) done(s *subject, o Outcome, sealed []byte) {
	s.report.Outcome = o
	p.res.Report.add(s.report)
	if o != Created && o != Updated && o != Deleted {
		return
	}
	d := Decided{
		Action: Upsert, Object: s.id, Type: s.item.Type, Operation: s.op, UID: s.item.UID, Path: s.report.Path,
		Sealed: sealed, Sweep: s.sweep,
	}
	if o == Deleted {
		d.Action = Remove
	} else {
		d.Desired, d.Mask = s.item.Desired, s.item.Mask
	}
	p.decided = append(p.decided, d)
}

// updater writes objects whose document exists.
type updater struct{ *planner }

// upsert writes an object where the folder already holds it. It returns a creation when the folder does not.
func (p updater) upsert(ctx context.Context, it intent) (*creation, error) {
	s := p.subject(it)
	if !s.decode() {
		p.refused(s, ReasonUnknownContent, "the captured object is no JSON object")
		return nil, nil //nolint:nilnil // nothing to create and nothing went wrong
	}
	docs := p.Folder.Find(s.id, p.view)
	switch {
	case len(docs) > 1:
		p.refused(s, ReasonAmbiguousIdentity, fmt.Sprintf("%s and %s both hold the object; remove one of the documents", docs[0].Path, docs[1].Path))
		return nil, nil //nolint:nilnil // see above
	case len(docs) == 1:
		return p.existing(ctx, s, docs[0])
	}
	handled, err := p.kust.inherited(s)
	if handled || err != nil {
		return nil, err
	}
	if d := p.standIn(s.id); d != nil {
		s.report.Path = d.Path
		p.refused(s, ReasonAmbiguousIdentity, d.Path+" holds an object whose name has a token that may stand for this one; write its name out")
		return nil, nil //nolint:nilnil // nothing to create
	}
	c := &creation{subject: s, sensitive: p.req.Policy.IsSensitive(it.item.Type), labels: p.labels(s.live)}
	// A first snapshot waits here with all its objects: the bytes are enough until one is written.
	s.live = nil
	return c, nil
}

// existing brings a document of the folder up to date.
func (p updater) existing(ctx context.Context, s *subject, d *inventory.Document) (*creation, error) {
	s.report.Path = d.Path
	if p.req.Policy.IsSensitive(s.item.Type) || d.Encrypted {
		return p.sealing().reseal(ctx, s, d)
	}
	if p.kust.renders(d) {
		return nil, p.kust.edit(s, d)
	}
	if d.Digest != ([32]byte{}) && d.Digest == compare.Digest(s.live) && len(d.Hazards) == 0 {
		p.done(s, Unchanged, nil)
		return nil, nil //nolint:nilnil // nothing to create
	}
	git, err := p.Value(d)
	if err != nil {
		p.notEditable(s, d, err)
		return nil, nil //nolint:nilnil // see above
	}
	p.explain(s, git, d.Path)
	withoutDerived(git, s)
	p.settleNamespace(s.live, s.id, namespaceOf(git) == "")
	if p.noiseOnly(s, git) {
		p.done(s, Unchanged, nil)
		return nil, nil //nolint:nilnil // nothing to create
	}
	return nil, p.write(s, d, s.live)
}

// withoutDerived leaves to the API server what the document leaves to it.
func withoutDerived(git any, s *subject) {
	m, ok := git.(map[string]any)
	if !ok {
		return
	}
	sanitize.WithoutDerived(m, s.live, s.id.Group, s.id.Kind)
	if s.id.Group == "" && s.id.Kind == "Pod" {
		sanitize.WithoutInjected(m, s.live, slices.Concat(s.item.Mask.Keep, s.item.Mask.IfPresent))
	}
}

// write edits one document so that it means desired, and reports the outcome.
func (p updater) write(s *subject, d *inventory.Document, desired any) error {
	file, i, err := p.Locate(d)
	if err != nil {
		return err
	}
	if i < 0 {
		p.refused(s, ReasonNotEditable, d.Path+": the document is gone from the file")
		return nil
	}
	res, err := yamledit.Edit(file, i, desired, yamledit.Options{Options: s.options, AllowReplace: true})
	if err != nil {
		p.notEditable(s, d, err)
		return nil
	}
	if res.Outcome == yamledit.NoChange {
		p.done(s, Unchanged, nil)
		return nil
	}
	if err := p.Write(d.Path, res.File); err != nil {
		return err
	}
	for _, n := range res.Notes {
		s.report.Notes = append(s.report.Notes, fmt.Sprintf("the %s at line %d is written anew: %s", n.Rung, n.Line, n.Reason))
	}
	if v := s.item.Type.APIVersion(); d.APIVersion != v {
		s.report.Notes = append(s.report.Notes, fmt.Sprintf("moved from %s to %s", d.APIVersion, v))
	}
	p.done(s, Updated, nil)
	return nil
}

// noiseOnly reports that Git differs from live by nothing but what sanitizing removes, such as a status somebody
// committed. That is no reason for a commit; the next edit of the document cleans it (git-writer 4.5).
func (p updater) noiseOnly(s *subject, git any) bool {
	if compare.Equal(git, s.live, s.options) {
		return false
	}
	v := p.cleaned(git, s.item.Type)
	return v != nil && compare.Equal(v, s.live, s.options)
}

// cleaned returns what sanitizing leaves of a document in Git, nil when that cannot be said.
func (p *planner) cleaned(git any, t change.Type) any {
	clean, err := p.clean.Object(compare.Canonical(git), t)
	if err != nil || clean.Desired == nil {
		return nil
	}
	v, err := compare.Decode(clean.Desired)
	if err != nil {
		return nil
	}
	return v
}

// notEditable refuses one object because of its document in Git (decision 37).
func (p *planner) notEditable(s *subject, d *inventory.Document, err error) {
	at, cure := d.Path, "correct the document"
	if d.Index > 0 {
		at += fmt.Sprintf(", document %d", d.Index+1)
	}
	var un *yamledit.UneditableError
	if errors.As(err, &un) {
		cure = un.Cure()
	}
	p.refused(s, ReasonNotEditable, fmt.Sprintf("%s: %v; %s", at, err, cure))
}

// settleNamespace gives a desired object the metadata.namespace its document holds (git-writer 4.8): omit is what the
// document or its place would do if the policy says nothing.
func (p *planner) settleNamespace(desired map[string]any, id change.ObjectID, omit bool) {
	meta, ok := desired["metadata"].(map[string]any)
	if !ok || id.Namespace == "" {
		return
	}
	if b := p.req.Policy.SerializeNamespace; b != nil {
		omit = !*b
	}
	if omit {
		delete(meta, "namespace")
	} else {
		meta["namespace"] = id.Namespace
	}
}

// namespaceOf returns metadata.namespace of an object in JSON values.
func namespaceOf(v any) string {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	ns, _ := meta["namespace"].(string)
	return ns
}
