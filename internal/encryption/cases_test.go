// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// sopsBlock cuts a document before its sops block.
func body(doc []byte) string {
	text, _, _ := strings.Cut(string(doc), "\nsops:")
	return text
}

// E04: several documents in one encrypted file are not ours to touch; SOPS would take them as one.
func TestCaseE04_SeveralDocuments(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	two := string(doc) + "---\n" + string(doc)
	b.g.Expect(b.refused(b.request([]byte(two), pair))).To(ContainSubstring("cannot be read"))
}

// E06: the path is seen from the .sops.yaml's folder, the first match decides, no match is a refusal.
func TestCaseE06_CreationRules(t *testing.T) {
	b := newBench(t)
	rules := func(text string) plan.SealRequest {
		r := b.request(nil, pair)
		r.Rules, r.RulesPath, r.Path = []byte(text), ".sops.yaml", "prod/x.sops.yaml"
		return r
	}
	prod := "creation_rules:\n  - path_regex: ^prod/.*\n    encrypted_regex: ^(data|prod)$\n    age: " + b.identity.Recipient().String() + "\n"
	rest := "  - encrypted_regex: ^(data|rest)$\n    age: " + b.identity.Recipient().String() + "\n"
	b.g.Expect(string(b.seal(rules(prod + rest)).Document)).To(ContainSubstring("encrypted_regex: ^(data|prod)$"))
	r := rules(prod + rest)
	r.Path = "clusters/prod/x.sops.yaml"
	b.g.Expect(string(b.seal(r).Document)).To(ContainSubstring("encrypted_regex: ^(data|rest)$"), "prod/ is not at the file's folder")
	r.RulesPath = "clusters/.sops.yaml"
	b.g.Expect(string(b.seal(r).Document)).To(ContainSubstring("encrypted_regex: ^(data|prod)$"), "seen from clusters/ it is")

	// Where the repository's rules supply the recipients: the first match's key and no other.
	p, d := newIdentity(), newIdentity()
	own := b.options
	b.options.UseRepositoryRules, b.options.Keys = true, encryption.Keys{}
	two := "creation_rules:\n  - path_regex: ^prod/.*\n    age: " + p.Recipient().String() + "\n  - age: " + d.Recipient().String() + "\n"
	for path, want := range map[string][2]string{
		"prod/x.sops.yaml": {p.Recipient().String(), d.Recipient().String()}, "dev/x.sops.yaml": {d.Recipient().String(), p.Recipient().String()},
	} {
		r = rules(two)
		r.Path = path
		b.restart()
		b.g.Expect(string(b.seal(r).Document)).To(And(ContainSubstring(want[0]), Not(ContainSubstring(want[1]))), path)
	}
	b.options = own

	r = rules(prod)
	r.Path = "dev/x.sops.yaml"
	b.g.Expect(b.refused(r)).To(And(ContainSubstring("no creation rule of .sops.yaml matches dev/x.sops.yaml"), ContainSubstring("path_regex")))
	r.Existing = []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: app}\nstringData: {a: x}\n")
	b.g.Expect(b.refused(r)).To(ContainSubstring("no creation rule"), "also for what is in Git in clear")
}

