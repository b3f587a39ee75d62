// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// vault is Encryptions over stored Secrets, counting their reads.
type vault struct {
	*Encryptions
	client.Client
	mu    sync.Mutex
	reads int
	fail  error
	// then runs once, behind the first read: somebody else is faster.
	then func(client.WithWatch)
}

func newVault(t *testing.T, additional []string, secrets ...client.Object) *vault {
	t.Helper()
	v := &vault{}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	v.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(secrets...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			v.mu.Lock()
			defer v.mu.Unlock()
			if v.reads++; v.fail != nil {
				return v.fail
			}
			err := c.Get(ctx, key, o, opts...)
			if then := v.then; then != nil {
				v.then = nil
				then(c)
			}
			return err
		},
	}).Build()
	v.Encryptions = NewEncryptions(EncryptionOptions{Secrets: v.Client, Writer: v.Client, Additional: additional, OperatorNamespace: "system"})
	return v
}

const (
	identity  = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
	recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
)

func sealed(change func(*v1alpha3.Encryption)) *v1alpha3.GitTarget {
	e := &v1alpha3.Encryption{
		SecretRef: &meta.LocalObjectReference{Name: "keys"},
		Age:       &v1alpha3.AgeEncryption{Enabled: true, Recipients: &v1alpha3.AgeRecipients{ExtractFromSecret: true}},
	}
	if change != nil {
		change(e)
	}
	return &v1alpha3.GitTarget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "live", UID: "1",
		Generation: 1}, Spec: v1alpha3.GitTargetSpec{Encryption: e}}
}

func keySecret(entries ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "keys"}, Data: map[string][]byte{}}
	for i := 0; i < len(entries); i += 2 {
		s.Data[entries[i]] = []byte(entries[i+1])
	}
	return s
}

func TestReasonsOfEncryption(t *testing.T) {
	for name, tt := range map[string]struct {
		target  *v1alpha3.GitTarget
		secrets []client.Object
		ready   bool
		reason  string
		text    string
	}{
		"not set": {&v1alpha3.GitTarget{}, nil, false, v1alpha3.EncryptionRequiredReason,
			"spec.encryption is not set"},
		"no family": {sealed(func(e *v1alpha3.Encryption) { e.Age = nil }), nil, false,
			v1alpha3.EncryptionRequiredReason, "not set"},
		"not enabled": {sealed(func(e *v1alpha3.Encryption) { e.Age.Enabled = false }), nil, false,
			v1alpha3.EncryptionRequiredReason, "age.enabled"},
		"no Secret": {sealed(nil), nil, false, v1alpha3.MissingSecretReason,
			"shop/keys does not exist; create it"},
		"a Secret without a key": {sealed(nil), []client.Object{keySecret("other", "x")}, false,
			v1alpha3.SecretCreateDisabledReason, ".agekey"},
		"a key that is none": {sealed(nil), []client.Object{keySecret("a.agekey", "rubbish")}, false,
			v1alpha3.InvalidConfigReason, "a.agekey"},
		"a key": {sealed(nil), []client.Object{keySecret("a.agekey", "# mine\n"+identity+"\n")},
			true, "", "for 1 age recipient"},
		"a public key that is none": {sealed(func(e *v1alpha3.Encryption) {
			e.SecretRef, e.Age.Recipients = nil, &v1alpha3.AgeRecipients{PublicKeys: []string{"age1rubbish"}}
		}), nil, false, v1alpha3.InvalidConfigReason, "age1rubbish"},
		"a public key": {sealed(func(e *v1alpha3.Encryption) {
			e.SecretRef, e.Age.Recipients = nil, &v1alpha3.AgeRecipients{PublicKeys: []string{recipient}}
		}), nil, true, "", "for 1 age recipient"},
		"the repository's rules": {sealed(func(e *v1alpha3.Encryption) {
			e.SecretRef, e.Age,
				e.UseRepositoryRules = nil, nil, true
		}), nil, true, "", "repository's .sops.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newVault(t, nil, tt.secrets...)
			got, err := v.Encryption(t.Context(), tt.target)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Ready).To(Equal(tt.ready), got.Message)
			g.Expect(got.Reason).To(Equal(tt.reason), got.Message)
			g.Expect(got.Message).To(ContainSubstring(tt.text))
			g.Expect(got.Message).NotTo(ContainSubstring(strings.TrimPrefix(identity, "AGE-SECRET-KEY")))
			g.Expect(got.Sealer != nil).To(Equal(tt.ready))
		})
	}
}

