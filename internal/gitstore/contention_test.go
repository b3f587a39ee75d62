// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// wordings are the texts of case G02.
var wordings = []string{
	"cannot lock ref 'refs/heads/main': reference already exists",
	"error: cannot lock ref",
	"incorrect old value provided",
	"non-fast-forward",
	"fetch first",
	"stale info",
	"failed to update ref",
	"atomic transaction failed",
	"failed to lock",
	"remote ref is at 0123456789012345678901234567890123456789 but expected something",
}

// An update hook that fails the first push with each wording: the reason is a hook's, the tip has not moved, so it is
// Rejected with the hook's words, and the next push lands.
func TestCaseG02_HookSpeaksOfContention(t *testing.T) {
	w := newWorld(t, many(3, ""))
	for i, text := range wordings {
		s := w.fetched()
		w.Expect(w.repo.SetHook("update", fmt.Sprintf("echo %q >&2; rm \"$0\"; exit 1", text))).To(Succeed())
		tip := w.commit(s, s.Base(), "ours", put("x", fmt.Sprint(i)))
		res := w.push(s, s.Base(), tip, gitstore.Rejected)
		w.Expect(res.Text).To(ContainSubstring(text))
		w.Expect(res.Text).To(ContainSubstring("hook declined"))
		w.Expect(res.Tip).To(Equal(s.Base()))
		w.push(s, s.Base(), tip, gitstore.Accepted)
	}
}

// The same hook while somebody else has pushed: Moved, whatever the words.
func TestCaseG02_HookSpeaksOfContentionAndTheTipMoved(t *testing.T) {
	w := newWorld(t, many(3, ""))
	for i, text := range wordings {
		s := w.fetched()
		foreign, err := w.repo.Commit("main", "foreign", map[string]string{"f": fmt.Sprint(i)})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.repo.SetHook("pre-receive", fmt.Sprintf("echo %q >&2; rm \"$0\"; exit 1", text))).To(Succeed())
		res := w.push(s, s.Base(), w.commit(s, s.Base(), "ours", put("x", fmt.Sprint(i))), gitstore.Moved)
		w.Expect(res.Tip).To(Equal(hash(foreign)))
	}
}

// The wordings as the reason of the status line, as other implementations send them.
func TestCaseG02_StatusLineSpeaksOfContention(t *testing.T) {
	w := newWorld(t, many(3, ""))
	answer := func(reason string, times int) gitserver.Fault {
		return gitserver.Fault{Service: "git-receive-pack", Method: "POST", Times: times, Handler: func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
			rw.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			report := pkt("unpack ok\n") + pkt("ng refs/heads/main "+reason+"\n") + "0000"
			_, _ = rw.Write([]byte(pkt("\x01"+report) + "0000"))
		}}
	}
	for i, reason := range wordings {
		t.Run(reason, func(t *testing.T) {
			// Not moved: a lock held for a moment; tried again at once.
			s := w.fetched()
			w.server.SetFault(answer(reason, 1))
			tip := w.commit(s, s.Base(), "ours", put("x", fmt.Sprint(i)))
			w.push(s, s.Base(), tip, gitstore.Accepted)
			// Not moved and it stays: nothing is proven about the content, so it is not Rejected.
			s = w.fetched()
			w.server.SetFault(answer(reason, 0))
			tip = w.commit(s, s.Base(), "ours", put("x", fmt.Sprint("again", i)))
			res := w.push(s, s.Base(), tip, gitstore.Unknown)
			w.Expect(res.Tip).To(Equal(s.Base()))
			w.Expect(res.Text).To(ContainSubstring(reason))
			w.Expect(w.count()).To(Equal(4), "push, look, push, look")
			// Moved.
			foreign, err := w.repo.Commit("main", "foreign", map[string]string{"f": fmt.Sprint(i)})
			w.Expect(err).NotTo(HaveOccurred())
			res = w.push(s, s.Base(), tip, gitstore.Moved)
			w.Expect(res.Tip).To(Equal(hash(foreign)))
			w.Expect(w.count()).To(Equal(2), "push and look: four with the fetch and the next push")
			w.server.ClearFaults()
		})
	}
}

// Two writers, 50 edits each to different files: all land, linear, none lost, no failure on the way.
func TestCaseG02_TwoWritersRace(t *testing.T) {
	w := newWorld(t, many(3, ""))
	const edits = 50
	stores := []*gitstore.Store{w.fetched(), w.fetched()}
	var wg sync.WaitGroup
	errs := make([]error, len(stores))
	for n, s := range stores {
		wg.Go(func() {
			for i := range edits {
				if err := land(t, s, fmt.Sprintf("writer-%d/%02d.yaml", n, i)); err != nil {
					errs[n] = err
					return
				}
			}
		})
	}
	wg.Wait()
	w.Expect(errs).To(HaveEach(BeNil()))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(1 + 2*edits))
	for _, c := range log[:2*edits] {
		w.Expect(c.Parents).To(HaveLen(1), "linear")
	}
	w.Expect(w.repo.Files("main")).To(HaveLen(3 + 2*edits))
	w.Expect(w.repo.Fsck()).To(Succeed())
}

