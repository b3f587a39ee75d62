// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

// baseline holds, per object, hashes of what the worker accepted last (watch 11). Keys and values hold no pointers, so
// that a large one costs the garbage collector nothing.
type baseline map[objectKey]accepted

// objectKey is an object's UID, or a digest where the UID is no UUID or is missing.
type objectKey [16]byte

// accepted is what is remembered of one object.
type accepted struct {
	// raw is the hash of the raw object without its noise.
	raw [16]byte
	// content is the digest of the sanitized object and its mask; zero when nothing was accepted.
	content [16]byte
	// gone: a removal was accepted while the object still exists with a deletionTimestamp.
	gone bool
}

func keyOf(h *cluster.Head) objectKey {
	var k objectKey
	if len(h.UID) == 36 {
		ok := true
		for i, at := range [...]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
			if _, err := hex.Decode(k[i:i+1], h.UID[at:at+2]); err != nil {
				ok = false
				break
			}
		}
		if ok {
			return k
		}
	}
	d := sha256.New()
	d.Write(h.UID)
	if len(h.UID) == 0 {
		d.Write(h.Namespace)
		d.Write([]byte{0})
		d.Write(h.Name)
	}
	copy(k[:], d.Sum(nil))
	return k
}

// contentOf digests what would be written: the desired object and its mask.
func contentOf(i *change.Item) [16]byte {
	d := sha256.New()
	d.Write(i.Desired)
	for _, list := range [...][]string{i.Mask.Keep, i.Mask.IfPresent} {
		d.Write([]byte{0})
		for _, p := range list {
			d.Write([]byte(p))
			d.Write([]byte{1})
		}
	}
	var out [16]byte
	copy(out[:], d.Sum(nil))
	return out
}
