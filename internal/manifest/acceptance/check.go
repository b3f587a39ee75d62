// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import "github.com/configbutler/gitops-reverser/internal/manifest/inventory"

// Input is what the checks of a folder look at.
type Input struct {
	Folder *inventory.Folder
	// View reads identities. Its Kinds must be nil on a worker path: no refusal may depend on discovery.
	View inventory.View
	// Sensitive reports further sensitive types by group and kind; core Secrets always are. May be nil.
	Sensitive func(group, kind string) bool
	// SerializeNamespace and SourceNamespaces are the target's; "*" stands for all namespaces.
	SerializeNamespace *bool
	SourceNamespaces   []string
}

// Check returns everything that stands against writing into the folder, sorted by path, document and kind.
func Check(in Input) []Issue { return nil }

// Write is one file a flush is about to write, with its path from the repository root.
type Write struct {
	Path   string
	Delete bool
	// New marks a file that is not in the tree. Source marks one whose change must show in a build: a manifest or a
	// patch. Edits of the kustomization itself and bootstrap files are not sources.
	New, Source bool
}

// Flush is what a plan is about to write.
type Flush struct {
	Writes []Write
	// Places reports that the flush creates documents; NewPaths are the files they go to.
	Places   bool
	NewPaths []string
	// UseKustomize is spec.placement.useKustomize.
	UseKustomize bool
}

// CheckWrites returns what stands against a flush, in the order of git-writer 6.9: ignored paths, the jail, fan-in,
// then ambiguous layout and unrendered placement. Sorted as Check does.
func CheckWrites(in Input, fl Flush) []Issue { return nil }

// Condition returns the reason of GitPathAccepted=False (git-writer 3.4) and a message of at most 512 bytes. Without
// issues it returns "Succeeded" and a short sentence.
func Condition(issues []Issue) (reason, message string) { return "", "" }