func TestRules(t *testing.T) {
	b := newBench(t)
	me := b.identity.Recipient().String()
	seal := func(text string) (plan.SealResult, error) {
		r := b.request(nil, pair)
		r.Rules, r.RulesPath = []byte(text), ".sops.yaml"
		return b.sealer().Seal(context.Background(), r)
	}
	for _, c := range []struct{ name, rules, has, says string }{
		{"no file", "", "encrypted_regex: ^(data|stringData)$", ""},
		{"no creation rules", "stores: {yaml: {indent: 2}}", "encrypted_regex: ^(data|stringData)$", ""},
		{"a rule without fields", "creation_rules: [{age: " + me + "}]", "encrypted_regex: ^(data|stringData)$", ""},
		{"everything but", "creation_rules: [{unencrypted_regex: '^(apiVersion|kind|metadata|type)$', age: " + me + "}]", "unencrypted_regex: ^(apiVersion|kind|metadata|type)$", ""},
		{"MAC over encrypted values only", "creation_rules: [{encrypted_regex: '^data$', mac_only_encrypted: true, age: " + me + "}]", "mac_only_encrypted: true", ""},
		{"indent", "creation_rules: [{age: " + me + "}]\nstores: {yaml: {indent: 4}}", "\n    name: db\n", ""},
		{"comment and marker", "# a comment\n---\ncreation_rules: [{age: " + me + "}]", "ENC[", ""},
		{"wrong fields", "creation_rules: [{encrypted_regex: '^spec$', age: " + me + "}]", "", "would leave /data/a readable"},
		{"a suffix", "creation_rules: [{encrypted_suffix: _secret, age: " + me + "}]", "", "would leave /data/a readable"},
		{"by comment", "creation_rules: [{encrypted_comment_regex: sops, age: " + me + "}]", "", "would leave /data/a readable"},
		{"all but one value", "creation_rules: [{unencrypted_regex: '^(apiVersion|kind|metadata|type|b)$', age: " + me + "}]", "", "would leave /data/b readable"},
		{"no value by its suffix", "creation_rules: [{unencrypted_suffix: '', encrypted_regex: '^(data|stringData)_$', age: " + me + "}]", "", "would leave /data/a readable"},
		{"everything", "creation_rules: [{encrypted_regex: '.*', age: " + me + "}]", "", "would encrypt apiVersion"},
		{"everything by suffix", "creation_rules: [{unencrypted_suffix: _clear, age: " + me + "}]", "", "would encrypt apiVersion"},
		{"the names", "creation_rules: [{encrypted_regex: '^(data|name)$', age: " + me + "}]", "", "would encrypt metadata.name"},
		{"two kinds of fields", "creation_rules: [{encrypted_regex: '^data$', encrypted_suffix: x, age: " + me + "}]", "", "only one of"},
		{"bad expression", "creation_rules: [{path_regex: '(', age: " + me + "}]", "", "path_regex of rule 1"},
		{"bad field expression", "creation_rules: [{encrypted_regex: '(', age: " + me + "}]", "", "encrypted_regex is no regular expression"},
		{"no YAML", "creation_rules: [", "", "cannot be read"},
		{"alias bomb", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e]\n", "", "expand without end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.g = NewWithT(t)
			b.restart()
			text := c.rules
			res, err := seal(text)
			if c.says != "" {
				b.g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			b.g.Expect(err).NotTo(HaveOccurred())
			b.g.Expect(string(res.Document)).To(ContainSubstring(c.has))
			b.g.Expect(body(res.Document)).NotTo(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(pair["a"]))))
			b.holds(res.Document, b.request(nil, pair))
		})
	}
}

// A document of somebody else that has its own idea of what is secret, by its sops block and a comment, gets no value
// into Git in clear.
func TestFieldsOfADocumentOfSomebodyElse(t *testing.T) {
	b := newBench(t)
	me := b.identity.Recipient().String()
	text := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: app\n  labels:\n    app: db\ntype: Opaque\ndata:\n  # clear\n  a: eA==\n  b: eQ==\n"
	for fields, says := range map[string]string{
		"unencrypted_comment_regex: clear":                      "", // it also encrypts what names the object
		"encrypted_comment_regex: clear":                        "would leave /data/b readable",
		"encrypted_regex: ^a$":                                  "would leave /data/b readable",
		"unencrypted_regex: ^(apiVersion|kind|metadata|type|b)": "would leave /data/b readable",
	} {
		b.restart()
		doc := b.encryptWith("creation_rules: [{"+fields+", age: "+me+"}]\n", text)
		r := b.request(doc, pair)
		r.Rules, r.RulesPath = nil, ""
		res, err := b.sealer().Seal(t.Context(), r)
		b.g.Expect(err).To(HaveOccurred(), "%s\n%s", fields, res.Document)
		b.g.Expect(err).To(MatchError(ContainSubstring(says)))
		b.g.Expect(res.Document).To(BeNil())
		// The operator's own .sops.yaml decides for a document that has one.
		r.Rules, r.RulesPath = b.rules(), "clusters/prod/.sops.yaml"
		if res, err = b.sealer().Seal(t.Context(), r); err == nil {
			b.g.Expect(body(res.Document)).NotTo(Or(ContainSubstring("eA=="), ContainSubstring(base64.StdEncoding.EncodeToString([]byte(pair["b"])))))
			b.holds(res.Document, r)
		}
	}
}

