// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"unicode"
)

// MaxText bounds the server's words in errors and results, in bytes.
const MaxText = 1024

var (
	urlCredentials = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@]*@`)
	authorization  = regexp.MustCompile(`(?i)((?:authorization|private-token)\s*[:=]\s*(?:basic|bearer|token)?\s*)\S+`)
	htmlNoise      = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)
	spaces         = regexp.MustCompile(`[ \t]+`)
)

// Clean makes the words of a server fit for a condition: credentials are masked, control characters and progress lines
// go, and the length is bounded by MaxText.
func Clean(text string, secrets ...string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, s := range secrets {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	text = urlCredentials.ReplaceAllString(text, "${1}")
	text = authorization.ReplaceAllString(text, "${1}***")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:] // progress overwrites itself
		line = strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r):
				return -1
			}
			return r
		}, line)
		if line = strings.TrimSpace(spaces.ReplaceAllString(line, " ")); line != "" {
			lines = append(lines, line)
		}
	}
	return bound(strings.Join(lines, "\n"))
}

func bound(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText-3], "") + "..."
}

// cleanBody is Clean for the body of an HTTP error, which may be a web page.
func cleanBody(body, contentType string, secrets ...string) string {
	if strings.Contains(contentType, "html") || strings.HasPrefix(strings.TrimSpace(body), "<") {
		body = html.UnescapeString(htmlNoise.ReplaceAllString(body, "\n"))
	}
	return Clean(body, secrets...)
}

// Secrets lists what must not appear in any text.
func (c Credentials) Secrets() []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	if c.Password != "" {
		add(base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password)))
	}
	add(c.Password)
	add(c.BearerToken)
	if c.Proxy != nil && c.Proxy.User != nil {
		p, _ := c.Proxy.User.Password()
		add(p)
	}
	return out
}
