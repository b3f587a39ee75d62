// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// The defaults of git-writer 8.1.
const (
	defaultPathRegex      = `.*\.sops\.ya?ml$`
	defaultEncryptedRegex = `^(data|stringData)$`
	// defaultIndent is the indentation of new documents (git-writer 1.6).
	defaultIndent = 2
)

// Marker is the first line of a .sops.yaml this operator wrote. Its recipients follow the spec; a file without it is never
// changed.
const Marker = "# Written by GitOps Reverser; the recipients follow spec.encryption of the GitTarget."

// SOPSConfig is the .sops.yaml to bootstrap for recipients (git-writer 8.1); nil without any, as with
// useRepositoryRules. The indent keeps the layout when a person edits a document with the sops command.
func SOPSConfig(recipients []string) []byte {
	if len(recipients) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString(Marker + "\ncreation_rules:\n")
	fmt.Fprintf(&b, "  - path_regex: %s\n    encrypted_regex: %s\n    key_groups:\n      - age:\n",
		defaultPathRegex, defaultEncryptedRegex)
	for _, r := range slices.Sorted(slices.Values(recipients)) {
		fmt.Fprintf(&b, "          - %s\n", r)
	}
	fmt.Fprintf(&b, "stores:\n  yaml:\n    indent: %d\n", defaultIndent)
	return []byte(b.String())
}

// selection says which fields are encrypted, in SOPS' terms. At most one of the first six is set.
type selection struct {
	unencryptedSuffix, encryptedSuffix             string
	unencryptedRegex, encryptedRegex               string
	unencryptedCommentRegex, encryptedCommentRegex string
	macOnlyEncrypted                               bool
}

func (s selection) empty() bool {
	return s.unencryptedSuffix == "" && s.encryptedSuffix == "" && s.unencryptedRegex == "" && s.encryptedRegex == "" &&
		s.unencryptedCommentRegex == "" && s.encryptedCommentRegex == ""
}

// rule is what applies to one path.
type rule struct {
	fields selection
	indent int
	// own is true for a file with our marker, found false when no rule matches.
	own, found bool
	// recipients are the age recipients the rule names; others says that it names other kinds of key too.
	recipients []string
	others     bool
}

// matchRule finds the first creation rule for a path, as SOPS does: the path is relative to the file's folder
// (decisions 50). Without a file, or without creation rules in it, nothing is found and nothing is wrong.
func matchRule(file []byte, filePath, target string) (r rule, exists bool, err error) {
	if file == nil {
		return rule{}, false, nil
	}
	r.own = strings.HasPrefix(strings.TrimPrefix(string(file), "\ufeff"), Marker)
	root, err := parseRules(file)
	if err != nil {
		return rule{}, false, fmt.Errorf("%s cannot be read: %w", filePath, err)
	}
	if n, ok := dig(root, "stores", "yaml", "indent").(int64); ok && n >= 2 && n <= 9 {
		r.indent = int(n)
	}
	rules, ok := root["creation_rules"].([]any)
	if !ok {
		return r, false, nil
	}
	relative := target
	if dir := path.Dir(filePath); dir != "." {
		relative = strings.TrimPrefix(target, dir+"/")
	}
	for i, x := range rules {
		m, _ := x.(map[string]any)
		pattern, _ := m["path_regex"].(string)
		re, err := regexp.Compile(pattern)
		if err != nil {
			return rule{}, false, fmt.Errorf("%s: path_regex of rule %d is no regular expression", filePath, i+1)
		}
		if pattern != "" && !re.MatchString(relative) {
			continue
		}
		if err := r.read(m); err != nil {
			return rule{}, false, fmt.Errorf("%s: rule %d: %w", filePath, i+1, err)
		}
		r.found = true
		return r, true, nil
	}
	return r, true, nil
}

func parseRules(file []byte) (map[string]any, error) {
	if yamldoc.CheckAliases(file) != nil {
		return nil, errors.New("its aliases expand without end")
	}
	f := yamldoc.Split(file)
	for i := range f.Docs {
		if f.Docs[i].Empty {
			continue
		}
		n, err := yamldoc.Parse(f.Body(file, i))
		if err != nil {
			return nil, err
		}
		v, err := n.JSON()
		if err != nil {
			return nil, err
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("it is no map")
		}
		return m, nil
	}
	return map[string]any{}, nil
}

func dig(m map[string]any, keys ...string) any {
	var v any = m
	for _, k := range keys {
		x, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = x[k]
	}
	return v
}

// read takes fields and recipients of one creation rule.
func (r *rule) read(m map[string]any) error {
	set := 0
	for key, to := range map[string]*string{
		"unencrypted_suffix": &r.fields.unencryptedSuffix, "encrypted_suffix": &r.fields.encryptedSuffix,
		"unencrypted_regex": &r.fields.unencryptedRegex, "encrypted_regex": &r.fields.encryptedRegex,
		"unencrypted_comment_regex": &r.fields.unencryptedCommentRegex, "encrypted_comment_regex": &r.fields.encryptedCommentRegex,
	} {
		s, _ := m[key].(string)
		if s == "" {
			continue
		}
		if _, err := regexp.Compile(s); err != nil && strings.HasSuffix(key, "_regex") {
			return fmt.Errorf("%s is no regular expression", key)
		}
		*to = s
		set++
	}
	if set > 1 {
		return errors.New("only one of the fields encrypted_* and unencrypted_* may be set")
	}
	r.fields.macOnlyEncrypted, _ = m["mac_only_encrypted"].(bool)
	if groups, ok := m["key_groups"].([]any); ok && len(groups) > 0 {
		r.others = len(groups) > 1
		for _, g := range groups {
			r.group(g, 0)
		}
	} else {
		r.group(m, 0)
	}
	slices.Sort(r.recipients)
	r.recipients = slices.Compact(r.recipients)
	return nil
}

// group collects the keys of a key group, or of a rule without groups.
func (r *rule) group(g any, depth int) {
	m, _ := g.(map[string]any)
	if m == nil || depth > 16 {
		return
	}
	switch v := m["age"].(type) {
	case string:
		r.addRecipients(v)
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				r.addRecipients(s)
			}
		}
	}
	for _, k := range []string{"pgp", "kms", "gcp_kms", "hckms", "azure_keyvault", "hc_vault", "hc_vault_transit_uri"} {
		switch v := m[k].(type) {
		case string:
			r.others = r.others || v != ""
		case []any:
			r.others = r.others || len(v) > 0
		}
	}
	if merge, ok := m["merge"].([]any); ok {
		for _, x := range merge {
			r.group(x, depth+1)
		}
	}
}

func (r *rule) addRecipients(list string) {
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			r.recipients = append(r.recipients, s)
		}
	}
}

// differs says in which way a rule's recipients differ from those in force; empty when they are equal.
func (r *rule) differs(file string, recipients []string) string {
	missing, extra := without(recipients, r.recipients), without(r.recipients, recipients)
	if len(missing) == 0 && len(extra) == 0 && !r.others {
		return ""
	}
	text := file + " names other recipients than spec.encryption, which counts:"
	if len(missing) > 0 {
		text += " it lacks " + some(missing) + ";"
	}
	if len(extra) > 0 {
		text += " it also has " + some(extra) + ";"
	}
	if r.others {
		text += " it has keys of other kinds than age;"
	}
	return strings.TrimSuffix(text, ";")
}

// some lists the first of many, since the text ends in a condition.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// without returns what of a is not in b.
func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
