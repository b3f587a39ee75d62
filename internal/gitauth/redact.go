// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mask replaces a secret in a text.
const mask = "***"

// minSecret is the shortest value that is masked, in bytes: masking shorter ones would spoil every text and hide
// nothing.
const minSecret = 4

var (
	urlUser       = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@]+@`)
	authorization = regexp.MustCompile(`(?i)((?:authorization|private-token)\s*[:=]\s*(?:basic |bearer |token )?\s*)[^\s,;]+`)
)

// Redact masks secrets in a text: as they are, escaped for URLs and for JSON, in base64 (also inside a longer encoded
// text), and line by line for keys of several lines. User names and passwords in URLs and the values of authorization
// headers are masked in any case.
func Redact(s string, secrets ...string) string {
	var forms []string
	for _, secret := range secrets {
		forms = append(forms, spellings(secret)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, mask)
	}
	s = strings.NewReplacer(pairs...).Replace(s)
	s = urlUser.ReplaceAllString(s, "${1}"+mask+"@")
	return authorization.ReplaceAllString(s, "${1}"+mask)
}

// Redact masks every secret value of the Secret in a text.
func (s Secret) Redact(text string) string { return Redact(text, s.Sensitive()...) }

// Sensitive lists the values that must appear in no text. Known hosts, certificates, user names and IDs are not among
// them.
func (s Secret) Sensitive() []string {
	var out []string
	for k, v := range s {
		if !slices.Contains(harmless, k) && len(v) > 0 {
			out = append(out, string(v))
		}
	}
	user, _ := s.get(keysUsername)
	if password, key := s.get(keysPassword); key != "" {
		out = append(out, strings.TrimRight(string(user), "\r\n")+":"+strings.TrimRight(string(password), "\r\n"))
	}
	slices.Sort(out)
	return out
}

// Redact masks everything secret in these credentials in a text.
func (c Credentials) Redact(text string) string {
	secrets := []string{c.Password, c.BearerToken}
	if c.Password != "" {
		secrets = append(secrets, c.Username+":"+c.Password)
	}
	if c.Proxy != nil {
		if p, ok := c.Proxy.User.Password(); ok {
			secrets = append(secrets, p)
		}
	}
	return Redact(text, secrets...)
}

// spellings lists how a secret may look in a text.
func spellings(secret string) []string {
	trimmed := strings.TrimSpace(secret)
	if len(trimmed) < minSecret {
		return nil
	}
	out := []string{secret, trimmed, url.QueryEscape(trimmed), url.PathEscape(trimmed),
		strings.ReplaceAll(secret, "\n", `\n`), strings.ReplaceAll(trimmed, "\n", `\n`)}
	out = append(out, encoded(secret)...)
	out = append(out, encoded(trimmed)...)
	if strings.Contains(trimmed, "\n") {
		for line := range strings.Lines(trimmed) {
			if line = strings.TrimSpace(line); len(line) >= 16 && !strings.HasPrefix(line, "-----") {
				out = append(out, line)
			}
		}
	}
	return slices.DeleteFunc(out, func(f string) bool { return len(f) < minSecret })
}

// encoded lists the base64 forms: whole, and the part that does not depend on the neighbours for each of the three
// positions at which a value may begin inside an encoded text.
func encoded(secret string) []string {
	out := []string{base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret)),
		base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))}
	for pad := range 3 {
		shifted := base64.RawStdEncoding.EncodeToString(append(make([]byte, pad), secret...))
		first := (pad*8 + 5) / 6            // the first character without bits of the padding
		last := (pad + len(secret)) * 8 / 6 // the first character with bits of what follows
		if core := shifted[first:min(last, len(shifted))]; len(core) >= 8 {
			out = append(out, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
		}
	}
	return out
}
