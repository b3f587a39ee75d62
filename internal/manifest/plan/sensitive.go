// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// sealing writes sensitive documents and the rules they are encrypted by.
type sealing struct{ *planner }

// reseal brings the document of a sensitive object up to date: always as a whole, always encrypted, at the path it has
// (git-writer 2.6). A clear document that shares its file is taken out and placed anew (decision 54).
func (p sealing) reseal(ctx context.Context, s *subject, d *inventory.Document) (*creation, error) {
	body, err := p.Body(d)
	if err != nil {
		return nil, err
	}
	git, err := workspace.Decode(body)
	if err != nil {
		p.notEditable(s, d, err)
		return nil, nil //nolint:nilnil // refused
	}
	p.settleNamespace(s.live, s.id, namespaceOf(git) == "")
	if !p.kust.keepRenderedMetadata(s, d, git) {
		p.refused(s, ReasonNotEditable, d.Path+": a patch of the folder changes the object in the build, and nothing can be "+
			"merged into an encrypted document; take the patch away")
		return nil, nil //nolint:nilnil // refused
	}
	if p.oneOfSeveral(s, d) {
		return nil, nil //nolint:nilnil // refused
	}
	if !d.Encrypted && p.Documents(d.Path) > 1 {
		return &creation{subject: s, sensitive: true, labels: p.labels(s.live), moved: d}, nil
	}
	sealed, err := p.seal(ctx, s, d.Path, body)
	if err != nil || sealed == nil {
		return nil, err
	}
	file, i, err := p.Locate(d)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(sealed, body) {
		p.done(s, Unchanged, nil)
		return nil, nil //nolint:nilnil // nothing to create
	}
	next, err := yamledit.ReplaceDoc(file, i, sealed)
	if err != nil {
		p.notEditable(s, d, err)
		return nil, nil //nolint:nilnil // refused
	}
	if bytes.Equal(next, file) {
		p.done(s, Unchanged, nil)
		return nil, nil //nolint:nilnil // nothing to create
	}
	if err := p.Write(d.Path, next); err != nil {
		return nil, err
	}
	if !d.Encrypted {
		s.report.Notes = append(s.report.Notes, clearTextNote(d.Path))
	}
	if err := p.kust.prover().expect(s, d.Path); err != nil {
		return nil, err
	}
	p.done(s, Updated, sealed)
	return nil, nil //nolint:nilnil // nothing to create
}

// oneOfSeveral refuses to write or take away one of several encrypted documents of a file. SOPS reads such a file as one
// whole with one MAC, so that what is left would be unreadable for every reader (case E04).
func (p *planner) oneOfSeveral(s *subject, d *inventory.Document) bool {
	if !d.Encrypted || p.Encrypted(d.Path) < 2 {
		return false
	}
	s.report.Encryption = "failed"
	p.refused(s, ReasonSealFailed, d.Path+": it holds several encrypted documents, which cannot be written or taken away one "+
		"by one; give each a file of its own")
	return true
}

// seal encrypts one object for a path. Nil without an error means that the object was refused.
func (p sealing) seal(ctx context.Context, s *subject, name string, existing []byte) ([]byte, error) {
	if s.decided != nil && s.decided.Sealed != nil {
		return s.decided.Sealed, nil
	}
	if p.req.Sealer == nil {
		p.refused(s, ReasonEncryptionRequired, "the object is sensitive and no encryption is configured; set spec.encryption of the GitTarget")
		return nil, nil
	}
	if err := p.req.Sealer.Ready(); err != nil {
		s.report.Encryption = "failed"
		p.refused(s, ReasonEncryptionRequired, "the object is sensitive and encryption is not ready: "+err.Error())
		return nil, nil
	}
	rulesPath, rules, err := p.rules(name)
	if err != nil {
		return nil, err
	}
	options := sealOptions(s)
	res, err := p.req.Sealer.Seal(ctx, SealRequest{
		Object: s.id, Type: s.item.Type, UID: s.item.UID, Path: name, Existing: existing, RulesPath: rulesPath, Rules: rules,
		Desired: compare.Canonical(compare.Normalize(s.live, nil, options)), Masked: options.Mask.Keep,
		Settle: func(git []byte) ([]byte, error) {
			was, err := compare.Decode(git)
			if err != nil {
				return nil, errUnreadable
			}
			return compare.Canonical(compare.Normalize(s.live, was, options)), nil
		},
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		err = sealedDocument(res, s)
	}
	if err != nil {
		s.report.Encryption = "failed"
		if existing == nil && p.req.Policy.Placement.ByLabel() {
			s.report.Path = "" // it can hold a label's value, which may be the secret
		}
		p.refused(s, ReasonSealFailed, "the object cannot be encrypted: "+err.Error())
		return nil, nil
	}
	s.report.Encryption = res.Outcome
	s.report.Notes = append(s.report.Notes, res.Notes...)
	if res.Outcome == SealUnchanged {
		return existing, nil
	}
	return res.Document, nil
}

// sealOptions are the subject's, and for a Secret a masked entry of data is masked in stringData, too: both name one value.
func sealOptions(s *subject) compare.Options {
	o := s.options
	if s.id.Group != "" || s.id.Kind != "Secret" {
		return o
	}
	o.Mask.Keep = slices.Clone(o.Mask.Keep)
	for _, p := range s.options.Mask.Keep {
		if p == "/data" || strings.HasPrefix(p, "/data/") {
			o.Mask.Keep = append(o.Mask.Keep, "/stringData"+strings.TrimPrefix(p, "/data"))
		}
	}
	return o
}

// sealedDocument is the last check before bytes of a sensitive object may be written (G4): one encrypted document with
// the identity it should have.
func sealedDocument(r SealResult, s *subject) error {
	if r.Outcome == SealUnchanged {
		return nil
	}
	n, err := yamldoc.Parse(r.Document)
	if err != nil || n == nil {
		return errNotSealed
	}
	h := yamldoc.ReadHead(n)
	if !h.Encrypted || h.Kind != s.id.Kind || h.Group != s.id.Group || h.Name != s.id.Name {
		return errNotSealed
	}
	return nil
}

// rules returns the nearest .sops.yaml as it will be after this write.
func (p sealing) rules(name string) (string, []byte, error) {
	own, next, err := p.sopsConfig()
	if err != nil {
		return "", nil, err
	}
	at, b, err := p.Nearest(name, sopsConfigName)
	if err != nil || next == nil {
		return at, b, err
	}
	if at == own || b == nil || len(at) < len(own) {
		return own, next, nil
	}
	return at, b, nil
}

func clearTextNote(name string) string {
	return name + " held the object in clear; the history of the repository still does, so its values should be changed"
}
