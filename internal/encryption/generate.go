// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"fmt"
	"time"

	"filippo.io/age"
)

// The annotations of a Secret with a generated identity.
const (
	// RecipientAnnotation shows the public half.
	RecipientAnnotation = "configbutler.ai/age-recipient"
	// BackupAnnotation asks for a copy: without the identity nobody reads what is encrypted.
	BackupAnnotation = "configbutler.ai/backup-warning"
	backupText       = "REMOVE_AFTER_BACKUP"
)

// GeneratedKey is what a controller adds to a Secret, or creates one of type Opaque with. It is written with a create, or
// an update of the resourceVersion that was read; when that loses a race, the winner's Secret is read and used.
type GeneratedKey struct {
	Data        map[string][]byte
	Annotations map[string]string
	Recipient   string
}

// GenerateKey makes an age identity, in an entry named by the day in UTC. existing is the Secret's data, nil when there is
// none. An identity that is present is never replaced: that is an *Error.
func GenerateKey(existing map[string][]byte, now time.Time) (GeneratedKey, error) {
	if hasIdentity(existing) {
		return GeneratedKey{}, errorf(InvalidConfig, "the Secret already holds an age identity; it is not replaced")
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return GeneratedKey{}, errorf(InvalidConfig, "no age identity could be generated: %v", err)
	}
	now = now.UTC()
	recipient := id.Recipient().String()
	text := fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), recipient, id)
	return GeneratedKey{
		Data:        map[string][]byte{now.Format("20060102") + KeySuffix: []byte(text)},
		Annotations: map[string]string{RecipientAnnotation: recipient, BackupAnnotation: backupText},
		Recipient:   recipient,
	}, nil
}
