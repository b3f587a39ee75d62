// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// TestDecision58_AHookRefusesOneAuthor: the server's words reach the status, the work of others goes on under their own
// names, nothing is pushed again and again, and the refused author goes on once the server takes their commits.
func TestDecision58_AHookRefusesOneAuthor(t *testing.T) {
	b := newBed(t, core.Config{})
	b.Expect(b.repo.SetHook("pre-receive", "while read old new ref; do git log --format=%ae $old..$new | grep -q mallory && "+
		"{ echo 'mallory may not write here'; exit 1; }; done; exit 0")).To(Succeed())
	sink := b.set(b.target("live"))
	by := func(user, name, value string) {
		e := edit(key("live"), name, value)
		e.Author = change.Author{Kind: change.AuthorUser, Username: user, Email: user + "@example.com"}
		b.Expect(sink.Offer(t.Context(), e, false)).To(Equal(change.Accepted))
	}
	by("alice", "a", "1")
	b.has("live", "a", "1")
	requests := len(b.server.Requests())
	by("mallory", "m", "1")
	by("alice", "b", "1")
	b.has("live", "b", "1")
	b.Expect(len(b.server.Requests())-requests).To(BeNumerically("<=", 6), "the refused write is told apart at once")
	b.until(func() bool { return b.status("live").Target.PushRejected != nil }, "the refusal is shown")
	b.Expect(b.status("live").Target.PushRejected.Text).To(ContainSubstring("mallory may not write here"))
	requests = len(b.server.Requests())
	for _, value := range []string{"2", "3"} {
		by("alice", "a", value)
		b.has("live", "a", value)
	}
	b.Expect(len(b.server.Requests())-requests).To(BeNumerically("<=", 3), "what is set aside is not pushed with every other write")
	for _, c := range b.authors() {
		b.Expect(c).NotTo(ContainSubstring("mallory"))
	}

	b.Expect(b.repo.SetHook("pre-receive", "")).To(Succeed())
	by("mallory", "m", "2")
	b.has("live", "m", "2")
	b.Expect(b.authors()).To(ContainElement("mallory@example.com"))
	b.until(func() bool { return b.status("live").Target.PushRejected == nil }, "the refusal ends")
	b.Expect(b.repo.Fsck()).To(Succeed())
}

// authors returns the authors of the branch's commits.
func (b *bed) authors() []string {
	b.t.Helper()
	log, err := b.repo.Log("main")
	b.Expect(err).NotTo(HaveOccurred())
	var authors []string
	for _, c := range log {
		authors = append(authors, c.AuthorEmail)
	}
	return authors
}
