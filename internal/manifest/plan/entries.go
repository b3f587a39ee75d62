// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
)

// writeEntries edits the kustomizations, each once.
func (k router) writeEntries() error {
	for _, c := range k.entries.Conflicts {
		msg := fmt.Sprintf("%s and %s need different values of one entry", c.First, c.Other)
		if c.First == c.Other {
			msg = fmt.Sprintf("%s needs two values of one entry, which cannot be expressed", c.First)
		}
		kust := k.p.Layout.Kustomization(c.Entry.Dir)
		i := acceptance.New(acceptance.KustomizeRenderRefused, k.rel(kust.Path), msg)
		i.Cure = "give the containers different images entries, or take the entry out and pin the images in the manifests"
		k.p.issue(i)
	}
	if len(k.entries.Conflicts) > 0 {
		return nil
	}
	for _, dir := range k.entries.Dirs() {
		c := k.p.Layout.Kustomization(dir)
		err := k.p.EditKustomization(c.Path, func(v map[string]any) { k.entries.Apply(dir, v) })
		if workspace.IsIO(err) {
			return err
		}
		if err != nil {
			k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(c.Path), "the entry cannot be edited: "+err.Error()))
		}
	}
	return nil
}

// wish keeps what an object wants from the kustomization of a directory until nothing stands against the object.
func (pd *pending) wish(k router, dir string, f func()) {
	pd.elsewhere = append(pd.elsewhere, func() {
		if c := k.p.Layout.Kustomization(dir); c != nil && !slices.Contains(pd.written, c.Path) {
			pd.written = append(pd.written, c.Path)
		}
		f()
	})
}