// Decision 50: recipients come from the spec; other ones in the repository's rule are reported, and count only when the
// spec says so.
func TestRecipientsComeFromTheSpec(t *testing.T) {
	b := newBench(t)
	mallory := newIdentity()
	r := b.request(nil, pair)
	r.Rules = []byte("creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    key_groups:\n      - age: [" + mallory.Recipient().String() + "]\n")
	res := b.seal(r)
	b.g.Expect(string(res.Document)).To(ContainSubstring(b.identity.Recipient().String()))
	b.g.Expect(string(res.Document)).NotTo(ContainSubstring(mallory.Recipient().String()))
	b.g.Expect(res.Notes).To(ContainElement(And(ContainSubstring("it lacks "+b.identity.Recipient().String()), ContainSubstring("it also has "+mallory.Recipient().String()))))

	b.options.UseRepositoryRules = true
	b.options.Keys = encryption.Keys{}
	b.g.Expect(b.sealer().Ready()).To(Succeed())
	r.Existing = nil
	res = b.seal(r)
	b.g.Expect(res.Notes).To(BeEmpty())
	b.g.Expect(b.plain(res.Document, mallory)).To(HaveKey("data"))

	for text, says := range map[string]string{
		"creation_rules: [{path_regex: other}]": "no creation rule of clusters/prod/.sops.yaml matches",
		"":                                      "no creation rule of the repository matches",
		"creation_rules: [{encrypted_regex: ^data$}]":              "names no age recipient",
		"creation_rules: [{pgp: ABCD, age: age1x}]":                "only age recipients",
		"creation_rules: [{key_groups: [{age: [a]}, {age: [b]}]}]": "several key groups",
		"creation_rules: [{age: age1nonsense}]":                    "cannot be used",
		"creation_rules: [{age: AGE-SECRET-KEY-1QQQ}]":             "it is a private key",
	} {
		r.Rules = []byte(text)
		msg := b.refused(r)
		b.g.Expect(msg).To(ContainSubstring(says))
		b.g.Expect(msg).NotTo(ContainSubstring("1QQQ"))
	}
}

// E07: a label edited in the file breaks the MAC; the next write makes it right, and the result opens with the command.
func TestCaseE07_LabelEdited(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	edited := []byte(strings.Replace(string(doc), "app: db", "app: db\n    team: data", 1))
	relabelled := func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"app": "db", "team": "payments"}
	}
	r := b.request(edited, pair, relabelled)
	res := b.seal(r)
	added, removed := changedLines(edited, res.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"lastmodified", "mac", "team"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"lastmodified", "mac", "team"}))
	b.holds(res.Document, r)
	dir := t.TempDir()
	b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), edited, 0o600)).To(Succeed())
	_, err := b.command(dir, b.identity, "decrypt", "db.sops.yaml")
	b.g.Expect(err).To(MatchError(ContainSubstring("MAC mismatch")), "the premise")
	b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), res.Document, 0o600)).To(Succeed())
	_, err = b.command(dir, b.identity, "decrypt", "db.sops.yaml")
	b.g.Expect(err).NotTo(HaveOccurred())
}

