// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"
)

// maxRemembered bounds a Memo, in entries; it is emptied when it is full.
const maxRemembered = 256

// Memo remembers what was made from secret bytes, since opening a key with a passphrase costs a tenth of a second and
// credentials are asked for at every network call. Other bytes make another value, so a rotated Secret is used at once.
// Failures are not remembered. The zero value is ready; a nil Memo remembers nothing. It is safe for concurrent use.
type Memo[T any] struct {
	mu sync.Mutex
	m  map[[32]byte]T
}

// Do returns what was made from the parts before, or calls create.
func (m *Memo[T]) Do(create func() (T, error), parts ...[]byte) (T, error) {
	if m == nil {
		return create()
	}
	h := hmac.New(sha256.New, processKey)
	for _, p := range parts {
		writeLength(h, len(p))
		h.Write(p)
	}
	id := [32]byte(h.Sum(nil))
	m.mu.Lock()
	v, ok := m.m[id]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := create()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil || len(m.m) >= maxRemembered {
		m.m = map[[32]byte]T{}
	}
	m.m[id] = v
	return v, nil
}
