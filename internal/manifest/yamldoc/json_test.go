// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func parse(t *testing.T, src string) *Node {
	t.Helper()
	n, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestJSON_Scalars: scalars are read as kustomize and Flux read them.
func TestJSON_Scalars(t *testing.T) {
	for src, want := range map[string]any{
		"yes": "yes", "no": "no", "on": "on", "Off": "Off", "y": "y", "true": true, "False": false, "TRUE": true,
		"~": nil, "null": nil, "NULL": nil, "\"\"": "", "'null'": "null",
		"1": int64(1), "-5": int64(-5), "0755": int64(493), "0o17": int64(15), "0x1F": int64(31), "0b11": int64(3),
		"1_000": int64(1000), "+3": int64(3), "9007199254740993": int64(9007199254740993),
		"18446744073709551615": json.Number("18446744073709551615"), "36893488147419103232": 3.6893488147419103e19,
		"1.5": 1.5, "1e3": 1000.0, "1.10": 1.1, ".5": 0.5, "08": 8.0,
		"2024-01-01": "2024-01-01", "2024-01-01T00:00:00Z": "2024-01-01T00:00:00Z", "12:30:45": "12:30:45",
		"1.2.3": "1.2.3", "10Gi": "10Gi", "=": "=", "!!str 12": "12", "!!int \"3\"": int64(3), "!!float 3": 3.0,
		"!!binary aGk=": "hi", "!custom x": "x", "|-\n a\n b": "a\nb", "\">-\"": ">-",
	} {
		t.Run(src, func(t *testing.T) {
			g := NewWithT(t)
			v, err := parse(t, "k: "+src+"\n").JSON()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(v).To(Equal(map[string]any{"k": want}))
		})
	}
}

func TestJSON_NoJSONForm(t *testing.T) {
	g := NewWithT(t)
	for _, src := range []string{".inf", "-.INF", ".NaN", "!!int x", "!!bool 3", "!!binary \"*\"", "{[a]: b}"} {
		_, err := parse(t, "\nk: "+src+"\n").JSON()
		g.Expect(err).To(HaveOccurred(), src)
		g.Expect(err.Error()).To(HavePrefix("line 2: "), src)
	}
}

// TestJSON_MergeKeys: an explicit key wins wherever it stands, earlier sources win over later ones.
func TestJSON_MergeKeys(t *testing.T) {
	g := NewWithT(t)
	n := parse(t, "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {y: 3, <<: [*a, *b]}\nd: {<<: *b, <<: *a}\ne: {<<: {q: 1}}\n")
	v, err := n.JSON()
	g.Expect(err).NotTo(HaveOccurred())
	m := v.(map[string]any)
	g.Expect(m["c"]).To(Equal(map[string]any{"x": int64(1), "y": int64(3), "z": int64(2)}))
	g.Expect(m["e"]).To(Equal(map[string]any{"q": int64(1)}))
	g.Expect(n.Get("c", "z").Value).To(Equal("2"))
	g.Expect(n.Get("c", "y").Value).To(Equal("3"))
	g.Expect(n.Get("c", "none")).To(BeNil())
	_, err = parse(t, "a: {<<: text}\n").JSON()
	g.Expect(err).To(MatchError(ContainSubstring("a merge key needs a map")))
}

// TestAmbiguous: exactly the words and dates of editing.md I7.
func TestAmbiguous(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []string{"y", "N", "yes", "YES", "yEs", "No", "on", "OFF", "2024-01-01", "2024-1-1",
		"2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43"} {
		g.Expect(Ambiguous(s)).To(BeTrue(), s)
	}
	for _, s := range []string{"", "true", "null", "yesterday", "0755", "1e3", "12:30", "2024-01", "2024-01-01x", "x2024-01-01",
		"one", "of", "1.10"} {
		g.Expect(Ambiguous(s)).To(BeFalse(), s)
	}
	n := parse(t, "a: yes\nb: \"yes\"\nc: !!str no\n")
	g.Expect(parse(t, "x/y:\n- 1\n- off\nz: \"on\"\n").Ambiguities()).To(Equal([]Hazard{{HazardAmbiguous, 3, "/x~1y/1", ""}}))
	g.Expect(n.Get("a").Ambiguous()).To(BeTrue())
	g.Expect(n.Get("b").Ambiguous()).To(BeFalse())
}