func compressed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// E08: a label or an annotation that repeats a value refuses the object and names the place, not the value. Values below
// eight bytes are not compared (decisions 51).
func TestCaseE08_ValuesOutsideData(t *testing.T) {
	b := newBench(t)
	secret := map[string]string{"pw": "hunter3-hunter3", "short": "prod", "lines": "line one\nline two\n", "markup": "<b>hunter</b>", "where": "db-1.example.org:5432"}
	encoded := base64.StdEncoding.EncodeToString([]byte(secret["pw"]))
	for name, c := range map[string]struct {
		field, value string
		refused      bool
	}{
		"label":                     {"labels", "hunter3-hunter3", true},
		"annotation":                {"annotations", "hunter3-hunter3", true},
		"trimmed":                   {"annotations", "line one\nline two", true},
		"base64":                    {"annotations", encoded, true},
		"whole object":              {"annotations", `{"data":{"pw":"` + encoded + `"}}`, true},
		"whole object, in clear":    {"annotations", `{"stringData":{"pw":"hunter3-hunter3"}}`, true},
		"whole object, in JSON":     {"annotations", `{"spec":"{\"stringData\":{\"pw\":\"hunter3-hunter3\"}}"}`, true},
		"whole object, escaped":     {"annotations", `{"stringData":{"markup":"\u003cb\u003ehunter\u003c/b\u003e"}}`, true},
		"whole object, encoded":     {"annotations", base64.RawURLEncoding.EncodeToString([]byte(`{"data":{"pw":"` + encoded + `"}}`)), true},
		"whole object, compressed":  {"annotations", base64.StdEncoding.EncodeToString(compressed(`{"data":{"pw":"` + encoded + `"}}`)), true},
		"in an assignment":          {"annotations", "user=db password=hunter3-hunter3", true},
		"in an address":             {"annotations", "postgres://db:hunter3-hunter3@database-one/x", true},
		"a host in a sentence":      {"annotations", "served by db-1.example.org:5432", false},
		"a word in a longer one":    {"annotations", "x-hunter3-hunter3-y", false},
		"a short value":             {"labels", "prod", false},
		"another value":             {"annotations", "hunter3", false},
		"a word that is part of it": {"annotations", "hunter3-hunter", false},
		"the object's own name":     {"labels", "database-one", false},
	} {
		t.Run(name, func(t *testing.T) {
			b.g = NewWithT(t)
			own := map[string]string{"pw": secret["pw"], "short": secret["short"], "lines": secret["lines"], "markup": secret["markup"], "where": secret["where"], "host": "database-one"}
			r := b.request(nil, own, func(o map[string]any) {
				m := o["metadata"].(map[string]any)
				m["name"] = "database-one"
				m[c.field] = map[string]any{"example.com/x": c.value}
			})
			if !c.refused {
				b.seal(r)
				return
			}
			msg := b.refused(r)
			b.g.Expect(msg).To(ContainSubstring(`metadata.` + c.field + `["example.com/x"]`))
			b.g.Expect(msg).NotTo(Or(ContainSubstring("hunter3"), ContainSubstring(encoded), ContainSubstring("line one")))
		})
	}
}

// Many values and many texts end in a refusal, not in a lane that is busy for minutes.
func TestComparisonIsBounded(t *testing.T) {
	b := newBench(t)
	values, texts := map[string]string{}, make([]string, 20_000)
	for i := range 20_000 {
		values[fmt.Sprintf("k%d", i)], texts[i] = fmt.Sprintf("a%07d", i), fmt.Sprintf("b%09d", i)
	}
	list, err := json.Marshal(texts)
	b.g.Expect(err).NotTo(HaveOccurred())
	r := b.request(nil, values, func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"example.com/x": string(list)}
	})
	b.g.Expect(b.refused(r)).To(ContainSubstring("too large to be compared"))
}