// Two writers edit the same line: each edit is made on the tip it was built on, so none is lost or merged with another.
func TestCaseG02_TwoWritersOfOneLine(t *testing.T) {
	const file, edits = "apps/cm-00001.yaml", 50
	w := newWorld(t, many(3, "apps/"))
	stores := []*gitstore.Store{w.fetched(), w.fetched()}
	var wg sync.WaitGroup
	errs := make([]error, len(stores))
	for n, s := range stores {
		wg.Go(func() {
			for i := range edits {
				value := fmt.Sprintf("writer-%d-%02d", n, i)
				if errs[n] = landEdit(t, s, value, put(file, manifest(1, value))); errs[n] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	w.Expect(errs).To(HaveEach(BeNil()))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(1 + 2*edits))
	seen := map[string]bool{}
	for _, c := range log[:2*edits] {
		value := strings.TrimSpace(c.Message)
		seen[value] = true
		w.Expect(c.Parents).To(HaveLen(1), "linear")
		w.Expect(w.repo.ReadFile(c.Hash, file)).To(Equal([]byte(manifest(1, value))), "the edit as it was meant")
	}
	w.Expect(seen).To(HaveLen(2 * edits))
	numstat, err := w.repo.Git("log", "--numstat", "--format=", fmt.Sprintf("-%d", 2*edits), "main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(strings.Fields(numstat)).To(Equal(slices.Repeat([]string{"1", "1", file}, 2*edits)), "one line each, no file beside")
	w.Expect(w.repo.Fsck()).To(Succeed())
}

// land publishes one file, however often the branch moves.
func land(t *testing.T, s *gitstore.Store, path string) error {
	return landEdit(t, s, path, put(path, path))
}

func landEdit(t *testing.T, s *gitstore.Store, text string, edit gitstore.Edit) error {
	for {
		tip, _, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{edit}, message(text))
		if err != nil {
			return err
		}
		expected := s.Base()
		res, err := s.Push(t.Context(), expected, tip)
		switch {
		case err != nil:
			return err
		case res.Outcome == gitstore.Accepted:
			return nil
		case res.Outcome == gitstore.Rejected:
			return fmt.Errorf("rejected: %s", res.Text)
		}
		if err := s.Fetch(t.Context(), gitstore.Hash{}); err != nil {
			return err
		}
	}
}

// With and without the slash, and over SSH: writers that do not know of each other lose nothing.
func TestCaseG20_TwoSpellingsOfOneRepositoryLoseNothing(t *testing.T) {
	w, x := sshWorld(t, gitserver.SSHOptions{})
	stores := []*gitstore.Store{
		w.fetched(), w.fetched(func(o *gitstore.Options) { o.URL = strings.TrimSuffix(o.URL, ".git") + ".git/" }),
		w.fetched(w.overSSH(x, key(t, "ed25519"))),
	}
	for i := range 5 {
		for n, s := range stores {
			w.Expect(land(t, s, fmt.Sprintf("%d-%d", n, i))).To(Succeed())
		}
	}
	w.Expect(w.repo.Files("main")).To(HaveLen(300 + 15))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(1 + 15))
	w.Expect(w.repo.Fsck()).To(Succeed())
}

func TestScenario79_LostReplyLandsOnce(t *testing.T) {
	for name, f := range map[string]gitserver.Fault{
		"closed":      {Close: true},
		"bad gateway": {Status: http.StatusBadGateway, Body: "upstream went away"},
		"cut":         {CloseAfter: 20},
		"empty":       {Handler: func(http.ResponseWriter, *http.Request, []byte) {}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			s := w.fetched()
			tip := w.commit(s, s.Base(), "ours", put("x", "1"))
			next := w.commit(s, tip, "more", put("x", "2"))
			base := s.Base()
			f.Service, f.Method, f.Times, f.Backend = "git-receive-pack", "POST", 1, true
			w.server.SetFault(f)
			res, err := s.Push(t.Context(), base, tip)
			w.Expect(res.Outcome).To(Equal(gitstore.Unknown))
			if name != "empty" {
				var e *gitstore.TransportError
				w.Expect(err).To(BeAssignableToTypeOf(e))
				w.Expect(err.(*gitstore.TransportError).MayHaveLanded()).To(BeTrue())
			}
			r, err := s.Look(t.Context())
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(r.Tip).To(Equal(tip), "it has landed")
			w.Expect(s.Base()).To(Equal(tip), "the store knows it too")
			w.push(s, tip, next, gitstore.Accepted)
			log, err := w.repo.Log("main")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(log).To(HaveLen(3))
			w.sound(s)
		})
	}
}

// The reply is lost and the worker pushes again without looking: the server names our own tip.
func TestScenario79_SecondPushAfterALostReplyIsAccepted(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	tip := w.commit(s, s.Base(), "ours", put("x", "1"))
	base := s.Base()
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Times: 1, Backend: true, Close: true})
	_, err := s.Push(t.Context(), base, tip)
	w.Expect(err).To(HaveOccurred())
	w.count()
	w.push(s, base, tip, gitstore.Accepted)
	w.Expect(w.count()).To(Equal(1))
	w.Expect(s.Base()).To(Equal(tip))
}

func pkt(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
