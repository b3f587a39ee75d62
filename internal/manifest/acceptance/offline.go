// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// Offline returns what only a person at a terminal is told (git-writer 3.2): documents of a kind View.Kinds does not
// know, and documents that no build reaches although the folder has a render root. It refuses nothing, walks all
// documents and must not run on a worker path.
func Offline(in Input) []Issue {
	var out []Issue
	add := func(kind Kind, d *inventory.Document, message, cure string) {
		out = append(out, New(kind, in.Folder.Rel(d.Path), message).At(int(d.Index), int(d.Line)).WithCure(cure))
	}
	if in.View.Kinds != nil {
		for d := range in.Folder.Documents() {
			if e := in.Folder.Effective(d, in.View); e.Unresolved && !e.Patch {
				add(UnresolvedKRM, d, fmt.Sprintf("%s %s is no kind the source serves", d.APIVersion, d.Raw.Kind),
					"install or name its CustomResourceDefinition")
			}
		}
	}
	for d := range in.Folder.Unrendered() {
		add(OutOfScope, d, fmt.Sprintf("%s is in no build of the folder", d.Raw), "list the file in a kustomization")
	}
	Sort(out)
	return out
}
