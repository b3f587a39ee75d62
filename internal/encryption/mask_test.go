// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/tests/leakproof"
)

const maskedFile = "apps/shop/secrets/db.sops.yaml"

// newMaskedFolder leaves data.rotated of Secrets, and a label, to Git.
func newMaskedFolder(t *testing.T, files map[string]string) *folder {
	f := newFolder(t, files)
	f.ignore = sanitize.Config{Rules: []sanitize.Rule{{Name: "rotation", FieldPaths: []string{"/data/rotated", "/metadata/labels/turn"}}}}
	return f
}

func (f *folder) data(name string) map[string]any {
	f.t.Helper()
	m := f.plain(f.files[name].Content, f.identity)
	data, _ := m["data"].(map[string]any)
	return data
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// A masked entry keeps what Git has, present or absent, also where that is ciphertext (decisions 34).
func TestMaskedEntryOfASecretStays(t *testing.T) {
	f := newMaskedFolder(t, nil)
	f.ignore = sanitize.Config{}
	f.event(liveSecret("db", map[string]string{"password": "first-password", "rotated": "first-rotation"}))
	before := f.files[maskedFile].Content
	f.g.Expect(f.data(maskedFile)).To(HaveKeyWithValue("rotated", encoded("first-rotation")))

	f.ignore = newMaskedFolder(t, nil).ignore
	res := f.event(liveSecret("db", map[string]string{"password": "first-password", "rotated": "second-rotation"}))
	f.g.Expect(res.Edits).To(BeEmpty(), "only a masked value differs")
	res = f.event(liveSecret("db", map[string]string{"password": "second-password", "rotated": "third-rotation"}))
	f.g.Expect(res.Edits).To(HaveLen(1))
	f.g.Expect(f.data(maskedFile)).To(Equal(map[string]any{"password": encoded("second-password"), "rotated": encoded("first-rotation")}))
	added, _ := changedLines(before, f.files[maskedFile].Content)
	f.g.Expect(keysOf(added)).To(Equal([]string{"lastmodified", "mac", "password"}))
	f.event(liveSecret("db", map[string]string{"password": "third-password"}))
	f.g.Expect(f.data(maskedFile)).To(HaveKeyWithValue("rotated", encoded("first-rotation")), "it stays though the object lost it")

	f.event(liveSecret("fresh", map[string]string{"password": "p", "rotated": "not-in-git"}))
	f.g.Expect(f.data("apps/shop/secrets/fresh.sops.yaml")).To(Equal(map[string]any{"password": encoded("p")}))
	f.event(liveSecret("fresh", map[string]string{"password": "q", "rotated": "not-in-git"}))
	f.g.Expect(f.data("apps/shop/secrets/fresh.sops.yaml")).To(Equal(map[string]any{"password": encoded("q")}))
	f.noLeak(leakproof.Secret{Name: "masked", Value: "first-rotation"}, leakproof.Secret{Name: "live", Value: "third-rotation"})
}

// What a person wrote in clear, in stringData, stays under the same mask when the file is encrypted.
func TestMaskedEntryOfAClearFileStays(t *testing.T) {
	f := newMaskedFolder(t, map[string]string{"apps/db.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\n" +
		"  labels:\n    turn: \"1\"\nstringData:\n  password: first-password\n  rotated: first-rotation\n"})
	f.event(liveSecret("db", map[string]string{"password": "second-password", "rotated": "second-rotation"},
		func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"turn": "9"} }))
	m := f.plain(f.files["apps/db.yaml"].Content, f.identity)
	f.g.Expect(m["stringData"]).To(Equal(map[string]any{"password": "second-password", "rotated": "first-rotation"}))
	f.g.Expect(m).NotTo(HaveKey("data"))
	f.g.Expect(m["metadata"]).To(HaveKeyWithValue("labels", map[string]any{"turn": "1"}))
}

// Who cannot open the document cannot keep a value of it: nothing is guessed, and nothing is lost.
func TestMaskedEntryThatCannotBeOpened(t *testing.T) {
	f := newMaskedFolder(t, nil)
	masked := f.ignore
	f.options.Keys = f.public(f.identity)
	digests := &encryption.MemoryDigests{}
	f.options.Digests, f.options.DigestKey = digests, encryption.NewDigestKey()
	f.ignore = sanitize.Config{}
	f.event(liveSecret("db", map[string]string{"password": "first-password", "rotated": "first-rotation"}))
	before := f.files[maskedFile].Content
	f.ignore = masked
	f.restart()
	res := f.event(liveSecret("db", map[string]string{"password": "second-password", "rotated": "second-rotation"}))
	f.g.Expect(res.Edits).To(BeEmpty())
	f.g.Expect(res.Report.Objects).To(HaveLen(1))
	f.g.Expect(res.Report.Objects[0].Outcome).To(Equal(plan.Refused))
	f.g.Expect(res.Report.Objects[0].Message).To(And(ContainSubstring("/data/rotated"), ContainSubstring("add the identity")))
	f.g.Expect(f.files[maskedFile].Content).To(Equal(before))

	// With nothing masked in the document, or with the digest of it, that is no obstacle.
	f.event(liveSecret("other", map[string]string{"password": "first-password"}))
	f.restart()
	f.g.Expect(f.event(liveSecret("other", map[string]string{"password": "first-password", "rotated": "x"})).Edits).To(BeEmpty())
	f.g.Expect(f.event(liveSecret("other", map[string]string{"password": "second-password", "rotated": "y"})).Edits).To(HaveLen(1))
	f.g.Expect(f.data("apps/shop/secrets/other.sops.yaml")).To(Equal(map[string]any{"password": encoded("second-password")}))
}

// Masks reach into lists and the body of additional types.
func TestMaskedFieldOfAnAdditionalType(t *testing.T) {
	f := newFolder(t, nil)
	vault := func(token, turn string) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Vault", "metadata": map[string]any{"name": "v", "namespace": "shop", "uid": "u"},
			"spec": map[string]any{"token": token, "size": 3, "peers": []any{map[string]any{"name": "a", "key": turn}}}}
	}
	f.event(vault("first-token-1", "first-turn-1"))
	file := "apps/shop/example.com/vaults/v.sops.yaml"
	f.g.Expect(f.names()).To(ContainElement(file))
	f.ignore = sanitize.Config{Rules: []sanitize.Rule{{Name: "turn", FieldPaths: []string{"/spec/peers/0/key"}}}}
	f.g.Expect(f.event(vault("first-token-1", "second-turn-2")).Edits).To(BeEmpty())
	f.event(vault("second-token-2", "third-turn-3"))
	f.g.Expect(f.plain(f.files[file].Content, f.identity)["spec"]).To(Equal(map[string]any{"token": "second-token-2", "size": 3.0,
		"peers": []any{map[string]any{"name": "a", "key": "first-turn-1"}}}))
}
