// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	sopsage "github.com/getsops/sops/v3/age"
)

func quoteRegex(s string) string { return regexp.QuoteMeta(s) }

// encrypt makes the new document: the layout of the one in Git, the wanted content.
func (w *sealing) encrypt() ([]byte, error) {
	if w.hidden != "" {
		return nil, fmt.Errorf("a rule of spec.ignore keeps %s as Git has it, and no identity opens %s to keep it; add the "+
			"identity to the Secret of spec.encryption, or take the field out of the rule", w.hidden, w.r.Path)
	}
	if err := checkMetadata(w.want, w.plain); err != nil {
		return nil, err
	}
	tree := cloneBranch(w.want)
	switch w.git.state {
	case open, readable:
		tree = mergeBranches(cloneBranch(w.git.tree), w.want, w.kind.secret)
	case locked:
		tree = mergeBranches(withoutEncryptedComments(cloneBranch(w.git.tree)), w.want, w.kind.secret)
	}
	// What Git said in clear before is no less secret.
	tree = withoutTelling(tree, w.kind, append(plaintexts(w.git.clear(), w.kind), w.plain...))

	key, cipher, meta, err := w.keys()
	if err != nil {
		return nil, err
	}
	w.fields.apply(meta)
	enc, err := w.run(tree, key, cipher, meta)
	if err != nil {
		return nil, err
	}
	if w.git.state == open && bytes.Equal(key, w.git.key) {
		keepCiphertext(enc.Branches[0], tree, w.git.cipherTree, w.git.tree)
	}
	if err := checkSealed(enc.Branches[0], w.kind); err != nil {
		return nil, err
	}
	doc, err := w.emit(enc)
	if err != nil {
		return nil, err
	}
	if w.git.state == open || w.git.state == locked {
		if spliced, ok := splice(w.git.body, doc); ok && w.verify(spliced, tree, key) == nil {
			doc = spliced
		}
	}
	if err := w.verify(doc, tree, key); err != nil {
		return nil, err
	}
	id := blocksID(meta)
	w.o.Cache.keepDataKey(id, key)
	w.o.Cache.keepMade(w.madeID(id))
	return doc, nil
}

// keys decides about the data key. The one in the document is kept when this operator made it for the recipients in force,
// unless a re-key is asked for. Who may read no more, or brought a key of their own, must not read what comes.
func (w *sealing) keys() (key []byte, cipher aes.Cipher, meta *sops.Metadata, err error) {
	meta = &sops.Metadata{Version: sopsVersion}
	if w.git.state == open && w.o.Rekey == "" {
		had := recipientsOf(&w.git.meta)
		switch {
		case len(without(had, w.recipients)) > 0 || len(without(w.recipients, had)) > 0:
			w.notes = append(w.notes, w.r.Path+" is encrypted with a new data key, since its recipients changed")
		case !w.ours():
			w.notes = append(w.notes, w.r.Path+" is encrypted with a new data key, since somebody else made the present one")
		default:
			meta.Version, meta.KeyGroups = w.git.meta.Version, w.git.meta.KeyGroups
			return w.git.key, w.git.cipher, meta, nil
		}
	}
	key = make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	group := sops.KeyGroup{}
	err = guard("a recipient", func() error {
		for _, r := range w.recipients {
			k, err := w.block(r, key)
			if err != nil {
				return fmt.Errorf("the age recipient %q cannot be encrypted for", shortened(r))
			}
			group = append(group, k)
		}
		return nil
	})
	meta.KeyGroups = []sops.KeyGroup{group}
	return key, aes.NewCipher(), meta, err
}

// block encrypts the data key for one recipient.
func (w *sealing) block(recipient string, key []byte) (*sopsage.MasterKey, error) {
	k, err := sopsage.MasterKeyFromRecipient(recipient)
	if err != nil {
		return nil, err
	}
	identity := w.o.Keys.own[recipient]
	if identity == nil {
		return k, k.Encrypt(key)
	}
	enc, err := ownBlock(identity, w.r.Object, w.recipients, key)
	k.SetEncryptedDataKey(enc)
	return k, err
}

// run encrypts a copy of the tree and signs it with the MAC.
func (w *sealing) run(tree sops.TreeBranch, key []byte, cipher aes.Cipher, meta *sops.Metadata) (sops.Tree, error) {
	t := sops.Tree{Branches: sops.TreeBranches{cloneBranch(tree)}, Metadata: *meta}
	flags := inline(t.Branches[0], nil)
	err := guard("the object", func() error {
		inline(t.Branches[0], make([]bool, len(flags)))
		mac, err := t.Encrypt(key, cipher)
		if err != nil {
			return errors.New("SOPS cannot encrypt the object")
		}
		t.Metadata.LastModified = w.o.Now().UTC().Truncate(time.Second)
		t.Metadata.MessageAuthenticationCode, err = cipher.Encrypt(mac, key, t.Metadata.LastModified.Format(time.RFC3339))
		if err != nil {
			return errors.New("SOPS cannot make the MAC")
		}
		return nil
	})
	if err == nil {
		inline(t.Branches[0], flags)
	}
	return t, err
}

