// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"container/list"
	"sync"
)

// The bounds of a Cache.
const (
	// maxDataKeys bounds the data keys kept, 32 bytes each.
	maxDataKeys = 100_000
	// maxSealed bounds the encrypted documents kept for replays, in bytes.
	maxSealed = 32 << 20
	// maxRekeyed bounds how many documents a re-key request is known to have handled.
	maxRekeyed = 100_000
)

// Cache is what the process remembers of documents it encrypted or decrypted: data keys by the document's encrypted key
// blocks, and encrypted documents by everything that went into them. One Cache is shared by the Sealers a controller makes
// anew on every pass. It is safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	keys    lru[[32]byte, []byte]
	sealed  lru[[32]byte, []byte]
	rekeyed lru[[32]byte, struct{}]
	// made are the data keys that this process made or proved, by object.
	made    lru[[32]byte, struct{}]
	notices notices
}

// NewCache makes an empty Cache.
func NewCache() *Cache {
	return &Cache{keys: newLRU[[32]byte, []byte](maxDataKeys), sealed: newLRU[[32]byte, []byte](maxSealed),
		rekeyed: newLRU[[32]byte, struct{}](maxRekeyed), made: newLRU[[32]byte, struct{}](maxDataKeys)}
}

func (c *Cache) dataKey(id [32]byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.keys.get(id)
	return k
}

func (c *Cache) keepDataKey(id [32]byte, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys.put(id, key, 1)
}

func (c *Cache) document(id [32]byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, _ := c.sealed.get(id)
	return d
}

func (c *Cache) keepDocument(id [32]byte, doc []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed.put(id, doc, len(doc))
}

func (c *Cache) wasRekeyed(id [32]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.rekeyed.get(id)
	return ok
}

func (c *Cache) keepRekeyed(id [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rekeyed.put(id, struct{}{}, 1)
}

func (c *Cache) wasMade(id [32]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.made.get(id)
	return ok
}

func (c *Cache) keepMade(id [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made.put(id, struct{}{}, 1)
}

// lru drops what was used the longest time ago when the costs of its entries exceed the limit.
type lru[K comparable, V any] struct {
	limit, cost int
	order       *list.List
	entries     map[K]*list.Element
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

func newLRU[K comparable, V any](limit int) lru[K, V] {
	return lru[K, V]{limit: limit, order: list.New(), entries: map[K]*list.Element{}}
}

func (l *lru[K, V]) get(k K) (V, bool) {
	e, ok := l.entries[k]
	if !ok {
		var zero V
		return zero, false
	}
	l.order.MoveToFront(e)
	return e.Value.(lruEntry[K, V]).value, true
}

func (l *lru[K, V]) put(k K, v V, cost int) {
	if e, ok := l.entries[k]; ok {
		l.remove(e)
	}
	l.entries[k] = l.order.PushFront(lruEntry[K, V]{k, v, cost})
	l.cost += cost
	for l.cost > l.limit && l.order.Len() > 1 {
		l.remove(l.order.Back())
	}
}

func (l *lru[K, V]) remove(e *list.Element) {
	x := l.order.Remove(e).(lruEntry[K, V])
	delete(l.entries, x.key)
	l.cost -= x.cost
}