// E09 and decision 54: a document in clear becomes ciphertext at its place, in its layout; a comment that tells a value
// goes. The sops block is never compared with the cluster's object.
func TestCaseE09_ClearDocument(t *testing.T) {
	b := newBench(t)
	old := "# database of the shop\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: app\n  labels:\n    app: db # old password: hunter3-hunter3\nstringData:\n  # ask ann\n  pw: hunter3-hunter3\n"
	for _, path := range []string{"clusters/prod/app/secret.yaml", "clusters/prod/app/db.sops.yaml"} {
		b.restart()
		r := b.request([]byte(old), map[string]string{"pw": "hunter3-hunter3"})
		r.Path = path
		res := b.seal(r)
		b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
		text := string(res.Document)
		b.g.Expect(text).To(And(HavePrefix("# database of the shop\napiVersion: v1\n"), ContainSubstring("\nstringData:\n  #ENC["), ContainSubstring("\n  pw: ENC[")))
		b.g.Expect(text).NotTo(Or(ContainSubstring("hunter3"), ContainSubstring("ask ann")))
		b.g.Expect(b.plain(res.Document, b.identity)["stringData"]).To(Equal(map[string]any{"pw": "hunter3-hunter3"}))
		b.g.Expect(b.seal(b.request(res.Document, map[string]string{"pw": "hunter3-hunter3"})).Outcome).To(Equal(plan.SealUnchanged))
	}
	// Words that happen to be values stay in comments, short passwords do not.
	b.restart()
	words := "# prod database, ask ann\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db # or hunter2\n  namespace: app\n  labels:\n    app: db\nstringData:\n  env: prod\n  pw: hunter2\n"
	text := string(b.seal(b.request([]byte(words), map[string]string{"env": "prod", "pw": "hunter2"})).Document)
	b.g.Expect(text).To(And(HavePrefix("# prod database, ask ann\n"), Not(ContainSubstring("hunter2"))))

	// A comment that tells what Git said before tells as much.
	b.restart()
	changed := b.seal(b.request([]byte(old), map[string]string{"pw": "another-value-1"}))
	b.g.Expect(string(changed.Document)).NotTo(ContainSubstring("hunter3"))
	// A document with a value in clear beside encrypted ones is no encrypted document either: it is replaced as a whole.
	doc := b.seal(b.request(nil, pair)).Document
	leaking := []byte(strings.Replace(string(doc), "\ndata:\n", "\ndata:\n  d: aHVudGVyMy1odW50ZXIz\n", 1))
	with := map[string]string{"a": pair["a"], "b": pair["b"], "c": pair["c"], "d": "hunter3-hunter3"}
	res := b.seal(b.request(leaking, with))
	b.g.Expect(res.Notes).To(ContainElement(And(ContainSubstring("/data/d"), ContainSubstring("history of the repository still does"))))
	b.g.Expect(string(res.Document)).NotTo(ContainSubstring("aHVudGVyMy"))
	b.holds(res.Document, b.request(nil, with))
}

// Decision 55: of additional types everything but apiVersion, kind and metadata is encrypted, with every kind of value
// intact, also below a field that is itself called metadata.
func TestAdditionalTypes(t *testing.T) {
	b := newBench(t)
	object := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Vault", "metadata": map[string]any{"name": "v", "namespace": "app"},
		"spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"token": "s3cr3t-token"}}, "kind": "InnerKindName", "apiVersion": "inner-v9"},
			"int":      json.Number("9007199254740993"), "negative": json.Number("-5"), "float": json.Number("1.5"), "small": json.Number("0.000001"), "big": json.Number("1e21"),
			"yes": true, "no": false, "text": "true", "number": "012", "date": "2026-01-01", "null": "null", "tilde": "~", "empty": "", "space": " x ", "unicode": "café ☕ 😀",
			"lines": "a\nb\n\n", "list": []any{"a", json.Number("1"), "a", map[string]any{"k": "v"}, []any{}, map[string]any{}, ""}, "colon": "a: b # c",
		},
		"other.field": "beside spec",
	}
	r := b.request(nil, nil)
	r.Object = change.ObjectID{Group: "example.com", Kind: "Vault", Namespace: "app", Name: "v"}
	var err error
	r.Desired, err = json.Marshal(object)
	b.g.Expect(err).NotTo(HaveOccurred())
	res := b.seal(r)
	b.g.Expect(string(res.Document)).To(ContainSubstring(`encrypted_regex: ^(other\.field|spec)$`))
	clear := body(res.Document)
	b.g.Expect(clear).NotTo(Or(ContainSubstring("s3cr3t"), ContainSubstring("InnerKind"), ContainSubstring("inner-v9"), ContainSubstring("beside")))

	// Types survive: read exactly, as JSON numbers.
	exact, _ := json.Marshal(b.plain(res.Document, b.identity))
	b.g.Expect(exact).To(MatchJSON(r.Desired))
	b.restart()
	r.Existing = res.Document
	b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealUnchanged))

	// One value of a list changes: its line, and SOPS' two.
	object["spec"].(map[string]any)["list"].([]any)[1] = json.Number("2")
	r.Desired, _ = json.Marshal(object)
	next := b.seal(r)
	added, _ := changedLines(res.Document, next.Document)
	b.g.Expect(added).To(HaveLen(3))

	for name, edit := range map[string]func(map[string]any){
		"cannot hold an integer":      func(o map[string]any) { o["spec"] = map[string]any{"n": json.Number("92233720368547758070")} },
		"a field sops of its own":     func(o map[string]any) { o["sops"] = map[string]any{"x": "y"} },
		"would encrypt metadata.name": func(o map[string]any) { o["name"] = "outer" },
		`metadata.annotations["leak"]`: func(o map[string]any) {
			o["metadata"].(map[string]any)["annotations"] = map[string]any{"leak": "s3cr3t-token"}
		},
		"cannot hold a number of this ": func(o map[string]any) { o["spec"] = map[string]any{"n": json.Number("1e999")} },
	} {
		var copied map[string]any
		raw, _ := json.Marshal(object)
		b.g.Expect(json.Unmarshal(raw, &copied)).To(Succeed())
		edit(copied)
		r.Desired, _ = json.Marshal(copied)
		r.Existing = nil
		msg := b.refused(r)
		b.g.Expect(msg).To(ContainSubstring(name))
		b.g.Expect(msg).NotTo(ContainSubstring("s3cr3t"))
	}
}

