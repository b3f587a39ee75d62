// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// Object is a new object. Labels are the sanitized ones.
type Object struct {
	ID        change.ObjectID
	Type      change.Type
	Labels    map[string]string
	Sensitive bool
}

// Source is the rung that decided; the texts are the values of the metric label source.
type Source string

// The rungs (git-writer 5.2).
const (
	ByType        Source = "by_type"
	Default       Source = "default"
	KustomizeRoot Source = "kustomize_root"
	Canonical     Source = "canonical"
)

// Disposition says whether the document starts a file.
type Disposition string

// The dispositions.
const (
	NewFile  Disposition = "new_file"
	Appended Disposition = "appended"
)

// Reason is why an object was not placed (git-writer 5.6).
type Reason string

// The reasons.
const (
	InvalidPath             Reason = "invalid_path"
	SensitiveAppend         Reason = "sensitive_append"
	PlaintextOntoEncrypted  Reason = "plaintext_onto_encrypted"
	MixedSensitivityNewFile Reason = "mixed_sensitivity_new_file"
	MultiDocumentTarget     Reason = "multi_document_target"
	Unclassified            Reason = "unclassified"
)

// Refusal refuses one object; the rest of the batch goes on.
type Refusal struct {
	Reason  Reason
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// Placed is where one object goes.
type Placed struct {
	Object Object
	// Path is the file from the repository root; also set on a refusal when a path was found.
	Path        string
	Source      Source
	Disposition Disposition
	// OmitNamespace reports that metadata.namespace is not written (git-writer 4.8 and 5.8).
	OmitNamespace bool
	// Kustomization is the file that must list Path, from the repository root, and Entry the text to list; both empty
	// when nothing governs the path or the file is listed already. It may name the root that Batch.Root creates.
	Kustomization, Entry string
	// Refusal is nil for a placed object.
	Refusal *Refusal
}

// NewRoot is a kustomization to create at spec.path (git-writer 5.8).
type NewRoot struct {
	Path string
	// Resources lists every managed file of the folder and the new ones, sorted, relative to the folder.
	Resources []string
}

// Batch is what Place decided.
type Batch struct {
	// Objects are the placements, sorted by path, then identity: the order documents are written into a shared file.
	Objects []Placed
	// Root is set when useKustomize creates the folder's kustomization.
	Root *NewRoot
}

// Input is what Place looks at.
type Input struct {
	// Folder is the inventory before the batch.
	Folder *inventory.Folder
	Policy Policy
	// SerializeNamespace is the target's (git-writer 4.8); nil infers.
	SerializeNamespace *bool
	// Objects are the new objects: those without a document in the folder.
	Objects []Object
}

// Place decides where new objects go. It never fails: what cannot be placed is a Refusal. Refusals of the whole flush
// (several roots, an unrendered place) are acceptance.CheckWrites.
func Place(in Input) Batch { return Batch{} }

// InsertResource returns a resources list with an entry added: in order when the list is sorted, else at the end;
// unchanged when it is listed already.
func InsertResource(list []string, entry string) []string { return list }

// RemoveResource returns the list without an entry, however it is spelled ("./x.yaml" is "x.yaml").
func RemoveResource(list []string, entry string) []string { return list }
