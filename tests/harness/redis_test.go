// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"
)

// TestRedisStartsAndEnds needs redis-server; CI installs it (decisions 86).
func TestRedisStartsAndEnds(t *testing.T) {
	g := NewWithT(t)
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is required in CI")
		}
		t.Skip("redis-server is not installed")
	}
	p, addr, err := StartRedis(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = c.Close() })
	g.Expect(c.Ping(t.Context()).Err()).To(Succeed())
	p.Kill()
	g.Expect(p.Err()).To(HaveOccurred())
	g.Expect(c.Ping(t.Context()).Err()).To(HaveOccurred())
}
