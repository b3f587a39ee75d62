// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Zero is the object id that names nothing.
const Zero = "0000000000000000000000000000000000000000"

// RepoOptions configure a new bare repository.
type RepoOptions struct {
	// Branch is what HEAD points to; default "main".
	Branch string
	// Files are committed to Branch when there are any.
	Files map[string]string
	// Config holds git settings of the repository.
	Config map[string]string
	// ObjectFormat is sha1 (default) or sha256.
	ObjectFormat string
}

// Repo is one bare repository.
type Repo struct {
	Name string
	Dir  string
	URL  string

	server *Server
}

// File is one entry of a commit made by a test. A nil *File in a map deletes the path.
type File struct {
	// Mode is git's text: 100644 (default), 100755, 120000, 160000 (Content is a commit id then).
	Mode    string
	Content string
}

// Commit is one commit as git log shows it.
type Commit struct {
	Hash, Tree                    string
	Parents                       []string
	AuthorName, AuthorEmail       string
	AuthorDate, CommitterDate     string
	CommitterName, CommitterEmail string
	// Message is the whole message.
	Message string
}

// Env is an environment in which no configuration of the host or the user has an effect.
func Env(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Other", "GIT_AUTHOR_EMAIL=other@example.com",
		"GIT_COMMITTER_NAME=Other", "GIT_COMMITTER_EMAIL=other@example.com",
	}
}

