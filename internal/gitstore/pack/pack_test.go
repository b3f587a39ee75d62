// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

var blobID = pack.ID(plumbing.BlobObject, []byte("x"))

func file(name string) pack.Change { return pack.Change{Name: name, Mode: pack.ModeFile, ID: blobID} }
func dir(name string) pack.Change  { return pack.Change{Name: name, Mode: pack.ModeDir, ID: blobID} }
func gone(name string) pack.Change { return pack.Change{Name: name, Remove: true} }

func entryNames(t *pack.Tree) string {
	var out []string
	for e, err := range pack.Entries(t.Raw) {
		if err != nil {
			return err.Error()
		}
		n := string(e.Name)
		if e.IsDir() {
			n += "/"
		}
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

func splice(g Gomega, t *pack.Tree, changes ...pack.Change) *pack.Tree {
	next, delta := t.Splice(changes)
	raw := next.Raw
	patched, err := pack.Patch(t.Raw, delta)
	if len(t.Raw) > 0 && len(raw) > 0 { // Git has no delta of or to nothing
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(patched).To(Equal(raw))
	}
	parsed, err := pack.NewTree(raw)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Offsets()).To(Equal(parsed.Offsets()))
	return next
}

func TestSpliceKeepsGitsOrder(t *testing.T) {
	g := NewWithT(t)
	tree := splice(g, &pack.Tree{}, file("a"), file("a.b"), dir("a0"), file("b"))
	g.Expect(entryNames(tree)).To(Equal("a a.b a0/ b"))
	tree = splice(g, tree, dir("a"), gone("b"), file("a-b"), file("z"))
	g.Expect(entryNames(tree)).To(Equal("a-b a.b a/ a0/ z"), "a changed its kind and its place")
	tree = splice(g, tree, file("a"), gone("nothing"), gone("z"))
	g.Expect(entryNames(tree)).To(Equal("a a-b a.b a0/"))
	tree = splice(g, tree, gone("a"), gone("a-b"), gone("a.b"), gone("a0"))
	g.Expect(tree.Raw).To(BeEmpty())
}

func TestSpliceOfRandomTreesIsSorted(t *testing.T) {
	g := NewWithT(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	tree := &pack.Tree{}
	model := map[string]bool{}
	for range 300 {
		var changes []pack.Change
		seen := map[string]bool{}
		for range 1 + rnd.IntN(6) {
			n := fmt.Sprintf("%c%s", 'a'+rnd.IntN(4), []string{"", "-", ".", "0", "a", "\xff"}[rnd.IntN(6)])
			if seen[n] {
				continue
			}
			seen[n] = true
			switch rnd.IntN(3) {
			case 0:
				changes = append(changes, gone(n))
				delete(model, n)
			case 1:
				changes = append(changes, file(n))
				model[n] = false
			case 2:
				changes = append(changes, dir(n))
				model[n] = true
			}
		}
		tree = splice(g, tree, changes...)
		g.Expect(tree.Len()).To(Equal(len(model)))
		for n, isDir := range model {
			e, ok := tree.Find(n)
			g.Expect(ok).To(BeTrue(), n)
			g.Expect(e.IsDir()).To(Equal(isDir))
		}
	}
}

func TestDamagedTreesAreErrors(t *testing.T) {
	g := NewWithT(t)
	good := splice(g, &pack.Tree{}, file("a"), file("b")).Raw
	for name, raw := range map[string][]byte{
		"cut":          good[:len(good)-1],
		"no mode":      append([]byte(" x\x00"), make([]byte, 20)...),
		"no name":      append([]byte("100644 \x00"), make([]byte, 20)...),
		"text":         []byte("hello"),
		"out of order": append(append([]byte{}, good[len(good)/2:]...), good[:len(good)/2]...),
		"twice":        append(append([]byte{}, good[:len(good)/2]...), good[:len(good)/2]...),
	} {
		_, err := pack.NewTree(raw)
		g.Expect(err).To(HaveOccurred(), name)
	}
}

func TestDiff(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("0123456789abcdef", 20000)
	for _, c := range [][2]string{
		{"abc", "abc"}, {"abc", "abxc"}, {"abc", "x"}, {"aaaa", "aaaaaa"}, {"aaaaaa", "aa"},
		{long, long[:100000] + "new" + long[100000:]}, {long, long[5:]}, {long, strings.ToUpper(long)},
	} {
		d := pack.Diff([]byte(c[0]), []byte(c[1]))
		out, err := pack.Patch([]byte(c[0]), d)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(out) == c[1]).To(BeTrue())
	}
	g.Expect(len(pack.Diff([]byte(long), []byte(long+"x")))).To(BeNumerically("<", 100))
}

func object(t plumbing.ObjectType, raw string) *pack.Object {
	var d pack.Deflater
	return &pack.Object{ID: pack.ID(t, []byte(raw)), Type: t, Size: len(raw), Full: d.Deflate([]byte(raw))}
}

func delta(base, raw string) *pack.Object {
	var d pack.Deflater
	diff := pack.Diff([]byte(base), []byte(raw))
	return &pack.Object{ID: pack.ID(plumbing.BlobObject, []byte(raw)), Type: plumbing.BlobObject, Size: len(raw),
		Base: pack.ID(plumbing.BlobObject, []byte(base)), Delta: d.Deflate(diff), DeltaSize: len(diff)}
}

func stream(g Gomega, objects ...*pack.Object) []byte {
	s := pack.NewStream([]byte("head"), objects, func(*pack.Object) bool { return true })
	for range 2 { // it can be opened again
		b, err := io.ReadAll(s.Open())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(int64(len(b))).To(Equal(s.Len()))
		g.Expect(string(b[:8])).To(Equal("headPACK"))
	}
	b, err := io.ReadAll(iotestOneByte{s.Open()})
	g.Expect(err).NotTo(HaveOccurred())
	return b[4:]
}

// iotestOneByte reads one byte at a time.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

var errNone = errors.New("none")

func nothing(plumbing.Hash) (plumbing.ObjectType, []byte, int, error) { return 0, nil, 0, errNone }

func TestStreamAndReadThin(t *testing.T) {
	g := NewWithT(t)
	base := strings.Repeat("base ", 100)
	outside := func(id plumbing.Hash) (plumbing.ObjectType, []byte, int, error) {
		if id == pack.ID(plumbing.BlobObject, []byte(base)) {
			return plumbing.BlobObject, []byte(base), 7, nil
		}
		return nothing(id)
	}
	whole := object(plumbing.TreeObject, string(splice(g, &pack.Tree{}, file("a")).Raw))
	first, second := delta(base, base+"1"), delta(base+"1", base+"12")
	// The second delta comes before its base.
	raw := stream(g, whole, second, first)
	objects, err := pack.ReadThin(raw, outside)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveLen(3))
	g.Expect(objects[0]).To(Equal(whole))
	g.Expect(objects[1].ID).To(Equal(second.ID))
	g.Expect(objects[1].Base).To(Equal(first.ID))
	g.Expect(objects[1].Depth).To(Equal(9))
	g.Expect(objects[2].Depth).To(Equal(8))

	_, err = pack.ReadThin(raw, nothing)
	g.Expect(err).To(MatchError(pack.ErrDamaged))
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 0x55
		_, err = pack.ReadThin(bad, outside)
		g.Expect(err).To(HaveOccurred(), "byte %d", i)
		_, err = pack.ReadThin(raw[:i], outside)
		g.Expect(err).To(HaveOccurred(), "cut at %d", i)
	}
}

