// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Sealer encrypts sensitive documents; internal/encryption implements it.
type Sealer interface {
	// Ready returns nil when sealing is possible. The error names what is missing and never holds a secret.
	Ready() error
	// Seal returns the encrypted YAML document of a sensitive object. An error refuses that one object.
	Seal(ctx context.Context, r SealRequest) (SealResult, error)
}

// SealRequest is one document to encrypt.
type SealRequest struct {
	Object change.ObjectID
	Type   change.Type
	UID    string
	// Desired is the sanitized object as JSON, its namespace settled for the place it goes to, as a new document holds it:
	// without what a mask reserves for the file. It does not depend on what Git has.
	Desired []byte
	// Settle gives the object that the document is to hold, for what it says in clear, both as JSON: masked fields stay as
	// Git has them, and so do defaults it leaves out (decisions 34, 39). Only the sealer can open the document. nil means
	// Desired, whatever Git says.
	Settle func(git []byte) ([]byte, error)
	// Masked are the JSON pointers of fields whose content in Git stays, present or absent.
	Masked []string
	// Path is the file's path from the repository root; creation rules match against it.
	Path string
	// Existing holds the bytes of the document in Git, encrypted or clear; nil for a new one.
	Existing []byte
	// Rules holds the nearest .sops.yaml and RulesPath its path from the repository root; nil when there is none.
	RulesPath string
	Rules     []byte
}

// Outcomes of sealing; the texts are the values of the metric label outcome of secret_encryptions_total.
const (
	SealEncrypted = "encrypted"
	SealCached    = "cached"
	// SealUnchanged: the existing document already holds this content.
	SealUnchanged = "unchanged"
)

// SealResult is an encrypted document.
type SealResult struct {
	// Document is the whole encrypted document, ending in a line break; for SealUnchanged the existing bytes.
	Document []byte
	Outcome  string
	// Notes are remarks for EncryptionConfigured or the log, such as a differing recipient set (decision 50).
	Notes []string
}