// keepCiphertext takes the old text of values that stay. The nonces the cipher remembers do that already, except for equal
// values in one list, which share a path. Old text is right for the same path, value and key.
func keepCiphertext(enc, plain, oldEnc, oldPlain any) any {
	switch p := plain.(type) {
	case sops.TreeBranch:
		e, okE := enc.(sops.TreeBranch)
		oe, okOE := oldEnc.(sops.TreeBranch)
		op, okOP := oldPlain.(sops.TreeBranch)
		if !okE || !okOE || !okOP || len(e) != len(p) {
			return enc
		}
		for i, it := range p {
			k, ok := it.Key.(string)
			if !ok {
				continue
			}
			x, okX := get(oe, k)
			y, okY := get(op, k)
			if okX && okY {
				e[i].Value = keepCiphertext(e[i].Value, it.Value, x, y)
			}
		}
	case []any:
		e, okE := enc.([]any)
		oe, okOE := oldEnc.([]any)
		op, okOP := oldPlain.([]any)
		if !okE || !okOE || !okOP || len(e) != len(p) || len(oe) != len(op) {
			return enc
		}
		for i := range min(len(p), len(op)) {
			e[i] = keepCiphertext(e[i], p[i], oe[i], op[i])
		}
	case string, int, float64, bool:
		old, okOld := oldEnc.(string)
		text, ok := enc.(string)
		if ok && okOld && p == oldPlain && isCiphertext(text) && isCiphertext(old) {
			return old
		}
	}
	return enc
}

// emit writes the document as the sops command does, in the indentation and the line breaks of the one in Git.
func (w *sealing) emit(enc sops.Tree) ([]byte, error) {
	indent := w.rule.indent
	if w.git.state != absent {
		indent = w.git.indent
	}
	if indent == 0 {
		indent = defaultIndent
	}
	var doc []byte
	err := guard("the encrypted object", func() error {
		out, err := store(indent).EmitEncryptedFile(enc)
		if err != nil {
			return errors.New("SOPS cannot write the encrypted object")
		}
		doc = out
		return nil
	})
	if err != nil {
		return nil, err
	}
	if bytes.Contains(w.git.body, []byte("\r\n")) {
		doc = bytes.ReplaceAll(doc, []byte("\n"), []byte("\r\n"))
	}
	return doc, nil
}

// verify reads a new document as a stranger would and compares: it opens, its MAC is right, it says what was wanted, and
// nothing sensitive is readable in it.
func (w *sealing) verify(doc []byte, tree sops.TreeBranch, key []byte) error {
	failed := errors.New("the encrypted result does not stand its check; nothing is written")
	return guard("the encrypted result", func() error {
		t, err := store(0).LoadEncryptedFile(doc)
		if err != nil || len(t.Branches) != 1 || checkSealed(t.Branches[0], w.kind) != nil {
			return failed
		}
		got := recipientsOf(&t.Metadata)
		if len(without(w.recipients, got)) != 0 || len(without(got, w.recipients)) != 0 {
			return failed
		}
		for _, k := range t.Metadata.KeyGroups[0] {
			if opened, own := w.openBlock(k); own && !bytes.Equal(opened, key) {
				return failed
			}
		}
		cipher := aes.NewCipher()
		mac, err := t.Decrypt(key, cipher)
		if err != nil {
			return failed
		}
		was, err := cipher.Decrypt(t.Metadata.MessageAuthenticationCode, key, t.Metadata.LastModified.Format(time.RFC3339))
		if err != nil || was != mac {
			return failed
		}
		if !equal(t.Branches[0], tree, false) || !equal(t.Branches[0], w.want, w.kind.secret) {
			return failed
		}
		return nil
	})
}

func (s selection) apply(m *sops.Metadata) {
	m.UnencryptedSuffix, m.EncryptedSuffix = s.unencryptedSuffix, s.encryptedSuffix
	m.UnencryptedRegex, m.EncryptedRegex = s.unencryptedRegex, s.encryptedRegex
	m.UnencryptedCommentRegex, m.EncryptedCommentRegex = s.unencryptedCommentRegex, s.encryptedCommentRegex
	m.MACOnlyEncrypted = s.macOnlyEncrypted
}

func fieldsOf(m *sops.Metadata) selection {
	return selection{
		unencryptedSuffix: m.UnencryptedSuffix, encryptedSuffix: m.EncryptedSuffix,
		unencryptedRegex: m.UnencryptedRegex, encryptedRegex: m.EncryptedRegex,
		unencryptedCommentRegex: m.UnencryptedCommentRegex, encryptedCommentRegex: m.EncryptedCommentRegex,
		macOnlyEncrypted: m.MACOnlyEncrypted,
	}
}

// withoutEncryptedComments drops comments nobody can read without the data key.
func withoutEncryptedComments(b sops.TreeBranch) sops.TreeBranch {
	secret := func(v any) bool {
		c, ok := v.(sops.Comment)
		return ok && strings.HasPrefix(c.Value, "ENC[")
	}
	b = slices.DeleteFunc(b, func(it sops.TreeItem) bool { return secret(it.Key) })
	for i := range b {
		switch v := b[i].Value.(type) {
		case sops.TreeBranch:
			b[i].Value = withoutEncryptedComments(v)
		case []any:
			for j := range v {
				if c, ok := v[j].(sops.TreeBranch); ok {
					v[j] = withoutEncryptedComments(c)
				}
			}
		}
	}
	return b
}
