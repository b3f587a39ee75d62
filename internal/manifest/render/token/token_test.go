// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestEscape(t *testing.T) {
	g := NewWithT(t)
	for in, want := range map[string]string{
		"plain $x": "plain $x", "${x}": "$${x}", "$${x}": "$$$${x}", "a$$b": "a$$$$b", "{x}": "{x}", "$": "$",
		"rewrite ^/(.*)$ /$${x} break;": "rewrite ^/(.*)$ /$$$${x} break;",
	} {
		g.Expect(Escape(in)).To(Equal(want))
		g.Expect(unescape(want)).To(Equal(in))
	}
}

func TestExplain(t *testing.T) {
	type obj = map[string]any
	for name, c := range map[string]struct {
		git, live, want any
		found           []Finding
	}{
		"equal text": {obj{"a": "${X}"}, obj{"a": "${X}"}, obj{"a": "${X}"}, nil},
		"substituted": {
			obj{"a": "b-${X}"}, obj{"a": "b-1"}, obj{"a": "b-${X}"}, []Finding{{"/a", "${X}"}},
		},
		"token stands live, text beside it changed": {
			obj{"a": "echo ${HOME}"}, obj{"a": "echo ${HOME} twice"}, obj{"a": "echo ${HOME} twice"}, nil,
		},
		"escaped":     {obj{"a": "$${X}"}, obj{"a": "${X}"}, obj{"a": "$${X}"}, nil},
		"absent live": {obj{"a": "${X}", "b": "1"}, obj{"b": "2"}, obj{"a": "${X}", "b": "2"}, []Finding{{"/a", "${X}"}}},
		"number live": {obj{"a": "${X}"}, obj{"a": int64(3)}, obj{"a": "${X}"}, []Finding{{"/a", "${X}"}}},
		"list by name": {
			obj{"l": []any{obj{"name": "x", "v": "${X}"}, obj{"name": "y", "v": "1"}}},
			obj{"l": []any{obj{"name": "y", "v": "2"}, obj{"name": "x", "v": "9"}}},
			obj{"l": []any{obj{"name": "y", "v": "2"}, obj{"name": "x", "v": "${X}"}}},
			[]Finding{{"/l/0/v", "${X}"}},
		},
		"list by position": {
			obj{"l": []any{"a", "${X}"}}, obj{"l": []any{"b", "9"}}, obj{"l": []any{"b", "${X}"}}, []Finding{{"/l/1", "${X}"}},
		},
		"shell variables are no tokens": {obj{"a": "$X $(Y)"}, obj{"a": "z"}, obj{"a": "z"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, found := Explain(c.git, c.live, false)
			g.Expect(got).To(Equal(c.want))
			g.Expect(found).To(Equal(c.found))
		})
	}
}
