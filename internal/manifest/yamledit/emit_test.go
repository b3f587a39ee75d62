// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"testing"
	"unicode/utf8"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// FuzzEmit: what is written parses back to the value, in block and in flow form, for our reader and for kubectl's; and
// an edit with the same value changes nothing.
func FuzzEmit(f *testing.F) {
	for _, s := range []string{"", "a", "yes", " lead", "trail ", "a: b", "#x", "a #b", "1e3", "0x1F", "1_000", "~",
		"2024-01-01", "12:30:45", "=", "-", "- a", "a\nb", "a\nb\n", "a\n\n", "\na", " a\nb", "a\n  \nb\n", "\t", "a\tb\nc",
		"\u0085", "\u2028x", "\ufeff", "\x00", "\x7f", "é", "\U0001F600", "'", "\"", "\\", "a\r\nb", "---", "...", "? a",
		"|", ">", "%a", "@a", "`a", "!a", "&a", "*a", "{a}", "[a]", "a]", "a,b", "<<", "null", "\n", "\n\n", "a\n \n", " \na",
		"a:", ":a", "?a", "-a", "0o17", "0b1", "+1", ".5", "1.", ".inf", ".NaN", "08", "1:20", "190:20:30.15"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, k, s string) {
		if !utf8.ValidString(k) || !utf8.ValidString(s) {
			return
		}
		x := map[string]any{"apiVersion": s, "metadata": map[string]any{"name": s, k: s},
			k:      []any{s, []any{s, s}, map[string]any{k: s, "z": s}, nil, true, int64(3), 1.5, map[string]any{}, []any{}},
			"data": map[string]any{k: map[string]any{k: s}, "end": s}}
		out, err := Emit(x)
		if err != nil {
			t.Fatalf("%v\n%q", err, x)
		}
		res, err := Edit(out, 0, x, Options{})
		if err != nil || res.Outcome != NoChange {
			// null equals absent, so a document that holds one is not what a live object leaves behind.
			t.Fatalf("%v %v\n%s", res.Outcome, err, out)
		}
		if len(k) < 1000 {
			var back any
			if err := sigsyaml.Unmarshal(out, &back); err != nil || !compare.Same(back, x) {
				t.Fatalf("kubectl's reader: %v\n%s", err, out)
			}
		}
		for _, fs := range []flowStyle{plainFlow, jsonFlow} {
			if err := means([]byte(flowText(x, fs)+"\n"), x); err != nil {
				t.Fatalf("flow: %v\n%s", err, flowText(x, fs))
			}
		}
	})
}
