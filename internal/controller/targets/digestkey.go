// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/internal/encryption"
)

const (
	// DigestKeySecret is the Secret of the digest key, in the operator's namespace (decisions 53).
	DigestKeySecret = "gitops-reverser-digest-key"
	// digestKeyType marks it: Secrets of our own types are never mirrored.
	digestKeyType corev1.SecretType = "configbutler.ai/digest-key"
	// digestKeyMemory is how long the key is used before its Secret is looked at again.
	digestKeyMemory = 5 * time.Minute
	// minDigestKey is the shortest key that is used, in bytes.
	minDigestKey = 32
)

// digestKey is the key of the digests that tell what was encrypted when nothing can be decrypted.
type digestKey struct {
	secrets   client.Reader
	writer    client.Writer
	namespace string
	now       func() time.Time

	mu  sync.Mutex
	key []byte
	at  time.Time
}

// get returns the key of the Secret, which is made when it is missing: with the key in use, so that a deleted Secret
// costs nothing. Two replicas that make it at once use the one that came first. When the Secret cannot be used, a key of
// this process is returned with the reason.
func (d *digestKey) get(ctx context.Context) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now().Sub(d.at) < digestKeyMemory {
		return d.key, nil
	}
	if d.key == nil {
		d.key = encryption.NewDigestKey()
	}
	kept, err := d.keep(ctx)
	if err != nil {
		return d.key, err
	}
	d.key, d.at = kept, d.now()
	return d.key, nil
}

func (d *digestKey) keep(ctx context.Context) ([]byte, error) {
	name := types.NamespacedName{Namespace: d.namespace, Name: DigestKeySecret}
	s := &corev1.Secret{}
	err := d.secrets.Get(ctx, name, s)
	if apierrors.IsNotFound(err) {
		fixed := true
		fresh := &corev1.Secret{Type: digestKeyType, Immutable: &fixed, Data: map[string][]byte{encryption.DigestKeyName: d.key}}
		fresh.Namespace, fresh.Name = name.Namespace, name.Name
		if err = d.writer.Create(ctx, fresh); err == nil {
			return d.key, nil
		}
		if apierrors.IsAlreadyExists(err) {
			err = d.secrets.Get(ctx, name, s)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("Secret %s: %w", name, err) //nolint:staticcheck // a kind's name
	}
	key := s.Data[encryption.DigestKeyName]
	if len(key) < minDigestKey {
		return nil, fmt.Errorf("Secret %s holds no %q of %d bytes or more; delete it, so that it is made anew", //nolint:staticcheck // a kind's name
			name, encryption.DigestKeyName, minDigestKey)
	}
	return key, nil
}
