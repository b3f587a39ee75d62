// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/fluxcd/pkg/git/signature"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

// loadOpenPGP reads an armoured private key. The first key of the ring that has private parts is used.
func loadOpenPGP(armoured, passphrase []byte, name string) (signer *Signer, err error) {
	defer func() {
		if p := recover(); p != nil { // a hostile key must not end the process (decisions 94)
			signer, err = nil, invalid(name, `"git.asc" makes the OpenPGP library fail`)
		}
	}()
	if err := checkCost(armoured); err != nil {
		return nil, invalid(name, `"git.asc" cannot be used: %v`, err)
	}
	ring, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(armoured))
	if err != nil {
		return nil, invalid(name, `"git.asc" is no armoured OpenPGP private key: %v`, err)
	}
	entity := privateEntity(ring)
	if entity == nil {
		return nil, invalid(name, `"git.asc" holds only public keys; export it with gpg --export-secret-keys --armor`)
	}
	if bad := unlock(entity, passphrase, name); bad != nil {
		return nil, bad
	}
	public, err := armouredPublic(entity)
	if err != nil {
		return nil, invalid(name, `"git.asc" has no public form: %v`, err)
	}
	inner, err := signature.NewOpenPGPSigner(entity)
	if err != nil {
		return nil, invalid(name, `"git.asc" cannot sign: %v`, err)
	}
	s := &Signer{public: public, id: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint)}
	s.sign = func(commit []byte) ([]byte, error) {
		sig, err := inner.Sign(bytes.NewReader(commit))
		if err != nil {
			return nil, invalid(name, "signing failed, the key may have expired: %v", err)
		}
		return sig, nil
	}
	if _, err := s.Sign([]byte("probe")); err != nil { // an expired or revoked key is found before the first commit
		return nil, err
	}
	return s, nil
}

func privateEntity(ring openpgp.EntityList) *openpgp.Entity {
	for _, e := range ring {
		if e.PrivateKey != nil {
			return e
		}
		for _, sub := range e.Subkeys {
			if sub.PrivateKey != nil {
				return e
			}
		}
	}
	return nil
}

// unlock decrypts the private parts. A primary key kept elsewhere (a stub, as with exported subkeys) stays locked.
func unlock(e *openpgp.Entity, passphrase []byte, name string) *gitauth.Error {
	keys := []func() (locked bool, open func([]byte) error){}
	if p := e.PrivateKey; p != nil && !p.Dummy() {
		keys = append(keys, func() (bool, func([]byte) error) { return p.Encrypted, p.Decrypt })
	}
	for _, sub := range e.Subkeys {
		if p := sub.PrivateKey; p != nil && !p.Dummy() {
			keys = append(keys, func() (bool, func([]byte) error) { return p.Encrypted, p.Decrypt })
		}
	}
	for _, k := range keys {
		locked, open := k()
		switch {
		case !locked:
		case len(passphrase) == 0:
			return invalid(name, `"git.asc" has a passphrase and the Secret has no "passphrase"`)
		default:
			if open(passphrase) != nil {
				return invalid(name, `"git.asc" does not open with "passphrase"; store the key's own passphrase there`)
			}
		}
	}
	return nil
}

func armouredPublic(e *openpgp.Entity) (string, error) {
	var b strings.Builder
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	if err != nil {
		return "", err
	}
	if err := e.Serialize(w); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}