// CreateRepo makes a bare repository <name>.git that accepts pushes.
func (s *Server) CreateRepo(name string, o RepoOptions) (*Repo, error) {
	r := s.Repo(name)
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return nil, err
	}
	branch := cmp.Or(o.Branch, "main")
	format := "--object-format=" + cmp.Or(o.ObjectFormat, "sha1")
	if _, err := r.Git("init", "-q", "--bare", "--initial-branch="+branch, format); err != nil {
		return nil, err
	}
	config := map[string]string{"http.receivepack": "true", "gc.auto": "0", "receive.autogc": "false",
		"core.fsync": "none"} // test data: a power failure may take it
	maps.Copy(config, o.Config)
	for _, k := range slices.Sorted(maps.Keys(config)) {
		if _, err := r.Git("config", k, config[k]); err != nil {
			return nil, err
		}
	}
	if len(o.Files) > 0 {
		if _, err := r.Commit(branch, "initial content", o.Files); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Repo is the handle of a repository by name, whether it exists or not.
func (s *Server) Repo(name string) *Repo {
	return &Repo{Name: name, Dir: s.RepoDir(name), URL: s.URL(name), server: s}
}

// RepoDir is the folder of a repository.
func (s *Server) RepoDir(name string) string { return filepath.Join(s.dir, name+".git") }

// Git runs git in the repository and returns its standard output.
func (r *Repo) Git(args ...string) (string, error) { return r.gitIn(nil, args...) }

func (r *Repo) gitIn(stdin []byte, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Env = r.Dir, Env(filepath.Dir(r.Dir))
	c.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("git %s: %w: %s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// Commit adds a commit to a branch that sets the given files, and returns its id. A branch that does not exist begins
// with it.
func (r *Repo) Commit(branch, message string, files map[string]string) (string, error) {
	set := make(map[string]*File, len(files))
	for p, c := range files {
		set[p] = &File{Content: c}
	}
	return r.CommitFiles(branch, message, set)
}

// Delete adds a commit that deletes paths (files or whole folders).
func (r *Repo) Delete(branch, message string, paths ...string) (string, error) {
	set := map[string]*File{}
	for _, p := range paths {
		set[p] = nil
	}
	return r.CommitFiles(branch, message, set)
}

// CommitFiles is Commit with modes and deletions; all files go through one git fast-import.
func (r *Repo) CommitFiles(branch, message string, files map[string]*File) (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Other <other@example.com> now\n", branch)
	fmt.Fprintf(&b, "data %d\n%s\n", len(message), message)
	if tip := r.Tip(branch); tip != Zero {
		fmt.Fprintf(&b, "from %s\n", tip)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		switch {
		case f == nil:
			fmt.Fprintf(&b, "D %s\n", quotePath(p))
		case f.Mode == "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Content, quotePath(p))
		default:
			fmt.Fprintf(&b, "M %s inline %s\n", cmp.Or(f.Mode, "100644"), quotePath(p))
			fmt.Fprintf(&b, "data %d\n%s\n", len(f.Content), f.Content)
		}
	}
	b.WriteString("\ndone\n")
	if _, err := r.gitIn(b.Bytes(), "fast-import", "--quiet", "--force", "--date-format=now", "--done"); err != nil {
		return "", err
	}
	return r.Tip(branch), nil
}

// History adds n small commits to a branch, for tests of long histories.
func (r *Repo) History(branch string, n int) error {
	var b bytes.Buffer
	tip := r.Tip(branch)
	for i := range n {
		fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Other <other@example.com> now\ndata 1\nh\n", branch)
		if i == 0 && tip != Zero {
			fmt.Fprintf(&b, "from %s\n", tip)
		}
		content := fmt.Sprint(i)
		fmt.Fprintf(&b, "M 100644 inline history.txt\ndata %d\n%s\n\n", len(content), content)
	}
	b.WriteString("done\n")
	_, err := r.gitIn(b.Bytes(), "fast-import", "--quiet", "--force", "--date-format=now", "--done")
	return err
}

func quotePath(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// Tip is the commit a branch points to; Zero when it does not exist.
func (r *Repo) Tip(branch string) string {
	out, err := r.Git("rev-parse", "--verify", "-q", "refs/heads/"+branch)
	if err != nil {
		return Zero
	}
	return strings.TrimSpace(out)
}

// Branches maps the branches to their tips.
func (r *Repo) Branches() (map[string]string, error) {
	out, err := r.Git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for line := range strings.Lines(out) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[name] = id
	}
	return m, nil
}

// Fsck checks every object strictly; nil means clean.
func (r *Repo) Fsck() error {
	if r.server != nil {
		r.server.receiving.Lock()
		defer r.server.receiving.Unlock()
	}
	c := exec.Command("git", "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	c.Dir, c.Env = r.Dir, Env(filepath.Dir(r.Dir))
	out, err := c.CombinedOutput()
	var text []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "notice: ") { // "HEAD points to an unborn branch", "No default references"
			text = append(text, line)
		}
	}
	if err != nil || len(text) > 0 {
		return fmt.Errorf("git fsck: %s %w", strings.Join(text, ""), cmp.Or(err, errors.New("not clean")))
	}
	return nil
}

// Log returns the commits reachable from a branch (or any revision), newest first.
func (r *Repo) Log(rev string) ([]Commit, error) {
	const format = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01"
	out, err := r.Git("log", "--topo-order", "--format="+format, rev, "--")
	if err != nil {
		return nil, err
	}
	var cs []Commit
	for rec := range strings.SplitSeq(out, "\x00\x01") {
		f := strings.Split(strings.TrimPrefix(rec, "\n"), "\x00")
		if len(f) < 10 {
			continue
		}
		cs = append(cs, Commit{Hash: f[0], Tree: f[1], Parents: strings.Fields(f[2]), AuthorName: f[3], AuthorEmail: f[4],
			AuthorDate: f[5], CommitterName: f[6], CommitterEmail: f[7], CommitterDate: f[8], Message: f[9]})
	}
	return cs, nil
}

// Show is a commit with its diff as git shows it.
func (r *Repo) Show(rev string) (string, error) {
	return r.Git("show", "--stat", "--patch", "--format=fuller", rev)
}

// ReadFile returns the bytes of a file on a branch (or any revision).
func (r *Repo) ReadFile(rev, path string) ([]byte, error) {
	out, err := r.Git("cat-file", "blob", rev+":"+path)
	return []byte(out), err
}

// Files maps every path of a branch (or any revision) to "mode id".
func (r *Repo) Files(rev string) (map[string]string, error) {
	out, err := r.Git("ls-tree", "-r", "-z", rev)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for rec := range strings.SplitSeq(out, "\x00") {
		meta, path, ok := strings.Cut(rec, "\t")
		if f := strings.Fields(meta); ok && len(f) == 3 {
			m[path] = f[0] + " " + f[2]
		}
	}
	return m, nil
}

// Contents maps every file of a branch (or any revision) to its bytes; submodules are left out.
func (r *Repo) Contents(rev string) (map[string]string, error) {
	files, err := r.Files(rev)
	if err != nil {
		return nil, err
	}
	var in bytes.Buffer
	var paths []string
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if mode, id, _ := strings.Cut(files[p], " "); mode != "160000" {
			paths = append(paths, p)
			fmt.Fprintln(&in, id)
		}
	}
	out, err := r.gitIn(in.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(paths))
	for _, p := range paths {
		head, rest, _ := strings.Cut(out, "\n")
		var id, kind string
		var size int
		if _, err := fmt.Sscan(head, &id, &kind, &size); err != nil || len(rest) < size+1 {
			return nil, fmt.Errorf("git cat-file: %q", head)
		}
		m[p], out = rest[:size], rest[size+1:]
	}
	return m, nil
}

// SetHook installs a shell script as a hook (pre-receive, update, post-receive); an empty script removes it.
func (r *Repo) SetHook(name, script string) error {
	p := filepath.Join(r.Dir, "hooks", name)
	if script == "" {
		return os.RemoveAll(p)
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, []byte("#!/bin/sh\n"+script+"\n"), 0o755)
}

// IsAncestor reports whether a is in the history of b.
func (r *Repo) IsAncestor(a, b string) bool {
	_, err := r.Git("merge-base", "--is-ancestor", a, b)
	return err == nil
}

// Wipe removes every ref and object, as a repository that was deleted and made again.
func (s *Server) Wipe(name string, o RepoOptions) (*Repo, error) {
	if err := os.RemoveAll(s.RepoDir(name)); err != nil {
		return nil, err
	}
	return s.CreateRepo(name, o)
}
