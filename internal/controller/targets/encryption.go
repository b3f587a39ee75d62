// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
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

// Encryptions resolves spec.encryption of GitTargets.
type Encryptions struct {
	// Secrets reads Secrets uncached; Writer creates a generated age key.
	Secrets client.Reader
	Writer  client.Client
	// Additional are the sensitive types besides Secrets.
	Additional []string
}

// AdditionalSensitive implements Encrypter.
func (e *Encryptions) AdditionalSensitive() []string { return e.Additional }

// Sensitive implements Encrypter.
func (e *Encryptions) Sensitive(t change.Type) bool {
	for _, s := range e.Additional {
		if s == t.GroupResource() {
			return true
		}
	}
	return false
}

// Encryption implements Encrypter.
func (e *Encryptions) Encryption(_ context.Context, t *v1alpha3.GitTarget) (Encryption, error) {
	return Encryption{
		Reason:  v1alpha3.EncryptionRequiredReason,
		Message: "spec.encryption is not set; sensitive types are written encrypted or not at all",
	}, nil
}
