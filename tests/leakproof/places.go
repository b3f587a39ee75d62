// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package leakproof

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Report is what a search looked at and found. A proof with nothing searched is none: check Searched as well.
type Report struct {
	// Searched counts objects or files, Bytes their content.
	Searched int
	Bytes    int64
	Findings []Finding
}

// Files looks into every regular file below the given files and folders, and into what gzip files hold.
func (s *Scanner) Files(paths ...string) (Report, error) {
	var r Report
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			r.add(s, path, text)
			r.Findings = append(r.Findings, s.Text(path+" (its name)", []byte(path))...)
			if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
				if plain, err := io.ReadAll(z); err == nil {
					r.Findings = append(r.Findings, s.Text(path+" (uncompressed)", plain)...)
				}
			}
			return nil
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r *Report) add(s *Scanner, where string, text []byte) {
	r.Searched++
	r.Bytes += int64(len(text))
	r.Findings = append(r.Findings, s.Text(where, text)...)
}

// Repository looks into every object of a repository: blobs, trees, commits and tags, reachable or not, loose or packed.
// dir is a repository, bare or not, or a folder with an objects folder. Nothing in it is changed.
func (s *Scanner) Repository(ctx context.Context, dir string) (Report, error) {
	objects, err := objectsOf(dir)
	if err != nil {
		return Report{}, err
	}
	// A repository of our own that borrows the objects: then the folder needs to be nothing more than a store of objects,
	// and its configuration has no say.
	own, err := os.MkdirTemp("", "leakproof")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(own)
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "objects/info/alternates": objects + "\n", "refs/keep": "",
		"config": "[core]\n\tbare = true\n\trepositoryformatversion = 0\n",
	} {
		path := filepath.Join(own, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return Report{}, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return Report{}, err
		}
	}
	if err := os.Remove(filepath.Join(own, "refs/keep")); err != nil {
		return Report{}, err
	}
	cmd := exec.CommandContext(ctx, "git", "--git-dir", own, "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + own, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Report{}, err
	}
	if err := cmd.Start(); err != nil {
		return Report{}, err
	}
	r, err := s.batch(dir, out)
	_, _ = io.Copy(io.Discard, out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("git cat-file: %w: %s", waited, said.String())
	}
	return r, err
}

func objectsOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"objects", ".git/objects"} {
		if i, err := os.Stat(filepath.Join(dir, sub)); err == nil && i.IsDir() {
			return filepath.Join(dir, sub), nil
		}
	}
	return "", fmt.Errorf("%s has no objects folder: it is no Git repository", dir)
}

// batch reads `<id> <type> <size>`, the content, and a line break, for each object.
func (s *Scanner) batch(dir string, out io.Reader) (Report, error) {
	var r Report
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		header, err := in.ReadString('\n')
		if err == io.EOF && header == "" {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("git cat-file: %w", err)
		}
		f := strings.Fields(header)
		if len(f) != 3 {
			return r, fmt.Errorf("git cat-file: unexpected answer %q", header)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return r, fmt.Errorf("git cat-file: unexpected answer %q", header)
		}
		text := make([]byte, n+1)
		if _, err := io.ReadFull(in, text); err != nil {
			return r, fmt.Errorf("git cat-file: %w", err)
		}
		r.add(s, fmt.Sprintf("%s: %s %s", dir, f[1], f[0]), text[:n])
	}
}
