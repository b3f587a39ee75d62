// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/configbutler/gitops-reverser/internal/encryption"
)

// digestLife is how long a digest stays without being used; what is deleted goes by it.
const digestLife = 365 * 24 * time.Hour

// Digests keeps what was encrypted. The zero value is not usable.
type Digests struct{ redis *Redis }

var _ encryption.Digests = Digests{}

// Digests returns the digests in this server.
func (r *Redis) Digests() Digests { return Digests{r} }

// Get implements encryption.Digests.
func (d Digests) Get(ctx context.Context, key string) (tokens []string, err error) {
	err = d.redis.do(ctx, func(ctx context.Context) error {
		tokens, err = d.redis.client.LRange(ctx, d.key(key), 0, encryption.DigestHistory-1).Result()
		return err
	})
	return tokens, err
}

// Put implements encryption.Digests.
func (d Digests) Put(ctx context.Context, key, token string) error {
	k := d.key(key)
	return d.redis.do(ctx, func(ctx context.Context) error {
		_, err := d.redis.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.LRem(ctx, k, 0, token)
			p.LPush(ctx, k, token)
			p.LTrim(ctx, k, 0, encryption.DigestHistory-1)
			p.Expire(ctx, k, digestLife)
			return nil
		})
		return err
	})
}

// key bounds the length; what encryption passes is a keyed digest of the object's name.
func (d Digests) key(key string) string {
	sum := sha256.Sum256([]byte(key))
	return d.redis.prefix + ":encryption:v1:digest:" + hex.EncodeToString(sum[:])
}
