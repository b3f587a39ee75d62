// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package encryption encrypts sensitive documents with SOPS and age, in process: it implements plan.Sealer.
//
// Flow: a controller reads the Secret of spec.encryption and calls ResolveKeys (and GenerateKey when there is none);
// New makes the Sealer of a GitTarget from the result; plan calls Seal for each sensitive object of a batch.
//
// Invariants:
//   - Nothing sensitive leaves in clear: what Seal returns was read back, decrypted and compared, every scalar of the
//     sensitive fields is ciphertext or empty, and no label, annotation or comment repeats a value (decisions 51).
//   - Recipients come from the spec. The nearest .sops.yaml only decides which fields are encrypted (decisions 50).
//   - Equal content is no change (decisions 20, 53): with an identity, or with the data key of a document sealed by this
//     process, plaintexts are compared; else a keyed digest recorded outside Git is. A change keeps the data key, so one
//     changed value changes the line of that value, lastmodified and mac.
//   - Identities are applied explicitly. SOPS never looks into the environment or a home folder, and no other master key
//     than age is used: no process is started and nothing is asked over the network.
//   - Every call into SOPS recovers (decisions 94). Its errors can quote values and are never passed on.
package encryption
