// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

func from(t *testing.T, s string) any {
	t.Helper()
	v, err := compare.Decode([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// deployment is what a source cluster would say of the fields used below.
var deployment = &change.Schema{Properties: map[string]*change.Schema{
	"replicas": {Default: int64(1)},
	"strategy": {Default: map[string]any{}, Properties: map[string]*change.Schema{
		"type": {Default: "RollingUpdate"},
		"rollingUpdate": {
			Default:    map[string]any{"maxSurge": "25%"},
			Properties: map[string]*change.Schema{"maxSurge": {IntOrString: true}},
		},
	}},
	"containers": {ListType: "map", ListMapKeys: []string{"name"}, Ordered: true, Items: &change.Schema{
		Properties: map[string]*change.Schema{
			"policy": {Default: "IfNotPresent"},
			"limits": {Values: &change.Schema{Quantity: true}},
			"ports": {ListType: "map", ListMapKeys: []string{"containerPort", "protocol"}, Items: &change.Schema{
				Properties: map[string]*change.Schema{"protocol": {Default: "TCP"}}}},
		}}},
	"volumes": {ListType: "map", ListMapKeys: []string{"name"}},
	"finals":  {ListType: "set"},
	"args":    {ListType: "atomic"},
	"metrics": {ListType: "set", Items: &change.Schema{Properties: map[string]*change.Schema{"type": {Default: "R"}}}},
}}

// TestEqual lists pairs of a document and a live object, and whether they say the same.
func TestEqual(t *testing.T) {
	typed := compare.Options{Schema: deployment, BuiltIn: true}
	for _, c := range []struct {
		name, git, live string
		o               compare.Options
		want            bool
	}{
		{"Scenario28: 1.0 and 1", `{"a":1.0}`, `{"a":1}`, compare.Options{}, true},
		{"Scenario28: text and number", `{"a":"1"}`, `{"a":1}`, compare.Options{}, false},
		{"int or string stays apart", `{"strategy":{"rollingUpdate":{"maxSurge":"1"}}}`,
			`{"strategy":{"rollingUpdate":{"maxSurge":1}}}`, typed, false},
		{"integers beyond 2^53", `{"a":9007199254740993}`, `{"a":9007199254740992}`, compare.Options{}, false},
		{"uint64", `{"a":18446744073709551615}`, `{"a":18446744073709551614}`, compare.Options{}, false},
		{"d41: null equals absent", `{"a":null,"b":1}`, `{"b":1,"c":null}`, compare.Options{}, true},
		{"d41: empty map of live is content", `{}`, `{"a":{}}`, typed, false},
		{"d41: empty map of Git, built-in", `{"a":{},"b":[]}`, `{}`, typed, true},
		{"d41: empty map of Git, custom", `{"a":{}}`, `{}`, compare.Options{}, false},
		{"d41: empty text of Git is content", `{"a":""}`, `{}`, typed, false},
		{"d39: default left out", `{}`, `{"replicas":1}`, typed, true},
		{"d39: not the default", `{}`, `{"replicas":2}`, typed, false},
		{"d39: default only in Git", `{"replicas":1}`, `{}`, typed, false},
		{"d39: default map below a default map", `{}`,
			`{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}}}`, typed, true},
		{"d39: one default is not one", `{}`, `{"strategy":{"type":"Recreate"}}`, typed, false},
		{"d39: inside a list", `{"containers":[{"name":"a"}]}`,
			`{"containers":[{"name":"a","policy":"IfNotPresent"}]}`, typed, true},
		{"d39: merge keys are defaulted first", `{"containers":[{"name":"a","ports":[{"containerPort":1},{"containerPort":2}]}]}`,
			`{"containers":[{"name":"a","ports":[{"containerPort":2,"protocol":"TCP"},{"containerPort":1,"protocol":"TCP"}]}]}`, typed, true},
		{"d23: quantity", `{"containers":[{"name":"a","limits":{"cpu":"1000m","m":"1024Mi","x":0.5,"y":1}}]}`,
			`{"containers":[{"name":"a","limits":{"cpu":"1","m":"1Gi","x":"500m","y":"1e0"}}]}`, typed, true},
		{"d23: other quantity", `{"containers":[{"name":"a","limits":{"cpu":"1000m"}}]}`,
			`{"containers":[{"name":"a","limits":{"cpu":"1001m"}}]}`, typed, false},
		{"d23: no quantity elsewhere", `{"cpu":"1000m"}`, `{"cpu":"1"}`, typed, false},
		{"d40: containers follow live", `{"containers":[{"name":"a"},{"name":"b"}]}`,
			`{"containers":[{"name":"b"},{"name":"a"}]}`, typed, false},
		{"d40: containers follow live without a schema", `{"containers":[{"name":"a"},{"name":"b"}]}`,
			`{"containers":[{"name":"b"},{"name":"a"}]}`, compare.Options{BuiltIn: true}, false},
		{"d40: map list in another order", `{"volumes":[{"name":"a"},{"name":"b"}]}`,
			`{"volumes":[{"name":"b"},{"name":"a"}]}`, typed, true},
		{"d40: map list of a built-in type without a schema", `{"volumes":[{"name":"a"},{"name":"b"}]}`,
			`{"volumes":[{"name":"b"},{"name":"a"}]}`, compare.Options{BuiltIn: true}, true},
		{"d40: set in another order", `{"finals":["a","b"]}`, `{"finals":["b","a"]}`, typed, true},
		{"d40: set with one more", `{"finals":["a","b"]}`, `{"finals":["b","a","c"]}`, typed, false},
		{"d40: atomic list in another order", `{"args":["a","b"]}`, `{"args":["b","a"]}`, typed, false},
		{"d40: unknown list in another order", `{"x":[{"name":"a"},{"name":"b"}]}`, `{"x":[{"name":"b"},{"name":"a"}]}`, compare.Options{}, false},
		{"S11: metrics as a set, with defaults", `{"metrics":[{"n":"m"},{"n":"c"}]}`,
			`{"metrics":[{"n":"c","type":"R"},{"n":"m","type":"R"}]}`, typed, true},
		{"S11: metrics without a schema", `{"metrics":[{"n":"m"},{"n":"c"}]}`, `{"metrics":[{"n":"c"},{"n":"m"}]}`, compare.Options{BuiltIn: true}, true},
		{"other kinds", `{"a":{}}`, `{"a":[]}`, compare.Options{}, false},
		{"list items are content", `{"a":[{}]}`, `{"a":[]}`, compare.Options{}, false},
		{"d34: kept paths do not count", `{"a":1,"b":{"c":1},"d":1}`, `{"b":{"c":2},"d":1}`,
			compare.Options{Mask: change.Mask{Keep: []string{"/a", "/b/c"}}}, true},
		{"d34: kept below a map only Git has", `{"m":{"k":1}}`, `{}`, compare.Options{Mask: change.Mask{Keep: []string{"/m/k"}}}, true},
		{"d34: beside a kept path", `{"m":{"k":1,"l":1}}`, `{}`, compare.Options{Mask: change.Mask{Keep: []string{"/m/k"}}}, false},
		{"d38: optional path Git lacks", `{"a":1}`, `{"a":1,"ip":"x"}`, compare.Options{Mask: change.Mask{IfPresent: []string{"/ip"}}}, true},
		{"d38: optional path Git has", `{"a":1,"ip":"y"}`, `{"a":1,"ip":"x"}`, compare.Options{Mask: change.Mask{IfPresent: []string{"/ip"}}}, false},
		{"pointers are unescaped", `{"a/b":{"~":1}}`, `{"a/b":{}}`, compare.Options{Mask: change.Mask{Keep: []string{"/a~1b/~0"}}}, true},
		{"mask in a moved item", `{"volumes":[{"name":"b","x":1},{"name":"a"}]}`, `{"volumes":[{"name":"a"},{"name":"b"}]}`,
			compare.Options{Schema: deployment, Mask: change.Mask{Keep: []string{"/volumes/1/x"}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			git, live := from(t, c.git), from(t, c.live)
			before := string(compare.Canonical([]any{git, live}))
			g.Expect(compare.Equal(git, live, c.o)).To(Equal(c.want))
			n := compare.Normalize(live, git, c.o)
			g.Expect(compare.Same(n, git)).To(Equal(c.want))
			g.Expect(compare.Same(compare.Normalize(live, n, c.o), n)).To(BeTrue(), "normalizing twice")
			g.Expect(string(compare.Canonical([]any{git, live}))).To(Equal(before), "arguments are modified")
		})
	}
}

// TestNormalize lists what a document should hold.
func TestNormalize(t *testing.T) {
	typed := compare.Options{Schema: deployment, BuiltIn: true}
	for _, c := range []struct {
		name, git, live, want string
		o                     compare.Options
	}{
		{"new document: as captured", `null`, `{"replicas":1,"x":{"y":null},"z":{}}`, `{"replicas":1,"x":{},"z":{}}`, typed},
		{"new document: masked paths left out", `null`, `{"a":{"k":1},"b":{"k":1,"l":2},"c":3}`, `{"b":{"l":2}}`,
			compare.Options{Mask: change.Mask{Keep: []string{"/a/k", "/b/k"}, IfPresent: []string{"/c"}}}},
		{"a changed item keeps its defaults out", `{"containers":[{"name":"a","i":1}]}`,
			`{"containers":[{"name":"a","i":2,"policy":"IfNotPresent"}]}`, `{"containers":[{"name":"a","i":2}]}`, typed},
		{"a renamed item keeps its defaults out", `{"containers":[{"name":"a","i":1}]}`,
			`{"containers":[{"name":"b","i":1,"policy":"IfNotPresent"}]}`, `{"containers":[{"name":"b","i":1}]}`, typed},
		{"a new item is as captured", `{"containers":[{"name":"a","i":1}]}`,
			`{"containers":[{"name":"a","i":1},{"name":"b","i":2,"policy":"IfNotPresent"}]}`,
			`{"containers":[{"name":"a","i":1},{"name":"b","i":2,"policy":"IfNotPresent"}]}`, typed},
		{"unordered lists keep the file's sequence", `{"volumes":[{"name":"a"},{"name":"b"},{"name":"c"}]}`,
			`{"volumes":[{"name":"d"},{"name":"c"},{"name":"a"}]}`, `{"volumes":[{"name":"a"},{"name":"c"},{"name":"d"}]}`, typed},
		{"Git's spelling stays", `{"containers":[{"name":"a","limits":{"cpu":"1000m","x":"1"}}]}`,
			`{"containers":[{"name":"a","limits":{"cpu":"1","x":"2"}}]}`,
			`{"containers":[{"name":"a","limits":{"cpu":"1000m","x":"2"}}]}`, typed},
		{"null of Git stays, live fills it", `{"a":null,"b":null}`, `{"b":{"c":1}}`, `{"a":null,"b":{"c":1}}`, compare.Options{}},
		{"optional inside a new item", `{"volumes":[{"name":"a","p":1}]}`, `{"volumes":[{"name":"a","p":2},{"name":"b","p":3}]}`,
			`{"volumes":[{"name":"a","p":2},{"name":"b"}]}`,
			compare.Options{Schema: deployment, Mask: change.Mask{IfPresent: []string{"/volumes/0/p", "/volumes/1/p"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			got := compare.Normalize(from(t, c.live), from(t, c.git), c.o)
			g.Expect(string(compare.Canonical(got))).To(MatchJSON(c.want))
		})
	}
}

// TestListKeys: decisions 22.
func TestListKeys(t *testing.T) {
	g := NewWithT(t)
	list := func(s string) []any { return from(t, s).([]any) }
	keys := func(field, s string) []string { return compare.ListKeys(nil, field, list(s), list(s)) }
	g.Expect(keys("ports", `[{"containerPort":1},{"containerPort":1,"protocol":"UDP"}]`)).To(Equal([]string{"containerPort", "protocol"}))
	g.Expect(keys("ports", `[{"port":1,"name":"a"},{"port":2,"name":"b"}]`)).To(Equal([]string{"port", "protocol"}))
	g.Expect(keys("ports", `[{"port":1,"name":"a"},{"port":1,"name":"b"}]`)).To(Equal([]string{"name"}))
	g.Expect(keys("ports", `[{"containerPort":1},{"containerPort":1,"protocol":"TCP"}]`)).To(BeNil())
	g.Expect(keys("env", `[{"name":"a"},{"name":"b"}]`)).To(Equal([]string{"name"}))
	g.Expect(keys("env", `[{"name":"a"},{"name":"a"}]`)).To(BeNil())
	g.Expect(keys("env", `[{"name":"a"},{"x":"a"}]`)).To(BeNil())
	g.Expect(keys("volumeMounts", `[{"name":"a","mountPath":"/a"},{"name":"a","mountPath":"/b"}]`)).To(Equal([]string{"mountPath"}))
	g.Expect(keys("args", `["a","b"]`)).To(BeNil())
	s := &change.Schema{ListType: "map", ListMapKeys: []string{"id"}}
	g.Expect(compare.ListKeys(s, "x", list(`[{"id":1,"name":"a"}]`), list(`[{"id":2,"name":"b"}]`))).To(Equal([]string{"id"}))
	g.Expect(compare.ListKeys(s, "x", list(`[{"id":1},{"id":1}]`), list(`[{"id":2}]`))).To(BeNil())
}

func TestDecodeAndCanonical(t *testing.T) {
	g := NewWithT(t)
	g.Expect(from(t, `[1,1.0,1.5,-9223372036854775808,18446744073709551615,1e400,36893488147419103232]`)).To(Equal([]any{
		int64(1), 1.0, 1.5, int64(-9223372036854775808), json.Number("18446744073709551615"), json.Number("1e400"), 3.6893488147419103e19}))
	for _, bad := range []string{``, `{`, `{} x`, `[1] 2`} {
		_, err := compare.Decode([]byte(bad))
		g.Expect(err).To(HaveOccurred(), bad)
	}
	g.Expect(string(compare.Canonical(from(t, `{"b":[1.0, 2e3,"<&>\u2028\u0001\"\\\n"],"a":{"d":null,"c":true}}`)))).To(
		Equal("{\"a\":{\"c\":true,\"d\":null},\"b\":[1,2000,\"<&>\u2028\\u0001\\\"\\\\\\n\"]}"))
	g.Expect(compare.Digest(from(t, `{"a":1,"b":2}`))).To(Equal(compare.Digest(from(t, `{"b":2.0,"a":1}`))))
	g.Expect(compare.Digest(from(t, `{"a":1}`))).NotTo(Equal(compare.Digest(from(t, `{"a":"1"}`))))
	g.Expect(compare.Same(from(t, `[1,{"a":[]}]`), from(t, `[1.0,{"a":[]}]`))).To(BeTrue())
	g.Expect(compare.Same(from(t, `[1,{"a":[]}]`), from(t, `[1,{"a":null}]`))).To(BeFalse())
}

// TestQuantity: spellings of one amount, and texts that are none.
func TestQuantity(t *testing.T) {
	g := NewWithT(t)
	same := func(a, b any) bool {
		return compare.Equal(a, b, compare.Options{Schema: &change.Schema{Quantity: true}})
	}
	for _, c := range [][2]any{{"1000m", "1"}, {"1Ki", "1024"}, {"1k", "1e3"}, {"1E", "1e18"}, {"0.5", "500m"}, {"1Ei", "1024Pi"},
		{int64(2), "2000m"}, {1.5, "1500m"}, {"+1", "1"}, {"-1", "-1000m"}, {"1000u", "1m"}, {"1.", "1"}, {".5", "0.5"}} {
		g.Expect(same(c[0], c[1])).To(BeTrue(), "%v %v", c[0], c[1])
	}
	for _, c := range [][2]any{{"", "0"}, {"m", "0"}, {"1mm", "1"}, {"1-", "1"}, {"--1", "1"}, {"1.2.3", "1.2"}, {"e5", "100000"},
		{"1e99999", "1e99998"}, {"1 Gi", "1Gi"}, {"x", "y"}, {"1KiB", "1Ki"}, {true, "1"}, {"1", "2"}} {
		g.Expect(same(c[0], c[1])).To(BeFalse(), "%v %v", c[0], c[1])
	}
}

// TestMatch: moved and renamed items are found, unrelated ones are not paired.
func TestMatch(t *testing.T) {
	g := NewWithT(t)
	match := func(a, b string) []int { return compare.Match(nil, "x", from(t, a).([]any), from(t, b).([]any)) }
	g.Expect(match(`["a","b","c"]`, `["c","a","b"]`)).To(Equal([]int{2, 0, 1}))
	g.Expect(match(`["a","b"]`, `["a","x","b"]`)).To(Equal([]int{0, -1, 1}))
	g.Expect(match(`["a","--port=80","c"]`, `["--port=81","c"]`)).To(Equal([]int{1, 2}))
	g.Expect(match(`[{"name":"a","v":1,"w":1},{"name":"b","v":2}]`, `[{"name":"c","v":1,"w":1},{"name":"b","v":2}]`)).To(Equal([]int{0, 1}))
	g.Expect(match(`[{"name":"a","v":1},{"name":"b","v":2}]`, `[{"name":"c","v":9},{"name":"b","v":2}]`)).To(Equal([]int{-1, 1}))
	g.Expect(match(`[{"a":{"b":1},"k":1},{"k":2}]`, `[{"k":2},{"k":3},{"a":{"b":1},"k":1}]`)).To(Equal([]int{1, -1, 0}))
	g.Expect(match(`[]`, `["a"]`)).To(Equal([]int{-1}))
}
