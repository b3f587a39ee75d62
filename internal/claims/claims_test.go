// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

func target(ns, name, path string, age int) Target {
	return Target{
		Key:     change.TargetKey{Namespace: ns, Name: name, UID: ns + name},
		Created: time.Unix(int64(1000+age), 0), Repository: "git.example.org/shop/live", Branch: "main",
		Path: path, Provider: "shop/infra", Admitted: true,
	}
}

func with(t Target, f func(*Target)) Target { f(&t); return t }

func TestResolve(t *testing.T) {
	older := target("a", "one", "apps", 0)
	tests := []struct {
		name    string
		targets []Target
		loser   string
		message string
	}{
		{"scenario 24: an ancestor path of another namespace", []Target{target("b", "two", "apps/x", 1), older},
			"b/two", "overlaps"},
		{"scenario 24: equal times, the higher namespace/name loses",
			[]Target{target("b", "two", "apps", 0), older}, "b/two", "overlaps"},
		{"scenario 25: apps2 does not overlap apps", []Target{older, target("b", "two", "apps2", 1)}, "", ""},
		{"scenario 21 of git-writer: apps-2 does not overlap apps", []Target{older, target("b", "two", "apps-2", 1)}, "", ""},
		{"root overlaps everything", []Target{older, target("b", "two", ".", 1)}, "b/two", "overlaps"},
		{"a trailing slash is the same folder", []Target{older, target("b", "two", "apps/", 1)}, "b/two", "overlaps"},
		{"scenario 26: another provider of the same branch", []Target{older,
			with(target("b", "two", "other", 1), func(t *Target) { t.Provider = "b/mine" })}, "b/two", "shop/infra"},
		{"scenario 27: an unadmitted target decides nothing", []Target{
			with(older, func(t *Target) { t.Admitted = false }), target("b", "two", "apps", 1)}, "", ""},
		{"scenario 30: another parentBranch", []Target{older,
			with(target("b", "two", "other", 1), func(t *Target) { t.ParentBranch = "release" })}, "b/two", "parentBranch"},
		{"another branch is independent", []Target{older,
			with(target("b", "two", "apps", 1), func(t *Target) { t.Branch = "dev" })}, "", ""},
		{"a loser owns nothing", []Target{older, target("b", "two", "apps/x", 1), target("c", "three", "free", 2)},
			"b/two", "overlaps"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			got := Resolve(tt.targets)
			if tt.loser == "" {
				g.Expect(got).To(BeEmpty())
				return
			}
			g.Expect(got).To(HaveLen(1))
			for k, c := range got {
				g.Expect(k.String()).To(Equal(tt.loser))
				g.Expect(c.Message).To(ContainSubstring(tt.message))
				g.Expect(c.With).To(Equal(older.Key))
			}
		})
	}
}

func TestCleanPath(t *testing.T) {
	g := NewWithT(t)
	for in, want := range map[string]string{".": "", "./": "", "a/b/": "a/b", "a//b": "a/b", " a ": "a", "./a": "a"} {
		got, err := CleanPath(in)
		g.Expect(err).NotTo(HaveOccurred(), in)
		g.Expect(got).To(Equal(want), in)
	}
	for _, in := range []string{"", "/a", `a\b`, "a/../b", "..", ".git", ".GIT/hooks"} {
		_, err := CleanPath(in)
		g.Expect(err).To(MatchError(ErrPath), in)
	}
}
