// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitauth"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func TestAChangeBecomesACommit(t *testing.T) {
	b := newBed(t, core.Config{})
	b.Expect(b.server.Requests()).To(BeEmpty())
	sink := b.set(b.target("live"))
	b.Expect(b.server.Requests()).To(BeEmpty(), "declaring opens no connection")
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "one"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "one")
	b.until(func() bool { return b.status("live").Target.Waiting == 0 }, "it is known to be there")
	s := b.status("live")
	b.Expect(s.Tip.String()).To(Equal(b.repo.Tip("main")))
	b.Expect(s.VerifiedBy).To(Equal("Push"))
	b.Expect(s.Target.Published.String()).To(Equal(b.repo.Tip("main")))
	b.Expect(b.dirty.Take()).To(ContainElement(key("live")))
	b.Expect(b.repo.Fsck()).To(Succeed())
}

// TestWhoHearsOfAChangeFindsIt: the status is there before its news.
func TestWhoHearsOfAChangeFindsIt(t *testing.T) {
	b := newBed(t, core.Config{})
	b.server.SetFault(gitserver.Fault{Status: http.StatusBadGateway})
	sink := b.set(b.target("live"))
	b.dirty.Take()
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "one"), false)).To(Equal(change.Accepted))
	var seen Status
	b.until(func() bool {
		for _, k := range b.dirty.Take() {
			seen, _ = b.manager.Status(k)
		}
		return seen.Failing != nil
	}, "the news of the failure")
	b.Expect(b.dirty.Take()).To(BeEmpty(), "and no news were needed after it")
}

func TestVerdicts(t *testing.T) {
	b := newBed(t, core.Config{QueueSlots: 1})
	sink, err := b.manager.Set(b.target("live"))
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.UnknownTarget),
		"no cell is declared")
	b.Expect(sink.Offer(t.Context(), edit(key("stranger"), "a", "1"), false)).To(Equal(change.UnknownTarget))
	sink.Declare(key("live"), 1, []change.Cell{cell}, nil)
	release := make(chan struct{})
	b.server.SetFault(gitserver.Fault{Before: func() { <-release }})
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.Eventually(func() change.Verdict {
		return sink.Offer(t.Context(), edit(key("live"), "b", "1"),
			false)
	}).Should(Equal(change.QueueFull))
	wake := sink.Wake()
	close(release)
	b.until(func() bool {
		select {
		case <-wake:
			return true
		default:
			return false
		}
	}, "there is room again")
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "b", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "b", "1")
	b.manager.Remove(key("live"))
	b.until(func() bool { return sink.Offer(t.Context(), edit(key("live"), "c", "1"), false) == change.Stopped },
		"the worker ends")
	verdict, outcome := sink.Snapshot(t.Context(), change.Snapshot{Target: key("live"), Cell: cell}, false, core.Stamp{})
	b.Expect(verdict).To(Equal(change.Stopped))
	b.Expect(outcome).To(BeClosed())
	b.Expect(sink.Wake()).To(BeClosed(), "nobody waits for a worker that is gone")
}

// TestIntakeClosesDuringAnOutage and opens at its end (git-writer 10.2).
func TestIntakeClosesDuringAnOutage(t *testing.T) {
	b := newBed(t, core.Config{BufferMax: 4096})
	b.server.SetFault(gitserver.Fault{Status: http.StatusServiceUnavailable})
	sink := b.set(b.target("live"))
	accepted := 0
	b.until(func() bool {
		switch sink.Offer(t.Context(), edit(key("live"), fmt.Sprint("object-", accepted), "1"), false) {
		case change.Accepted:
			accepted++
		case change.IntakePaused:
			return true
		}
		return false
	}, "the budget is used up")
	b.Eventually(func() bool { return b.status("live").IntakePaused }).Should(BeTrue())
	wake := sink.Wake()
	b.server.ClearFaults()
	b.until(func() bool {
		select {
		case <-wake:
			return true
		default:
			return false
		}
	}, "intake opens")
	b.has("live", fmt.Sprint("object-", accepted-1), "1")
	b.Eventually(func() bool { return b.status("live").IntakePaused }).Should(BeFalse())
}

