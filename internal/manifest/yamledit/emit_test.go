// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"testing"
	"unicode/utf8"
)

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
		_, err := Emit(x)
		if err != nil {
			t.Fatalf("%v\n%q", err, x)
		}
		_ = flowText(x, plainFlow)
		for _, fs := range []flowStyle{plainFlow, jsonFlow} {
			if err := means([]byte(flowText(x, fs)+"\n"), x); err != nil {
				t.Fatalf("flow: %v\n%s", err, flowText(x, fs))
			}
		}
	})
}
