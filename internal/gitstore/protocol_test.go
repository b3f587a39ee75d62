// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// roundTrip looks, fetches, commits, pushes and fetches again after a foreign commit.
func (w *world) roundTrip(s *gitstore.Store) {
	w.t.Helper()
	r, err := s.Look(w.t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(r.Tip).To(Equal(w.tip()))
	w.Expect(r.HeadBranch).To(Equal("main"))
	w.Expect(s.Fetch(w.t.Context(), gitstore.Hash{})).To(Succeed())
	w.push(s, s.Base(), w.commit(s, s.Base(), "ours", put("apps/cm-00001.yaml", "ours")), gitstore.Accepted)
	_, err = w.repo.Commit("main", "foreign", map[string]string{"apps/cm-00002.yaml": "theirs"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(s.Fetch(w.t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Base()).To(Equal(w.tip()))
	w.Expect(w.read(s, s.Base(), "apps/cm-00001.yaml")).To(Equal("ours"))
	w.Expect(w.read(s, s.Base(), "apps/cm-00002.yaml")).To(Equal("theirs"))
	w.push(s, s.Base(), w.commit(s, s.Base(), "ours again", put("apps/cm-00001.yaml", "again")), gitstore.Accepted)
	w.sound(s)
}

func TestServerWithoutV2IsDetectedAndRemembered(t *testing.T) {
	w := newWorld(t, many(300, "apps/"), gitserver.Options{V0Only: true})
	s := w.store()
	_, err := s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.count()).To(Equal(2), "v2 in vain, then the advertisement, which is the answer")
	_, err = s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.count()).To(Equal(1), "remembered")
	w.roundTrip(s)
	for _, r := range w.server.Requests() {
		w.Expect(r.Protocol).To(BeEmpty())
	}
}

func TestServerThatLearnsV2IsFollowed(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	s := w.fetched()
	w.server.SetV0Only(true) // replaced by an old server
	_, err := s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.roundTrip(s)
}

// azure refuses clients without multi_ack and requests of v2, as Azure DevOps does, and advertises no sideband.
func azure(r *http.Request, body []byte) (int, string) {
	if !strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
		return 0, ""
	}
	if !bytes.Contains(body, []byte("multi_ack")) {
		return http.StatusBadRequest, "TF401041: The supplied request is not valid: multi_ack is required."
	}
	return 0, ""
}

func TestCaseG01_MultiAckIsDemanded(t *testing.T) {
	w := newWorld(t, many(300, "apps/"), gitserver.Options{V0Only: true, Password: "t"})
	w.server.SetFault(gitserver.Fault{Refuse: azure})
	w.roundTrip(w.store(func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{Username: "", Password: "t"}, nil // an empty user name is fine
		}
	}))
}

func TestSHA256RepositoryIsTyped(t *testing.T) {
	for _, v0 := range []bool{false, true} {
		w := newWorld(t, nil, gitserver.Options{V0Only: v0})
		_, err := w.server.Wipe("repo", gitserver.RepoOptions{ObjectFormat: "sha256"})
		w.Expect(err).NotTo(HaveOccurred())
		_, err = gitstore.Probe(t.Context(), gitstore.Options{URL: w.repo.URL})
		w.expectKind(err, gitstore.UnsupportedFormat)
		if v0 { // an old upload-pack says nothing about an empty repository; receive-pack is asked before a branch is made
			s := w.store()
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			_, err = s.Push(t.Context(), gitstore.Hash{}, w.commit(s, gitstore.Hash{}, "first", put("a", "b")))
		} else {
			_, err = w.store().Look(t.Context())
		}
		w.expectKind(err, gitstore.UnsupportedFormat)
		_, err = w.server.Wipe("repo", gitserver.RepoOptions{ObjectFormat: "sha256", Files: map[string]string{"a": "b"}})
		w.Expect(err).NotTo(HaveOccurred())
		s := w.store()
		for range 2 {
			_, err = s.Look(t.Context())
			w.expectKind(err, gitstore.UnsupportedFormat)
		}
	}
}

// expectKind expects a typed transport error.
func (w *world) expectKind(err error, kind gitstore.Kind) *gitstore.TransportError {
	w.t.Helper()
	var e *gitstore.TransportError
	w.Expect(err).To(BeAssignableToTypeOf(e))
	e = err.(*gitstore.TransportError)
	w.Expect(e.Kind).To(Equal(kind), e.Error())
	return e
}

func TestProbe(t *testing.T) {
	w := newWorld(t, nil)
	p, err := gitstore.Probe(t.Context(), gitstore.Options{URL: w.repo.URL})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(p.Empty).To(BeTrue())
	_, err = w.repo.Commit("main", "first", map[string]string{"a": "b"})
	w.Expect(err).NotTo(HaveOccurred())
	p, err = gitstore.Probe(t.Context(), gitstore.Options{URL: w.repo.URL})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(p.Empty).To(BeFalse())
	w.Expect(p.Refs).To(Equal(map[string]gitstore.Hash{"refs/heads/main": w.tip()}))
	w.Expect(p.Capabilities).To(ContainElement("report-status"))
}
