// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strings"
)

// resolver works on one Input.
type resolver struct {
	in Input
	at location
	// knownHosts is the text used, for the revision.
	knownHosts []byte
}

func (r *resolver) resolve(ctx context.Context) (Credentials, error) {
	var c Credentials
	var err error
	if c.Proxy, err = r.proxy(); err != nil {
		return Credentials{}, err
	}
	if r.at.ssh() {
		err = r.ssh(&c)
	} else {
		err = r.http(ctx, &c)
	}
	if err != nil {
		return Credentials{}, err
	}
	c.Revision = r.revision(c)
	return c, nil
}

// secretName is how messages name the credential Secret.
func (r *resolver) secretName() string {
	if r.in.SecretName != "" {
		return "Secret " + r.in.SecretName
	}
	return "the credential Secret"
}

func (r *resolver) malformed(format string, args ...any) *Error {
	e := Errorf(SecretMalformed, format, args...)
	e.Message = r.secretName() + ": " + e.Message
	return e
}

// nothingFor is the error of a Secret without a credential for the URL's scheme: a typo must not mean anonymous.
func (r *resolver) nothingFor(expected string) *Error {
	found := "nothing of that"
	if p := r.in.Secret.present(); len(p) > 0 {
		found = strings.Join(p, ", ")
	}
	return r.malformed("holds no credential for %s: expected %s; found %s", r.at.scheme+" URLs", expected, found)
}

// processKey makes revisions useless for guessing a value from a log line.
var processKey = randomKey()

func randomKey() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}

func (r *resolver) revision(c Credentials) string {
	h := hmac.New(sha256.New, processKey)
	part := func(label string, v []byte) {
		writeLength(h, len(label))
		h.Write([]byte(label))
		writeLength(h, len(v))
		h.Write(v)
	}
	part("url", []byte(r.at.scheme+" "+r.at.user+" "+r.at.address()))
	part("basic", []byte(c.Username+"\x00"+c.Password))
	part("bearer", []byte(c.BearerToken))
	part("known_hosts", r.knownHosts)
	part("algorithms", []byte(strings.Join(c.HostKeyAlgorithms, ",")))
	part("kex", []byte(strings.Join(c.KexAlgorithms, ",")))
	if c.Proxy != nil {
		part("proxy", []byte(c.Proxy.String()))
	}
	for _, k := range slices.Sorted(maps.Keys(r.in.Secret)) {
		part("secret "+k, r.in.Secret[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func writeLength(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}