// TestScenario78_ASnapshotInAnOutageIsKept: its caller hears at once that it waits, and it is written without another.
func TestScenario78_ASnapshotInAnOutageIsKept(t *testing.T) {
	b := newBed(t, core.Config{})
	b.server.SetFault(gitserver.Fault{Status: http.StatusServiceUnavailable})
	sink := b.set(b.target("live"))
	snap := change.Snapshot{Target: key("live"), Cell: cell, Items: []change.Item{edit(key("live"), "a", "1").Item}}
	verdict, outcome := sink.Snapshot(t.Context(), snap, true, core.Stamp{Epoch: 1})
	b.Expect(verdict).To(Equal(change.Accepted))
	b.Eventually(outcome).Should(Receive(Equal(change.KeptOutcome)))
	b.server.ClearFaults()
	b.has("live", "a", "1")
}

// TestStopWhileOthersOffer: every offer gets an answer, whatever it meets.
func TestStopWhileOthersOffer(t *testing.T) {
	b := newBed(t, core.Config{})
	sink := b.set(b.target("live"))
	var offers sync.WaitGroup
	for i := range 8 {
		offers.Go(func() {
			for j := range 200 {
				if sink.Offer(context.Background(), edit(key("live"), fmt.Sprint(i), fmt.Sprint(j)), false) == change.Stopped {
					return
				}
				if j%50 == 0 {
					_, _ = sink.Snapshot(context.Background(), change.Snapshot{Target: key("live"), Cell: cell,
						Type: configMaps}, false, core.Stamp{Epoch: 1})
				}
			}
		})
	}
	b.manager.Remove(key("live"))
	done := make(chan struct{})
	go func() { offers.Wait(); close(done) }()
	b.until(func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}, "every offer is answered")
}

// TestAPanicIsThatWritesFailure (decisions 94).
func TestAPanicIsThatWritesFailure(t *testing.T) {
	b := newBed(t, core.Config{})
	bad := b.target("live", func(t *Target) {
		t.Frozen.Source = func() (change.Kinds, change.Schemas) { panic("a library gave up") }
	})
	sink := b.set(bad)
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.until(func() bool { return b.status("live").Target.WriteFailed != nil }, "the failure shows")
	b.Expect(b.status("live").Target.WriteFailed.Text).To(Equal("internal error: a library gave up"))
	sink = b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "2"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "2")
	b.until(func() bool { return b.status("live").Target.WriteFailed == nil }, "it is over")
}

// TestAHangingServerIsLeftAtTheDeadline: the failure counts when the deadline passes, and the write goes on later.
func TestAHangingServerIsLeftAtTheDeadline(t *testing.T) {
	b := newBed(t, core.Config{CallDeadline: 20 * time.Second})
	b.server.SetFault(gitserver.Fault{Hang: true})
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	began := b.clock.Now()
	b.until(func() bool { return b.status("live").Failing != nil }, "the deadline passes")
	f := b.status("live").Failing
	b.Expect(f.Reason).To(Equal(core.ReasonDeadline))
	b.Expect(f.Since).To(BeTemporally("~", began.Add(20*time.Second), 2*time.Second))
	b.server.ClearFaults()
	b.has("live", "a", "1")
	b.until(func() bool { return b.status("live").Failing == nil }, "all is well")
}

// TestTheNextWorkerOfAPlaceWaits: a branch that is given up and taken again meanwhile never has two writers; an older
// state cannot come over a newer one.
func TestTheNextWorkerOfAPlaceWaits(t *testing.T) {
	b := newBed(t, core.Config{})
	release := make(chan struct{})
	sink := b.set(b.target("live"))
	b.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Before: func() { <-release }, Times: 1})
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "old"), false)).To(Equal(change.Accepted))
	b.until(func() bool { return len(b.server.Requests()) > 0 }, "it is being published")
	b.manager.Remove(key("live"))
	for _, again := range []Target{
		b.target("live"),
		b.target("live", func(t *Target) { t.Repository.ParentBranch = "dev" }),
		b.target("live", func(t *Target) { t.Repository.Identity = "ssh://other-spelling" }),
	} {
		_, err := b.manager.Set(again)
		b.Expect(err).To(MatchError(ErrBusy))
		_, declared := b.manager.Status(key("live"))
		b.Expect(declared).To(BeFalse())
	}
	close(release)
	var fresh Sink
	b.until(func() bool {
		var err error
		fresh, err = b.manager.Set(b.target("live"))
		return err == nil
	}, "the place is free")
	b.Expect(fresh == sink).To(BeFalse(), "another worker is another sink")
	fresh.Declare(key("live"), 1, []change.Cell{cell}, nil)
	b.Expect(fresh.Offer(t.Context(), edit(key("live"), "a", "new"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "new")
	log, err := b.repo.Log("main")
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(log).To(HaveLen(3), "what was decided is published, too")
}

// TestDecision59_TheBranchesOfAHostShareItsPause: who was not told does not dial either.
func TestDecision59_TheBranchesOfAHostShareItsPause(t *testing.T) {
	b := newBed(t, core.Config{})
	told := b.set(b.target("told"))
	b.server.SetFault(gitserver.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "30"},
		Body: "quota exceeded"})
	b.Expect(told.Offer(t.Context(), edit(key("told"), "a", "1"), false)).To(Equal(change.Accepted))
	b.Eventually(func() bool { return b.status("told").Failing != nil }).Should(BeTrue())
	b.server.ClearFaults()
	asked := len(b.server.Requests())
	other := b.set(b.target("other", func(t *Target) { t.Repository.Branch = "dev" }))
	b.Expect(other.Offer(t.Context(), edit(key("other"), "a", "1"), false)).To(Equal(change.Accepted))
	b.Eventually(func() bool { return b.status("other").Failing != nil }).Should(BeTrue())
	f := b.status("other").Failing
	b.Expect(f.Reason).To(Equal(core.ReasonRateLimited))
	b.Expect(f.Text).To(ContainSubstring("quota exceeded"))
	b.Expect(f.Next).To(BeTemporally("~", b.clock.Now().Add(30*time.Second), 5*time.Second))
	b.Expect(b.server.Requests()).To(HaveLen(asked))
	b.until(func() bool { return b.status("other").Target.Waiting == 0 && b.status("told").Target.Waiting == 0 }, "later")
}

