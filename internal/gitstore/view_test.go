// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

func TestViewFindsAndComparesWithoutListing(t *testing.T) {
	w := newWorld(t, map[string]string{"apps/a.yaml": "1", "apps/b.yaml": "2", "apps/sub/c.yaml": "3", "README.md": "x"})
	s := w.fetched()
	before, err := s.Tree(s.Base())
	w.Expect(err).NotTo(HaveOccurred())
	apps, ok, err := before.Child(before.Root(), "apps")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(ok).To(BeTrue())
	w.Expect(apps.Mode).To(BeEquivalentTo(0o040000))
	_, ok, err = before.Child(before.Root(), "nothing")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(ok).To(BeFalse())

	tip := w.commit(s, s.Base(), "edit", put("apps/a.yaml", "other"), del("apps/b.yaml"), put("apps/n.yaml", "new"))
	after, err := s.Tree(tip)
	w.Expect(err).NotTo(HaveOccurred())
	now, _, err := after.Child(after.Root(), "apps")
	w.Expect(err).NotTo(HaveOccurred())
	names := func(list []gitstore.Entry) (out []string) {
		for _, e := range list {
			out = append(out, e.Name)
		}
		return out
	}
	gone, here, ok, err := after.Diff(apps.ID, now.ID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(ok).To(BeTrue())
	w.Expect(names(gone)).To(Equal([]string{"a.yaml", "b.yaml"}))
	w.Expect(names(here)).To(Equal([]string{"a.yaml", "n.yaml"}))

	// A directory the store does not hold is no damage: the caller lists.
	_, _, ok, err = after.Diff(gitstore.Hash{1, 2, 3}, now.ID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(ok).To(BeFalse())
	w.Expect(s.Tree(tip)).NotTo(BeNil(), "the store is still trusted")
}
