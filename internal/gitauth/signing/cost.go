// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"bytes"
	"errors"
	"io"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// The limits of Argon2 in an OpenPGP key: 64 MiB is the second choice of RFC 9580, and the format goes up to 2 TiB,
// which would end the process.
const (
	maxArgonMemory = 16 // log2 of KiB
	maxArgonPasses = 16
)

// Octets of a secret key packet (RFC 9580, 5.5.3 and 3.7.1.4).
const (
	tagSecretKey, tagSecretSubkey = 5, 7
	tagPublicKey, tagPublicSubkey = 6, 14
	usageAEAD                     = 253
	specifierArgon                = 4
	argonSalt                     = 16
)

// errExpensive is a key whose passphrase takes more memory or time to check than a controller may spend.
var errExpensive = errors.New("its passphrase protection (Argon2) needs too much memory; use at most 64 MiB")

// checkCost refuses a key that would be too expensive to open. What it cannot read it leaves to the real reader.
func checkCost(armoured []byte) error {
	block, err := armor.Decode(bytes.NewReader(armoured))
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(block.Body)
	if err != nil {
		return nil
	}
	for packets := packet.NewOpaqueReader(bytes.NewReader(body)); ; {
		p, err := packets.Next()
		if err != nil {
			return nil
		}
		if (p.Tag == tagSecretKey || p.Tag == tagSecretSubkey) && expensive(p) {
			return errExpensive
		}
	}
}

// expensive looks behind the public half of a secret key for Argon2's parameters.
func expensive(p *packet.OpaquePacket) bool {
	tag := uint8(tagPublicKey)
	if p.Tag == tagSecretSubkey {
		tag = tagPublicSubkey
	}
	public, err := (&packet.OpaquePacket{Tag: tag, Contents: p.Contents}).Parse()
	if err != nil {
		return false
	}
	key, ok := public.(*packet.PublicKey)
	if !ok {
		return false
	}
	var b bytes.Buffer
	if key.Serialize(&b) != nil {
		return false
	}
	half, err := packet.NewOpaqueReader(&b).Next()
	if err != nil || len(half.Contents) >= len(p.Contents) {
		return false
	}
	rest := p.Contents[len(half.Contents):]
	if rest[0] != usageAEAD {
		return false
	}
	at := 3 // usage, cipher, AEAD mode
	if key.Version == 6 {
		at = 5 // and two counts
	}
	if len(rest) < at+1+argonSalt+3 || rest[at] != specifierArgon {
		return false
	}
	passes, memory := rest[at+1+argonSalt], rest[at+1+argonSalt+2]
	return passes > maxArgonPasses || memory > maxArgonMemory
}
