// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

// Problem is one construct of a kustomization the operator refuses (git-writer 6.2).
type Problem struct {
	// Path is the kustomization file (or the file it names) from the repository root, Line 1-based, 0 when unknown.
	Path string
	Line int
	// Construct is a stable name such as "configMapGenerator" or "remote base".
	Construct string
	// Message says what is wrong in one sentence, with the decoder's words where there are some.
	Message string
	// Cure says what a person can do; empty when nothing in the repository would help.
	Cure string
	// Solvable reports that the author of the repository can cure it without giving up the construct.
	Solvable bool
	// Ignored reports that the file is hidden by .gittargetignore although a kustomization names it.
	Ignored bool
}
