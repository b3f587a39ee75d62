// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package signing signs commits: OpenSSH signatures (`gpg.format=ssh`, namespace git) and OpenPGP signatures, from the
// Secret of spec.commit.signing (git-writer 8.6, decisions 56).
//
// Keys: signing.key with an optional passphrase (OpenSSH, PKCS#8 or the older PEM forms; ed25519, ecdsa, rsa), or
// Flux's git.asc (an armoured OpenPGP private key) with an optional passphrase. A key that is present and cannot be
// used is an error and is never replaced; without a usable key no commit is made.
//
// Everything is a function of the Secret's bytes; nothing of the host's Git or GnuPG configuration is read.
package signing
