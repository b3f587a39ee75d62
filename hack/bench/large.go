// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// history measures the memory of a branch in a repository of 20 000 files and 50 000 commits, 100 edits included.
func history(ctx context.Context, w *world) error {
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	const files, objects, edits = 20000, 50, 100
	tree := make(map[string]string, files)
	for i := range files {
		tree[fmt.Sprintf("sources/%02d/%05d.txt", i/1000, i)] = fmt.Sprintf("file %d\n%s", i, filler)
	}
	if _, err := m.repo.Commit("main", "Sources", tree); err != nil {
		return err
	}
	if err := m.repo.History("main", 50000); err != nil {
		return err
	}
	if err := m.fill(ctx, objects); err != nil {
		return err
	}
	baseline, highest, cpu := o.memory(), peak(o.PID()), o.cpu()
	w.git.Reset()
	if err := m.mirrored(ctx); err != nil {
		return err
	}
	w.table.add("history/first-commit-cpu", ms(o.cpu()-cpu), "ms", "")
	if err := m.single(ctx, "history/commit", objects, edits/2, ""); err != nil {
		return err
	}
	if err := m.single(ctx, "history/commit-again", objects, edits/2, ""); err != nil {
		return err
	}
	w.table.add("history/rss-peak-over-start", mib(highest())-baseline, "MiB", "<= 60")
	w.table.add("history/rss-over-start", o.memory()-baseline, "MiB", "")
	return nil
}

// writers lets the operator and four people with clones push 20 commits each to one branch.
func writers(ctx context.Context, w *world) error {
	const people, commits = 4, 20
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	if err := m.fill(ctx, commits); err != nil {
		return err
	}
	if err := m.mirrored(ctx); err != nil {
		return err
	}
	before, err := m.commits()
	if err != nil {
		return err
	}
	began := time.Now()
	errs := make([]error, people)
	var wg sync.WaitGroup
	for p := range people {
		clone := filepath.Join(w.dir, w.unique("clone"))
		wg.Go(func() { errs[p] = pushAll(ctx, m.repo.URL, clone, fmt.Sprintf("person-%d", p), commits) })
	}
	for i := range commits {
		if err := m.edit(ctx, i, w.unique("written")); err != nil {
			return err
		}
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	err = o.until(ctx, "all commits", 100*time.Millisecond, func() (bool, error) {
		have, err := m.commits()
		return have >= before+(people+1)*commits, err
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	have, err := m.commits()
	if err != nil {
		return err
	}
	w.table.add("writers/5x20/wall", took.Seconds(), "s", "< 30")
	w.table.add("writers/5x20/landed", float64(have-before), "commits", "100")
	return m.repo.Fsck()
}

// pushAll is a person with a clone: commit, push, and rebase when somebody was faster.
func pushAll(ctx context.Context, url, clone, name string, commits int) error {
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = clone, append(gitserver.Env(clone), "GIT_AUTHOR_NAME="+name, "GIT_COMMITTER_NAME="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Join(clone, name), 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", url}, {"pull", "-q", "origin", "main"}} {
		if err := git(args...); err != nil {
			return err
		}
	}
	for i := range commits {
		file := filepath.Join(name, fmt.Sprintf("%02d.txt", i))
		if err := os.WriteFile(filepath.Join(clone, file), []byte(name), 0o600); err != nil {
			return err
		}
		if err := git("add", file); err != nil {
			return err
		}
		if err := git("commit", "-q", "-m", file); err != nil {
			return err
		}
		for git("push", "-q", "origin", "HEAD:main") != nil {
			if err := git("pull", "-q", "--rebase", "origin", "main"); err != nil {
				return err
			}
		}
	}
	return nil
}
