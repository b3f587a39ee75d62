// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/getsops/sops/v3"

	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// Options make a Sealer.
type Options struct {
	// Keys are recipients and identities, from ResolveKeys.
	Keys Keys
	// NotReady is why encryption is not possible, usually the error of ResolveKeys; nil when it is.
	NotReady error
	// UseRepositoryRules takes the recipients from the nearest .sops.yaml instead of Keys: whoever can push decides then
	// who can read (decisions 50).
	UseRepositoryRules bool
	// Scope names the GitTarget and its repository branch. Nothing is shared between scopes.
	Scope string
	// Cache is shared by all Sealers of the process; nil makes a new one.
	Cache *Cache
	// Digests and DigestKey recognise unchanged documents when no identity is held; without either, such documents are
	// encrypted anew once after a restart.
	Digests   Digests
	DigestKey []byte
	// Rekey is the value of the re-key request being handled; empty means none. Every document is encrypted anew once for
	// it, with a new data key for the current recipients (decisions 55).
	Rekey string
	// Now is the clock of lastmodified; nil means time.Now.
	Now func() time.Time
}

// Sealer encrypts the sensitive documents of one GitTarget. It is safe for concurrent use and never changes; what it
// remembers is in the Cache.
type Sealer struct{ o Options }

var _ plan.Sealer = (*Sealer)(nil)

