// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

var _ = Describe("Five writers of one branch", func() {
	It("land 20 commits each, in one line, none lost", func(ctx SpecContext) {
		const writers, commits = 4, 20
		m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) {
			// A commit per write, as a person at the keyboard makes them.
			t.Spec.Commit.Window = &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{}, MaxDuration: &metav1.Duration{}}
		}})
		began := time.Now()
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { errs[w] = pushAll(m.repo.URL, filepath.Join(dir, unique("clone")), w, commits) })
		}
		for i := range commits {
			m.apply(ctx, fmt.Sprintf("object-%02d", i), data(i))
		}
		wg.Wait()
		for _, err := range errs {
			Expect(err).NotTo(HaveOccurred())
		}
		m.settled(ctx)
		took := time.Since(began)
		GinkgoWriter.Printf("all landed in %s\n", took)
		Expect(took).To(BeNumerically("<", 90*time.Second))
		count := map[string]int{}
		for _, c := range m.log() {
			Expect(len(c.Parents)).To(BeNumerically("<=", 1), "a merge: %s", c.Message)
			count[c.AuthorName]++
		}
		for w := range writers {
			Expect(count).To(HaveKeyWithValue(fmt.Sprintf("writer-%d", w), commits))
		}
		Expect(count).To(HaveKeyWithValue("GitOps Reverser", commits))
	})
})

// pushAll is a person with a clone: commit, push, and rebase when somebody was faster.
func pushAll(url, clone string, writer, commits int) error {
	name := fmt.Sprintf("writer-%d", writer)
	git := func(args ...string) error {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = clone, append(gitserver.Env(clone), "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+name+"@example.org",
			"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+name+"@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := os.MkdirAll(clone, 0o755); err != nil {
		return err
	}
	if err := git("clone", "-q", url, "."); err != nil {
		return err
	}
	for i := range commits {
		file := fmt.Sprintf("%s/%02d.txt", name, i)
		if err := os.MkdirAll(filepath.Join(clone, name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(clone, file), []byte(name), 0o600); err != nil {
			return err
		}
		if err := git("add", file); err != nil {
			return err
		}
		if err := git("commit", "-q", "-m", file); err != nil {
			return err
		}
		var err error
		for range 200 {
			if err = git("push", "-q", "origin", "HEAD:main"); err == nil {
				break
			}
			if rerr := git("pull", "-q", "--rebase", "origin", "main"); rerr != nil {
				return rerr
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