// TestTwoTargetsShareAWorker: one leaves, the other stays; the branch ends with the last.
func TestTwoTargetsShareAWorker(t *testing.T) {
	b := newBed(t, core.Config{})
	one, two := b.set(b.target("one")), b.set(b.target("two"))
	b.Expect(one).To(Equal(two))
	b.Expect(one.Offer(t.Context(), edit(key("one"), "a", "1"), false)).To(Equal(change.Accepted))
	b.Expect(two.Offer(t.Context(), edit(key("two"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("one", "a", "1")
	b.has("two", "a", "1")
	b.until(func() bool { return b.status("two").Target.Waiting == 0 }, "all is published")
	branches := b.manager.Branches()
	b.Expect(branches).To(HaveLen(1))
	b.Expect(branches[0].Targets).To(HaveLen(2))
	b.Expect(b.series("git_documents_total")).To(Equal(2))

	b.manager.Remove(key("one"))
	b.Eventually(func() int { return b.series("git_documents_total") }).Should(Equal(1), "the series of the first end")
	b.Expect(two.Offer(t.Context(), edit(key("two"), "a", "2"), false)).To(Equal(change.Accepted))
	b.has("two", "a", "2")
	_, ok := b.manager.Status(key("one"))
	b.Expect(ok).To(BeFalse())
	b.Expect(os.ReadDir(b.storage)).To(HaveLen(1))

	b.manager.Remove(key("two"))
	b.until(func() bool {
		list, err := os.ReadDir(b.storage)
		return err == nil && len(list) == 0
	}, "the store's folder goes")
	b.Eventually(func() int {
		return b.series("git_pushes_total") + b.series("git_documents_total") + b.series("git_push_duration_seconds")
	}).Should(BeZero())
	b.Expect(b.manager.Branches()).To(BeEmpty())
	b.manager.Remove(key("two"))
}

func TestTheLaneForgetsFoldersOfTargetsThatAreGone(t *testing.T) {
	g := NewWithT(t)
	l := &lane{folders: map[change.TargetKey]*folder{key("one"): {}, key("two"): {}}}
	l.keep([]core.TargetStatus{{Target: key("two")}, {Target: key("three")}})
	g.Expect(l.folders).To(HaveLen(1))
	g.Expect(l.folders).To(HaveKey(key("two")))
	g.Expect(l.folder(key("two"), "apps")).NotTo(BeNil())
	g.Expect(l.folders[key("two")].path).To(Equal("apps"), "another path is another folder")
}

func TestAStoreThatCannotBeMade(t *testing.T) {
	b := newBed(t, core.Config{})
	b.Expect(os.WriteFile(b.storage, []byte("in the way"), 0o600)).To(Succeed())
	_, err := b.manager.Set(b.target("live"))
	b.Expect(err).To(MatchError(ContainSubstring("the store")))
	b.Expect(b.manager.Branches()).To(BeEmpty())
	b.Expect(os.Remove(b.storage)).To(Succeed())
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "1")
}

// TestAStoreThatVanishesIsFetchedAnew: it is a cache (decisions 95).
func TestAStoreThatVanishesIsFetchedAnew(t *testing.T) {
	b := newBed(t, core.Config{})
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "1")
	b.until(func() bool { return b.status("live").Target.Waiting == 0 }, "it is published")
	// Another writer's commit makes the next write fetch into the folder that is gone.
	_, err := b.repo.Commit("main", "By hand", map[string]string{"notes.txt": "x"})
	b.Expect(err).NotTo(HaveOccurred())
	list, err := os.ReadDir(b.storage)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(os.RemoveAll(filepath.Join(b.storage, list[0].Name()))).To(Succeed())
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "2"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "2")
	b.Expect(b.repo.Fsck()).To(Succeed())
}

func start(ctx context.Context, m *Manager, ended chan<- struct{}) {
	_ = m.Start(ctx)
	close(ended)
}

// TestShutdownPublishesOnce: windows close, one publication lands, nothing is declared afterwards, no folder stays.
func TestShutdownPublishesOnce(t *testing.T) {
	b := newBed(t, core.Config{})
	b.manager = NewManager(b.manager.o)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go start(ctx, b.manager, ended)
	sink := b.set(b.target("live", func(t *Target) {
		t.Machine.IdleTimeout, t.Machine.MaxDuration = time.Hour,
			time.Hour
	}))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	stop()
	b.until(func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}, "it ends")
	content, err := b.repo.ReadFile("main", file("live", "a"))
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(string(content)).To(ContainSubstring("value: \"1\""))
	b.Expect(os.ReadDir(b.storage)).To(BeEmpty())
	_, err = b.manager.Set(b.target("live"))
	b.Expect(err).To(HaveOccurred())
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "2"), false)).To(Equal(change.Stopped))
}

