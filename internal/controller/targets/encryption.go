// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/encryption"
)

// CheckSensitiveResources validates --additional-sensitive-resources: "resource" or "group/resource".
func CheckSensitiveResources(list []string) error {
	var errs []error
	for _, s := range list {
		if g, r, ok := strings.Cut(s, "/"); s == "" || ok && (g == "" || r == "" || strings.Contains(r, "/")) {
			errs = append(errs, fmt.Errorf("%q is no resource: write resource or group/resource", s))
		}
	}
	return errors.Join(errs...)
}

// keyMemory is how long a target's keys are used before their Secret is read again. Passes can follow each other
// quickly; a Secret is not read for each.
const keyMemory = 30 * time.Second

// Encryptions resolves spec.encryption of GitTargets. Create it with NewEncryptions.
type Encryptions struct {
	secrets    client.Reader
	writer     client.Writer
	additional []string
	cache      *encryption.Cache
	digests    encryption.Digests
	// lasting: the digests outlive the process.
	lasting   bool
	digestKey *digestKey

	mu       sync.Mutex
	resolved map[types.UID]resolvedKeys
}

type resolvedKeys struct {
	// key names what was resolved: generation and requests of the GitTarget.
	key string
	at  time.Time
	Encryption
}

// EncryptionOptions make an Encryptions.
type EncryptionOptions struct {
	// Secrets reads Secrets, uncached; Writer creates those with generated keys.
	Secrets client.Reader
	Writer  client.Writer
	// Additional is --additional-sensitive-resources.
	Additional []string
	// Digests outlive the process; nil keeps them in memory.
	Digests encryption.Digests
	// OperatorNamespace holds the Secret of the digest key.
	OperatorNamespace string
}

// NewEncryptions makes an Encryptions.
func NewEncryptions(o EncryptionOptions) *Encryptions {
	e := &Encryptions{
		secrets: o.Secrets, writer: o.Writer, additional: o.Additional, cache: encryption.NewCache(),
		digests: o.Digests, lasting: o.Digests != nil, resolved: map[types.UID]resolvedKeys{},
		digestKey: &digestKey{secrets: o.Secrets, writer: o.Writer, namespace: o.OperatorNamespace, now: time.Now},
	}
	if !e.lasting {
		e.digests = &encryption.MemoryDigests{}
	}
	return e
}

// AdditionalSensitive implements Encrypter.
func (e *Encryptions) AdditionalSensitive() []string { return e.additional }

// Sensitive implements Encrypter.
func (e *Encryptions) Sensitive(t change.Type) bool {
	for _, s := range e.additional {
		if s == t.GroupResource() {
			return true
		}
	}
	return false
}

// Encryption implements Encrypter.
func (e *Encryptions) Encryption(ctx context.Context, t *v1alpha3.GitTarget) (Encryption, error) {
	spec := t.Spec.Encryption
	if spec == nil || spec.Age == nil && !spec.UseRepositoryRules {
		return Encryption{
			Reason:  v1alpha3.EncryptionRequiredReason,
			Message: "spec.encryption is not set; sensitive types are written encrypted or not at all",
		}, nil
	}
	if spec.Age != nil && !spec.Age.Enabled {
		return Encryption{Reason: v1alpha3.EncryptionRequiredReason,
			Message: "spec.encryption.age.enabled is false; set it to true"}, nil
	}
	key := fmt.Sprint(t.Generation, t.Annotations[v1alpha3.RekeyRequestAnnotation],
		t.Annotations[v1alpha3.ReconcileRequestAnnotation], rekeyOf(t))
	e.mu.Lock()
	known, ok := e.resolved[t.UID]
	e.mu.Unlock()
	if ok && known.key == key && known.Ready && time.Since(known.at) < keyMemory {
		return e.noticed(t, known.Encryption), nil
	}
	out, err := e.resolve(ctx, t, spec)
	if err != nil {
		return out, err
	}
	e.mu.Lock()
	e.resolved[t.UID] = resolvedKeys{key: key, at: time.Now(), Encryption: out}
	e.mu.Unlock()
	return e.noticed(t, out), nil
}

// noticed adds in which way the repository's rules differ, as the last writes saw them (decisions 50).
func (e *Encryptions) noticed(t *v1alpha3.GitTarget, out Encryption) Encryption {
	if note := e.cache.Notice(string(t.UID)); out.Ready && note != "" {
		out.Message += "; " + note
	}
	return out
}

// Forget drops what is remembered of a deleted GitTarget.
func (e *Encryptions) Forget(uid string) {
	e.mu.Lock()
	delete(e.resolved, types.UID(uid))
	e.mu.Unlock()
	e.cache.Forget(uid)
}

