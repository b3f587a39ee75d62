// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// readDir returns every file of a folder.
func readDir(dir string) (map[string]manifest.File, error) {
	t, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.close() }()
	out := map[string]manifest.File{}
	all := func(string) bool { return true }
	err = t.files(t.Root(), "", all, func(name string, content []byte) error {
		out[name] = manifest.File{Mode: t.was[name].Mode, Content: content}
		return nil
	})
	return out, err
}

// TestTreeOfAFolder: what Git would take, with Git's ids for manifests, and edits on top.
func TestTreeOfAFolder(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml": "a", "b/c.yaml": "c", "b/run.sh": "#!", "sub/.git": "gitdir: x", "sub/x.yaml": "x", ".git/config": "no",
		"b/" + staging + "/0.yaml": "content", staging + "/0": "none", "not-\xff-utf8.yaml": "n",
	} {
		p := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(p), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(p, []byte(content), 0o600)).To(Succeed())
	}
	g.Expect(os.Chmod(filepath.Join(dir, "b/run.sh"), 0o700)).To(Succeed())
	g.Expect(os.Symlink("a.yaml", filepath.Join(dir, "link.yaml"))).To(Succeed())
	d, err := openDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(d.close()).To(Succeed()) }()

	names := func(at string) map[string]manifest.Mode {
		e, err := manifest.Lookup(d, at)
		g.Expect(err).NotTo(HaveOccurred())
		list, err := d.Dir(e.ID)
		g.Expect(err).NotTo(HaveOccurred())
		out := map[string]manifest.Mode{}
		for _, e := range list {
			out[e.Name] = e.Mode
		}
		return out
	}
	g.Expect(names("")).To(Equal(map[string]manifest.Mode{
		"a.yaml": manifest.ModeFile, "b": manifest.ModeDir, "sub": manifest.ModeSubmodule, "link.yaml": manifest.ModeSymlink,
		"not-\xff-utf8.yaml": manifest.ModeFile,
	}))
	g.Expect(names("b")).To(HaveKeyWithValue("run.sh", manifest.ModeExecutable))
	g.Expect(names("b")).To(HaveKeyWithValue(staging, manifest.ModeDir))
	b, e, err := manifest.ReadFile(d, "b/c.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(Equal("c"))
	g.Expect(e.ID).To(Equal(manifest.BlobID([]byte("c"))))
	b, _, err = manifest.ReadFile(d, "link.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(Equal("a.yaml"), "a link is its text")

	before := d.Root()
	same, err := manifest.Lookup(d, "sub")
	g.Expect(err).NotTo(HaveOccurred())
	d.apply([]plan.Edit{
		{Path: "a.yaml", Delete: true}, {Path: "b/c.yaml", Mode: manifest.ModeFile, Content: []byte("next")},
		{Path: "new/deep/d.yaml", Mode: manifest.ModeFile, Content: []byte("d")},
	})
	g.Expect(d.Root()).NotTo(Equal(before))
	g.Expect(names("")).To(And(HaveKeyWithValue("new", manifest.ModeDir), Not(HaveKey("a.yaml"))))
	for name, want := range map[string]string{"b/c.yaml": "next", "new/deep/d.yaml": "d", "b/run.sh": "#!"} {
		b, _, err = manifest.ReadFile(d, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(b)).To(Equal(want))
	}
	still, err := manifest.Lookup(d, "sub")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(still).To(Equal(same), "what no edit reaches keeps its id")

	changes, err := d.changes()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changes).To(HaveLen(3))
	g.Expect(string(changes[1].was.Content) + ">" + string(changes[1].now.Content)).To(Equal("c>next"))
	d.apply([]plan.Edit{
		{Path: "b/c.yaml", Mode: manifest.ModeFile, Content: []byte("c")}, {Path: "new/deep/d.yaml", Delete: true},
	})
	changes, err = d.changes()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changes).To(HaveLen(1), "what was taken back is no change")

	g.Expect(os.WriteFile(filepath.Join(dir, "b/c.yaml"), []byte("theirs"), 0o600)).To(Succeed())
	d.apply([]plan.Edit{{Path: "b/c.yaml", Delete: true}})
	_, err = d.changes()
	g.Expect(err).To(MatchError("b/c.yaml changed while it was read; run the command again"))
}

// TestWhatIsNoManifestStaysOnTheDisk: a file of eight gigabytes lies in the folder and another one beside it; no command
// reads them.
func TestWhatIsNoManifestStaysOnTheDisk(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(dir, "apps"), 0o755)).To(Succeed())
	for _, name := range []string{"apps/model.bin", "dump.tar", "dump.yaml"} {
		f, err := os.Create(filepath.Join(dir, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Truncate(8 << 30)).To(Succeed())
		g.Expect(f.Close()).To(Succeed())
	}
	cm := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {k: v}\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "apps/a.yaml"), []byte(cm), 0o600)).To(Succeed())
	code, out, stderr, peak := run(t, "", "scan", dir, "--path", "apps")
	g.Expect(code).To(Equal(ExitRefused), stderr)
	g.Expect(out).To(ContainSubstring("model.bin: foreign-file"))
	g.Expect(peak).To(BeNumerically("<", 400<<20))

	g.Expect(os.WriteFile(filepath.Join(dir, "apps/.gittargetignore"), []byte("*.bin\n"), 0o600)).To(Succeed())
	live := string(bytes.ReplaceAll([]byte(cm), []byte("k: v"), []byte("k: w")))
	code, out, stderr, peak = run(t, live, "plan", dir, "--path", "apps", "--live", "-", "--write")
	g.Expect(code).To(Equal(ExitDone), out+stderr)
	g.Expect(peak).To(BeNumerically("<", 400<<20))
	b, err := os.ReadFile(filepath.Join(dir, "apps/a.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(Equal(live))

	code, _, stderr, peak = run(t, "", "scan", dir)
	g.Expect(code).To(Equal(ExitMisuse))
	g.Expect(stderr).To(ContainSubstring("dump.yaml is larger than 256 MiB, which no manifest is"))
	g.Expect(peak).To(BeNumerically("<", 400<<20))
}
