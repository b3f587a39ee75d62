// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"strings"

	"github.com/fluxcd/pkg/git/signature"
	"golang.org/x/crypto/ssh"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

// Missing reports whether the Secret holds no signing key at all, so that one may be generated.
func Missing(secret gitauth.Secret) bool {
	return len(bytes.TrimSpace(secret[KeyPrivate])) == 0 && len(bytes.TrimSpace(secret[KeyOpenPGP])) == 0
}

// Load makes the signer of a Secret; name is how messages call it, as namespace/name. Errors are *gitauth.Error:
// SecretNotFound without a key, CommitConfigInvalid when the key cannot be used. With both kinds signing.key counts.
func Load(secret gitauth.Secret, name string) (*Signer, error) {
	passphrase := bytes.TrimRight(secret[KeyPassphrase], "\r\n")
	switch {
	case Missing(secret):
		return nil, gitauth.Errorf(gitauth.SecretNotFound,
			`the signing Secret %s has neither "signing.key" nor "git.asc"; add a key or set generateWhenMissing`, name)
	case len(bytes.TrimSpace(secret[KeyPrivate])) > 0:
		return loadSSH(secret[KeyPrivate], passphrase, name)
	default:
		return loadOpenPGP(secret[KeyOpenPGP], passphrase, name)
	}
}

// LoadCached is Load for callers that sign often: opening a key with a passphrase is slow on purpose. A changed Secret is
// loaded anew. The text of a signer's later errors keeps the first name.
func LoadCached(cache *gitauth.Memo[*Signer], secret gitauth.Secret, name string) (*Signer, error) {
	load := func() (*Signer, error) { return Load(secret, name) }
	return cache.Do(load, secret[KeyPrivate], secret[KeyOpenPGP], secret[KeyPassphrase])
}

func invalid(name, format string, args ...any) *gitauth.Error {
	e := gitauth.Errorf(gitauth.CommitConfigInvalid, format, args...)
	e.Message = "the signing Secret " + name + ": " + e.Message + "; no commit is made without a signature"
	return e
}

func loadSSH(key, passphrase []byte, name string) (*Signer, error) {
	parsed, err := openSSH(key, passphrase, name)
	if err != nil {
		return nil, err
	}
	// The library reads a key from its PEM form only. Deriving a key from a passphrase is slow on purpose, so it is
	// handed the opened key.
	block, err := ssh.MarshalPrivateKey(parsed, "")
	if err != nil {
		return nil, invalid(name, `"signing.key" cannot sign: %v`, err)
	}
	inner, err := signature.NewSSHSigner(pem.EncodeToMemory(block), nil)
	if err != nil {
		return nil, invalid(name, `"signing.key" cannot sign: %v`, err)
	}
	signer, err := ssh.NewSignerFromKey(parsed)
	if err != nil {
		return nil, invalid(name, `"signing.key" cannot sign: %v`, err)
	}
	return &Signer{
		sign: func(commit []byte) ([]byte, error) {
			sig, err := inner.Sign(bytes.NewReader(commit))
			if err != nil {
				return nil, invalid(name, "signing failed: %v", err)
			}
			return sig, nil
		},
		public: authorizedKey(signer.PublicKey()),
		id:     ssh.FingerprintSHA256(signer.PublicKey()),
	}, nil
}

// openSSH reads a private key, encrypted or not.
func openSSH(key, passphrase []byte, name string) (crypto.PrivateKey, error) {
	key, err := gitauth.OpenPKCS8(key, passphrase)
	if err != nil {
		return nil, invalid(name, `"signing.key" does not open with "passphrase": %v; store the key's own passphrase there`, err)
	}
	parsed, err := ssh.ParseRawPrivateKey(key)
	var missing *ssh.PassphraseMissingError
	encrypted := errors.As(err, &missing)
	if encrypted && len(passphrase) > 0 {
		parsed, err = ssh.ParseRawPrivateKeyWithPassphrase(key, passphrase)
	}
	switch {
	case err == nil:
		return parsed, nil
	case encrypted && len(passphrase) == 0:
		return nil, invalid(name, `"signing.key" has a passphrase and the Secret has no "passphrase"; add it`)
	case encrypted:
		return nil, invalid(name, `"signing.key" does not open with "passphrase"; store the key's own passphrase there`)
	default:
		return nil, invalid(name, `"signing.key" is no private key in OpenSSH or PKCS#8 form: %v`, err)
	}
}

// authorizedKey is one line without a line break.
func authorizedKey(k ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

// Generate returns the entries to add to a Secret without a key: an ed25519 key in OpenSSH form, encrypted when the
// Secret has a passphrase, and its public form. A key that is present is never replaced: that is an error.
func Generate(existing gitauth.Secret, comment string) (gitauth.Secret, error) {
	if !Missing(existing) {
		return nil, gitauth.Errorf(gitauth.CommitConfigInvalid, "the signing Secret already has a key; it is not replaced")
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, gitauth.Errorf(gitauth.CommitConfigInvalid, "no signing key could be generated: %v", err)
	}
	var block *pem.Block
	if passphrase := bytes.TrimRight(existing[KeyPassphrase], "\r\n"); len(passphrase) > 0 {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, comment, passphrase)
	} else {
		block, err = ssh.MarshalPrivateKey(private, comment)
	}
	if err != nil {
		return nil, gitauth.Errorf(gitauth.CommitConfigInvalid, "no signing key could be generated: %v", err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, gitauth.Errorf(gitauth.CommitConfigInvalid, "no signing key could be generated: %v", err)
	}
	line := authorizedKey(key)
	if comment != "" {
		line += " " + comment
	}
	return gitauth.Secret{KeyPrivate: pem.EncodeToMemory(block), KeyPublic: []byte(line + "\n")}, nil
}
