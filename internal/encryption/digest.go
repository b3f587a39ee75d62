// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
)

// Digests remembers outside Git what was encrypted, for operators that hold no identity. A token is a keyed digest; it
// tells nothing without the digest key. Implementations keep at least DigestHistory tokens of each key.
type Digests interface {
	// Get returns the tokens of an object, the newest first.
	Get(ctx context.Context, key string) ([]string, error)
	// Put adds a token in front; a token that is there already moves to the front.
	Put(ctx context.Context, key, token string) error
}

// DigestHistory is how many tokens of an object are kept: those of versions whose push is not certain yet.
const DigestHistory = 4

// DigestKeyName is the entry of the Secret with the digest key, in the operator's namespace.
const DigestKeyName = "digest.key"

// NewDigestKey makes a digest key: 32 random bytes, which the operator keeps in a Secret of its own (decisions 53).
func NewDigestKey() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}

// MemoryDigests keeps digests for the life of the process. The zero value is ready.
type MemoryDigests struct {
	mu sync.Mutex
	m  map[string][]string
}

var _ Digests = (*MemoryDigests)(nil)

// Get implements Digests.
func (d *MemoryDigests) Get(_ context.Context, key string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.m[key]), nil
}

// Put implements Digests.
func (d *MemoryDigests) Put(_ context.Context, key, token string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.m == nil {
		d.m = map[string][]string{}
	}
	d.m[key] = PushToken(d.m[key], token)
	return nil
}

// PushToken puts a token in front of a list, as Put is meant.
func PushToken(list []string, token string) []string {
	out := append([]string{token}, slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == token })...)
	return out[:min(len(out), DigestHistory)]
}
