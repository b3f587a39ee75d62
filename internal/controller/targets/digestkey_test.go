// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

var digestKeyName = client.ObjectKey{Namespace: "system", Name: DigestKeySecret}

// forbidden refuses to create Secrets.
type forbidden struct{ client.Client }

func (forbidden) Create(context.Context, client.Object, ...client.CreateOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, DigestKeySecret, errors.New("no"))
}

func (v *vault) newDigestKey() *digestKey {
	return &digestKey{secrets: v.Client, writer: v.Client, namespace: "system", now: time.Now}
}

// Decisions 53: the digest key is a generated Secret of the operator's namespace. It is made once, also by two replicas
// at the same moment, it is marked, and a deleted one comes back with the same key.
func TestDigestKeyIsASecretOfItsOwn(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	v := newVault(t, nil)
	const replicas = 8
	keys := make([][]byte, replicas)
	var all sync.WaitGroup
	for i := range replicas {
		all.Go(func() { keys[i], _ = v.newDigestKey().get(ctx) })
	}
	all.Wait()
	for _, k := range keys {
		g.Expect(k).To(And(HaveLen(32), Equal(keys[0])))
	}
	s := &corev1.Secret{}
	g.Expect(v.Get(ctx, digestKeyName, s)).To(Succeed())
	g.Expect(s.Data).To(Equal(map[string][]byte{encryption.DigestKeyName: keys[0]}))
	g.Expect(*s.Immutable).To(BeTrue())
	g.Expect(s.OwnerReferences).To(BeEmpty())

	sanitizer, err := sanitize.New(sanitize.Config{DisableDefaults: sanitize.Defaults})
	g.Expect(err).NotTo(HaveOccurred())
	o, err := sanitizer.Object([]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","namespace":"system"},"type":"`+string(s.Type)+`","data":{"digest.key":"eA=="}}`),
		change.Type{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Protected).To(Equal(sanitize.OwnKeys), "no rule mirrors it")

	d := v.newDigestKey()
	now := time.Now()
	d.now = func() time.Time { return now }
	_, err = d.get(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	v.reads = 0
	for range 10 {
		_, _ = d.get(ctx)
	}
	g.Expect(v.reads).To(BeZero(), "it is not read each time")
	g.Expect(v.Delete(ctx, s)).To(Succeed())
	now = now.Add(digestKeyMemory)
	g.Expect(d.get(ctx)).To(Equal(keys[0]))
	again := &corev1.Secret{}
	g.Expect(v.Get(ctx, digestKeyName, again)).To(Succeed())
	g.Expect(again.Data[encryption.DigestKeyName]).To(Equal(keys[0]), "the one in use comes back")

	// Made anew by somebody else, it is taken over.
	g.Expect(v.Delete(ctx, again)).To(Succeed())
	other := bytes.Repeat([]byte("k"), 32)
	s = &corev1.Secret{Data: map[string][]byte{encryption.DigestKeyName: other}}
	s.Namespace, s.Name = digestKeyName.Namespace, digestKeyName.Name
	g.Expect(v.Create(ctx, s)).To(Succeed())
	now = now.Add(digestKeyMemory)
	g.Expect(d.get(ctx)).To(Equal(other))
}

// A key that cannot be kept stops nothing: the message says what it costs and what to do.
func TestDigestKeyThatCannotBeKept(t *testing.T) {
	publicOnly := func() *v1alpha3.GitTarget {
		return sealed(func(e *v1alpha3.Encryption) {
			e.SecretRef, e.Age.Recipients = nil, &v1alpha3.AgeRecipients{PublicKeys: []string{recipient}}
		})
	}
	short := &corev1.Secret{Data: map[string][]byte{encryption.DigestKeyName: []byte("short")}}
	short.Namespace, short.Name = digestKeyName.Namespace, digestKeyName.Name
	for name, tt := range map[string]struct {
		existing []client.Object
		writer   func(*vault) client.Writer
		memory   bool
		says     []string
	}{
		"kept":      {},
		"no Redis":  {memory: true, says: []string{"after its restart each is encrypted once more", "identity", "--redis-addr"}},
		"too short": {existing: []client.Object{short}, says: []string{"system/" + DigestKeySecret, "delete it"}},
		"forbidden": {writer: func(v *vault) client.Writer { return forbidden{v.Client} }, says: []string{"forbidden", DigestKeySecret}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newVault(t, nil, tt.existing...)
			o := EncryptionOptions{Secrets: v.Client, Writer: v.Client, OperatorNamespace: "system", Digests: &encryption.MemoryDigests{}}
			if tt.writer != nil {
				o.Writer = tt.writer(v)
			}
			if tt.memory {
				o.Digests = nil
			}
			got, err := NewEncryptions(o).Encryption(t.Context(), publicOnly())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Ready).To(BeTrue())
			if tt.says == nil {
				g.Expect(got.Message).To(Equal("sensitive types are encrypted for 1 age recipient"))
			}
			for _, s := range tt.says {
				g.Expect(got.Message).To(ContainSubstring(s))
			}
			g.Expect(got.Message).NotTo(ContainSubstring("short"))
		})
	}
}

// Who holds an identity of a recipient needs no digest key; an identity that opens nothing of what is written is none.
func TestDigestKeyOnlyWhereItIsNeeded(t *testing.T) {
	g := NewWithT(t)
	v := newVault(t, nil, keySecret("a.agekey", identity))
	got, err := v.Encryption(t.Context(), sealed(nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Message).NotTo(ContainSubstring("restart"))
	g.Expect(apierrors.IsNotFound(v.Get(t.Context(), digestKeyName, &corev1.Secret{}))).To(BeTrue())

	const stranger = "age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm"
	got, err = v.Encryption(t.Context(), func() *v1alpha3.GitTarget {
		t := sealed(func(e *v1alpha3.Encryption) {
			e.Age.Recipients = &v1alpha3.AgeRecipients{PublicKeys: []string{stranger}}
		})
		t.UID = "2"
		return t
	}())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Message).To(ContainSubstring("cannot decrypt"))
	g.Expect(v.Get(t.Context(), digestKeyName, &corev1.Secret{})).To(Succeed())
}
