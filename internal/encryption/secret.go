// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getsops/sops/v3"

	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// kind is what matters of an object's type.
type kind struct {
	// secret is a core Secret; every other sensitive type is encrypted as a whole (decisions 55).
	secret bool
}

func kindOf(r plan.SealRequest) kind {
	return kind{secret: r.Object.Group == "" && r.Object.Kind == "Secret"}
}

// sensitive reports whether a top-level field must not be readable.
func (k kind) sensitive(field string) bool {
	if k.secret {
		return field == "data" || field == "stringData"
	}
	return !slices.Contains([]string{"apiVersion", "kind", "metadata", "sops"}, field)
}

// inStyleOf says the same as want with the means of the document in Git, so that a file a person wrote keeps its form:
// entries of stringData stay there, equal base64 keeps its line breaks, and a type Git leaves out stays out when it is the
// default. The API server takes stringData over data.
func inStyleOf(git, want sops.TreeBranch, k kind) sops.TreeBranch {
	if !k.secret || git == nil {
		return want
	}
	want = cloneBranch(want)
	if _, ok := get(git, "type"); !ok {
		if t, _ := get(want, "type"); t == "Opaque" {
			want = remove(want, "type")
		}
	}
	gitData, gitStrings := child(git, "data"), child(git, "stringData")
	var data, texts sops.TreeBranch
	for _, it := range child(want, "data") {
		key := it.Key.(string)
		value, _ := it.Value.(string)
		if _, ok := get(gitStrings, key); ok {
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil && utf8.Valid(plain) {
				texts = append(texts, sops.TreeItem{Key: key, Value: string(plain)})
				continue
			}
		}
		if g, ok := get(gitData, key); ok && sameBase64(g, value) {
			it.Value = g
		}
		data = append(data, it)
	}
	if texts == nil {
		return swap(want, "data", data)
	}
	if data == nil {
		want = remove(want, "data")
	} else {
		want = swap(want, "data", data)
	}
	if kept := child(want, "stringData"); kept != nil { // a masked entry stays beside them
		return swap(want, "stringData", append(kept, texts...))
	}
	return append(want, sops.TreeItem{Key: "stringData", Value: texts})
}

// swap replaces the value of a key that is there.
func swap(b sops.TreeBranch, key string, value sops.TreeBranch) sops.TreeBranch {
	for i := range b {
		if b[i].Key == key && value != nil {
			b[i].Value = value
		}
	}
	return b
}

func remove(b sops.TreeBranch, key string) sops.TreeBranch {
	return slices.DeleteFunc(b, func(it sops.TreeItem) bool { return it.Key == key })
}

// sameBase64 compares what two texts encode; line breaks in base64 mean nothing.
func sameBase64(git any, want string) bool {
	g, ok := git.(string)
	if !ok {
		return false
	}
	a, errA := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(g), ""))
	b, errB := base64.StdEncoding.DecodeString(want)
	return errA == nil && errB == nil && string(a) == string(b)
}