func (e *Encryptions) resolve(ctx context.Context, t *v1alpha3.GitTarget,
	spec *v1alpha3.Encryption) (Encryption, error) {
	source := encryption.KeySource{RecipientsOptional: spec.UseRepositoryRules}
	if spec.Age != nil && spec.Age.Recipients != nil {
		r := spec.Age.Recipients
		source.PublicKeys, source.ExtractFromSecret, source.GenerateWhenMissing = r.PublicKeys, r.ExtractFromSecret, r.GenerateWhenMissing
	}
	version := ""
	if spec.SecretRef != nil {
		secret, err := e.secret(ctx, t.Namespace, spec.SecretRef.Name, &source)
		if err != nil {
			return Encryption{}, err
		}
		if secret != nil {
			version = string(secret.UID) + "/" + secret.ResourceVersion
		}
	}
	keys, err := encryption.ResolveKeys(source)
	if err != nil {
		out := Encryption{Reason: v1alpha3.InvalidConfigReason, Message: err.Error(), Revision: version}
		var typed *encryption.Error
		if errors.As(err, &typed) {
			out.Reason = typed.ConditionReason()
		}
		if source.Secret == nil && out.Reason == v1alpha3.MissingSecretReason {
			out.Message += "; create it with an age identity in an entry that ends in " + encryption.KeySuffix +
				", or set recipients.generateWhenMissing to have one made"
		}
		return out, nil
	}
	out := Encryption{Ready: true, Revision: revision(keys.Recipients(), version, rekeyOf(t), spec.UseRepositoryRules)}
	options := encryption.Options{
		Keys: keys, UseRepositoryRules: spec.UseRepositoryRules, Scope: string(t.UID), Cache: e.cache, Rekey: rekeyOf(t),
	}
	if spec.UseRepositoryRules {
		out.Message = "sensitive types are encrypted for the recipients of the repository's .sops.yaml"
	} else {
		out.SOPSConfig = encryption.SOPSConfig(keys.Recipients())
		out.Message = fmt.Sprintf("sensitive types are encrypted for %d age recipients", len(keys.Recipients()))
		if len(keys.Recipients()) == 1 {
			out.Message = strings.TrimSuffix(out.Message, "s")
		}
	}
	if !keys.CanDecrypt() || spec.UseRepositoryRules {
		key, restart := e.writeOnly(ctx)
		options.Digests, options.DigestKey = e.digests, key
		if !keys.CanDecrypt() {
			out.Message += restart
		}
	}
	out.Sealer = encryption.New(options)
	return out, nil
}

// writeOnly returns the key of the digests for a target that cannot decrypt, and what its message says about a restart.
func (e *Encryptions) writeOnly(ctx context.Context) ([]byte, string) {
	key, err := e.digestKey.get(ctx)
	const again = "; the operator cannot decrypt them, and after its restart each is encrypted once more"
	switch {
	case !e.lasting:
		return key, again + ": give it an identity, or run it with --redis-addr"
	case err != nil:
		return key, again + ", because the digest key cannot be kept: " + err.Error()
	}
	return key, ""
}

// secret reads the Secret of the keys into source, generating an identity where the spec asks for one. A key that is
// there is never replaced; losing the race to create one means using the winner's.
func (e *Encryptions) secret(ctx context.Context, namespace, name string,
	source *encryption.KeySource) (*corev1.Secret, error) {
	source.SecretName = namespace + "/" + name
	secret, err := e.read(ctx, namespace, name, source)
	if err != nil || !encryption.NeedsKey(*source) {
		return secret, err
	}
	generated, err := encryption.GenerateKey(source.Secret, time.Now())
	if err != nil {
		return nil, err
	}
	if secret == nil {
		fresh := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: generated.Data}
		fresh.Namespace, fresh.Name, fresh.Annotations = namespace, name, generated.Annotations
		err = client.IgnoreAlreadyExists(e.writer.Create(ctx, fresh))
	} else {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		for k, v := range generated.Data {
			secret.Data[k] = v
		}
		if secret.Annotations == nil {
			secret.Annotations = map[string]string{}
		}
		for k, v := range generated.Annotations {
			secret.Annotations[k] = v
		}
		if err = e.writer.Update(ctx, secret); apierrors.IsConflict(err) {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write the age identity into Secret %s/%s: %w", namespace, name, err)
	}
	return e.read(ctx, namespace, name, source)
}

func (e *Encryptions) read(ctx context.Context, namespace, name string,
	source *encryption.KeySource) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := e.secrets.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		source.Secret = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	source.Secret = secret.Data
	if source.Secret == nil {
		source.Secret = map[string][]byte{}
	}
	return secret, nil
}

// rekeyOf returns the re-key request that is not handled yet; empty when there is none.
func rekeyOf(t *v1alpha3.GitTarget) string {
	if token := t.Annotations[v1alpha3.RekeyRequestAnnotation]; token != t.Status.LastHandledRekeyAt {
		return token
	}
	return ""
}
