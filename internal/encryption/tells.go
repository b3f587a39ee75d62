// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/getsops/sops/v3"
)

const (
	// maxWrapped is how many layers of JSON, base64 and gzip are taken off an annotation.
	maxWrapped = 4
	// maxUnpacked bounds what one layer unpacks to: an annotation has 256 KiB at most.
	maxUnpacked = 4 << 20
	// perComparison is what one comparison costs besides, in bytes.
	perComparison = 64
	// maxCompared bounds the bytes in which values are looked for, about a second's work.
	maxCompared = 1 << 30
)

// checkMetadata refuses an object whose labels or annotations repeat a value that is encrypted (decisions 51). Tools keep
// whole objects in annotations: as JSON, in JSON again, in base64, compressed.
func checkMetadata(want sops.TreeBranch, plain []string) error {
	c := newComparison(plain)
	if len(c.values) == 0 {
		return nil
	}
	for _, field := range []string{"labels", "annotations"} {
		for _, it := range child(child(want, "metadata"), field) {
			v, ok := it.Value.(string)
			switch {
			case !ok:
			case c.tells(v, maxWrapped):
				return fmt.Errorf("metadata.%s[%q] repeats a value that is to be encrypted; remove it there, and "+
					"change the value, since it was readable", field, it.Key)
			case c.budget < 0:
				return fmt.Errorf("metadata.%s[%q] is too large to be compared with the values that are to be encrypted; "+
					"remove it", field, it.Key)
			}
		}
	}
	return nil
}

// comparison looks for values in texts. Its budget is in bytes looked at: who makes an object with many values and many
// texts must not keep the branch busy.
type comparison struct {
	values []sought
	whole  map[string]bool
	budget int
}

// sought is one value and the forms in which it tells.
type sought struct {
	text, quoted string
	base64, key  bool
}

func newComparison(plain []string) *comparison {
	c := &comparison{whole: map[string]bool{}, budget: maxCompared}
	for _, p := range plain {
		if len(p) < minCompared {
			continue
		}
		c.values = append(c.values, sought{text: p, quoted: strconv.Quote(p), base64: isLongBase64(p), key: likeKey(p)})
		c.whole[strings.TrimSpace(p)] = true
	}
	return c
}

// tells reports whether a text holds one of the values: whole, quoted, in base64, or as a word when it looks like a key.
func (c *comparison) tells(text string, layers int) bool {
	if len(text) < minCompared || c.budget < 0 {
		return false
	}
	if c.whole[strings.TrimSpace(text)] || slices.ContainsFunc(c.values, func(v sought) bool { return c.contains(text, v) }) {
		return true
	}
	return layers > 0 && slices.ContainsFunc(unwrap(text), func(inner string) bool { return c.tells(inner, layers-1) })
}

func (c *comparison) contains(text string, v sought) bool {
	if len(text) <= len(v.text) || c.budget < 0 {
		return false
	}
	c.budget -= len(text) + perComparison
	return strings.Contains(text, v.quoted) || v.base64 && strings.Contains(text, v.text) || v.key && containsWord(text, v.text)
}

// unwrap takes one layer off: the texts in JSON, or what base64 or gzip stand for.
func unwrap(text string) []string {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, `"`) {
		var v any
		if json.Unmarshal([]byte(trimmed), &v) == nil {
			return texts(v, nil)
		}
	}
	if b := decoded(trimmed); b != nil {
		if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			b = unpacked(b)
		}
		if utf8.Valid(b) && len(b) > 0 {
			return []string{string(b)}
		}
	}
	return nil
}

// texts are the scalars of a JSON value that are texts.
func texts(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case map[string]any:
		for _, x := range v {
			out = texts(x, out)
		}
	case []any:
		for _, x := range v {
			out = texts(x, out)
		}
	}
	return out
}

// decoded reads base64 in either alphabet, with or without padding; nil when it is none.
func decoded(text string) []byte {
	text = strings.TrimRight(text, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(text); err == nil {
			return b
		}
	}
	return nil
}

func unpacked(b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(r, maxUnpacked)) // what was unpacked before an error counts, too
	return out
}

// isLongBase64 recognises texts that hardly stand anywhere by chance.
func isLongBase64(s string) bool {
	if len(s) < 12 {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil && (strings.HasSuffix(s, "=") || strings.ContainsAny(s, "0123456789+/"))
}

// likeKey recognises a password or a token: letters and digits, and nothing that a host name, an address, a path or a
// sentence has. Those stand in annotations for good reasons.
func likeKey(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit) &&
		!strings.ContainsAny(s, "./:@ ") && !strings.ContainsFunc(s, unicode.IsSpace)
}

// containsWord reports whether a word stands in a text with no letter, digit, '-' or '_' next to it.
func containsWord(text, word string) bool {
	part := func(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(word):])
		if (at+i == 0 || !part(before)) && (at+i+len(word) == len(text) || !part(after)) {
			return true
		}
		at += i + 1
	}
}
