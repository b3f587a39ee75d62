// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

var pair = map[string]string{"a": "alpha-value-1", "b": "beta-value-22", "c": "gamma-value-333"}

func TestNewDocument(t *testing.T) {
	b := newBench(t)
	r := b.request(nil, pair)
	res := b.seal(r)
	b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
	b.g.Expect(res.Notes).To(BeEmpty())
	shape := regexp.MustCompile(`ENC\[[^]]*\]`).ReplaceAllString(string(res.Document), "ENC")
	shape = regexp.MustCompile(`(?s)-----BEGIN.*-----END AGE ENCRYPTED FILE-----`).ReplaceAllString(shape, "AGE")
	b.g.Expect(shape).To(Equal(`apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: app
  labels:
    app: db
data:
  a: ENC
  b: ENC
  c: ENC
type: Opaque
sops:
  age:
    - enc: |
        AGE
      recipient: ` + b.identity.Recipient().String() + `
  encrypted_regex: ^(data|stringData)$
  lastmodified: "2026-03-04T05:06:08Z"
  mac: ENC
  version: 3.13.3
`))
	b.holds(res.Document, r)
}

// E01: an unchanged Secret is no change, however often and after however many restarts; one changed value is one line and
// two of SOPS' own; sorting the keys breaks the MAC, which the next pass repairs.
func TestCaseE01_UnchangedAndReordered(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	for range 3 {
		b.restart()
		res := b.seal(b.request(doc, pair))
		b.g.Expect(res.Outcome).To(Equal(plan.SealUnchanged))
		b.g.Expect(res.Document).To(Equal(doc))
	}

	b.restart()
	changed := map[string]string{"a": "another-value", "b": pair["b"], "c": pair["c"]}
	r := b.request(doc, changed)
	res := b.seal(r)
	b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
	added, removed := changedLines(doc, res.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"a", "lastmodified", "mac"}))
	b.holds(res.Document, r)

	// The formatter moves the line of a behind that of c.
	line := regexp.MustCompile(`(?m)^  a: .*\n`).FindString(string(res.Document))
	sorted := strings.Replace(string(res.Document), line, "", 1)
	sorted = strings.Replace(sorted, "type: Opaque", line+"type: Opaque", 1)
	again := b.seal(b.request([]byte(sorted), changed))
	b.g.Expect(again.Outcome).To(Equal(plan.SealEncrypted))
	b.g.Expect(again.Notes).To(ContainElement(ContainSubstring("MAC is wrong; it is repaired")))
	added, _ = changedLines([]byte(sorted), again.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"lastmodified", "mac"}))
	b.holds(again.Document, r)
	b.g.Expect(b.seal(b.request(again.Document, changed)).Outcome).To(Equal(plan.SealUnchanged))
}

// E01: keys in the order b, a, c, as a person encrypted them: that order stays, and the command reads every version.
func TestCaseE01_OrderOfKeysStays(t *testing.T) {
	b := newBench(t)
	enc := func(k string) string { return base64.StdEncoding.EncodeToString([]byte(pair[k])) }
	doc := b.encryptWith("creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    age: "+b.identity.Recipient().String()+"\n",
		"apiVersion: v1\nkind: Secret\nmetadata:\n    name: db\n    namespace: app\n    labels:\n        app: db\ntype: Opaque\ndata:\n    b: "+
			enc("b")+"\n    a: "+enc("a")+"\n    c: "+enc("c")+"\n")
	order := func(doc []byte) []string {
		return regexp.MustCompile(`(?m)^ +([abc]): ENC`).FindAllString(string(doc), -1)
	}
	want := []string{"    b: ENC", "    a: ENC", "    c: ENC"}
	b.g.Expect(order(doc)).To(Equal(want), "the premise")
	for range 3 {
		b.restart()
		b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealUnchanged))
	}
	for i := range 3 {
		data := map[string]string{"a": fmt.Sprintf("edited-value-%d", i), "b": pair["b"], "c": pair["c"]}
		r := b.request(doc, data)
		next := b.seal(r).Document
		if added, removed := changedLines(doc, next); i > 0 { // the first edit ends the data key of somebody else
			b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))
			b.g.Expect(keysOf(removed)).To(Equal([]string{"a", "lastmodified", "mac"}))
		}
		b.g.Expect(order(next)).To(Equal(want))
		b.holds(next, r)
		dir := t.TempDir()
		b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), next, 0o600)).To(Succeed())
		_, err := b.command(dir, b.identity, "decrypt", "db.sops.yaml")
		b.g.Expect(err).NotTo(HaveOccurred())
		doc = next
	}
}