// E11: an added recipient joins at the next real change with the data key kept; a removed one makes a new data key, so
// that the retired key cannot read the new document.
func TestCaseE11_RecipientsChange(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	bob := newIdentity()
	b.options.Keys = b.keys(b.identity, bob)
	b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealUnchanged), "no change, no commit")

	changed := map[string]string{"a": "changed-value", "b": pair["b"], "c": pair["c"]}
	joined := b.seal(b.request(doc, changed)).Document
	b.g.Expect(b.plain(joined, bob)).To(HaveKey("data"))
	added, removed := changedLines(doc, joined)
	b.g.Expect(keysOf(added)).To(ContainElements("a", "lastmodified", "mac", "recipient"))
	b.g.Expect(keysOf(removed)).To(ContainElements("a", "b", "c"), "a data key is never shared by two sets of recipients")

	b.options.Keys = b.keys(b.identity)
	changed["a"] = "changed-again"
	r := b.request(joined, changed)
	left := b.seal(r)
	b.g.Expect(left.Notes).To(ContainElement(ContainSubstring("new data key")))
	b.g.Expect(string(left.Document)).NotTo(ContainSubstring(bob.Recipient().String()))
	b.holds(left.Document, r)
	for _, line := range strings.Split(body(joined), "\n") {
		if strings.Contains(line, "ENC[") {
			b.g.Expect(string(left.Document)).NotTo(ContainSubstring(line))
		}
	}

	// Several recipients in one text are all used; an unreadable one fails before anything is written.
	k, err := encryption.ResolveKeys(encryption.KeySource{PublicKeys: []string{b.identity.Recipient().String() + ", " + bob.Recipient().String() + ","}})
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(k.Recipients()).To(ConsistOf(b.identity.Recipient().String(), bob.Recipient().String()))
	_, err = encryption.ResolveKeys(encryption.KeySource{PublicKeys: []string{b.identity.Recipient().String() + ",age1bob"}})
	b.g.Expect(err).To(MatchError(ContainSubstring(`"age1bob"`)))
}