// TestHazards lists what forbids edits, with lines and JSON pointers.
func TestHazards(t *testing.T) {
	g := NewWithT(t)
	n := parse(t, "a: &x {b/c: 1}\nd: *x\ne:\n- <<: *x\n- !t x\n- !!binary aGk=\nf: 1\nf: 2\n{g: 1}: h\n")
	g.Expect(n.Hazards()).To(Equal([]Hazard{
		{HazardAnchor, 1, "/a", ""},
		{HazardAlias, 2, "/d", ""},
		{HazardMergeKey, 4, "/e/0/<<", ""},
		{HazardAlias, 4, "/e/0/<<", ""},
		{HazardCustomTag, 5, "/e/1", ""},
		{HazardBinary, 6, "/e/2", ""},
		{HazardDuplicateKey, 8, "/f", "f"},
		{HazardComplexKey, 9, "/", ""},
	}))
	g.Expect(n.Uses(n.Pairs[0].Value)).To(Equal(2))
	g.Expect(parse(t, "a: 2024-01-01\nb: !!str x\n").Hazards()).To(BeEmpty())
}

// TestReadHead: whatever can be read claims its identity (decisions 37).
func TestReadHead(t *testing.T) {
	g := NewWithT(t)
	h := ReadHead(parse(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: &n boat\n  namespace: *n\n  labels: {app: *n}\n"+
		"x: !t y\nd: 1\nd: 2\nsops: {mac: x}\n"))
	g.Expect(h).To(Equal(Head{APIVersion: "apps/v1", Kind: "Deployment", Name: "boat", Namespace: "boat", Group: "apps",
		Version: "v1", Encrypted: true, IsMap: true}))
	g.Expect(ReadHead(parse(t, "apiVersion: v1\nkind: Job\nmetadata: {generateName: x-}\n"))).To(Equal(
		Head{APIVersion: "v1", Kind: "Job", GenerateName: "x-", Version: "v1", IsMap: true}))
	g.Expect(ReadHead(parse(t, "apiVersion: v1\nkind: X\nmetadata: {name: null}\nsops: text\n"))).To(Equal(
		Head{APIVersion: "v1", Kind: "X", Version: "v1", IsMap: true}))
	g.Expect(ReadHead(parse(t, "- a\n"))).To(Equal(Head{}))
	g.Expect(ReadHead(nil)).To(Equal(Head{}))
}

// TestParse_Spans: the text of every node, tag and anchor included.
func TestParse_Spans(t *testing.T) {
	g := NewWithT(t)
	src := "a: &x !!str  plain\n  text # c\nb: 'it''s'\nc: \"q\\\"é\"\nd: |+ # h\n  x\n\n\ne: [ a,{b: c}, d: e ]\n" +
		"f:\n- - 1\n  -   k: v\n- ? m\n  : n\ng: >2-\n   x\nh:\n"
	n := parse(t, src)
	text := func(m *Node) string { return src[m.Start:m.End] }
	g.Expect(n.Hazards()).To(HaveLen(1))
	g.Expect(text(n.Get("a"))).To(Equal("&x !!str  plain\n  text"))
	g.Expect(src[n.Get("a").Content:n.Get("a").End]).To(Equal("plain\n  text"))
	g.Expect(text(n.Get("b"))).To(Equal("'it''s'"))
	g.Expect(text(n.Get("c"))).To(Equal("\"q\\\"é\""))
	g.Expect(text(n.Get("d"))).To(Equal("|+ # h\n  x\n\n"))
	g.Expect(text(n.Get("e"))).To(Equal("[ a,{b: c}, d: e ]"))
	g.Expect(text(n.Get("e").Items[2])).To(Equal("d: e"))
	g.Expect(text(n.Get("f"))).To(Equal("- - 1\n  -   k: v\n- ? m\n  : n"))
	g.Expect(text(n.Get("f").Items[0].Items[1])).To(Equal("k: v"))
	g.Expect(src[n.Get("f").Items[1].Mark:][:3]).To(Equal("- ?"))
	g.Expect(n.Get("f").Items[1].Pairs[0].Question).To(BeNumerically(">", 0))
	g.Expect(text(n.Get("g"))).To(Equal(">2-\n   x"))
	g.Expect(n.Get("h").Start).To(Equal(len(src) - 1))
	g.Expect(n.Get("h").End).To(Equal(len(src) - 1))
	g.Expect(n.Get("f").Items[0].Items[1].Line).To(Equal(12))
}
