// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Identity is a name and an e-mail as a Git header holds them.
type Identity struct{ Name, Email string }

// The committer when a GitProvider configures none (api 4.1), and the author when attribution is on and found nobody
// (git-writer 9.3).
var (
	DefaultCommitter = Identity{Name: "GitOps Reverser", Email: "noreply@configbutler.ai"}
	Unresolved       = Identity{
		Name: "unknown (attribution unresolved)", Email: "attribution-unresolved@gitops-reverser.invalid",
	}
)

// maxIdentity bounds a name or e-mail in bytes; longer ones come only from crafted user names.
const maxIdentity = 256

// Author returns the Git author of a change.
func Author(a change.Author, committer Identity) Identity {
	switch a.Kind {
	case "", change.AuthorCommitter:
		return committer
	case change.AuthorUnresolved:
		return Unresolved
	}
	name := a.Username
	if safe(a.DisplayName) {
		name = a.DisplayName
	}
	return Identity{Name: cut(header(name)), Email: email(a)}
}

// email prefers a valid claim, then a user name that is an address, then a name derived from the user name.
func email(a change.Author) string {
	for _, s := range []string{a.Email, a.Username} {
		if addr, err := mail.ParseAddress(s); err == nil && addr.Address == s && safe(s) && len(s) <= maxIdentity &&
			!strings.ContainsFunc(s, unicode.IsSpace) {
			return s
		}
	}
	local := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		case r == ':' || r == '_' || r == '/':
			return '-'
		}
		return -1
	}, strings.ToLower(a.Username))
	if len(local) > 64 {
		local = local[:64]
	}
	if local = strings.Trim(local, ".-"); local == "" {
		local = "unknown-user"
	}
	return local + "@noreply.cluster.local"
}

// safe reports whether a text can stand in a Git identity as it is.
func safe(s string) bool {
	return strings.TrimSpace(s) != "" && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '<' || r == '>' })
}

// header drops what a Git identity cannot hold; an empty rest becomes "unknown-user".
func header(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '<' || r == '>' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	// Git strips these from the ends of a name itself; a name of nothing else would be refused.
	if s = strings.Trim(s, " .,:;\"'\\"); s == "" {
		return "unknown-user"
	}
	return s
}

func cut(s string) string {
	if len(s) <= maxIdentity {
		return s
	}
	s = s[:maxIdentity]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// ValidateCommitter reports why a configured committer cannot stand in a commit.
func ValidateCommitter(i Identity) error {
	for _, f := range []struct{ field, value string }{
		{"spec.commit.committer.name", i.Name}, {"spec.commit.committer.email", i.Email},
	} {
		if !safe(f.value) || header(f.value) != f.value && f.field == "spec.commit.committer.name" {
			return fmt.Errorf("%s must not be blank, nor hold control characters, < or >, nor end in punctuation", f.field)
		}
	}
	return nil
}
