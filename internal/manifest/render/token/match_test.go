// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

func TestMatches(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"boat", "boat", true}, {"boat", "boats", false}, {"${A}", "", true}, {"${A}", "anything", true},
		{"${A}-config", "boat-config", true}, {"${A}-config", "boat-configs", false}, {"x-${A}", "y-boat", false},
		{"x-${A}-y-${B}", "x-1-y-2", true}, {"x-${A}-y-${B}", "x-1-z-2", false}, {"${A}${B}", "ab", true},
		{"${A}-a", "a-a-a", true}, {"${A", "${A", true}, {"${A", "b", false},
	} {
		g.Expect(Matches(c.pattern, c.text)).To(Equal(c.want), "%s %s", c.pattern, c.text)
	}
}

// Case K18: what is paired, kept and reported, by the JSON of file and live.
func TestCaseK18_ListsAreNotPairedByGuess(t *testing.T) {
	for name, c := range map[string]struct{ git, live, want, found string }{
		"another length, the token behind what is equal": {`["a","${X}"]`, `["a","b","c"]`, `["a","${X}","c"]`, "/1"},
		"another length, the token in the middle":        {`["a","${X}","z"]`, `["a","b","c","z"]`, `["a","${X}","c","z"]`, "/1"},
		"an item in front of the token":                  {`["${X}","z"]`, `["new","b","z"]`, `["${X}","b","z"]`, "/0"},
		"nothing to hold on to":                          {`[{"a":"${X}","b":"1"}]`, `[{"a":"v","b":"2"},{"a":"w","b":"3"}]`, `[{"a":"${X}","b":"1"}]`, "/0/a"},
		"the item with the token is gone":                {`["a","${X}"]`, `["a"]`, `["a","${X}"]`, "/1"},
		"a named item with the token is gone":            {`[{"name":"a"},{"name":"b","v":"${X}"}]`, `[{"name":"a"}]`, `[{"name":"a"},{"name":"b","v":"${X}"}]`, "/1/v"},
		"the name is a token":                            {`[{"name":"${X}","v":"1"}]`, `[{"name":"n","v":"2"}]`, `[{"name":"${X}","v":"2"}]`, "/0/name"},
		"a key that is no text":                          {`[{"name":{"a":1}},{"name":{"a":2}}]`, `[{"name":{"a":2}}]`, `[{"name":{"a":2}}]`, ""},
		"another kind of value":                          {`{"a":{"b":"${X}"}}`, `{"a":"text"}`, `{"a":{"b":"${X}"}}`, "/a/b"},
		"no token at all":                                {`[{"a":1}]`, `[{"a":2},{"a":3}]`, `[{"a":2},{"a":3}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			git, err := compare.Decode([]byte(c.git))
			g.Expect(err).NotTo(HaveOccurred())
			live, err := compare.Decode([]byte(c.live))
			g.Expect(err).NotTo(HaveOccurred())
			v, found := Explain(git, live, false)
			g.Expect(string(compare.Canonical(v))).To(Equal(c.want))
			if c.found == "" {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(HaveLen(1))
			g.Expect(found[0].Field).To(Equal(c.found))
		})
	}
}
