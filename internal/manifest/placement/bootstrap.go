// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

// BootstrapFile is a file written with the first real write into a folder, never over an existing one
// (git-writer 8.1).
type BootstrapFile struct {
	// Name is relative to the folder.
	Name    string
	Content []byte
}

// Bootstrap returns README.md and .gittargetignore. The .sops.yaml belongs to encryption.
func Bootstrap() []BootstrapFile { return nil }
