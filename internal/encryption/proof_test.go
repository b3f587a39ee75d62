// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"strings"
	"testing"

	"filippo.io/age"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// blocks returns the encrypted data keys of a document, one text for each recipient.
func blocks(doc []byte) map[string]string {
	out := map[string]string{}
	_, meta, _ := strings.Cut(string(doc), "\n  age:\n")
	for _, b := range strings.Split(meta, "    - enc: ")[1:] {
		text, rest, _ := strings.Cut(b, "      recipient: ")
		name, _, _ := strings.Cut(rest, "\n")
		out[name] = strings.TrimSpace(text)
	}
	return out
}

// Whoever can push must not decide who can read (decisions 50), and that includes the data key: somebody who encrypts a
// document for the operator's public recipient knows its data key.
func TestDataKeyOfSomebodyElseIsNotUsed(t *testing.T) {
	b := newBench(t)
	me := b.identity.Recipient().String()
	rules := "creation_rules: [{encrypted_regex: '^(data|stringData)$', age: " + me + "}]\nstores: {yaml: {indent: 2}}\n"
	planted := b.encryptWith(rules, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: app\n  labels:\n    app: db\ndata:\n  a: eA==\ntype: Opaque\n")
	b.g.Expect(b.seal(b.request(planted, map[string]string{"a": "x"})).Outcome).To(Equal(plan.SealUnchanged))
	res := b.seal(b.request(planted, pair))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("somebody else made the present one")))
	b.g.Expect(blocks(res.Document)[me]).NotTo(Equal(blocks(planted)[me]))
	b.holds(res.Document, b.request(nil, pair))

	// From now on it is ours, also for the next process.
	b.restart()
	next := b.seal(b.request(res.Document, map[string]string{"a": "y", "b": pair["b"], "c": pair["c"]}))
	b.g.Expect(next.Notes).To(BeEmpty())
	b.g.Expect(blocks(next.Document)).To(Equal(blocks(res.Document)))
}

// A former recipient brings back the old data key, without the block that names them.
func TestDataKeyOfAFormerRecipientIsNotUsed(t *testing.T) {
	b := newBench(t)
	bob := newIdentity()
	me := b.identity.Recipient().String()
	alone := b.seal(b.request(nil, pair)).Document
	b.options.Keys = b.keys(b.identity, bob)
	changed := map[string]string{"a": "changed-value", "b": pair["b"], "c": pair["c"]}
	both := b.seal(b.request(alone, changed)).Document
	b.g.Expect(blocks(both)).To(HaveLen(2))
	b.g.Expect(blocks(both)[me]).NotTo(Equal(blocks(alone)[me]), "what bob can open is not what was before him")

	b.options.Keys = b.keys(b.identity)
	b.restart()
	theirs := blocks(both)[bob.Recipient().String()]
	stripped := strings.Replace(string(both), "    - enc: "+theirs+"\n      recipient: "+bob.Recipient().String()+"\n", "", 1)
	b.g.Expect(blocks([]byte(stripped))).To(HaveLen(1))
	b.g.Expect(b.seal(b.request([]byte(stripped), changed)).Outcome).To(Equal(plan.SealUnchanged), "it can be opened")
	res := b.seal(b.request([]byte(stripped), pair))
	b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("new data key")))
	b.g.Expect(blocks(res.Document)[me]).NotTo(Equal(blocks(both)[me]))
}

// A proof speaks of one object: who may read one Secret gains nothing by moving its data key into another's document.
func TestDataKeyOfAnotherObjectIsNotUsed(t *testing.T) {
	b := newBench(t)
	me := b.identity.Recipient().String()
	doc := b.seal(b.request(nil, pair)).Document
	moved := strings.Replace(string(doc), "name: db", "name: other", 1)
	r := b.request([]byte(moved), map[string]string{"a": "secret-of-other"}, func(o map[string]any) { o["metadata"].(map[string]any)["name"] = "other" })
	r.Object = change.ObjectID{Kind: "Secret", Namespace: "app", Name: "other"}
	for _, restart := range []bool{false, true} {
		if restart {
			b.restart()
		}
		res := b.seal(r)
		b.g.Expect(res.Notes).To(ContainElement(ContainSubstring("new data key")))
		b.g.Expect(blocks(res.Document)[me]).NotTo(Equal(blocks(doc)[me]))
		b.holds(res.Document, r)
	}
}

// Post-quantum identities prove theirs, too.
func TestDataKeyOfAHybridIdentity(t *testing.T) {
	b := newBench(t)
	id, err := age.GenerateHybridIdentity()
	b.g.Expect(err).NotTo(HaveOccurred())
	b.options.Keys = b.keysOf(map[string][]byte{"pq.agekey": []byte(id.String())})
	doc := b.seal(b.request(nil, pair)).Document
	b.restart()
	b.g.Expect(b.seal(b.request(doc, pair)).Outcome).To(Equal(plan.SealUnchanged))
	res := b.seal(b.request(doc, map[string]string{"a": "y", "b": pair["b"], "c": pair["c"]}))
	b.g.Expect(res.Notes).To(BeEmpty())
	b.g.Expect(blocks(res.Document)).To(Equal(blocks(doc)))
}
