// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package signing

// The keys of a signing Secret.
const (
	KeyPrivate    = "signing.key"
	KeyPublic     = "signing.pub"
	KeyPassphrase = "passphrase"
	KeyOpenPGP    = "git.asc"
)

// Signer signs commits with one key. It is safe for concurrent use and never changes.
type Signer struct {
	sign   func(commit []byte) ([]byte, error)
	public string
	id     string
}

// Sign returns the armoured signature of a commit object without its signature. Errors are *gitauth.Error with reason
// CommitConfigInvalid.
func (s *Signer) Sign(commit []byte) ([]byte, error) { return s.sign(commit) }

// PublicKey is the public form for status.signingPublicKey: an authorized_keys line without a line break, or an armoured
// OpenPGP public key.
func (s *Signer) PublicKey() string { return s.public }

// Fingerprint identifies the key: SHA256:... of an SSH key, the hexadecimal fingerprint of an OpenPGP key.
func (s *Signer) Fingerprint() string { return s.id }
