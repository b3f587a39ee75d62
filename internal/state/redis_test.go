// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// server needs redis-server; CI has it (decisions 86).
func server(t *testing.T) (*harness.Process, string) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is required in CI")
		}
		t.Skip("redis-server is not installed")
	}
	p, addr, err := harness.StartRedis(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, addr
}

func connect(t *testing.T, o Options) *Redis {
	t.Helper()
	o.KeyPrefix, o.Insecure = "test", true
	r := Connect(o)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestDigestsOutliveTheProcess(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, addr := server(t)
	d := connect(t, Options{Addr: addr}).Digests()
	g.Expect(d.Get(ctx, "unknown")).To(BeEmpty())
	memory := &encryption.MemoryDigests{}
	for _, token := range []string{"a", "b", "c", "b", "d", "e", "f"} {
		g.Expect(d.Put(ctx, "shop/login", token)).To(Succeed())
		g.Expect(memory.Put(ctx, "shop/login", token)).To(Succeed())
	}
	again := connect(t, Options{Addr: addr}).Digests()
	want, _ := memory.Get(ctx, "shop/login")
	g.Expect(again.Get(ctx, "shop/login")).To(Equal(want), "as in memory, the newest first")
	g.Expect(again.Get(ctx, "shop/other")).To(BeEmpty())

	r := connect(t, Options{Addr: addr})
	keys, err := r.client.Keys(ctx, "*").Result()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(keys).To(HaveLen(1))
	g.Expect(keys[0]).To(HavePrefix("test:"))
	g.Expect(keys[0]).NotTo(ContainSubstring("login"), "no name of an object")
	g.Expect(r.client.TTL(ctx, keys[0]).Val()).To(BeNumerically(">", 300*24*time.Hour))
}

// A server that is away costs one attempt, not one for each Secret of a snapshot, and is asked again later.
func TestAServerThatIsAwayIsLeftAlone(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	addr := l.Addr().String()
	g.Expect(l.Close()).To(Succeed())
	r := connect(t, Options{Addr: addr, Username: "u", Password: "planted-password"})
	now := time.Now()
	r.now = func() time.Time { return now }
	_, err = r.Digests().Get(ctx, "k")
	g.Expect(err).To(HaveOccurred())
	g.Expect(err.Error()).NotTo(ContainSubstring("planted-password"))
	for range 1000 {
		_, err = r.Digests().Get(ctx, "k")
		g.Expect(err).To(MatchError(ErrResting))
	}
	g.Expect(r.Digests().Put(ctx, "k", "t")).To(MatchError(ErrResting))
	now = now.Add(restTime)
	_, err = r.Digests().Get(ctx, "k")
	g.Expect(err).To(And(HaveOccurred(), Not(MatchError(ErrResting))), "it is asked again")
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, ""},
		{Options{Addr: "redis:6379", KeyPrefix: "p:"}, ""},
		{Options{Addr: "[::1]:6379", KeyPrefix: "p"}, ""},
		{Options{Addr: "redis", KeyPrefix: "p"}, "--redis-addr"},
		{Options{Addr: "redis://u:secret@redis:6379/0", KeyPrefix: "p"}, "--redis-addr"},
		{Options{Addr: ":6379", KeyPrefix: "p"}, "--redis-addr"},
		{Options{Addr: "redis:0", KeyPrefix: "p"}, "--redis-addr"},
		{Options{Addr: "redis:6379", KeyPrefix: "p", DB: -1}, "--redis-db"},
		{Options{Addr: "redis:6379", KeyPrefix: "a b"}, "--redis-key-prefix"},
		{Options{Addr: "redis:6379", KeyPrefix: strings.Repeat("x", 129)}, "--redis-key-prefix"},
		{Options{Insecure: true}, "need --redis-addr"},
	} {
		g := NewWithT(t)
		err := c.o.Validate()
		if c.says == "" {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.o.KeyPrefix).NotTo(HaveSuffix(":"))
			continue
		}
		g.Expect(err).To(MatchError(ContainSubstring(c.says)))
		g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
	}
}
