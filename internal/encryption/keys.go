// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bufio"
	"bytes"
	"maps"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
)

// KeySuffix ends the entries of a Secret that hold an age identity.
const KeySuffix = ".agekey"

// KeySource is spec.encryption as plain values.
type KeySource struct {
	// PublicKeys are explicit recipients; an entry may list several, separated by commas.
	PublicKeys []string
	// ExtractFromSecret adds the recipient of every identity in the Secret.
	ExtractFromSecret bool
	// GenerateWhenMissing only changes the error for a Secret without identities: see NeedsKey.
	GenerateWhenMissing bool
	// RecipientsOptional allows no recipient at all: useRepositoryRules takes them from the repository.
	RecipientsOptional bool
	// SecretName names the Secret in messages, as namespace/name; empty when spec.encryption has no secretRef.
	SecretName string
	// Secret is its data; nil when it does not exist.
	Secret map[string][]byte
}

// Keys are who can decrypt and what the operator itself can decrypt with. The zero value is nobody.
type Keys struct {
	recipients []string
	// own maps a recipient to the identity the operator holds for it.
	own map[string]age.Identity
}

// Recipients lists the recipients, without duplicates and sorted.
func (k Keys) Recipients() []string { return slices.Clone(k.recipients) }

// CanDecrypt reports whether the operator holds an identity for what it writes: then it compares plaintexts, also after a
// restart. Without recipients of its own, which the repository's rules then name, any identity counts.
func (k Keys) CanDecrypt() bool {
	return len(k.own) > 0 && (len(k.recipients) == 0 || k.opens(k.recipients))
}

// opens reports whether one of the recipients is the operator.
func (k Keys) opens(recipients []string) bool {
	return slices.ContainsFunc(recipients, func(r string) bool { return k.own[r] != nil })
}

// String shows recipients only, also in %v and %+v.
func (k Keys) String() string { return "recipients " + strings.Join(k.recipients, ", ") }

// GoString is String, for %#v.
func (k Keys) GoString() string { return k.String() }

// NeedsKey reports whether an identity must be generated before ResolveKeys can succeed: the spec wants its recipient and
// the Secret has none.
func NeedsKey(s KeySource) bool {
	return s.ExtractFromSecret && s.GenerateWhenMissing && !hasIdentity(s.Secret)
}

func hasIdentity(secret map[string][]byte) bool {
	for name := range secret {
		if strings.HasSuffix(name, KeySuffix) {
			return true
		}
	}
	return false
}

// ResolveKeys reads recipients and identities. Errors are *Error.
func ResolveKeys(s KeySource) (Keys, error) {
	k := Keys{own: map[string]age.Identity{}}
	for _, entry := range s.PublicKeys {
		for _, r := range strings.Split(entry, ",") {
			if r = strings.TrimSpace(r); r == "" {
				continue
			}
			if why := checkRecipient(r); why != "" {
				return Keys{}, errorf(InvalidConfig, "the age recipient %q of "+
					"spec.encryption.age.recipients.publicKeys cannot be used: %s", shortened(r), why)
			}
			k.recipients = append(k.recipients, r)
		}
	}
	if s.SecretName != "" && s.Secret == nil {
		return Keys{}, errorf(MissingSecret, "the Secret %s does not exist", s.SecretName)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Secret)) {
		if !strings.HasSuffix(name, KeySuffix) {
			continue
		}
		identity, recipient, why := readIdentity(s.Secret[name])
		if why != "" {
			return Keys{}, errorf(InvalidConfig, "the entry %q of the Secret %s is no age identity: %s",
				name, s.SecretName, why)
		}
		k.own[recipient] = identity
		if s.ExtractFromSecret {
			k.recipients = append(k.recipients, recipient)
		}
	}
	if s.ExtractFromSecret && len(k.own) == 0 {
		if s.SecretName == "" {
			return Keys{}, errorf(InvalidConfig, "recipients.extractFromSecret needs spec.encryption.secretRef")
		}
		if !s.GenerateWhenMissing {
			return Keys{}, errorf(SecretCreateDisabled, "the Secret %s has no entry that ends in %s; add an age "+
				"identity or set recipients.generateWhenMissing", s.SecretName, KeySuffix)
		}
		return Keys{}, errorf(MissingSecret, "the Secret %s has no age identity yet; one is being generated", s.SecretName)
	}
	slices.Sort(k.recipients)
	k.recipients = slices.Compact(k.recipients)
	if len(k.recipients) == 0 && !s.RecipientsOptional {
		return Keys{}, errorf(InvalidConfig, "spec.encryption names no age recipient; set recipients.publicKeys or "+
			"recipients.extractFromSecret")
	}
	return k, nil
}

// readIdentity reads one entry: exactly one identity, comments and blank lines allowed.
func readIdentity(entry []byte) (age.Identity, string, string) {
	var line string
	sc := bufio.NewScanner(bytes.NewReader(entry))
	for sc.Scan() {
		t := strings.TrimSpace(sc.Text())
		if t == "" || t[0] == '#' {
			continue
		}
		if line != "" {
			return nil, "", "it holds more than one line besides comments; use one entry per identity"
		}
		line = t
	}
	if sc.Err() != nil {
		return nil, "", "it holds a line that is too long"
	}
	switch {
	case line == "":
		return nil, "", "it is empty"
	case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-1"):
		if id, err := age.ParseHybridIdentity(line); err == nil {
			return id, id.Recipient().String(), ""
		}
	case strings.HasPrefix(line, "AGE-SECRET-KEY-1"):
		if id, err := age.ParseX25519Identity(line); err == nil {
			return id, id.Recipient().String(), ""
		}
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		return nil, "", "identities of age plugins are not supported: they start another program"
	}
	return nil, "", "it does not hold a valid AGE-SECRET-KEY-1..."
}

// checkRecipient says why a recipient cannot be used; empty means that it can.
func checkRecipient(r string) string {
	var err error
	switch {
	case strings.HasPrefix(r, "AGE-SECRET-KEY-"):
		return "it is a private key"
	case strings.HasPrefix(r, "age1pq1"):
		_, err = age.ParseHybridRecipient(r)
	case strings.HasPrefix(r, "age1") && strings.Count(r, "1") > 1:
		return "recipients of age plugins are not supported: they start another program"
	case strings.HasPrefix(r, "age1"):
		_, err = age.ParseX25519Recipient(r)
	case strings.HasPrefix(r, "ssh-ed25519 "), strings.HasPrefix(r, "ssh-rsa "):
		_, err = agessh.ParseRecipient(r)
	default:
		return "it starts neither with age1 nor with ssh-ed25519 or ssh-rsa"
	}
	if err != nil {
		return "it is not complete or mistyped"
	}
	return ""
}

// shortened shows enough of a recipient to find it; a private key in its place is not shown.
func shortened(r string) string {
	if strings.Contains(strings.ToUpper(r), "SECRET") {
		return "***"
	}
	if len(r) > 24 {
		return r[:16] + "..."
	}
	return r
}