// Decision 55: a re-key encrypts every document anew once, with a new data key for the current recipients.
func TestRekey(t *testing.T) {
	b := newBench(t)
	bob := newIdentity()
	b.options.Keys = b.keys(b.identity, bob)
	doc := b.seal(b.request(nil, pair)).Document
	b.options.Keys = b.keys(b.identity)
	b.options.Rekey = "2026-03-04"
	res := b.seal(b.request(doc, pair))
	b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
	b.holds(res.Document, b.request(nil, pair))
	b.g.Expect(string(res.Document)).NotTo(ContainSubstring(bob.Recipient().String()))
	added, _ := changedLines([]byte(body(doc)), []byte(body(res.Document)))
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "b", "c"}))
	b.g.Expect(b.seal(b.request(doc, pair)).Document).To(Equal(res.Document), "a replay gives the same bytes")
	b.g.Expect(b.seal(b.request(res.Document, pair)).Outcome).To(Equal(plan.SealUnchanged), "once")
	b.options.Rekey = "2026-03-05"
	b.g.Expect(b.seal(b.request(res.Document, pair)).Outcome).To(Equal(plan.SealEncrypted), "another request")
}

func TestKeys(t *testing.T) {
	g := NewWithT(t)
	id, other := newIdentity(), newIdentity()
	pq, err := age.GenerateHybridIdentity()
	g.Expect(err).NotTo(HaveOccurred())
	entry := func(lines ...string) map[string][]byte {
		return map[string][]byte{"age.agekey": []byte(strings.Join(lines, "\n")), "other": []byte("x")}
	}
	for _, c := range []struct {
		name   string
		source encryption.KeySource
		reason encryption.Reason
		says   string
		want   []string
	}{
		{name: "explicit", source: encryption.KeySource{PublicKeys: []string{id.Recipient().String()}}, want: []string{id.Recipient().String()}},
		{name: "united, without duplicates", source: encryption.KeySource{PublicKeys: []string{id.Recipient().String(), other.Recipient().String()}, ExtractFromSecret: true, SecretName: "ns/k", Secret: entry("# created: today", "", id.String(), "")},
			want: []string{id.Recipient().String(), other.Recipient().String()}},
		{name: "post-quantum", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: entry(pq.String())}, want: []string{pq.Recipient().String()}},
		{name: "SSH key", source: encryption.KeySource{PublicKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN ann"}}, want: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN ann"}},
		{name: "none", source: encryption.KeySource{}, reason: encryption.InvalidConfig, says: "no age recipient"},
		{name: "a Secret for decrypting only is no recipient", source: encryption.KeySource{SecretName: "ns/k", Secret: entry(id.String())}, reason: encryption.InvalidConfig, says: "no age recipient"},
		{name: "Secret missing", source: encryption.KeySource{ExtractFromSecret: true, GenerateWhenMissing: true, SecretName: "ns/k"}, reason: encryption.MissingSecret, says: "ns/k does not exist"},
		{name: "no entry", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: map[string][]byte{"x": nil}}, reason: encryption.SecretCreateDisabled, says: ".agekey"},
		{name: "no entry yet", source: encryption.KeySource{ExtractFromSecret: true, GenerateWhenMissing: true, SecretName: "ns/k", Secret: map[string][]byte{}}, reason: encryption.MissingSecret, says: "being generated"},
		{name: "no secretRef", source: encryption.KeySource{ExtractFromSecret: true}, reason: encryption.InvalidConfig, says: "secretRef"},
		{name: "two identities in one entry", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: entry(id.String(), other.String())}, reason: encryption.InvalidConfig, says: "one entry per identity"},
		{name: "empty entry", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: entry("# nothing")}, reason: encryption.InvalidConfig, says: "it is empty"},
		{name: "damaged identity", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: entry(id.String()[:40])}, reason: encryption.InvalidConfig, says: "valid AGE-SECRET-KEY-1"},
		{name: "plugin identity", source: encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/k", Secret: entry("AGE-PLUGIN-YUBIKEY-1QQ")}, reason: encryption.InvalidConfig, says: "start another program"},
		{name: "plugin recipient", source: encryption.KeySource{PublicKeys: []string{"age1yubikey1qqq"}}, reason: encryption.InvalidConfig, says: "start another program"},
		{name: "a private key as recipient", source: encryption.KeySource{PublicKeys: []string{id.String()}}, reason: encryption.InvalidConfig, says: "it is a private key"},
		{name: "a mistyped recipient", source: encryption.KeySource{PublicKeys: []string{id.Recipient().String()[:50]}}, reason: encryption.InvalidConfig, says: "mistyped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			k, err := encryption.ResolveKeys(c.source)
			if c.reason != "" {
				var e *encryption.Error
				g.Expect(errors.As(err, &e)).To(BeTrue())
				g.Expect(e.ConditionReason()).To(Equal(string(c.reason)))
				g.Expect(e.Error()).To(ContainSubstring(c.says))
				g.Expect(e.Error()).NotTo(ContainSubstring(id.String()[20:]))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k.Recipients()).To(ConsistOf(c.want))
		})
	}
}

