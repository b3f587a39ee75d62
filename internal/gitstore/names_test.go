// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

func TestCaseG20_SpellingsOfOneRepositoryAreOneIdentity(t *testing.T) {
	g := NewWithT(t)
	for want, spellings := range map[gitstore.Normal][]string{
		{Identity: "https://host/org/Repo", HostPath: "host/org/Repo", Scheme: "https", Host: "host"}: {
			"https://host/org/Repo", "https://HOST/org/Repo.git", "https://host:443/org/Repo.git/", "HTTPS://user@host/org/Repo//", "https://host./org/./x/../Repo",
		},
		{Identity: "ssh://host/org/Repo", HostPath: "host/org/Repo", Scheme: "ssh", Host: "host"}: {
			"ssh://git@host/org/Repo.git", "ssh://host:22/org/Repo", "git@host:org/Repo.git", "git@HOST:/org/Repo/",
		},
		{Identity: "ssh://host:2222/org/Repo", HostPath: "host:2222/org/Repo", Scheme: "ssh", Host: "host:2222"}: {
			"ssh://git@host:2222/org/Repo.git",
		},
	} {
		for _, s := range spellings {
			n, err := gitstore.NormalizeURL(s)
			g.Expect(err).NotTo(HaveOccurred(), s)
			g.Expect(n).To(Equal(want), s)
		}
	}
	a, err := gitstore.NormalizeURL("https://host/org/repo.git.git")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.HostPath).To(Equal("host/org/repo.git"), "one .git only")
	_, err = gitstore.NormalizeURL("https://u:hunter22@host/x")
	g.Expect(err).To(MatchError(Not(ContainSubstring("hunter22"))))
}

func TestBranchNamesAreChecked(t *testing.T) {
	g := NewWithT(t)
	for name, ok := range map[string]bool{
		"main": true, "feature/x-1": true, "a.b": true, "ünï": true,
		"": false, "-x": false, "HEAD": false, "@": false, "refs/heads/main": false, "a..b": false, "a b": false, "a~b": false, "a:b": false,
		"a/": false, "/a": false, "a//b": false, ".a": false, "a/.b": false, "a.lock": false, "a.": false, "a@{b": false, "a\x01": false, "a*": false, `a\b`: false,
	} {
		s, err := gitstore.New(gitstore.Options{Dir: t.TempDir() + "/s", URL: "https://host/x", Branch: name})
		if !ok {
			g.Expect(err).To(HaveOccurred(), name)
			continue
		}
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(s.Close()).To(Succeed())
	}
}