// A Secret edited 100 times in unrelated keys gives 100 diffs of one value each, and every version opens.
func TestHundredEdits(t *testing.T) {
	b := newBench(t)
	data := map[string]string{}
	for i := range 20 {
		data[fmt.Sprintf("key-%02d", i)] = fmt.Sprintf("value %d", i)
	}
	doc := b.seal(b.request(nil, data)).Document
	for i := range 100 {
		key := fmt.Sprintf("key-%02d", i*7%20)
		data[key] = fmt.Sprintf("edit %d", i)
		if i%10 == 9 {
			b.restart()
		}
		r := b.request(doc, data)
		res := b.seal(r)
		added, removed := changedLines(doc, res.Document)
		b.g.Expect(keysOf(added)).To(Equal([]string{key, "lastmodified", "mac"}), "edit %d", i)
		b.g.Expect(keysOf(removed)).To(Equal([]string{key, "lastmodified", "mac"}), "edit %d", i)
		if i%10 == 0 {
			b.holds(res.Document, r)
		}
		doc = res.Document
	}
}

// 1000 Secrets after a restart: no change, with an identity as well as with recorded digests (decisions 53).
func TestThousandSecretsAfterARestart(t *testing.T) {
	for _, how := range []string{"identity", "digests"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			if how == "digests" {
				b.options.Keys = b.public(b.identity)
				b.options.Digests, b.options.DigestKey = &encryption.MemoryDigests{}, encryption.NewDigestKey()
			}
			n := 1000
			docs := make([][]byte, n)
			request := func(i int) plan.SealRequest {
				r := b.request(docs[i], map[string]string{"password": fmt.Sprintf("password %d", i)})
				r.Path = fmt.Sprintf("clusters/prod/app/secrets/db-%d.sops.yaml", i)
				r.Object.Name = fmt.Sprintf("db-%d", i)
				return r
			}
			for i := range n {
				docs[i] = b.seal(request(i)).Document
			}
			b.restart()
			for i := range n {
				b.g.Expect(b.seal(request(i)).Outcome).To(Equal(plan.SealUnchanged))
			}
		})
	}
}

// Without an identity and without digests a document is encrypted anew once after a restart, which is said; while the
// process lives its data keys are enough (decisions 20).
func TestPublicKeysOnly(t *testing.T) {
	b := newBench(t)
	b.options.Keys = b.public(b.identity)
	doc := b.seal(b.request(nil, pair)).Document
	b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealUnchanged))
	r := b.request(doc, map[string]string{"a": "x-value-12345", "b": pair["b"], "c": pair["c"]})
	one := b.seal(r).Document
	added, _ := changedLines(doc, one)
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))

	b.restart()
	r.Existing = one
	res := b.seal(r)
	b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("cannot be compared")))
	b.holds(res.Document, r)
	r.Existing = res.Document
	b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealUnchanged))
}

