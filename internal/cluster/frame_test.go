// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/onsi/gomega"
)

func frames(r io.Reader) (out []string, err error) {
	f := NewFrameReader(r)
	for {
		fr, err := f.Next()
		if err != nil {
			return out, err
		}
		out = append(out, string(fr.Type)+" "+string(fr.Object))
	}
}

func TestFramesAreCutByLine(t *testing.T) {
	g := NewWithT(t)
	big := strings.Repeat("x", 100_000)
	in := `{"type":"ADDED","object":{"a":1}}` + "\n\n" +
		` {"object":{"b":"` + big + `"},"type":"MODIFIED"} ` + "\r\n" +
		`{"type":"BOOKMARK","object":{}}`
	want := []string{`ADDED {"a":1}`, `MODIFIED {"b":"` + big + `"}`, `BOOKMARK {}`}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
		"data with the end": iotest.DataErrReader(strings.NewReader(in)),
	} {
		got, err := frames(r)
		g.Expect(err).To(Equal(io.EOF), name)
		g.Expect(got).To(Equal(want), name)
	}
}

func TestFrameErrors(t *testing.T) {
	g := NewWithT(t)
	_, err := frames(strings.NewReader(`{"type":"ADDED","object":{"a":`))
	g.Expect(err).To(Equal(io.ErrUnexpectedEOF))
	_, err = frames(strings.NewReader(`{"type":"ADDED"}` + "\n"))
	g.Expect(err).To(MatchError(ContainSubstring("not what the watch protocol allows")))
	_, err = frames(strings.NewReader(`{"type":"SURPRISE","object":{}}` + "\n"))
	g.Expect(err).To(MatchError(ContainSubstring("not what the watch protocol allows")))
	_, err = frames(strings.NewReader("<html>\n"))
	g.Expect(err).To(MatchError(ContainSubstring("<html>")))
	broken := errors.New("connection reset")
	_, err = frames(io.MultiReader(strings.NewReader(`{"type":"ADDED","obj`), iotest.ErrReader(broken)))
	g.Expect(err).To(Equal(broken))
	_, err = frames(io.LimitReader(zeros{}, maxFrame+1<<20))
	g.Expect(err).To(MatchError(ContainSubstring("larger than")))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestLargeBufferIsGivenBack(t *testing.T) {
	g := NewWithT(t)
	pr, pw := io.Pipe()
	f := NewFrameReader(pr)
	go func() {
		_, _ = pw.Write([]byte(`{"type":"ADDED","object":{"b":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n"))
		_, _ = pw.Write([]byte(`{"type":"ADDED","object":{}}` + "\n"))
		_ = pw.Close()
	}()
	_, err := f.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(f.buf)).To(BeNumerically(">", 1<<20))
	_, err = f.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(f.buf)).To(BeNumerically("<=", keepBuffer))
}

const sample = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"boat","namespace":"dock","uid":"u-1",` +
	`"resourceVersion":"12","generation":3,"labels":{"app":"a"},"annotations":{"k8s.io/initial-events-end":"true"},` +
	`"managedFields":[{"manager":"x","time":"now"}]},"data":{"a":"}\"]","status":"kept"},"status":{"ready":true}}`

func TestHead(t *testing.T) {
	g := NewWithT(t)
	s := NewScanner()
	h, ok := s.Head([]byte(sample))
	g.Expect(ok).To(BeTrue())
	g.Expect([]string{string(h.UID), string(h.ResourceVersion), string(h.Namespace), string(h.Name), string(h.Labels)}).
		To(Equal([]string{"u-1", "12", "dock", "boat", `{"app":"a"}`}))
	g.Expect(h.InitialEventsEnd).To(BeTrue())
	g.Expect(h.Deleting).To(BeFalse())

	same := func(edited string) bool {
		e, ok := s.Head([]byte(edited))
		g.Expect(ok).To(BeTrue(), edited)
		return e.Hash == h.Hash
	}
	noise := strings.NewReplacer(`"12"`, `"13"`, "3,", "4,", `"now"`, `"later"`, "ready\":true", "ready\":false").Replace(sample)
	g.Expect(noise).NotTo(Equal(sample))
	g.Expect(same(noise)).To(BeTrue())
	g.Expect(same(strings.Replace(sample, `,"status":{"ready":true}`, "", 1))).To(BeTrue())
	g.Expect(same(strings.Replace(sample, `"kept"`, `"lost"`, 1))).To(BeFalse())
	g.Expect(same(strings.Replace(sample, `"name":`, `"deletionTimestamp":"t","name":`, 1))).To(BeFalse())
	_, ok = s.Head([]byte(sample[:len(sample)-1]))
	g.Expect(ok).To(BeFalse())
	_, ok = s.Head([]byte("[]"))
	g.Expect(ok).To(BeFalse())
}

func TestUnchangedEventAllocatesNothing(t *testing.T) {
	g := NewWithT(t)
	line := []byte(`{"type":"MODIFIED","object":` + sample + "}\n")
	r := &loop{b: line}
	f, s := NewFrameReader(r), NewScanner()
	n := testing.AllocsPerRun(200, func() {
		fr, err := f.Next()
		if err != nil || fr.Type != Modified {
			t.Fatal(err)
		}
		if _, ok := s.Head(fr.Object); !ok {
			t.Fatal("no head")
		}
	})
	g.Expect(n).To(BeZero())
}

// loop repeats its bytes for ever.
type loop struct {
	b []byte
	i int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.b[l.i:])
	l.i = (l.i + n) % len(l.b)
	return n, nil
}

func BenchmarkHead3KB(b *testing.B) {
	big := []byte(strings.Replace(sample, "kept", strings.Repeat("k", 2600), 1))
	s := NewScanner()
	b.SetBytes(int64(len(big)))
	b.ReportAllocs()
	for b.Loop() {
		s.Head(big)
	}
}

// FuzzFrames: however the bytes are cut, the frames are the same, and each object is one that a JSON decoder delimits
// alike.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":`+sample+"}\n"), 3)
	f.Add([]byte("{\"type\":\"BOOKMARK\",\"object\":{\"a\":[1,{}]}}\n\n{\"type\":\"ERROR\",\"object\":{}}"), 1)
	f.Add([]byte(`{"type":"ADDED","object":[}`+"\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		whole, wholeErr := frames(bytes.NewReader(in))
		parts, partsErr := frames(&cutReader{in: in, n: max(cut%7, 1)})
		if !reflect.DeepEqual(whole, parts) || (wholeErr == io.EOF) != (partsErr == io.EOF) {
			t.Fatalf("%q %v\n%q %v", whole, wholeErr, parts, partsErr)
		}
		for _, line := range bytes.Split(in, []byte("\n")) {
			var ev struct {
				Type   string          `json:"type"`
				Object json.RawMessage `json:"object"`
			}
			line = bytes.TrimSpace(line)
			if !json.Valid(line) || bytes.Contains(line, []byte(`\u`)) || json.Unmarshal(line, &ev) != nil {
				continue
			}
			fr, err := parseFrame(line)
			if err == nil && !strings.EqualFold(ev.Type, string(fr.Type)) && !duplicated(line) {
				t.Fatalf("%q: %q, want %q", line, fr.Type, ev.Type)
			}
			if err == nil && !json.Valid(fr.Object) {
				t.Fatalf("%q is no JSON value", fr.Object)
			}
		}
	})
}

type cutReader struct {
	in []byte
	n  int
}

func (c *cutReader) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.in)
	c.in = c.in[n:]
	return n, nil
}

// duplicated reports two members whose names are equal without regard to case: encoding/json takes the last of them.
func duplicated(line []byte) bool {
	seen := map[string]bool{}
	dup := false
	members(line, 0, func(key []byte, _, _ int) bool {
		k := strings.ToLower(string(key))
		dup = dup || seen[k]
		seen[k] = true
		return true
	})
	return dup
}

// FuzzHash: equal hashes mean equal content without the noise, and changing only the noise keeps the hash.
func FuzzHash(f *testing.F) {
	f.Add([]byte(sample), []byte(strings.Replace(sample, "kept", "lost", 1)), "x")
	f.Add([]byte(`{"metadata":{"generation":1}}`), []byte(`{"metadata":{},"status":1}`), "y")
	f.Add([]byte(`{"metadata":"status"}`), []byte(`{"metadata":"generation"}`), "z")
	f.Fuzz(func(t *testing.T, a, b []byte, noise string) {
		s := NewScanner()
		ha, okA := s.Head(a)
		hb, okB := s.Head(b)
		va, validA := content(a)
		vb, validB := content(b)
		if validA && !okA {
			t.Fatalf("a JSON object was not read: %q", a)
		}
		if okA && okB && validA && validB && ha.Hash == hb.Hash && !reflect.DeepEqual(va, vb) {
			t.Fatalf("equal hashes, other content:\n%q\n%q", a, b)
		}
		if !validA {
			return
		}
		// The same content, written canonically, with and without noise.
		plain, err := json.Marshal(va)
		if err != nil {
			t.Fatal(err)
		}
		va["status"] = noise
		if m, ok := va["metadata"].(map[string]any); ok {
			m["resourceVersion"], m["generation"], m["managedFields"] = noise, 7, []string{noise}
		}
		noisy, err := json.Marshal(va)
		if err != nil {
			t.Fatal(err)
		}
		hp, ok1 := s.Head(plain)
		hn, ok2 := s.Head(noisy)
		if !ok1 || !ok2 || hp.Hash != hn.Hash {
			t.Fatalf("noise changed the hash:\n%q\n%q", plain, noisy)
		}
	})
}

// content decodes an object without its noise; false for other values and for duplicate names.
func content(b []byte) (map[string]any, bool) {
	if !json.Valid(b) || hasDuplicates(b) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil {
		return nil, false
	}
	delete(v, "status")
	if m, ok := v["metadata"].(map[string]any); ok {
		delete(m, "resourceVersion")
		delete(m, "generation")
		delete(m, "managedFields")
	}
	return v, true
}

// hasDuplicates looks at the two levels that the scanner reads; names are compared as decoded.
func hasDuplicates(b []byte) bool {
	dup := false
	level := func(b []byte, into func(name string, value []byte)) {
		seen := map[string]bool{}
		members(b, skipSpace(b, 0), func(key []byte, from, to int) bool {
			var name string
			if json.Unmarshal([]byte(`"`+string(key)+`"`), &name) != nil {
				dup = true
			}
			// An escaped spelling of a noise field is content to the scanner.
			dup = dup || seen[name] || name != string(key)
			seen[name] = true
			if into != nil {
				into(name, b[from:to])
			}
			return true
		})
	}
	level(b, func(name string, value []byte) {
		if name == "metadata" {
			level(value, nil)
		}
	})
	return dup
}
