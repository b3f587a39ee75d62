// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// encryptWith writes a clear document and encrypts it with the released command and the given rules.
func (b *bench) encryptWith(rules, text string) []byte {
	b.t.Helper()
	dir := b.t.TempDir()
	b.g.Expect(os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte(rules), 0o600)).To(Succeed())
	b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), []byte(text), 0o600)).To(Succeed())
	doc, err := b.command(dir, b.identity, "encrypt", "db.sops.yaml")
	b.g.Expect(err).NotTo(HaveOccurred())
	return doc
}

// A Secret as people write it for Flux: stringData, no type, no namespace's order, four spaces. It is no change, and a
// change keeps its form.
func TestDocumentOfThePeople(t *testing.T) {
	b := newBench(t)
	rules := "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    age: " + b.identity.Recipient().String() + "\n"
	doc := b.encryptWith(rules, "kind: Secret\napiVersion: v1\nmetadata:\n  namespace: app\n  name: db\n  labels:\n    app: db\nstringData:\n  url: postgres://db\n  motd: |\n    line one\n    line two\ndata:\n  raw: |\n    AAEC\n    AwQF\n")
	b.g.Expect(string(doc)).To(ContainSubstring("\n    namespace: app\n"), "four spaces")
	live := map[string]string{"url": "postgres://db", "motd": "line one\nline two\n", "raw": "\x00\x01\x02\x03\x04\x05"}
	request := func(existing []byte) plan.SealRequest {
		r := b.request(existing, live)
		r.Rules = []byte(rules)
		return r
	}
	b.g.Expect(b.seal(request(doc)).Outcome).To(Equal(plan.SealUnchanged))

	live["url"] = "postgres://first"
	res := b.seal(request(doc))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("somebody else made the present one")))
	form := func(doc []byte) (keys []string) {
		for line := range strings.Lines(body(doc)) {
			key, _, _ := strings.Cut(line, ": ENC")
			keys = append(keys, key)
		}
		return keys
	}
	b.g.Expect(form(res.Document)).To(Equal(form(doc)), "with another data key, its form stays")

	live["url"], doc = "postgres://other", res.Document
	res = b.seal(request(doc))
	added, removed := changedLines(doc, res.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"lastmodified", "mac", "url"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"lastmodified", "mac", "url"}))

	// A value that is no text any more moves to data; a new key is data, too; a deleted one goes.
	live["url"], live["new"] = "\xff\xfe", "n"
	delete(live, "motd")
	res2 := b.seal(request(res.Document))
	got := b.plain(res2.Document, b.identity)
	b.g.Expect(got).NotTo(HaveKey("stringData"))
	b.g.Expect(got["data"]).To(Equal(map[string]any{"raw": "AAEC\nAwQF\n", "url": "//4=", "new": "bg=="}))
	b.g.Expect(got).NotTo(HaveKey("type"))
	b.g.Expect(b.seal(request(res2.Document)).Outcome).To(Equal(plan.SealUnchanged))
}

// A file somebody formatted after SOPS had written it keeps every other byte.
func TestForeignLayout(t *testing.T) {
	b := newBench(t)
	doc := string(b.seal(b.request(nil, pair)).Document)
	for name, text := range map[string]string{
		"quotes and blank lines": "---\n"[4:] + strings.NewReplacer("  a: ENC", "\n  a:   ENC", "version: 3.13.3", "version: '3.13.3'").Replace(doc),
		"list at the key":        strings.NewReplacer("    - enc: |\n", "  - enc: |\n", "      recipient:", "    recipient:").Replace(doc),
		"old SOPS":               strings.Replace(doc, "sops:\n", "sops:\n  kms: []\n  gcp_kms: []\n  azure_kv: []\n  hc_vault: []\n  pgp: []\n", 1),
		"comment":                strings.Replace(doc, "sops:\n", "# do not edit below\nsops:\n", 1),
		"CRLF":                   strings.ReplaceAll(doc, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			b.g = NewWithT(t)
			b.restart()
			r := b.request([]byte(text), pair)
			b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealUnchanged))
			r = b.request([]byte(text), map[string]string{"a": "", "b": pair["b"], "c": "changed"})
			res := b.seal(r)
			added, removed := changedLines([]byte(text), res.Document)
			b.g.Expect(keysOf(added)).To(Equal([]string{"a", "c", "lastmodified", "mac"}))
			b.g.Expect(keysOf(removed)).To(Equal([]string{"a", "c", "lastmodified", "mac"}))
			b.holds(res.Document, r)
		})
	}
}

