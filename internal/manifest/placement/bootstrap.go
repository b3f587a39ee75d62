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

const readme = `# Mirrored by GitOps Reverser

The manifests in this folder follow a live Kubernetes cluster: when somebody changes an object there, the operator
commits the change here.

- Edit a manifest in place and the operator keeps your comments, key order and quoting. A file may be moved or renamed;
  its object is found again.
- Files the operator does not know (other than this one, licences and a few dot files) stop it from writing. List them
  in ` + "`.gittargetignore`" + `.
- Secrets are stored encrypted or not at all.

What stands against a write is shown by ` + "`kubectl get gittargets`" + ` in the condition GitPathAccepted.
`

const ignoreTemplate = `# Paths below this folder that the GitOps Reverser must leave alone, one pattern per line, as in .gitignore.
# Ignored files are never read, written or deleted. A pattern that hides every manifest is refused.
#
# /docs/
# /charts/
# *.bak.yaml
# !keep.bak.yaml
`

// Bootstrap returns README.md and .gittargetignore, all of whose lines are comments. The .sops.yaml belongs to
// encryption.
func Bootstrap() []BootstrapFile {
	return []BootstrapFile{
		{Name: "README.md", Content: []byte(readme)},
		{Name: ".gittargetignore", Content: []byte(ignoreTemplate)},
	}
}