// Scenario 67: an identity that is present is used and never replaced; a generated one is complete and says so.
func TestScenario67_Generate(t *testing.T) {
	b := newBench(t)
	for _, existing := range []map[string][]byte{nil, {}, {"unrelated": []byte("x")}} {
		source := encryption.KeySource{ExtractFromSecret: true, GenerateWhenMissing: true, SecretName: "ns/k", Secret: existing}
		b.g.Expect(encryption.NeedsKey(source)).To(BeTrue())
		made, err := encryption.GenerateKey(existing, b.now)
		b.g.Expect(err).NotTo(HaveOccurred())
		b.g.Expect(made.Data).To(HaveLen(1))
		b.g.Expect(made.Data).To(HaveKey("20260304.agekey"))
		b.g.Expect(made.Annotations).To(Equal(map[string]string{"configbutler.ai/age-recipient": made.Recipient, "configbutler.ai/backup-warning": "REMOVE_AFTER_BACKUP"}))
		source.Secret = made.Data
		b.g.Expect(encryption.NeedsKey(source)).To(BeFalse())
		k, err := encryption.ResolveKeys(source)
		b.g.Expect(err).NotTo(HaveOccurred())
		b.g.Expect(k.Recipients()).To(Equal([]string{made.Recipient}))
		b.g.Expect(k.CanDecrypt()).To(BeTrue())

		// The loser of a race reads the winner's Secret: there is nothing to generate any more.
		_, err = encryption.GenerateKey(made.Data, b.now)
		b.g.Expect(err).To(MatchError(ContainSubstring("not replaced")))
	}
}

// G18 on this side: an identity of the machine is not used, nor a command it is configured to run.
func TestCaseG18_AmbientIdentities(t *testing.T) {
	b := newBench(t)
	b.options.Keys = b.public(b.identity)
	doc := b.seal(b.request(nil, pair)).Document
	b.restart()
	home := t.TempDir()
	mark := filepath.Join(home, "started")
	for _, name := range []string{"keys.txt", ".config/sops/age/keys.txt"} {
		b.g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700)).To(Succeed())
		b.g.Expect(os.WriteFile(filepath.Join(home, name), []byte(b.identity.String()), 0o600)).To(Succeed())
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("SOPS_AGE_KEY", b.identity.String())
	t.Setenv("SOPS_AGE_KEY_FILE", filepath.Join(home, "keys.txt"))
	t.Setenv("SOPS_AGE_KEY_CMD", "touch "+mark)
	t.Setenv("SOPS_AGE_RECIPIENTS", newIdentity().Recipient().String())
	res := b.seal(b.request(doc, pair))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("no identity opens it")))
	b.g.Expect(mark).NotTo(BeAnExistingFile())
	b.g.Expect(strings.Count(string(res.Document), "recipient: ")).To(Equal(1))
	b.g.Expect(string(res.Document)).To(ContainSubstring("recipient: " + b.identity.Recipient().String()))
}

func TestKeysDoNotShowIdentities(t *testing.T) {
	b := newBench(t)
	k := b.keys(b.identity)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		b.g.Expect(strings.ToUpper(sprintf(format, k))).NotTo(ContainSubstring("SECRET"))
		b.g.Expect(sprintf(format, k)).To(ContainSubstring(b.identity.Recipient().String()))
	}
}
