// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Decode reads one JSON value: integers as int64 (exactly), as json.Number when only uint64 holds them, every other
// number as float64. It refuses trailing text.
func Decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("decoding JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decoding JSON: text after the value")
	}
	return settle(v), nil
}

// settle turns the numbers of a decoded value into the types this package works with.
func settle(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = settle(e)
		}
	case []any:
		for i, e := range v {
			v[i] = settle(e)
		}
	case json.Number:
		return number(v)
	}
	return v
}

// number reads a JSON number into int64, json.Number (uint64 only) or float64.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return json.Number(strconv.FormatUint(u, 10))
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	return f
}

// Canonical returns the compact JSON of a value: keys sorted, integers exact, 1.0 written as 1. Values that are equal
// by content have equal canonical bytes.
func Canonical(v any) []byte { return appendValue(nil, v) }

// Digest returns the SHA-256 of the canonical bytes.
func Digest(v any) [32]byte { return sha256.Sum256(Canonical(v)) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case map[string]any:
		b = append(b, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			b = appendValue(b, v[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	}
	if s, ok := numberText(v); ok {
		return append(b, s...)
	}
	return appendString(b, fmt.Sprint(v))
}

// numberText returns the canonical text of a number; false for anything else.
func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case int:
		return strconv.Itoa(v), true
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float32:
		return floatText(float64(v)), true
	case float64:
		return floatText(v), true
	case json.Number:
		switch n := number(v).(type) {
		case int64:
			return strconv.FormatInt(n, 10), true
		case float64:
			return floatText(n), true
		case json.Number:
			return string(n), true
		}
	}
	return "", false
}

func floatText(f float64) string {
	if f == math.Trunc(f) {
		switch {
		case f >= math.MinInt64 && f < math.MaxInt64:
			return strconv.FormatInt(int64(f), 10)
		case f > 0 && f < math.MaxUint64:
			return strconv.FormatUint(uint64(f), 10)
		}
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), "\ufffd"...)
			i++
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// Same reports whether two values are equal by content, with no rule of Kubernetes applied: numbers by value, text by
// text, null different from absent.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !Same(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Same(a[i], b[i]) {
				return false
			}
		}
		return true
	case string, bool, nil:
		return a == b
	}
	s, ok := numberText(a)
	t, ok2 := numberText(b)
	return ok && ok2 && s == t
}