// A digest speaks for exactly one document with exactly one content.
func TestDigests(t *testing.T) {
	b := newBench(t)
	b.options.Keys = b.public(b.identity)
	digests := &encryption.MemoryDigests{}
	b.options.Digests, b.options.DigestKey = digests, encryption.NewDigestKey()
	doc := b.seal(b.request(nil, pair)).Document
	other := b.seal(b.request(doc, map[string]string{"a": "other"})).Document

	b.restart()
	b.g.Expect(b.seal(b.request(append([]byte{}, doc...), pair)).Outcome).To(Equal(plan.SealUnchanged), "an older version whose push was undone")
	b.restart()
	b.g.Expect(b.seal(b.request([]byte(strings.ReplaceAll(string(doc), "\n", "\r\n")), pair)).Outcome).To(Equal(plan.SealUnchanged), "line breaks do not count")
	b.restart()
	b.g.Expect(b.seal(b.request(other, pair)).Outcome).To(Equal(plan.SealEncrypted), "this document holds something else")
	b.restart()
	edited := strings.Replace(string(doc), "app: db", "app: dc", 1)
	b.g.Expect(b.seal(b.request([]byte(edited), pair)).Outcome).To(Equal(plan.SealEncrypted), "it was edited")
	b.restart()
	b.options.DigestKey = encryption.NewDigestKey()
	b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealEncrypted), "another digest key knows nothing")

	// What is kept tells neither the object nor a value, and two keys share nothing.
	seen := &spying{}
	b.restart()
	b.options.Digests = seen
	b.seal(b.request(doc, pair))
	b.g.Expect(seen.said).NotTo(BeEmpty())
	for _, text := range seen.said {
		b.g.Expect(text).To(MatchRegexp("^[0-9a-f]{64}$"))
	}
	first := seen.said
	seen.said, b.options.DigestKey = nil, encryption.NewDigestKey()
	b.restart()
	b.seal(b.request(doc, pair))
	b.g.Expect(seen.said[0]).NotTo(Equal(first[0]))

	// A store that does not answer costs an encryption, never a write.
	b.restart()
	b.options.Digests = failing{}
	res := b.seal(b.request(doc, pair))
	b.g.Expect(res.Outcome).To(Equal(plan.SealEncrypted))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("digests cannot be read")))
}

// spying remembers what it was given.
type spying struct {
	encryption.MemoryDigests
	said []string
}

func (s *spying) Put(ctx context.Context, key, token string) error {
	s.said = append(s.said, key, token)
	return s.MemoryDigests.Put(ctx, key, token)
}

type failing struct{}

func (failing) Get(context.Context, string) ([]string, error) { return nil, errors.New("down") }
func (failing) Put(context.Context, string, string) error     { return errors.New("down") }

// Scenario 65: without usable encryption there is an error and no document.
func TestScenario65_NotReady(t *testing.T) {
	b := newBench(t)
	_, err := encryption.ResolveKeys(encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/keys"})
	b.g.Expect(err).To(HaveOccurred())
	b.options.Keys, b.options.NotReady = encryption.Keys{}, err
	b.g.Expect(b.sealer().Ready()).To(MatchError(ContainSubstring("ns/keys does not exist")))
	b.g.Expect(b.refused(b.request(nil, pair))).To(ContainSubstring("ns/keys does not exist"))
	b.options.NotReady = nil
	b.g.Expect(b.sealer().Ready()).To(HaveOccurred())
	b.g.Expect(b.refused(b.request(nil, pair))).NotTo(ContainSubstring("alpha"))
}

// Scenario 66: a replay gives the same bytes; another UID or other recipients give others. What Git holds already is not
// written again for either (decisions 53).
func TestScenario66_Replay(t *testing.T) {
	b := newBench(t)
	r := b.request(nil, pair)
	first := b.seal(r)
	second := b.seal(r)
	b.g.Expect(second.Outcome).To(Equal(plan.SealCached))
	b.g.Expect(second.Document).To(Equal(first.Document))

	r.UID = "uid-2"
	b.g.Expect(b.seal(r).Document).NotTo(Equal(first.Document))
	r.UID = "uid-1"
	b.options.Keys = b.keys(b.identity, newIdentity())
	b.g.Expect(b.seal(r).Document).NotTo(Equal(first.Document))

	r.UID, r.Existing = "uid-2", first.Document
	b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealUnchanged), "created again with equal content")

	b.options.Scope = "ns/other"
	r.Existing = nil
	b.g.Expect(b.seal(r).Outcome).To(Equal(plan.SealEncrypted), "nothing is shared between targets")
}

// Scenario 92: a document at a hand-chosen path that no rule matches is encrypted as it was, there.
func TestScenario92_HandChosenPath(t *testing.T) {
	b := newBench(t)
	doc := b.seal(b.request(nil, pair)).Document
	r := b.request(doc, map[string]string{"a": "another-value", "b": pair["b"], "c": pair["c"]})
	r.Path = "clusters/prod/database/credentials.yaml"
	res := b.seal(r)
	added, _ := changedLines(doc, res.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"a", "lastmodified", "mac"}))
	b.holds(res.Document, r)
}

