// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package entry

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

func TestWishesAreJoined(t *testing.T) {
	g := NewWithT(t)
	a, b := change.ObjectID{Name: "a"}, change.ObjectID{Name: "b"}
	w := New()
	w.Version(Ref{"x", 0}, "2", "", a)
	w.Version(Ref{"x", 0}, "2", "", b)
	w.Name(Ref{"x", 1}, "mirror/b", a)
	w.Version(Ref{"x", 2}, "", "sha256:c", a)
	w.Count(Ref{"x", 0}, 5, a)
	g.Expect(w.AddImage("x", "new")).To(Equal(w.AddImage("x", "new")), "one entry for one name")
	w.Version(w.AddImage("x", "new"), "7", "", a)
	w.Count(w.AddCount("x", "new"), 3, a)
	g.Expect(w.Conflicts).To(BeEmpty())
	g.Expect(w.Dirs()).To(Equal([]string{"x"}))

	v := map[string]any{
		"images":    []any{map[string]any{"name": "a", "newTag": "1"}, map[string]any{"name": "b"}},
		"imageTags": []any{map[string]any{"name": "c", "newTag": "1"}},
		"replicas":  []any{map[string]any{"name": "a", "count": int64(1)}},
	}
	w.Apply("x", v)
	g.Expect(v).To(Equal(map[string]any{
		"images": []any{
			map[string]any{"name": "a", "newTag": "2"}, map[string]any{"name": "b", "newName": "mirror/b"},
			map[string]any{"name": "new", "newTag": "7"},
		},
		"imageTags": []any{map[string]any{"name": "c", "digest": "sha256:c"}},
		"replicas":  []any{map[string]any{"name": "a", "count": int64(5)}, map[string]any{"name": "new", "count": int64(3)}},
	}))
}

func TestConflictsAreNamed(t *testing.T) {
	g := NewWithT(t)
	a, b := change.ObjectID{Name: "a"}, change.ObjectID{Name: "b"}
	w := New()
	w.Version(Ref{"x", 0}, "2", "", a)
	w.Version(Ref{"x", 0}, "3", "", b)
	w.Count(Ref{"x", 0}, 2, a)
	w.Count(Ref{"x", 0}, 3, a)
	w.Name(Ref{"x", 0}, "m", a)
	w.Name(Ref{"x", 0}, "n", b)
	g.Expect(w.Conflicts).To(Equal([]Conflict{{Ref{"x", 0}, a, b}, {Ref{"x", 0}, a, a}, {Ref{"x", 0}, a, b}}))
}
