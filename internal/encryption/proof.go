// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	sopsage "github.com/getsops/sops/v3/age"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// A data key is kept from one version of a document to the next, so that a changed value changes one line. Whoever can push
// could put a document there whose data key they know, readable for the operator like any other, and would read what the
// operator then encrypts with it. So the operator leaves a proof beside the data key it makes for itself: a stanza in the
// age header, which every reader of age skips. It is bound to the object and to the recipients, so that neither a former
// recipient nor one of another object can bring an old key back. Editing with the sops command keeps it.

// proofStanza is the stanza's type.
const proofStanza = "gitops-reverser"

// maxHeader bounds what is read of an age header.
const maxHeader = 64 << 10

// proof is what only a holder of the identity can compute.
func proof(identity age.Identity, id change.ObjectID, recipients []string, key []byte) string {
	text, ok := identity.(fmt.Stringer)
	if !ok {
		return ""
	}
	derived := hmac.New(sha256.New, []byte(text.String()))
	derived.Write([]byte("gitops-reverser: proof of a data key, v1"))
	h := hmac.New(sha256.New, derived.Sum(nil))
	for _, part := range []string{id.Group, id.Kind, id.Namespace, id.Name, strings.Join(slices.Sorted(slices.Values(recipients)), "\x1f"), string(key)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}

// proven wraps a recipient so that the proof goes into the header.
type proven struct {
	age.Recipient
	proof string
}

// Wrap implements age.Recipient.
func (p proven) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	s, _, err := p.WrapWithLabels(fileKey)
	return s, err
}

// WrapWithLabels implements age.RecipientWithLabels: post-quantum recipients have one.
func (p proven) WrapWithLabels(fileKey []byte) (s []*age.Stanza, labels []string, err error) {
	if r, ok := p.Recipient.(age.RecipientWithLabels); ok {
		s, labels, err = r.WrapWithLabels(fileKey)
	} else {
		s, err = p.Recipient.Wrap(fileKey)
	}
	return append(s, &age.Stanza{Type: proofStanza, Args: []string{p.proof}}), labels, err
}

// ownBlock encrypts the data key for the operator's own identity, with the proof.
func ownBlock(identity age.Identity, id change.ObjectID, recipients []string, key []byte) ([]byte, error) {
	p := proven{proof: proof(identity, id, recipients, key)}
	switch i := identity.(type) {
	case *age.X25519Identity:
		p.Recipient = i.Recipient()
	case *age.HybridIdentity:
		p.Recipient = i.Recipient()
	default:
		return nil, fmt.Errorf("no recipient is known for %T", identity)
	}
	var b bytes.Buffer
	text := armor.NewWriter(&b)
	w, err := age.Encrypt(text, p)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(key); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := text.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// proofOf reads the proof of an encrypted data key; empty when there is none.
func proofOf(block []byte) string {
	r := bufio.NewReader(io.LimitReader(armor.NewReader(bytes.NewReader(block)), maxHeader))
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "---") {
			return ""
		}
		if text, ok := strings.CutPrefix(line, "-> "+proofStanza+" "); ok {
			return strings.TrimSpace(text)
		}
	}
}

// ours reports whether the data key of the open document in Git was made by this operator for this object and exactly the
// recipients in force.
func (w *sealing) ours() bool {
	if w.o.Cache.wasMade(w.madeID(blocksID(&w.git.meta))) {
		return true
	}
	for _, g := range w.git.meta.KeyGroups {
		for _, k := range g {
			m, ok := k.(*sopsage.MasterKey)
			if !ok || w.o.Keys.own[m.Recipient] == nil {
				continue
			}
			want := proof(w.o.Keys.own[m.Recipient], w.r.Object, w.recipients, w.git.key)
			if want != "" && hmac.Equal([]byte(proofOf(m.EncryptedDataKey())), []byte(want)) {
				return true
			}
		}
	}
	return false
}

// madeID binds a data key's encrypted forms to the object.
func (w *sealing) madeID(blocks [32]byte) [32]byte {
	id := w.r.Object
	return sha256.Sum256([]byte(strings.Join([]string{string(blocks[:]), id.Group, id.Kind, id.Namespace, id.Name}, "\x1f")))
}