// Scenario 106: what SOPS has to say goes nowhere near the document, nor to standard error.
func TestScenario106_Warnings(t *testing.T) {
	b := newBench(t)
	sopsCommand(t)
	file := filepath.Join(t.TempDir(), "stderr")
	f, err := os.Create(file)
	b.g.Expect(err).NotTo(HaveOccurred())
	old := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = old }()

	doc := b.seal(b.request(nil, pair)).Document
	// SOPS warns about a readable comment among encrypted values, and quotes it.
	warned := strings.Replace(string(doc), "  a: ENC", "  # readable words\n  a: ENC", 1)
	res := b.seal(b.request([]byte(warned), map[string]string{"a": "new"}))
	os.Stderr = old
	b.g.Expect(f.Close()).To(Succeed())
	said, err := os.ReadFile(file)
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(string(said)).To(BeEmpty())
	b.g.Expect(string(res.Document)).To(HavePrefix("apiVersion: v1\n"))
	b.g.Expect(string(res.Document)).NotTo(ContainSubstring("readable words"), "the comment is encrypted now")
	b.g.Expect(string(res.Document)).To(ContainSubstring("#ENC[AES256_GCM"))
}

// Lanes of several branches share one cache.
func TestConcurrentSeals(t *testing.T) {
	b := newBench(t)
	fixed := b.now
	b.options.Now = func() time.Time { return fixed }
	doc := b.seal(b.request(nil, pair)).Document
	var wg sync.WaitGroup
	for i := range 8 {
		r := b.request(doc, map[string]string{"a": pair["a"], "b": fmt.Sprint(i % 4), "c": pair["c"]})
		wg.Go(func() {
			res, err := b.sealer().Seal(context.Background(), r)
			if err != nil || res.Outcome == plan.SealUnchanged {
				t.Errorf("%v %v", res.Outcome, err)
			}
		})
	}
	wg.Wait()
}

// Comments stay where they are and their ciphertext does not change; those behind a value stay behind it.
func TestComments(t *testing.T) {
	b := newBench(t)
	text := "# kept by team data\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db # the main one\n  namespace: app\n  labels:\n    app: db\ndata:\n" +
		"  # rotated every month\n  a: " + base64.StdEncoding.EncodeToString([]byte(pair["a"])) + " # ask ann\n  b: " + base64.StdEncoding.EncodeToString([]byte(pair["b"])) +
		"\n  c: " + base64.StdEncoding.EncodeToString([]byte(pair["c"])) + "\n"
	dir := t.TempDir()
	b.g.Expect(os.WriteFile(filepath.Join(dir, ".sops.yaml"), b.rules(), 0o600)).To(Succeed())
	b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), []byte(text), 0o600)).To(Succeed())
	doc, err := b.command(dir, b.identity, "encrypt", "db.sops.yaml")
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealUnchanged))

	doc = b.seal(b.request(doc, map[string]string{"a": pair["a"], "b": "first-change", "c": pair["c"]})).Document
	r := b.request(doc, map[string]string{"a": pair["a"], "b": "changed-value", "c": pair["c"]})
	res := b.seal(r)
	added, removed := changedLines(doc, res.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"b", "lastmodified", "mac"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"b", "lastmodified", "mac"}))

	// An added key makes SOPS write the document; still nothing else changes.
	more := map[string]string{"a": pair["a"], "b": "changed-value", "bb": "new", "c": pair["c"]}
	grown := b.seal(b.request(res.Document, more))
	added, removed = changedLines(res.Document, grown.Document)
	b.g.Expect(keysOf(added)).To(Equal([]string{"bb", "lastmodified", "mac"}))
	b.g.Expect(keysOf(removed)).To(Equal([]string{"lastmodified", "mac"}))
	b.g.Expect(os.WriteFile(filepath.Join(dir, "db.sops.yaml"), grown.Document, 0o600)).To(Succeed())
	out, err := b.command(dir, b.identity, "decrypt", "db.sops.yaml")
	b.g.Expect(err).NotTo(HaveOccurred())
	b.g.Expect(string(out)).To(And(ContainSubstring("# kept by team data"), ContainSubstring("# rotated every month"), ContainSubstring("# ask ann"), ContainSubstring("# the main one")))
}