// An added and a removed key change one line each, also with CRLF.
func TestKeyAddedAndRemoved(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	for _, text := range []string{string(doc), strings.ReplaceAll(string(doc), "\n", "\r\n")} {
		b.restart()
		r := b.request([]byte(text), map[string]string{"a": pair["a"], "ab": "new", "c": pair["c"]})
		res := b.seal(r)
		added, removed := changedLines([]byte(text), res.Document)
		b.g.Expect(keysOf(added)).To(Equal([]string{"ab", "lastmodified", "mac"}))
		b.g.Expect(keysOf(removed)).To(Equal([]string{"b", "lastmodified", "mac"}))
		b.holds(res.Document, r)
		b.g.Expect(body(res.Document)).To(MatchRegexp(`(?s)a: ENC.*ab: ENC.*c: ENC`))
	}
}

// Empty data, empty values and null are handled like the API server does.
func TestEmptyValues(t *testing.T) {
	b := newBench(t)
	r := b.request(nil, map[string]string{"empty": "", "full": "x"})
	doc := b.seal(r).Document
	b.g.Expect(string(doc)).To(ContainSubstring("  empty: \"\"\n"))
	b.holds(doc, r)

	r = b.request(nil, nil, func(o map[string]any) { delete(o, "data") })
	bare := b.seal(r).Document
	b.holds(bare, r)
	for _, extra := range []string{"data: {}\n", "stringData: {}\n", "data: null\n", "immutable: null\n"} {
		b.restart()
		text := strings.Replace(string(bare), "type: Opaque\n", "type: Opaque\n"+extra, 1)
		b.g.Expect(b.seal(b.request([]byte(text), nil, func(o map[string]any) { delete(o, "data") })).Outcome).To(Equal(plan.SealUnchanged), extra)
	}
}

// The released command opens, edits and re-encrypts what we write, without changing its layout.
func TestReleasedCommand(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "db.sops.yaml")
	data := map[string]string{"a": "alpha-value-1", "lines": "x\ny\n", "empty": "", "bytes": "\x00\xff", "quote": `"'\`}
	r := b.request(nil, data, func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"yes": "yes", "date": "2026-01-01", "n": "1", "text": "a: b\nc # d", "emoji": "😀"}
	})
	doc := b.seal(r).Document
	b.g.Expect(os.WriteFile(filepath.Join(dir, ".sops.yaml"), b.rules(), 0o600)).To(Succeed())
	b.g.Expect(os.WriteFile(path, doc, 0o600)).To(Succeed())
	out, err := b.command(dir, b.identity, "decrypt", "--extract", `["data"]["a"]`, path)
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(string(out)).To(Equal(base64.StdEncoding.EncodeToString([]byte("alpha-value-1"))))

	_, err = b.command(dir, b.identity, "set", path, `["data"]["a"]`, `"bmV3"`)
	b.g.Expect(err).NotTo(HaveOccurred())
	edited, err := os.ReadFile(path)
	b.g.Expect(err).NotTo(HaveOccurred())
	added, removed := changedLines(doc, edited)
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"a", "lastmodified", "mac"}))
	data["a"] = "new"
	r.Existing = edited
	r.Desired = b.request(nil, data, func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"yes": "yes", "date": "2026-01-01", "n": "1", "text": "a: b\nc # d", "emoji": "😀"}
	}).Desired
	b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealUnchanged))

	// What a person edits with the command is ours all the same, also after a restart.
	b.restart()
	r.Desired = b.request(nil, map[string]string{"a": "newer", "lines": "x\ny\n", "empty": "", "bytes": "\x00\xff", "quote": `"'\`}, func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"yes": "yes", "date": "2026-01-01", "n": "1", "text": "a: b\nc # d", "emoji": "😀"}
	}).Desired
	added, _ = changedLines(edited, b.seal(r).Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))

	_, err = b.command(dir, newIdentity(), "decrypt", path)
	b.g.Expect(err).To(HaveOccurred(), "a stranger reads nothing")

	// The .sops.yaml we bootstrap makes the command encrypt the same way.
	clear := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  a: b\n"
	b.g.Expect(os.WriteFile(filepath.Join(dir, "new.sops.yaml"), []byte(clear), 0o600)).To(Succeed())
	out, err = b.command(dir, b.identity, "encrypt", "new.sops.yaml")
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(string(out)).To(And(ContainSubstring("\n  name: x\n"), ContainSubstring("encrypted_regex: ^(data|stringData)$"), ContainSubstring("recipient: "+b.identity.Recipient().String())))
	b.g.Expect(string(b.rules())).To(HavePrefix(encryption.Marker + "\n"))
}

