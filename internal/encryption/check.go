// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getsops/sops/v3"
)

// minCompared is the shortest label or annotation value that is compared with the plaintexts, in bytes (decisions 51).
const minCompared = 8

// leaf calls f with every scalar below v and its path as a JSON pointer.
func leaf(v any, path string, f func(path string, v any) error) error {
	switch v := v.(type) {
	case sops.TreeBranch:
		for _, it := range v {
			k, ok := it.Key.(string)
			if !ok {
				continue
			}
			if err := leaf(it.Value, path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k), f); err != nil {
				return err
			}
		}
	case []any:
		for i, x := range v {
			if err := leaf(x, path+"/"+strconv.Itoa(i), f); err != nil {
				return err
			}
		}
	default:
		return f(path, v)
	}
	return nil
}

// checkSealed reads an encrypted tree: every scalar of the sensitive fields is ciphertext or empty, and what identifies
// the object is not.
func checkSealed(enc sops.TreeBranch, k kind) error {
	for _, it := range enc {
		field, ok := it.Key.(string)
		if !ok {
			continue
		}
		if k.sensitive(field) {
			if at := readablePath(sops.TreeBranch{it}, k); at != "" {
				return fmt.Errorf("the rule in force would leave %s readable; its encrypted_regex must match %s", at, field)
			}
		}
	}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}} {
		b := enc
		for _, p := range path[:len(path)-1] {
			b = child(b, p)
		}
		v, _ := get(b, path[len(path)-1])
		if s, ok := v.(string); ok && isCiphertext(s) {
			return fmt.Errorf("the rule in force would encrypt %s, so that nobody could tell what the document is; set encrypted_regex to %s",
				strings.Join(path, "."), defaultEncryptedRegex)
		}
	}
	return nil
}

// readablePath finds the first scalar of the sensitive fields that is neither ciphertext nor empty.
func readablePath(enc sops.TreeBranch, k kind) (at string) {
	for _, it := range enc {
		field, ok := it.Key.(string)
		if !ok || !k.sensitive(field) {
			continue
		}
		_ = leaf(it.Value, "/"+field, func(path string, v any) error {
			if s, ok := v.(string); at == "" && v != nil && !isComment(v) && (!ok || s != "" && !isCiphertext(s)) {
				at = path
			}
			return nil
		})
	}
	return at
}

// isCiphertext recognises an encrypted value as SOPS writes it.
func isCiphertext(s string) bool {
	return strings.HasPrefix(s, "ENC[AES256_GCM,data:") && strings.HasSuffix(s, "]")
}

// plaintexts lists what must not be readable: the values of the sensitive fields, those of a Secret's data also decoded.
// What names the object is readable anyway and left out.
func plaintexts(want sops.TreeBranch, k kind) []string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(s string) {
		if !seen[s] {
			seen[s], out = true, append(out, s)
		}
	}
	for _, it := range want {
		field, _ := it.Key.(string)
		if !k.sensitive(field) {
			continue
		}
		_ = leaf(it.Value, "", func(_ string, v any) error {
			s, ok := v.(string)
			if !ok {
				return nil
			}
			add(s)
			if k.secret && field == "data" {
				if plain, err := base64.StdEncoding.DecodeString(s); err == nil {
					add(string(plain))
				}
			} else if len(s) >= minCompared {
				add(base64.StdEncoding.EncodeToString([]byte(s)))
			}
			return nil
		})
	}
	meta := child(want, "metadata")
	for _, key := range []string{"name", "namespace"} {
		if v, _ := get(meta, key); v != nil {
			out = slices.DeleteFunc(out, func(s string) bool { return s == v })
		}
	}
	return out
}

// withoutTelling drops readable comments that hold a plaintext: those outside the sensitive fields.
func withoutTelling(b sops.TreeBranch, k kind, plain []string) sops.TreeBranch {
	tells := func(v any) bool {
		c, ok := v.(sops.Comment)
		return ok && slices.ContainsFunc(plain, func(p string) bool {
			// A short value that is a word, such as prod, is no reason to lose somebody's comment.
			return len(p) >= minCompared && strings.Contains(c.Value, p) || len(p) >= 4 && likeKey(p) && containsWord(c.Value, p)
		})
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case sops.TreeBranch:
			v = slices.DeleteFunc(v, func(it sops.TreeItem) bool { return tells(it.Key) })
			for i := range v {
				v[i].Value = walk(v[i].Value)
			}
			return v
		case []any:
			v = slices.DeleteFunc(v, tells)
			for i := range v {
				v[i] = walk(v[i])
			}
			return v
		}
		return v
	}
	b = slices.DeleteFunc(b, func(it sops.TreeItem) bool { return tells(it.Key) })
	for i := range b {
		if key, ok := b[i].Key.(string); ok && !k.sensitive(key) {
			b[i].Value = walk(b[i].Value)
		}
	}
	return b
}
