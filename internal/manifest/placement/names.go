// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxSegment is the longest segment of a new path in bytes (decision 44).
const maxSegment = 200

// escape percent-encodes what some file system cannot hold (git-writer 5.3, decision 27), and every byte that is not
// ASCII, because file systems disagree about their normal form. With fold, upper-case letters are encoded too, so that
// two values never differ by case alone (decision 44).
func escape(s string, fold bool) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c <= ' ' && c != ' ' || c >= 0x7f || strings.IndexByte(`%/\<>:"|?*`, c) >= 0 || fold && 'A' <= c && c <= 'Z' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escapeAt encodes one byte of a segment.
func escapeAt(s string, i int) string { return fmt.Sprintf("%s%%%02X%s", s[:i], s[i], s[i+1:]) }

// suffixes are the endings of manifests; the longer ones first.
var suffixes = []string{".sops.yaml", ".sops.yml", ".yaml", ".yml"}

// suffix returns the ending of a file name that a cut must keep.
func suffix(s string) string {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return x
		}
	}
	return ""
}

// safeSegment makes a rendered segment a name that every file system can hold and the inventory takes as a manifest.
func safeSegment(s string, last, sensitive bool) string {
	if n := len(s) - 1; s[n] == '.' || s[n] == ' ' {
		s = escapeAt(s, n)
	}
	if last && !sensitive {
		// A plain object must not look like one whose encryption was forgotten.
		if x := suffix(s); strings.HasPrefix(x, ".sops") {
			s = escapeAt(s, len(s)-len(x))
		}
	}
	if reserved(s) || device(s) {
		s = escapeAt(s, 0)
	}
	if len(s) <= maxSegment {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := "-" + hex.EncodeToString(sum[:4])
	if last {
		tail += suffix(s)
	}
	return cut(s, maxSegment-len(tail)) + tail
}

// cut shortens a segment to at most n bytes without breaking a percent code.
func cut(s string, n int) string {
	s = s[:n]
	if i := strings.LastIndexByte(s, '%'); i >= 0 && i > len(s)-3 {
		s = s[:i]
	}
	return s
}

// reserved reports names that mean something else to Git, to kustomize or to the inventory, on a file system that does
// not tell letter cases apart.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case ".git", "git~1", ".gitmodules", ".gitattributes", ".gitignore", "kustomization.yaml", "kustomization.yml",
		"kustomization", ".sops.yaml", ".sops.yml", ".gittargetignore", "readme.md":
		return true
	}
	return false
}

// device reports names Windows takes for a device, whatever their extension.
func device(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		'0' <= stem[3] && stem[3] <= '9'
}