// A document with SOPS' own example of other master keys, or split among groups, is locked: it is encrypted anew for the
// spec's recipients.
func TestOtherMasterKeys(t *testing.T) {
	b := newBench(t)
	doc := string(b.seal(b.request(nil, pair)).Document)
	pgp := strings.Replace(doc, "sops:\n", "sops:\n  pgp:\n    - created_at: \"2026-01-01T00:00:00Z\"\n      enc: x\n      fp: ABCD\n", 1)
	b.restart()
	r := b.request([]byte(pgp), map[string]string{"a": "x"})
	res := b.seal(r)
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("new data key")))
	b.g.Expect(string(res.Document)).NotTo(ContainSubstring("ABCD"))
	b.holds(res.Document, r)

	i := strings.Index(doc, "  age:\n")
	j := strings.Index(doc, "  encrypted_regex:")
	group := strings.ReplaceAll(doc[i:j], "\n", "\n    ")
	groups := doc[:i] + "  key_groups:\n    - " + strings.TrimSpace(group) + "\n    - age:\n        - enc: x\n          recipient: " + newIdentity().Recipient().String() + "\n  shamir_threshold: 1\n" + doc[j:]
	b.restart()
	r = b.request([]byte(groups), pair)
	res = b.seal(r)
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("cannot be compared")))
	b.holds(res.Document, r)
}

// Decision 94: whatever the document in Git holds, the process lives, and no error shows a value.
func TestHostileDocuments(t *testing.T) {
	b := newBench(t)
	doc := string(b.seal(b.request(nil, map[string]string{"a": "hunter3-hunter3", "b": "hunter4-hunter4"})).Document)
	encA := doc[strings.Index(doc, "  a: ")+5 : strings.Index(doc, "\n  b: ")]
	for name, text := range map[string]string{
		"edited type":         strings.Replace(doc, encA, strings.Replace(encA, "type:str", "type:bytes", 1), 1),
		"unknown type":        strings.Replace(doc, encA, strings.Replace(encA, "type:str", "type:x", 1), 1),
		"short nonce":         strings.Replace(doc, encA, strings.Replace(encA, "iv:", "iv:AAAA", 1)[:len(encA)], 1),
		"no ciphertext":       strings.Replace(doc, encA, "hunter5-hunter5", 1),
		"number":              strings.Replace(doc, encA, "12345678", 1),
		"moved value":         strings.Replace(doc, "  b: ENC", "  c: ENC", 1),
		"no sops map":         doc[:strings.Index(doc, "sops:")] + "sops: hunter5\n",
		"no keys":             doc[:strings.Index(doc, "sops:")] + "sops:\n  mac: x\n  lastmodified: \"2026-01-01T00:00:00Z\"\n",
		"bad time":            strings.Replace(doc, "lastmodified: \"2026", "lastmodified: \"hunter5-2026", 1),
		"duplicate key":       strings.Replace(doc, "  b: ENC", "  a: ENC", 1),
		"cycle":               "a: &a {b: *a}\n" + doc,
		"list":                "- hunter5\n",
		"scalar":              "hunter5-hunter5\n",
		"number as key":       "apiVersion: v1\nkind: Secret\n1: x\n",
		"no YAML":             "a: [hunter5-hunter5\n",
		"tabs":                "a:\n\tb: hunter5-hunter5\n",
		"binary":              "\x00\x01\xff\xfe",
		"merge":               "apiVersion: v1\nkind: Secret\nx: &x {a: hunter5}\ndata:\n  <<: *x\n",
		"recipient not ours":  strings.Replace(doc, b.identity.Recipient().String(), "age1qqqq", 1),
		"damaged key":         strings.Replace(doc, "-----BEGIN AGE", "-----BEGIN EGA", 1),
		"deeply nested":       strings.Repeat("a:\n ", 1) + strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		"sops block in a key": strings.Replace(doc, "data:\n", "data:\n  sops: {mac: x}\n", 1),
	} {
		t.Run(name, func(t *testing.T) {
			b.g = NewWithT(t)
			b.restart()
			r := b.request([]byte(text), map[string]string{"a": "hunter3-hunter3", "b": "hunter4-hunter4"})
			res, err := b.sealer().Seal(t.Context(), r)
			if err != nil {
				b.g.Expect(err.Error()).NotTo(ContainSubstring("hunter"))
				b.g.Expect(res.Document).To(BeNil())
				return
			}
			b.g.Expect(string(res.Document)).NotTo(ContainSubstring("hunter"))
			if !strings.Contains(text, "type: Opaque") { // what Git leaves out because it is the default stays out
				r.Desired = b.request(nil, map[string]string{"a": "hunter3-hunter3", "b": "hunter4-hunter4"}, func(o map[string]any) { delete(o, "type") }).Desired
			}
			b.holds(res.Document, r)
		})
	}
}