// TestShutdownEndsInTime although the server hangs.
func TestShutdownEndsInTime(t *testing.T) {
	b := newBed(t, core.Config{})
	o := b.manager.o
	o.Grace = 10 * time.Second
	b.manager = NewManager(o)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go start(ctx, b.manager, ended)
	b.server.SetFault(gitserver.Fault{Hang: true})
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.Eventually(func() string { return b.status("live").Target.Target.Name }).Should(Equal("live"))
	stop()
	began := b.clock.Now()
	b.until(func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}, "it ends")
	b.Expect(b.clock.Since(began)).To(BeNumerically("<", 15*time.Second))
}

// TestATargetMovesToAnotherRepository: a GitProvider of the same name points elsewhere.
func TestATargetMovesToAnotherRepository(t *testing.T) {
	b := newBed(t, core.Config{})
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "1")
	tip := b.repo.Tip("main")
	other, err := b.server.CreateRepo("other", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Other\n"}})
	b.Expect(err).NotTo(HaveOccurred())
	moved := b.set(b.target("live", func(t *Target) {
		t.Repository.URL, t.Repository.Identity, t.Repository.HostPath = other.URL, other.URL, other.URL
	}))
	b.Expect(moved).NotTo(Equal(sink))
	b.Expect(moved.Offer(t.Context(), edit(key("live"), "b", "2"), false)).To(Equal(change.Accepted))
	b.until(func() bool {
		_, err := other.ReadFile("main", file("live", "b"))
		return err == nil
	}, "it writes there")
	b.Expect(b.repo.Tip("main")).To(Equal(tip))
	_, err = other.ReadFile("main", file("live", "a"))
	b.Expect(err).To(HaveOccurred(), "nothing of the old repository is carried along")
}

// TestScenario87_WhatAnOutageHeldIsNotCarriedAlong: the GitProvider has another URL while commits wait for the old one.
func TestScenario87_WhatAnOutageHeldIsNotCarriedAlong(t *testing.T) {
	b := newBed(t, core.Config{})
	sink := b.set(b.target("live"))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "1")
	b.server.SetFault(gitserver.Fault{Status: http.StatusServiceUnavailable})
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "held", "1"), false)).To(Equal(change.Accepted))
	b.until(func() bool { return b.status("live").Failing != nil }, "the outage shows")
	next := gitserver.Start(t, gitserver.Options{})
	other, err := next.CreateRepo("live", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Other\n"}})
	b.Expect(err).NotTo(HaveOccurred())
	first := other.Tip("main")
	moved := b.set(b.target("live", func(t *Target) {
		t.Repository.URL, t.Repository.Identity, t.Repository.HostPath = other.URL, other.URL, other.URL
	}))
	b.server.ClearFaults()
	b.Expect(moved.Offer(t.Context(), edit(key("live"), "b", "2"), false)).To(Equal(change.Accepted))
	b.until(func() bool { return other.Tip("main") != first }, "it writes there")
	files, err := other.Files("main")
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(files).To(HaveKey(file("live", "b")))
	b.Expect(files).NotTo(HaveKey(file("live", "a")))
	b.Expect(files).NotTo(HaveKey(file("live", "held")))
	log, err := other.Log("main")
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(log).To(HaveLen(2), "the one write, on the new repository's own history")
	b.until(func() bool { s := b.status("live"); return s.Failing == nil && s.Target.Waiting == 0 }, "the outage stayed behind")
}

