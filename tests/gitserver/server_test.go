// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func TestServerServesTheGitCommand(t *testing.T) {
	g := NewWithT(t)
	s := gitserver.Start(t, gitserver.Options{Username: "u", Password: "p"})
	r, err := s.CreateRepo("one", gitserver.RepoOptions{Files: map[string]string{"a/b.txt": "x", `odd "name".txt`: "y"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Fsck()).To(Succeed())
	g.Expect(r.Files("main")).To(HaveLen(2))

	clone := func(url string) error {
		c := exec.Command("git", "clone", "-q", url, filepath.Join(t.TempDir(), "c"))
		c.Env = gitserver.Env(t.TempDir())
		return c.Run()
	}
	g.Expect(clone(r.URL)).NotTo(Succeed(), "without credentials")
	s.SetAuth("", "")
	s.Reset()
	g.Expect(clone(r.URL)).To(Succeed())
	g.Expect(s.Requests()).NotTo(BeEmpty())
	g.Expect(s.Requests()[0].Status).To(Equal(200))

	s.SetFault(gitserver.Fault{Service: "git-upload-pack", Times: 1, Status: 503})
	g.Expect(clone(r.URL)).NotTo(Succeed())
	g.Expect(clone(r.URL)).To(Succeed(), "the fault was for one request")

	_, err = r.Delete("main", "drop", "a")
	g.Expect(err).NotTo(HaveOccurred())
	log, err := r.Log("main")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log).To(HaveLen(2))
	g.Expect(log[0].Message).To(Equal("drop"))
	g.Expect(r.ReadFile("main", `odd "name".txt`)).To(Equal([]byte("y")))
}