// FuzzExisting: no document in Git makes Seal panic, or lets a value through in clear.
func FuzzExisting(f *testing.F) {
	b := newBench(f)
	doc := b.seal(b.request(nil, pair)).Document
	f.Add(doc)
	f.Add([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {a: b} # c\n"))
	f.Add([]byte("a: &a [*a]"))
	secret := base64.StdEncoding.EncodeToString([]byte(pair["c"]))
	r := b.request(nil, pair)
	var live any
	b.g.Expect(json.Unmarshal(r.Desired, &live)).To(Succeed())
	mask := change.Mask{Keep: []string{"/data/b", "/stringData/b", "/metadata/labels/app"}}
	r.Masked = mask.Keep
	r.Settle = func(git []byte) ([]byte, error) {
		was, err := compare.Decode(git)
		if err != nil {
			return nil, err
		}
		return compare.Canonical(compare.Normalize(live, was, compare.Options{BuiltIn: true, Mask: mask})), nil
	}
	f.Fuzz(func(t *testing.T, existing []byte) {
		r := r
		r.Existing = existing
		res, err := b.sealer().Seal(t.Context(), r)
		if err == nil && (strings.Contains(string(res.Document), secret) || strings.Contains(string(res.Document), pair["c"])) && res.Outcome != plan.SealUnchanged {
			t.Fatalf("a value is readable in\n%s", res.Document)
		}
	})
}

// FuzzRules: no .sops.yaml makes Seal panic, or lets a value through in clear.
func FuzzRules(f *testing.F) {
	b := newBench(f)
	f.Add(b.rules())
	f.Add([]byte("creation_rules: [{encrypted_regex: '.*'}]"))
	f.Add([]byte("creation_rules: [{path_regex: db, encrypted_suffix: a, age: [x]}]"))
	secret := base64.StdEncoding.EncodeToString([]byte(pair["c"]))
	r := b.request(nil, pair)
	f.Fuzz(func(t *testing.T, rules []byte) {
		r := r
		r.Rules = rules
		res, err := b.sealer().Seal(t.Context(), r)
		if err == nil && strings.Contains(string(res.Document), secret) {
			t.Fatalf("a value is readable in\n%s", res.Document)
		}
	})
}

// The version written into documents is that of the module in use.
func TestVersion(t *testing.T) {
	b := newBench(t)
	info, ok := debug.ReadBuildInfo()
	b.g.Expect(ok).To(BeTrue())
	for _, d := range info.Deps {
		if d.Path == "github.com/getsops/sops/v3" {
			b.g.Expect(string(b.seal(b.request(nil, pair)).Document)).To(ContainSubstring("\n  version: " + strings.TrimPrefix(d.Version, "v") + "\n"))
			return
		}
	}
	b.g.Expect(info.Deps).To(BeEmpty(), "the module is not among the dependencies of the test")
}