func TestLongChainsEndInAWholeObject(t *testing.T) {
	g := NewWithT(t)
	text := strings.Repeat("x", 50)
	objects := []*pack.Object{object(plumbing.BlobObject, text)}
	for range 120 {
		objects = append(objects, delta(text, text+"y"))
		text += "y"
	}
	read, err := pack.ReadThin(stream(g, objects...), nothing)
	g.Expect(err).NotTo(HaveOccurred())
	whole := 0
	for _, o := range read {
		g.Expect(o.Depth).To(BeNumerically("<=", pack.MaxDepth))
		if o.Full != nil {
			whole++
		}
	}
	g.Expect(whole).To(Equal(3))
}

func FuzzReadThin(f *testing.F) {
	g := NewWithT(f)
	f.Add(stream(g, object(plumbing.BlobObject, "hello"), delta("hello", "hello world"))[12:])
	f.Fuzz(func(t *testing.T, body []byte) {
		// The checksum is made right, so that the fuzzer reaches what lies behind it.
		raw := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02"), body...)
		sum := sha1.Sum(raw)
		objects, err := pack.ReadThin(append(raw, sum[:]...), nothing)
		if err == nil && len(objects) != 2 {
			t.Fatal("not all objects")
		}
	})
}

func FuzzTree(f *testing.F) {
	g := NewWithT(f)
	f.Add(splice(g, &pack.Tree{}, file("a"), dir("a.b"), file("c")).Raw, "b")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		tree, err := pack.NewTree(raw)
		if err != nil || name == "" || strings.ContainsAny(name, "\x00/") {
			return
		}
		next, delta := tree.Splice([]pack.Change{file(name)})
		if out, err := pack.Patch(raw, delta); len(raw) > 0 && (err != nil || !bytes.Equal(out, next.Raw)) {
			t.Fatalf("the delta does not make the tree: %v", err)
		}
		if e, ok := mustTree(t, next.Raw).Find(name); !ok || e.Mode != pack.ModeFile {
			t.Fatal("the entry is not there")
		}
	})
}

func mustTree(t *testing.T, raw []byte) *pack.Tree {
	tree, err := pack.NewTree(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
