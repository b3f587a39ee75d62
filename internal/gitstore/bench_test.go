// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// benchWorld is a repository with these files and a store with a base. Times are printed, never asserted.
func benchWorld(b *testing.B, files map[string]string) (*gitserver.Server, *gitserver.Repo, *gitstore.Store) {
	b.Helper()
	server := gitserver.Start(b, gitserver.Options{})
	repo, err := server.CreateRepo("repo", gitserver.RepoOptions{Files: files})
	if err != nil {
		b.Fatal(err)
	}
	return server, repo, benchStore(b, repo)
}

func benchStore(b *testing.B, repo *gitserver.Repo) *gitstore.Store {
	b.Helper()
	p, err := gitstore.Probe(context.Background(), gitstore.Options{URL: repo.URL})
	if err != nil {
		b.Fatal(err)
	}
	s, err := gitstore.New(gitstore.Options{Dir: filepath.Join(b.TempDir(), "store"), URL: repo.URL, Branch: "main", Capabilities: p.Capabilities})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Fetch(b.Context(), gitstore.Hash{}); err != nil {
		b.Fatal(err)
	}
	return s
}

// spread puts n files into folders of at most 1000.
func spread(n int) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprintf("ns-%03d/cm-%05d.yaml", i/1000, i)] = manifest(i, "one")
	}
	return m
}

func BenchmarkCommit(b *testing.B) {
	for name, files := range map[string]map[string]string{
		"spread/200": spread(200), "spread/20000": spread(20000), "flat/200": many(200, "apps/"), "flat/20000": many(20000, "apps/"),
	} {
		b.Run(name, func(b *testing.B) {
			_, _, s := benchWorld(b, files)
			var path string
			for path = range files {
				if strings.Contains(path, "00123") {
					break
				}
			}
			tip := s.Base()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				id, _, err := s.Commit(b.Context(), tip, []gitstore.Edit{put(path, manifest(123, strconv.Itoa(i)))}, message("x"))
				if err != nil {
					b.Fatal(err)
				}
				tip = id
				if i%100 == 0 {
					s.Drop(s.Base())
					tip = s.Base()
				}
			}
		})
	}
}

func BenchmarkCommitAndPush(b *testing.B) {
	for _, n := range []int{200, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			_, _, s := benchWorld(b, spread(n))
			i := 0
			for b.Loop() {
				i++
				id, _, err := s.Commit(b.Context(), s.Base(), []gitstore.Edit{put("ns-000/cm-00123.yaml", manifest(123, strconv.Itoa(i)))}, message("x"))
				if err != nil {
					b.Fatal(err)
				}
				if r, err := s.Push(b.Context(), s.Base(), id); err != nil || r.Outcome != gitstore.Accepted {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64(s.Stats().Sent)/float64(i), "sentB/op")
		})
	}
}

func BenchmarkCommitSnapshot(b *testing.B) {
	for _, n := range []int{1000, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			_, _, s := benchWorld(b, map[string]string{"a": "b"})
			var edits []gitstore.Edit
			for p, c := range spread(n) {
				edits = append(edits, put(p, c))
			}
			for b.Loop() {
				if _, _, err := s.Commit(b.Context(), s.Base(), edits, message("x")); err != nil {
					b.Fatal(err)
				}
				s.Drop(s.Base())
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/object")
		})
	}
}

func BenchmarkFetchFresh(b *testing.B) {
	for _, n := range []int{200, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			_, repo, _ := benchWorld(b, spread(n))
			for b.Loop() {
				_ = benchStore(b, repo)
			}
		})
	}
}

func BenchmarkFetchIncremental(b *testing.B) {
	for _, n := range []int{200, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			_, repo, s := benchWorld(b, spread(n))
			before := s.Stats().Received
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				if _, err := repo.Commit("main", "foreign", map[string]string{"ns-000/cm-00123.yaml": strconv.Itoa(i)}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := s.Fetch(b.Context(), gitstore.Hash{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.Stats().Received-before)/float64(i), "receivedB/op")
		})
	}
}

func BenchmarkFetchReadAllBlobs(b *testing.B) {
	_, _, s := benchWorld(b, spread(20000))
	for b.Loop() {
		v, err := s.Tree(s.Base())
		if err != nil {
			b.Fatal(err)
		}
		dirs, err := v.Dir(v.Root())
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range dirs {
			entries, err := v.Dir(d.ID)
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				if _, err := v.Blob(e.ID); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*20000), "µs/blob")
}

// BenchmarkFetchLargeHistory is case G11: 20 000 files and 50 000 commits. It prints the memory of the store.
func BenchmarkFetchLargeHistory(b *testing.B) {
	server := gitserver.Start(b, gitserver.Options{})
	repo, err := server.CreateRepo("repo", gitserver.RepoOptions{Files: spread(20000)})
	if err != nil {
		b.Fatal(err)
	}
	if err := repo.History("main", 50000); err != nil {
		b.Fatal(err)
	}
	before := rss(b)
	var s *gitstore.Store
	for b.Loop() {
		s = benchStore(b, repo)
		for i := range 100 {
			id, _, err := s.Commit(b.Context(), s.Base(), []gitstore.Edit{put("ns-000/cm-00123.yaml", manifest(123, strconv.Itoa(i)))}, message("x"))
			if err != nil {
				b.Fatal(err)
			}
			if r, err := s.Push(b.Context(), s.Base(), id); err != nil || r.Outcome != gitstore.Accepted {
				b.Fatal(r, err)
			}
		}
	}
	b.ReportMetric(float64(rss(b)-before)/1024, "rssMiB")
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heapMiB")
	runtime.KeepAlive(s)
}

// rss is the anonymous resident memory of this process, in KiB.
func rss(b *testing.B) int {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "RssAnon:" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	return 0
}
