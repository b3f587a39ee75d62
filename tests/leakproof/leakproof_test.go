// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package leakproof_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/tests/leakproof"
)

func TestForms(t *testing.T) {
	secret, word, other := leakproof.Plant("password"), leakproof.PlantWord("token"), leakproof.Plant("other")
	s := leakproof.New(secret, word)
	quoted, _ := json.Marshal(map[string]string{"k": secret.Value})
	b64 := base64.StdEncoding.EncodeToString
	for name, text := range map[string]string{
		"plain":            "before " + secret.Value + " after",
		"JSON":             string(quoted),
		"Go":               fmt.Sprintf("%q", secret.Value),
		"URL":              "https://u:" + url.QueryEscape(secret.Value) + "@host",
		"path":             url.PathEscape(secret.Value),
		"hex":              hex.EncodeToString([]byte(secret.Value)),
		"base64":           "data: " + b64([]byte(secret.Value)),
		"with line break":  b64([]byte(secret.Value + "\n")),
		"user and value":   "Basic " + b64([]byte("ann:"+secret.Value)),
		"one byte before":  b64([]byte("x" + secret.Value + "y")),
		"two bytes before": b64([]byte("xx" + secret.Value + "yy")),
		"URL alphabet":     base64.URLEncoding.EncodeToString([]byte(secret.Value)),
		"encoded object":   b64([]byte(`{"data":{"pw":"` + b64([]byte(secret.Value)) + `"}}`)),
		"second secret":    "label=" + word.Value,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(s.Text("log", []byte(text))).NotTo(BeEmpty())
			for _, f := range s.Text("log", []byte(text)) {
				g.Expect(f.String()).NotTo(Or(ContainSubstring(secret.Value), ContainSubstring(word.Value)), "a finding shows no secret")
				g.Expect(f.Where).To(Equal("log"))
			}
		})
	}
	g := NewWithT(t)
	g.Expect(s.Text("log", []byte(other.Value+b64([]byte(other.Value))))).To(BeEmpty())
	g.Expect(s.Text("log", nil)).To(BeEmpty())
	found, err := s.Object("event", map[string]any{"message": secret.Value})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).NotTo(BeEmpty())
	_, err = s.Object("event", make(chan int))
	g.Expect(err).To(HaveOccurred())
	g.Expect(func() { leakproof.New(leakproof.Secret{Name: "short", Value: "x"}) }).To(Panic())
}

func git(t *testing.T, dir string, in []byte, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is required in CI")
		}
		t.Skip("git not found")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Every kind of object is searched, whether something points to it or not, loose and packed, in every kind of folder.
func TestRepository(t *testing.T) {
	secret := leakproof.PlantWord("word")
	s := leakproof.New(secret)
	for name, plant := range map[string]func(t *testing.T, dir string){
		"blob": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("pw: "+secret.Value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			git(t, dir, nil, "add", "f")
			git(t, dir, nil, "commit", "-qm", "x")
		},
		"removed again": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte(secret.Value), 0o600); err != nil {
				t.Fatal(err)
			}
			git(t, dir, nil, "add", "f")
			git(t, dir, nil, "commit", "-qm", "x")
			git(t, dir, nil, "rm", "-q", "f")
			git(t, dir, nil, "commit", "-qm", "x")
		},
		"file name":     func(t *testing.T, dir string) { tree(t, dir, secret.Value) },
		"message":       func(t *testing.T, dir string) { git(t, dir, nil, "commit", "-q", "--allow-empty", "-m", secret.Value) },
		"tag":           func(t *testing.T, dir string) { git(t, dir, nil, "tag", "-a", "v1", "-m", secret.Value) },
		"dangling blob": func(t *testing.T, dir string) { git(t, dir, []byte(secret.Value), "hash-object", "-w", "--stdin") },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			git(t, dir, nil, "init", "-q", ".")
			git(t, dir, nil, "commit", "-q", "--allow-empty", "-m", "first")
			r, err := s.Repository(t.Context(), dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Findings).To(BeEmpty())
			g.Expect(r.Searched).To(Equal(2), "a commit and its tree")

			plant(t, dir)
			found(g, s, dir)
			if name != "dangling blob" {
				git(t, dir, nil, "repack", "-qad")
				found(g, s, dir)
				bare := t.TempDir()
				git(t, dir, nil, "clone", "-q", "--mirror", dir, bare)
				found(g, s, bare)
				g.Expect(os.Remove(filepath.Join(bare, "HEAD"))).To(Succeed())
				found(g, s, bare)
			}
		})
	}
	_, err := s.Repository(t.Context(), t.TempDir())
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no objects folder")))
}

func tree(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, nil, "add", ".")
	git(t, dir, nil, "commit", "-qm", "x")
}

func found(g Gomega, s *leakproof.Scanner, dir string) {
	r, err := s.Repository(context.Background(), dir)
	g.ExpectWithOffset(1, err).NotTo(HaveOccurred())
	g.ExpectWithOffset(1, r.Findings).NotTo(BeEmpty())
	g.ExpectWithOffset(1, r.Findings[0].Where).To(HavePrefix(dir + ": "))
}

func TestFiles(t *testing.T) {
	g := NewWithT(t)
	secret := leakproof.PlantWord("word")
	s := leakproof.New(secret)
	dir := t.TempDir()
	write := func(name string, text []byte) {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, name), text, 0o600)).To(Succeed())
	}
	write("logs/clean.log", []byte("nothing"))
	r, err := s.Files(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r).To(Equal(leakproof.Report{Searched: 1, Bytes: 7}))

	write("logs/operator.log", []byte("x\n"+secret.Value))
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(secret.Value))
	g.Expect(w.Close()).To(Succeed())
	write("dump.gz", z.Bytes())
	write(secret.Value+"/empty", nil)
	r, err = s.Files(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Findings).To(HaveLen(3))
	g.Expect(r.Searched).To(Equal(4))
	_, err = s.Files(filepath.Join(dir, "missing"))
	g.Expect(err).To(HaveOccurred())
}

// recorder is a test that must fail.
type recorder struct{ texts []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func TestExpect(t *testing.T) {
	g := NewWithT(t)
	for want, r := range map[string]leakproof.Report{
		"holds nothing":                   {},
		`secret "pw" as base64 at byte 3`: {Searched: 1, Findings: []leakproof.Finding{{Where: "log", Secret: "pw", Form: "base64", Offset: 3}}},
	} {
		rec := &recorder{}
		leakproof.Expect(rec, "the log", r, nil)
		g.Expect(rec.texts).To(HaveLen(1))
		g.Expect(rec.texts[0]).To(ContainSubstring(want))
	}
	rec := &recorder{}
	leakproof.Expect(rec, "the log", leakproof.Report{Searched: 1}, nil)
	g.Expect(rec.texts).To(BeEmpty())
	leakproof.Expect(rec, "the log", leakproof.Report{}, os.ErrNotExist)
	g.Expect(rec.texts).To(HaveLen(1))
}