// New makes a Sealer.
func New(o Options) *Sealer {
	if o.Cache == nil {
		o.Cache = NewCache()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sealer{o: o}
}

// Ready implements plan.Sealer.
func (s *Sealer) Ready() error {
	switch {
	case s.o.NotReady != nil:
		return s.o.NotReady
	case len(s.o.Keys.recipients) == 0 && !s.o.UseRepositoryRules:
		return errorf(InvalidConfig, "no age recipient is configured")
	}
	return nil
}

// sealing is the work on one document.
type sealing struct {
	*Sealer
	r    plan.SealRequest
	kind kind
	rule rule
	// desired is the object as the document is to hold it, want its tree in the style of the one in Git.
	desired []byte
	want    sops.TreeBranch
	git     *document
	// plain are the texts that must not be readable.
	plain []string
	// hidden is a masked field that the document in Git holds encrypted and that nothing here can open.
	hidden     string
	fields     selection
	recipients []string
	notes      []string
}

// Seal implements plan.Sealer. Its errors refuse this one object and hold no value of it.
func (s *Sealer) Seal(ctx context.Context, r plan.SealRequest) (plan.SealResult, error) {
	if err := errors.Join(ctx.Err(), s.Ready()); err != nil {
		return plan.SealResult{}, err
	}
	w := &sealing{Sealer: s, r: r, kind: kindOf(r)}
	if err := w.read(); err != nil {
		return plan.SealResult{}, err
	}
	if w.unchanged(ctx) {
		w.remember(ctx, r.Existing)
		return plan.SealResult{Document: r.Existing, Outcome: plan.SealUnchanged, Notes: w.notes}, nil
	}
	id := w.id()
	if doc := s.o.Cache.document(id); doc != nil {
		w.remember(ctx, doc)
		return plan.SealResult{Document: doc, Outcome: plan.SealCached, Notes: w.notes}, nil
	}
	doc, err := w.encrypt()
	if err != nil {
		return plan.SealResult{}, err
	}
	s.o.Cache.keepDocument(id, doc)
	w.remember(ctx, doc)
	if s.o.Rekey != "" {
		s.o.Cache.keepRekeyed(w.rekeyID(doc))
	}
	return plan.SealResult{Document: doc, Outcome: plan.SealEncrypted, Notes: w.notes}, nil
}

// read prepares everything that the answer depends on.
func (w *sealing) read() error {
	var err error
	if w.git, err = w.load(w.r.Existing, w.kind); err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	want, err := treeOf(w.desired)
	if err != nil {
		return err
	}
	if _, ok := get(want, "sops"); ok {
		return errors.New("the object has a field sops of its own, which SOPS needs for itself")
	}
	w.want = inStyleOf(w.git.tree, want, w.kind)
	w.plain = plaintexts(w.want, w.kind)
	if w.git.state == absent {
		// The path of a new document can hold a label's value, and what follows names the path.
		if err := checkMetadata(w.want, w.plain); err != nil {
			return err
		}
	}
	rule, exists, err := matchRule(w.r.Rules, w.r.RulesPath, w.r.Path)
	if err != nil {
		return err
	}
	w.rule = rule
	if err := w.chooseFields(exists); err != nil {
		return err
	}
	return w.chooseRecipients()
}

// chooseFields decides which fields are encrypted (decisions 50, 55): by the rule, else as the document is, else by
// default when there is no file of somebody else that says no.
func (w *sealing) chooseFields(rulesExist bool) error {
	encrypted := w.git.state == locked || w.git.state == open
	switch {
	case w.rule.found && !w.rule.fields.empty():
		w.fields = w.rule.fields
	case w.rule.found:
		w.fields = selection{encryptedRegex: defaultEncryptedRegex, macOnlyEncrypted: w.rule.fields.macOnlyEncrypted}
	case encrypted:
		w.fields = fieldsOf(&w.git.meta)
	case rulesExist && !w.rule.own:
		return fmt.Errorf("no creation rule of %s matches %s; add one, for example with path_regex: %s",
			w.r.RulesPath, w.r.Path, defaultPathRegex)
	default:
		w.fields = selection{encryptedRegex: defaultEncryptedRegex}
	}
	if !w.kind.secret {
		w.fields = selection{encryptedRegex: w.wholeBody(), macOnlyEncrypted: w.fields.macOnlyEncrypted}
	}
	return nil
}

// wholeBody matches every top-level field but apiVersion, kind and metadata. SOPS looks at every name on the way to a
// value, so naming what stays clear would leave a nested metadata clear, too.
func (w *sealing) wholeBody() string {
	var fields []string
	for _, it := range w.want {
		if k := it.Key.(string); w.kind.sensitive(k) {
			fields = append(fields, quoteRegex(k))
		}
	}
	if len(fields) == 0 {
		fields = []string{"spec"}
	}
	slices.Sort(fields)
	return "^(" + strings.Join(fields, "|") + ")$"
}

// chooseRecipients takes the spec's, or the rule's when the spec says so.
func (w *sealing) chooseRecipients() error {
	w.recipients = w.o.Keys.recipients
	if !w.o.UseRepositoryRules {
		note := ""
		if w.rule.found {
			note = w.rule.differs(w.r.RulesPath, w.recipients)
		}
		if note != "" {
			w.notes = append(w.notes, note)
		}
		w.o.Cache.notices.set(w.o.Scope, w.r.Path, note)
		return nil
	}
	switch {
	case !w.rule.found:
		return fmt.Errorf("spec.encryption.useRepositoryRules is set and no creation rule of the repository matches %s",
			w.r.Path)
	case w.rule.others:
		return fmt.Errorf("the creation rule of %s for %s names keys of other kinds than age, or several key "+
			"groups; only age recipients are supported", w.r.RulesPath, w.r.Path)
	case len(w.rule.recipients) == 0:
		return fmt.Errorf("the creation rule of %s for %s names no age recipient", w.r.RulesPath, w.r.Path)
	}
	for _, r := range w.rule.recipients {
		if why := checkRecipient(r); why != "" {
			return fmt.Errorf("the age recipient %q in %s cannot be used: %s", shortened(r), w.r.RulesPath, why)
		}
	}
	w.recipients = w.rule.recipients
	return nil
}

// unchanged reports whether the document in Git holds the object's content already.
func (w *sealing) unchanged(ctx context.Context) bool {
	if w.o.Rekey != "" && w.git.state != absent && !w.o.Cache.wasRekeyed(w.rekeyID(w.r.Existing)) {
		return false
	}
	switch w.git.state {
	case open:
		same := w.git.covered && equal(w.git.tree, w.want, w.kind.secret)
		if same && !w.git.intact {
			w.notes = append(w.notes, w.r.Path+" was edited without SOPS, so that its MAC is wrong; it is repaired")
		}
		return same && w.git.intact
	case locked:
		if w.known(ctx) {
			return true
		}
		if w.git.readable != "" {
			w.notes = append(w.notes, w.r.Path+" held "+w.git.readable+" in clear beside encrypted values; the history of "+
				"the repository still does, so that value should be changed")
			return false
		}
		w.notes = append(w.notes, w.r.Path+" cannot be compared, since no identity opens it and no digest of it is "+
			"recorded; it is encrypted anew")
	}
	return false
}

// known reports whether a digest of exactly this document for exactly this content is recorded.
func (w *sealing) known(ctx context.Context) bool {
	if w.o.Digests == nil || len(w.o.DigestKey) == 0 || !w.git.covered {
		return false
	}
	tokens, err := w.o.Digests.Get(ctx, w.storeKey())
	if err != nil {
		w.notes = append(w.notes, "the recorded digests cannot be read")
		return false
	}
	token := w.token(w.r.Existing)
	return slices.ContainsFunc(tokens, func(t string) bool { return hmac.Equal([]byte(t), []byte(token)) })
}

// remember records that a document holds the content, when only a digest can tell later.
func (w *sealing) remember(ctx context.Context, doc []byte) {
	if w.o.Digests == nil || len(w.o.DigestKey) == 0 || w.o.Keys.opens(w.recipients) {
		return
	}
	if err := w.o.Digests.Put(ctx, w.storeKey(), w.token(doc)); err != nil {
		w.notes = append(w.notes, "the digest cannot be recorded; the document may be encrypted anew after a restart")
	}
}

func (w *sealing) digestKey() string {
	id := w.r.Object
	return strings.Join([]string{w.o.Scope, w.r.Path, id.Group, id.Kind, id.Namespace, id.Name}, "\x1f")
}

// storeKey is under what the tokens of an object are kept; it tells nothing of the object without the digest key.
func (w *sealing) storeKey() string {
	h := hmac.New(sha256.New, w.o.DigestKey)
	h.Write([]byte("name\x1f" + w.digestKey()))
	return hex.EncodeToString(h.Sum(nil))
}

func (w *sealing) token(doc []byte) string {
	h := hmac.New(sha256.New, w.o.DigestKey)
	sum := sha256.Sum256(normal(doc))
	h.Write(sum[:])
	h.Write(w.r.Desired)
	return hex.EncodeToString(h.Sum(nil))
}

// normal leaves out what storing a document in a file may change.
func normal(doc []byte) []byte {
	return []byte(strings.TrimRight(strings.ReplaceAll(string(doc), "\r\n", "\n"), "\n"))
}

// id identifies an encryption by everything that goes into it, so that a replay gets the same bytes (git-writer 8.5).
func (w *sealing) id() [32]byte {
	h := sha256.New()
	for _, part := range []string{w.digestKey(), w.r.UID, w.o.Rekey, fmt.Sprint(w.fields, w.rule.indent),
		strings.Join(w.recipients, "\x1f"), string(w.desired), string(normal(w.r.Existing))} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return [32]byte(h.Sum(nil))
}

func (w *sealing) rekeyID(doc []byte) [32]byte {
	return sha256.Sum256([]byte(w.o.Scope + "\x1f" + w.o.Rekey + "\x1f" + string(normal(doc))))
}
