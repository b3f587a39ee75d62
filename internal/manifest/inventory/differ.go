// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"path"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// difference is what a directory of the tree holds other than the node before, in Git's order.
type difference struct {
	steps []step
	// listed: the directory was read whole. What the ignore rules hide is among the steps then, changed or not.
	listed bool
}

// step is one child that differs. At least one side is set.
type step struct {
	// old is the child in the node before, when it was part of the folder.
	old entry
	// gone is the child in the tree before, when it is known; next the child in the tree now.
	gone, next manifest.DirEntry
}

// touches reports whether a name is among the steps.
func (d *difference) touches(name string) bool {
	return slices.ContainsFunc(d.steps, func(s step) bool {
		return s.next.Name == name || s.gone.Name == name || s.old.file != nil && path.Base(s.old.file.Path) == name
	})
}

// differ compares a directory with the node before. A tree that compares by itself makes the cost follow the change;
// else it follows the number of entries.
func (s *scanner) differ(old *dirNode, id manifest.ID) (*difference, error) {
	if d := s.differences[old]; d != nil && old != nil {
		return d, nil
	}
	d, err := s.compared(old, id)
	if d == nil && err == nil {
		d, err = s.listed(old, id)
	}
	if err == nil && old != nil {
		s.differences[old] = d
	}
	return d, err
}

// compared asks the tree; nil when it cannot tell.
func (s *scanner) compared(old *dirNode, id manifest.ID) (*difference, error) {
	if old == nil || old.id.IsZero() || id.IsZero() {
		return nil, nil //nolint:nilnil // see above
	}
	gone, here, ok, err := s.tree.diff(old.id, id)
	if err != nil || !ok {
		return nil, err
	}
	d := &difference{}
	for len(gone) > 0 || len(here) > 0 {
		c := 0
		switch {
		case len(gone) == 0:
			c = 1
		case len(here) == 0:
			c = -1
		default:
			c = compareNames(gone[0].Name, isDir(gone[0].Mode), here[0].Name, isDir(here[0].Mode))
		}
		var st step
		if c <= 0 {
			st.gone, gone = gone[0], gone[1:]
			st.old, _ = old.child(st.gone.Name, isDir(st.gone.Mode))
		}
		if c >= 0 {
			st.next, here = here[0], here[1:]
		}
		d.steps = append(d.steps, st)
	}
	return d, nil
}

// listed reads the directory and walks along the node.
func (s *scanner) listed(old *dirNode, id manifest.ID) (*difference, error) {
	list, err := s.tree.dir(id)
	if err != nil {
		return nil, err
	}
	d := &difference{listed: true}
	for e := range old.all() {
		name := path.Base(e.path())
		c := -1
		for len(list) > 0 {
			if c = compareNames(list[0].Name, isDir(list[0].Mode), name, e.dir != nil); c >= 0 {
				break
			}
			d.steps = append(d.steps, step{next: list[0]})
			list = list[1:]
		}
		switch {
		case c != 0:
			d.steps = append(d.steps, step{old: e})
			continue
		case !e.holds(list[0]):
			d.steps = append(d.steps, step{old: e, next: list[0]})
		}
		list = list[1:]
	}
	for _, c := range list {
		d.steps = append(d.steps, step{next: c})
	}
	return d, nil
}

// holds reports whether a child of the tree is what the entry knows.
func (e entry) holds(c manifest.DirEntry) bool {
	if e.dir != nil {
		return e.dir.id == c.ID
	}
	return e.file.ID == c.ID && e.file.Mode == c.Mode
}