// TestScenario68_ABadSigningKeyMakesNoCommit: never an unsigned one.
func TestScenario68_ABadSigningKeyMakesNoCommit(t *testing.T) {
	b := newBed(t, core.Config{})
	tip := b.repo.Tip("main")
	sink := b.set(b.target("live", func(t *Target) {
		t.Frozen.Signer = func(context.Context) (gitstore.Signer, error) {
			return nil, errors.New("the passphrase does not open it")
		}
	}))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.until(func() bool { return b.status("live").Target.WriteFailed != nil }, "the failure shows")
	b.Expect(b.status("live").Target.WriteFailed.Text).To(ContainSubstring("the passphrase does not open it"))
	b.Expect(b.repo.Tip("main")).To(Equal(tip))
	sink = b.set(b.target("live", func(t *Target) {
		t.Frozen.Signer = func(context.Context) (gitstore.Signer, error) { return signature{}, nil }
	}))
	b.Expect(sink.Offer(t.Context(), edit(key("live"), "a", "1"), false)).To(Equal(change.Accepted))
	b.has("live", "a", "1")
	raw, err := b.repo.Git("cat-file", "commit", "main")
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(raw).To(And(ContainSubstring("\nparent "+tip), ContainSubstring("\ngpgsig ")), "the one commit is signed")
}

// signature signs everything with the same text.
type signature struct{}

func (signature) Sign([]byte) ([]byte, error) {
	return []byte("-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"), nil
}

// TestFailuresHaveTheirReasons: from typed errors to the machine's words.
func TestFailuresHaveTheirReasons(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, stop := context.WithTimeout(context.Background(), 0)
	defer stop()
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		want core.Reason
	}{
		"a missing Secret": {context.Background(), gitauth.Errorf(gitauth.SecretNotFound, "no"),
			core.ReasonSecretNotFound},
		"wrapped": {context.Background(), fmt.Errorf("look: %w",
			gitauth.Errorf(gitauth.HostKeyUnavailable, "no")), core.ReasonHostKeyUnavailable},
		"401": {context.Background(), &gitstore.TransportError{Kind: gitstore.Auth},
			core.ReasonAuthenticationFailed},
		"another host key": {context.Background(), &gitstore.TransportError{Kind: gitstore.HostKey},
			core.ReasonHostKeyUnavailable},
		"429": {context.Background(), &gitstore.TransportError{Kind: gitstore.RateLimited},
			core.ReasonRateLimited},
		"a timeout": {context.Background(), &gitstore.TransportError{Kind: gitstore.Timeout},
			core.ReasonDeadline},
		"an aborted call": {cancelled, &gitstore.TransportError{Kind: gitstore.Canceled}, core.ReasonCancelled},
		"SHA-256": {context.Background(), &gitstore.TransportError{Kind: gitstore.UnsupportedFormat},
			core.ReasonUnsupportedRepository},
		"a refused connection": {context.Background(), &gitstore.TransportError{Kind: gitstore.Refused},
			core.ReasonConnectionFailed},
		"no base":                  {context.Background(), gitstore.ErrNoBase, core.ReasonStore},
		"a plan that was too slow": {late, context.DeadlineExceeded, core.ReasonDeadline},
		"a plan that was aborted":  {cancelled, context.Canceled, core.ReasonCancelled},
		"anything else":            {context.Background(), errors.New("oops"), core.ReasonConnectionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(failure(tt.ctx, tt.err).Reason).To(Equal(tt.want))
		})
	}
}

func TestTextsOfFailuresAreBounded(t *testing.T) {
	g := NewWithT(t)
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	long[1023] = 0xc3 // half a character at the cut
	got := bounded(string(long))
	g.Expect(len(got)).To(BeNumerically("<=", maxText+4))
	g.Expect(bounded("a\xffb")).To(Equal("a?b"))
}