// TestScenario54_AGeneratedAgeKeyOutlivesItsTarget: it has no owner, tells its recipient, and is made once.
func TestScenario54_AGeneratedAgeKeyOutlivesItsTarget(t *testing.T) {
	g := NewWithT(t)
	generate := func(e *v1alpha3.Encryption) { e.Age.Recipients.GenerateWhenMissing = true }
	for name, existing := range map[string][]client.Object{"no Secret": nil,
		"a Secret with other things": {keySecret("other", "thing")}} {
		v := newVault(t, nil, existing...)
		first, err := v.Encryption(t.Context(), sealed(generate))
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(first.Ready).To(BeTrue(), name)
		s := &corev1.Secret{}
		g.Expect(v.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
		g.Expect(s.OwnerReferences).To(BeEmpty())
		g.Expect(s.Annotations[v1alpha3.AgeRecipientAnnotation]).To(HavePrefix("age1"))
		g.Expect(s.Annotations[v1alpha3.BackupWarningAnnotation]).NotTo(BeEmpty())
		_, kept := s.Data["other"]
		g.Expect(kept).To(Equal(existing != nil))
		version := s.ResourceVersion
		other := sealed(generate)
		other.UID = "2"
		second, err := v.Encryption(t.Context(), other)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(second.SOPSConfig).To(Equal(first.SOPSConfig), "the same recipient")
		g.Expect(v.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
		g.Expect(s.ResourceVersion).To(Equal(version))
	}
}

// TestScenario67OfGitWriter_TheWinnersKeyIsUsed: a Secret or an entry that somebody else writes between our read and our
// write is never replaced.
func TestScenario67OfGitWriter_TheWinnersKeyIsUsed(t *testing.T) {
	generate := func(e *v1alpha3.Encryption) { e.Age.Recipients.GenerateWhenMissing = true }
	for name, c := range map[string]struct {
		existing []client.Object
		wins     func(context.Context, client.WithWatch) error
	}{
		"creates the Secret": {nil, func(ctx context.Context, c client.WithWatch) error {
			return c.Create(ctx, keySecret("winner.agekey", identity))
		}},
		"adds an entry": {[]client.Object{keySecret("other", "thing")}, func(ctx context.Context, c client.WithWatch) error {
			s := &corev1.Secret{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "keys"}, s); err != nil {
				return err
			}
			s.Data["winner.agekey"] = []byte(identity)
			return c.Update(ctx, s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newVault(t, nil, c.existing...)
			v.then = func(w client.WithWatch) { g.Expect(c.wins(t.Context(), w)).To(Succeed()) }
			got, err := v.Encryption(t.Context(), sealed(generate))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(v.then).To(BeNil(), "the other one was faster")
			g.Expect(got.Ready).To(BeTrue(), got.Message)
			g.Expect(string(got.SOPSConfig)).To(And(ContainSubstring(recipient), Not(ContainSubstring(","))))
			s := &corev1.Secret{}
			g.Expect(v.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
			g.Expect(s.Data).To(HaveKeyWithValue("winner.agekey", []byte(identity)))
			g.Expect(s.Data).To(HaveLen(1+len(c.existing)), "no second key")
		})
	}
}

// TestKeysAreNotReadInEachPass: passes can follow each other quickly.
func TestKeysAreNotReadInEachPass(t *testing.T) {
	g := NewWithT(t)
	v := newVault(t, nil)
	target := sealed(func(e *v1alpha3.Encryption) { e.Age.Recipients.GenerateWhenMissing = true })
	_, err := v.Encryption(t.Context(), target)
	g.Expect(err).NotTo(HaveOccurred())
	v.reads = 0
	for range 10 {
		_, err = v.Encryption(t.Context(), target)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(v.reads).To(BeZero())
	target.Annotations = map[string]string{v1alpha3.ReconcileRequestAnnotation: "now"}
	_, err = v.Encryption(t.Context(), target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.reads).To(Equal(1), "somebody asked")
	target.Generation++
	_, err = v.Encryption(t.Context(), target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.reads).To(Equal(2), "the spec changed")
	v.Forget("1")
	g.Expect(v.resolved).To(BeEmpty())
	// What does not work is looked at each time: the cure shows at once.
	v = newVault(t, nil)
	for range 3 {
		_, err = v.Encryption(t.Context(), sealed(nil))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(v.reads).To(Equal(3))
}

func TestKeysThatCannotBeReadAreAnError(t *testing.T) {
	g := NewWithT(t)
	v := newVault(t, nil)
	v.fail = errors.New("the API server is away")
	_, err := v.Encryption(t.Context(), sealed(nil))
	g.Expect(err).To(MatchError(v.fail))
}

func TestAdditionalSensitiveTypes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(CheckSensitiveResources([]string{"configmaps", "example.org/vaults"})).To(Succeed())
	for _, bad := range []string{"", "/vaults", "example.org/", "a/b/c"} {
		err := CheckSensitiveResources([]string{"configmaps", bad})
		g.Expect(err).To(HaveOccurred(), bad)
		g.Expect(strings.Count(err.Error(), "is no resource")).To(Equal(1))
	}
	v := newVault(t, []string{"example.org/vaults", "configmaps"})
	g.Expect(v.Sensitive(change.Type{Group: "example.org", Resource: "vaults", Version: "v1"})).To(BeTrue())
	g.Expect(v.Sensitive(change.Type{Resource: "configmaps", Version: "v1"})).To(BeTrue())
	g.Expect(v.Sensitive(change.Type{Group: "other.org", Resource: "vaults"})).To(BeFalse())
}

// TestOtherRecipientsInTheRepositoryAreReported on EncryptionConfigured, until a write finds them equal (decisions 50).
func TestOtherRecipientsInTheRepositoryAreReported(t *testing.T) {
	g := NewWithT(t)
	v := newVault(t, nil, keySecret("a.agekey", identity))
	target := sealed(nil)
	message := func() string {
		t.Helper()
		e, err := v.Encryption(t.Context(), target)
		g.Expect(err).NotTo(HaveOccurred())
		return e.Message
	}
	write := func(rules string) {
		t.Helper()
		e, err := v.Encryption(t.Context(), target)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = e.Sealer.Seal(t.Context(), plan.SealRequest{
			Object: change.ObjectID{Kind: "Secret", Namespace: "shop", Name: "login"}, Path: "live/login.sops.yaml",
			Desired:   []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","namespace":"shop"},"data":{"a":"eA=="}}`),
			RulesPath: "live/.sops.yaml", Rules: []byte(rules),
		})
		g.Expect(err).NotTo(HaveOccurred())
	}
	const plain, stranger = "sensitive types are encrypted for 1 age recipient", "age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm"
	g.Expect(message()).To(Equal(plain))
	write("creation_rules: [{age: " + stranger + "}]")
	g.Expect(message()).To(And(HavePrefix(plain+"; live/.sops.yaml names other recipients"), ContainSubstring(stranger)))
	write("creation_rules: [{age: " + recipient + "}]")
	g.Expect(message()).To(Equal(plain))
	write("creation_rules: [{age: " + stranger + "}]")
	v.Forget("1")
	g.Expect(message()).To(Equal(plain), "a deleted GitTarget leaves nothing")
}
